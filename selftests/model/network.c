// SPDX-License-Identifier: GPL-2.0-only
/*
 * The path and the network behind it: bursts become packets in wire format, and the
 * weather decides their fate.
 */
#include "../../drivers/infiniband/sw/verve/path/bypass.h"
#include "../../drivers/infiniband/sw/verve/path/loop.h"
#include "../../drivers/infiniband/sw/verve/wire/psn.h"
#include "model.h"

/**
 * struct packet - a packet on its way, or in the ring of a node
 * @next: next in the ring
 * @to: destination
 * @request: request of the sender's plan; NO_REQUEST for an injected packet
 * @place: index of the packet in its request
 * @is_marked: has a congestion mark
 * @len: length of @bytes
 * @bytes: bytes from the BTH on, without ICRC
 */
struct packet {
	struct packet *next;
	struct node *to;
	u32 request, place;
	bool is_marked;
	u32 len;
	u8 bytes[];
};

#define NO_REQUEST	U32_MAX

/* An arrival with payload memory of the exact size, so that any excess access is seen */
struct delivery {
	struct verve_arrival arrival;
	u8 *payload;
	bool to_group;
};

static struct delivery *to_delivery(const struct verve_arrival *arrival)
{
	return container_of(arrival, struct delivery, arrival);
}

void network_harm(void)
{
	model.harm++;
}

/* TRACE=: print each packet and its fate. */
static void tell(const struct node *node, const struct packet *packet,
		 const char *fate)
{
	struct verve_pdu pdu;
	u32 qpn;

	if (!model.is_traced)
		return;
	verve_wire_parse(packet->bytes, packet->len, packet->len, &pdu, &qpn);
	printf("# %llu: %u %s: opcode %02x psn %06x length %u%s", world_now(),
	       node->index, fate, pdu.opcode, pdu.psn, pdu.length,
	       pdu.flags & VERVE_PDU_ACKREQ ? " ackreq" : "");
	if (verve_opcode_flags(pdu.opcode) & VERVE_OP_ACK)
		printf(" syndrome %02x", pdu.aeth >> 24);
	if (verve_opcode_flags(pdu.opcode) & VERVE_OP_RETH)
		printf(" va %#llx length %u", pdu.va, pdu.dmalen);
	putchar('\n');
}

/* Make an arrival as the path does, and tell the oracle. */
static struct delivery *deliver(struct node *node, const struct packet *packet)
{
	u32 hdr = verve_opcodes[packet->bytes[0]].hdr_len;
	struct delivery *delivery = calloc(1, sizeof(*delivery));
	struct verve_pdu *pdu = &delivery->arrival.pdu;
	u32 qpn;

	expect(!verve_wire_parse(packet->bytes, packet->len, packet->len, pdu,
				 &qpn),
	       "a packet is not what it was");
	if (packet->is_marked)
		pdu->flags |= VERVE_PDU_CE;
	if (qpn == VERVE_MULTICAST_QPN)
		pdu->flags |= VERVE_PDU_MULTICAST;
	else
		expect(qpn == node->qp.qpn, "to QP %#x", qpn);
	delivery->payload = malloc(pdu->length);
	memcpy(delivery->payload, packet->bytes + hdr, pdu->length);
	model.arrivals++;
	if (packet->request == NO_REQUEST)
		return delivery;
	delivery->to_group = peer_of(node)->plan[packet->request].to_group;
	oracle_packet(node, packet->request, packet->place, pdu,
		      delivery->payload);
	return delivery;
}

static void poll(void *arg)
{
	struct node *node = arg;
	struct packet *packet, *next;
	struct llist_node *newest = NULL, *oldest = NULL;

	node->polling = false;
	for (packet = node->ring; packet; packet = next) {
		struct verve_arrival *arrival = &deliver(node, packet)->arrival;

		next = packet->next;
		tell(node, packet, "receives");
		free(packet);
		arrival->node.next = newest;
		newest = &arrival->node;
		if (!oldest)
			oldest = newest;
	}
	node->ring = NULL;
	node->ring_end = &node->ring;
	if (newest)
		verve_engine_receive(&node->qp, newest, oldest);
}

static void arrive(void *arg)
{
	struct packet *packet = arg;
	struct node *node = packet->to;

	packet->next = NULL;
	*node->ring_end = packet;
	node->ring_end = &packet->next;
	if (!node->polling)
		world_after(dice(model.set.coalesce + 1), poll, node);
	node->polling = true;
}

static struct packet *forge(struct node *to, const struct verve_pdu *pdu)
{
	u32 hdr = verve_opcodes[pdu->opcode].hdr_len;
	u32 len = hdr + pdu->length + verve_wire_pad(pdu->length);
	struct packet *packet = malloc(sizeof(*packet) + len);

	*packet = (struct packet) {
		.to = to,
		.request = NO_REQUEST,
		.len = len,
	};
	/* Some packets begin like management datagrams. */
	memset(packet->bytes, pdu->psn % 2 ? IB_MGMT_BASE_VERSION : 0x5a, len);
	verve_wire_build(packet->bytes, pdu, to->qp.qpn);
	return packet;
}

void network_inject(struct node *to, const struct verve_pdu *pdu)
{
	arrive(forge(to, pdu));
}

void network_strike(struct node *to, const struct verve_pdu *pdu)
{
	struct packet *packet = forge(to, pdu);
	struct verve_arrival *arrival = &deliver(to, packet)->arrival;

	tell(to, packet, "is told");
	free(packet);
	arrival->node.next = NULL;
	verve_engine_receive(&to->qp, &arrival->node, &arrival->node);
}

void network_drop_all(struct node *node)
{
	struct packet *packet;

	while ((packet = node->ring)) {
		node->ring = packet->next;
		free(packet);
	}
}

/* Is the packet the next of the planned losses? */
static bool is_chosen(struct node *node, const struct packet *packet)
{
	const struct setting *set = &model.set;
	struct verve_pdu pdu;
	u32 qpn;

	if (node->index || node->losses == set->losses)
		return false;
	verve_wire_parse(packet->bytes, packet->len, packet->len, &pdu, &qpn);
	if (pdu.psn != verve_psn_add(node->first_psn, set->lost[node->losses]))
		return false;
	node->losses++;
	return true;
}

/* Is the packet an answer that has been given before? */
static bool is_repeated(struct node *node, const struct packet *packet)
{
	struct verve_pdu pdu;
	u32 qpn;

	verve_wire_parse(packet->bytes, packet->len, packet->len, &pdu, &qpn);
	if (!(verve_opcode_flags(pdu.opcode) & VERVE_OP_RESPONSE))
		return false;
	if (verve_psn_before(pdu.psn, node->answered))
		return true;
	node->answered = verve_psn_add(pdu.psn, 1);
	return false;
}

static bool is_lost(struct node *node, const struct packet *packet,
		    const struct weather *weather)
{
	u64 now = world_now();

	if (is_chosen(node, packet) ||
	    (model.set.mute && is_repeated(node, packet)))
		return true;
	if (now >= weather->out_from && now < weather->out_until)
		return true;
	if (permille(node->in_burst ? weather->burst_ends :
				      weather->burst_begins))
		node->in_burst = !node->in_burst;
	if (node->in_burst && permille(600))
		return true;
	return permille(weather->loss);
}

static void carry(struct packet *packet, const struct weather *weather,
		  u64 wait)
{
	u64 ns = wait + weather->delay;

	if (weather->jitter && one_in(3)) {
		ns += dice(weather->jitter);
		network_harm();
	}
	if (permille(weather->overtaken)) {
		ns += dice(50 * US + 20 * weather->delay);
		model.overtaken++;
		network_harm();
	}
	world_after_owned(ns, arrive, packet);
}

/* Return: ns until the packet has left the link, or 0 when the queue is full. */
static u64 queue_up(struct node *node, const struct weather *weather, u32 len)
{
	u64 now = world_now();

	node->link_free = max(node->link_free, now);
	if (weather->queue && node->link_free - now > weather->queue)
		return 0;
	node->link_free += len * weather->ns_per_byte + 1;
	return node->link_free - now;
}

static void transmit(struct node *node, struct packet *packet)
{
	const struct weather *weather = &model.set.weather[node->index];
	u64 wait = queue_up(node, weather, packet->len);
	struct packet *copy;

	node->sent++;
	if (!wait || is_lost(node, packet, weather)) {
		tell(node, packet, "loses");
		model.lost++;
		network_harm();
		free(packet);
		return;
	}
	packet->is_marked = permille(weather->marks);
	tell(node, packet, packet->is_marked ? "sends marked" : "sends");
	if (permille(weather->repeat)) {
		copy = malloc(sizeof(*copy) + packet->len);
		memcpy(copy, packet, sizeof(*copy) + packet->len);
		if (packet->request != NO_REQUEST)
			node->oracle.copies[packet->request]++;
		model.repeated++;
		network_harm();
		carry(copy, weather, wait);
	}
	carry(packet, weather, wait);
}

/* UC and UD: label a packet with its request. */
static void label(const struct node *node, const struct verve_pdu *pdu,
		  struct packet *packet)
{
	const struct verve_sq *sq = &node->qp.sq;
	const struct verve_swqe *wqe = verve_sq_at(sq, sq->next);

	packet->request = NO_REQUEST;
	if (plan_is_reliable() ||
	    verve_opcode_flags(pdu->opcode) & VERVE_OP_CNP)
		return;
	packet->request = wqe->wr_id;
	packet->place = verve_psn_diff(pdu->psn, wqe->first_psn);
}

static int add_packet(struct node *node, const struct verve_burst *burst,
		      const struct verve_pdu *pdu)
{
	u32 hdr = verve_opcodes[pdu->opcode].hdr_len;
	u32 len = hdr + pdu->length + verve_wire_pad(pdu->length);
	struct packet *packet = calloc(1, sizeof(*packet) + len);
	int err = 0;

	packet->to = peer_of(node);
	packet->len = len;
	label(node, pdu, packet);
	verve_wire_build(packet->bytes, pdu, burst->qpn);
	if (pdu->length)
		err = verve_iter_read(burst->payload, packet->bytes + hdr,
				      pdu->length);
	if (err) {
		free(packet);
		return err;
	}
	if (packet->request != NO_REQUEST)
		node->oracle.sent[packet->request]++;
	transmit(node, packet);
	return 0;
}

bool verve_bypass_is_near(const struct verve_dev *dev, struct verve_flow *flow)
{
	(void)dev;
	(void)flow;
	return model.set.bypass && world_now() / model.set.bypass % 2;
}

bool verve_bypass_leads(const struct verve_dev *dev, struct verve_flow *flow,
			const struct verve_dev *to, u32 mtu)
{
	(void)flow;
	(void)mtu;
	return dev != to;
}

bool verve_bypass_returns(const struct verve_flow *flow,
			  const struct verve_dev *dev, struct verve_flow *back,
			  const struct verve_dev *to, u32 mtu)
{
	(void)flow;
	(void)dev;
	(void)back;
	(void)to;
	(void)mtu;
	return !one_in(8);
}

static struct node *sender(const struct verve_train *train)
{
	return &model.node[train->qpn == model.node[1].qp.qpn];
}

int verve_train_add(struct verve_train *train, struct verve_flow *flow,
		    struct verve_burst *burst)
{
	struct node *node = sender(train);
	u32 i, left = burst->length;
	struct verve_pdu pdu;
	int err;

	(void)flow;
	expect(burst->packets, "an empty burst");
	expect(plan_is_reliable() || burst->kind != VERVE_SEQ_RC_ACK,
	       "an ACK of UC or UD");
	model.sent_at = world_now();
	if (train->peer)
		return verve_loop_send(train, burst);
	for (i = 0; i < burst->packets; i++, left -= pdu.length) {
		verve_burst_pdu(burst, i, 1, min(left, burst->mtu), &pdu);
		/* Any peer may set the bit, and must not be answered (9.8.1). */
		if (!plan_is_reliable())
			pdu.flags |= VERVE_PDU_ACKREQ;
		err = add_packet(node, burst, &pdu);
		if (err == -EAGAIN && i) {
			burst->packets = i;
			burst->length = i * burst->mtu;
			burst->ends = false;
			return 0;
		}
		if (err)
			return err;
	}
	expect(!left, "%u bytes of a burst are in no packet", left);
	return 0;
}

void verve_train_flush(struct verve_train *train)
{
	(void)train;
}

u32 verve_arrival_packets(const struct verve_arrival *arrival)
{
	return arrival->pdu.flags & VERVE_PDU_LOOP ?
	       to_handover(arrival)->packets : 1;
}

void verve_arrival_free(struct verve_arrival *arrival)
{
	struct delivery *delivery = to_delivery(arrival);

	expect(!(arrival->pdu.flags & VERVE_PDU_LOOP), "a handover is freed");
	expect(model.arrivals, "freed twice");
	model.arrivals--;
	free(delivery->payload);
	free(delivery);
}

int verve_arrival_copy(const struct verve_arrival *arrival, u32 offset,
		       struct verve_iter *to, u32 len)
{
	if (arrival->pdu.flags & VERVE_PDU_LOOP)
		return verve_loop_copy(to_handover(arrival), to, len);
	return verve_iter_write(to, to_delivery(arrival)->payload + offset, len);
}

bool verve_arrival_repeats(const struct verve_arrival *arrival,
			   const struct verve_arrival *other)
{
	return verve_pdu_repeats(&arrival->pdu, &other->pdu) &&
	       !memcmp(to_delivery(arrival)->payload,
		       to_delivery(other)->payload, arrival->pdu.length);
}

bool verve_arrival_matches(const struct verve_arrival *arrival,
			   const struct verve_av *av)
{
	(void)arrival;
	(void)av;
	return true;
}

bool verve_neigh_limit_admits(const struct verve_dev *dev,
			      const struct verve_arrival *arrival)
{
	(void)dev;
	return arrival->pdu.psn % 8;
}

bool verve_arrival_is_multicast(const struct verve_arrival *arrival)
{
	return to_delivery(arrival)->to_group;
}

bool verve_arrival_grh(const struct verve_arrival *arrival, u8 grh[40])
{
	u32 i;

	(void)arrival;
	for (i = 0; i < GRH; i++)
		grh[i] = grh_byte(i);
	return false;
}

void verve_flow_reset(struct verve_flow *flow)
{
	(void)flow;
}

u16 verve_arrival_vlan(struct verve_dev *dev,
		       const struct verve_arrival *arrival)
{
	(void)dev;
	(void)arrival;
	return VERVE_NO_VLAN;
}

void verve_hw_roce_suspect(struct verve_dev *dev)
{
	(void)dev;
}

bool verve_flow_distrust(struct verve_flow *flow)
{
	(void)flow;
	return false;
}

/* The model has no NIC. */
void verve_uso_arrived(struct verve_dev *dev, struct verve_flow *flow)
{
	(void)dev;
	(void)flow;
}

bool verve_uso_lost(struct verve_dev *dev, struct verve_flow *flow)
{
	(void)dev;
	(void)flow;
	return false;
}

void verve_uso_cancel(struct verve_dev *dev, struct verve_flow *flow)
{
	(void)dev;
	(void)flow;
}

bool verve_nic_has_placed(const struct verve_qp *qp)
{
	(void)qp;
	return false;
}

bool verve_nic_is_stopped(const struct verve_qp *qp)
{
	(void)qp;
	return true;
}

bool verve_nic_is_placing(const struct verve_qp *qp)
{
	(void)qp;
	return false;
}

u32 verve_nic_rx_after(const struct verve_qp *qp)
{
	(void)qp;
	return 0;
}

bool verve_nic_is_passed(struct verve_qp *qp, u32 psn)
{
	(void)qp;
	(void)psn;
	return true;
}

bool verve_nic_start(struct verve_qp *qp)
{
	(void)qp;
	return false;
}

void verve_nic_stop(struct verve_qp *qp)
{
	(void)qp;
}

void verve_rc_offload_round(struct verve_qp *qp, bool strayed)
{
	(void)qp;
	(void)strayed;
}

bool verve_rc_offload_is_due(const struct verve_qp *qp)
{
	(void)qp;
	return false;
}

bool verve_rc_offload_take_held(struct verve_qp *qp, struct verve_recv *recv)
{
	(void)qp;
	(void)recv;
	return false;
}

void verve_rc_offload_round_end(struct verve_qp *qp)
{
	(void)qp;
}

bool verve_arrival_is_in_place(const struct verve_arrival *arrival,
			       const struct verve_iter *to, u32 len)
{
	(void)arrival;
	(void)to;
	(void)len;
	return false;
}

/* A go-back-N peer: the linker redirects the transport's calls to this wrapper. */
enum verve_ooo_verdict
__real_verve_ooo_keep(struct verve_ooo *ooo, struct verve_arrival *arrival);
enum verve_ooo_verdict
__wrap_verve_ooo_keep(struct verve_ooo *ooo, struct verve_arrival *arrival);

enum verve_ooo_verdict
__wrap_verve_ooo_keep(struct verve_ooo *ooo, struct verve_arrival *arrival)
{
	u32 i;

	for (i = 0; i < 2; i++)
		if (model.node[i].go_back_n &&
		    ooo == &model.node[i].qp.resp.ooo)
			return VERVE_OOO_REFUSED;
	return __real_verve_ooo_keep(ooo, arrival);
}
