// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of offloaded QPs, and the peer's answers
 */
#include <linux/ktime.h>
#include <linux/unaligned.h>
#include "rc.h"

enum {
	RETH		= 16,
	IMM		= 4,
	/* Packets between two with AckReq, a power of two */
	INTERVAL	= 16,
	/* Timeout in ns until all is sent again the first time, and number of retries */
	PATIENCE_NS	= 5 * 1000 * 1000,
	MOST_TRIES	= 7,
};

static struct roce_offload_rc_wr *wr_at(struct rc *rc, u32 i)
{
	return &rc->wrs[i % RC_WRS];
}

static bool is_read(const struct roce_offload_rc_wr *wr)
{
	return wr->opcode == IB_WR_RDMA_READ;
}

static bool is_write(const struct roce_offload_rc_wr *wr)
{
	return wr->opcode == IB_WR_RDMA_WRITE ||
	       wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static bool has_imm(const struct roce_offload_rc_wr *wr)
{
	return wr->opcode == IB_WR_SEND_WITH_IMM ||
	       wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

/* The request of a PSN, or NULL */
static struct roce_offload_rc_wr *find_wr(struct rc *rc, u32 psn)
{
	u32 i;

	for (i = rc->tail; i != rc->head; i++) {
		struct roce_offload_rc_wr *wr = wr_at(rc, i);

		if (!psn_before(psn, wr->first_psn) &&
		    !psn_before(wr->last_psn, psn))
			return wr;
	}
	return NULL;
}

/* Number of READs up to the next PSN that are not answered */
static unsigned int count_reads(struct rc *rc)
{
	unsigned int reads = 0;
	u32 i;

	for (i = rc->tail; i != rc->head; i++) {
		struct roce_offload_rc_wr *wr = wr_at(rc, i);

		reads += is_read(wr) && psn_before(wr->first_psn, rc->next);
	}
	return reads;
}

static void sent(struct rc *rc, u32 next)
{
	if (rc->next == rc->state.una)
		rc->since = ktime_get_ns();
	rc->next = next;
	if (psn_before(rc->state.psn, next))
		rc->state.psn = next;
}

static void put_reth(u8 *reth, const struct roce_offload_rc_wr *wr, u32 offset)
{
	put_unaligned_be64(wr->va + offset, reth);
	put_unaligned_be32(wr->rkey, reth + 8);
	put_unaligned_be32(wr->length - offset, reth + 12);
}

static bool send_read(struct rc *rc, const struct roce_offload_rc_wr *wr,
		      u32 offset)
{
	struct sk_buff *frame;
	u8 reth[RETH], *none;

	if (rc->next == wr->first_psn &&
	    count_reads(rc) >= rc->terms.max_rd_atomic)
		return false;
	put_reth(reth, wr, offset);
	frame = rc_frame(rc, RC_READ, rc->next, 0, reth, sizeof(reth), 0,
			 &none);
	if (!frame)
		return false;
	sent(rc, psn_add(wr->last_psn, 1));
	rc_send(rc, frame);
	return true;
}

/* Offset of the opcode: First 0, Middle 1, Last 2 or 3, Only 4 or 5; WRITE: 6 more */
static u8 opcode_of(const struct roce_offload_rc_wr *wr, bool first, bool last)
{
	u8 base = is_write(wr) ? RC_WRITE_FIRST : RC_SEND_FIRST;

	if (!last)
		return base + !first;
	return base + (first ? 4 : 2) + has_imm(wr);
}

static bool read_payload(struct rc *rc, const struct roce_offload_rc_wr *wr,
			 u32 offset, u8 *payload, unsigned int len)
{
	if (!wr->data)
		return nic_memory_copy_sges(rc->nic, rc->qp->pd, wr->sge,
					    wr->num_sge, offset, payload, len,
					    false);
	memcpy(payload, wr->data + offset, len);
	return true;
}

static unsigned int flags_of(struct rc *rc,
			     const struct roce_offload_rc_wr *wr, bool last)
{
	unsigned int flags = 0;

	if (last && wr->is_solicited)
		flags |= RC_SOLICITED;
	if (last || !((rc->next + 1) & (INTERVAL - 1)))
		flags |= RC_ASKS_ACK;
	return flags;
}

static bool send_data(struct rc *rc, const struct roce_offload_rc_wr *wr,
		      u32 offset)
{
	bool first = rc->next == wr->first_psn, last = rc->next == wr->last_psn;
	unsigned int len = min(rc->qp->mtu, wr->length - offset), ext_len = 0;
	u8 opcode = opcode_of(wr, first, last), ext[RETH + IMM], *payload;
	struct sk_buff *frame;

	if (first && is_write(wr)) {
		put_reth(ext, wr, 0);
		ext_len = RETH;
	}
	if (last && has_imm(wr)) {
		memcpy(ext + ext_len, &wr->imm, IMM);
		ext_len += IMM;
	}
	frame = rc_frame(rc, opcode, rc->next, flags_of(rc, wr, last), ext,
			 ext_len, len, &payload);
	if (!frame)
		return false;
	if (!read_payload(rc, wr, offset, payload, len)) {
		kfree_skb(frame);
		rc_ask_return(rc);
		return false;
	}
	sent(rc, psn_add(rc->next, 1));
	rc_send(rc, frame);
	return true;
}

bool rc_send_request(struct rc *rc)
{
	struct roce_offload_rc_wr *wr;
	u32 offset;

	if (psn_diff(rc->next, rc->state.una) >= RC_WINDOW)
		return false;
	wr = find_wr(rc, rc->next);
	if (!wr)
		return false;
	offset = psn_diff(rc->next, wr->first_psn) * rc->qp->mtu;
	return is_read(wr) ? send_read(rc, wr, offset) :
			     send_data(rc, wr, offset);
}

/* ---------------------------------------------------------------- answers */

/* The peer has acknowledged all packets before @psn, which was sent. */
static void acknowledge(struct rc *rc, u32 psn)
{
	if (!psn_before(rc->state.una, psn))
		return;
	rc->state.una = psn;
	if (psn_before(rc->next, psn))
		rc->next = psn;
	while (rc->tail != rc->head &&
	       psn_before(wr_at(rc, rc->tail)->last_psn, psn))
		rc->tail++;
	rc->since = ktime_get_ns();
	rc->tries = 0;
	rc->has_gone_back = false;
	rc->has_news = true;
	nic_work_ends();
	roce_offload_rc_acked(rc->qp, psn);
	nic_work_begins();
}

/* After a loss, send again from the oldest PSN, once until that moves. */
static void go_back(struct rc *rc)
{
	if (rc->has_gone_back)
		return;
	rc->has_gone_back = true;
	rc->next = rc->state.una;
	rc->since = ktime_get_ns();
}

/* All before @psn has arrived. READs count only up to their received responses. */
static void arrived(struct rc *rc, u32 psn)
{
	u32 i;

	if (psn_before(rc->posted, psn))
		psn = rc->posted;
	for (i = rc->tail; i != rc->head; i++) {
		struct roce_offload_rc_wr *wr = wr_at(rc, i);

		if (!psn_before(wr->first_psn, psn))
			break;
		if (!is_read(wr))
			continue;
		acknowledge(rc, wr->first_psn);
		go_back(rc);
		return;
	}
	acknowledge(rc, psn);
}

static void take_ack(struct rc *rc, u32 psn, u8 syndrome)
{
	if (syndrome >> 5 == 0) {
		arrived(rc, psn_add(psn, 1));
	} else if (syndrome == AETH_SEQUENCE) {
		arrived(rc, psn);
		go_back(rc);
	} else {
		rc->state.has_ack = true;
		rc->state.ack_psn = psn;
		rc->state.syndrome = syndrome;
		rc_ask_return(rc);
	}
}

static void take_data(struct rc *rc, const u8 *frame,
		      const struct nic_packet *p)
{
	struct roce_offload_rc_wr *wr;
	u32 offset;

	/* A response out of order reveals that others were lost. */
	if (p->psn != rc->state.una)
		arrived(rc, p->psn);
	wr = find_wr(rc, rc->state.una);
	if (p->psn != rc->state.una || !wr || !is_read(wr))
		return;
	offset = psn_diff(p->psn, wr->first_psn) * rc->qp->mtu;
	if (p->len != min(rc->qp->mtu, wr->length - offset) ||
	    !nic_memory_copy_sges(rc->nic, rc->qp->pd, wr->sge, wr->num_sge,
				  offset, (u8 *)frame + p->payload, p->len,
				  true)) {
		rc_ask_return(rc);
		return;
	}
	acknowledge(rc, psn_add(p->psn, 1));
}

void rc_take_response(struct rc *rc, const u8 *frame,
		      const struct nic_packet *p)
{
	if (psn_before(p->psn, rc->state.una) ||
	    !psn_before(p->psn, rc->state.psn))
		return;
	if (p->opcode == RC_ACK)
		take_ack(rc, p->psn, frame[p->payload - 4]);
	else
		take_data(rc, frame, p);
}

/* After a timeout, send all again, with growing intervals; at last return the QP. */
void rc_look_at_clock(struct rc *rc)
{
	u64 patience = (u64)PATIENCE_NS << rc->tries;

	if (rc->state.una == rc->state.psn ||
	    ktime_get_ns() - rc->since < patience)
		return;
	if (rc->tries++ == MOST_TRIES) {
		rc_ask_return(rc);
		return;
	}
	rc->next = rc->state.una;
	rc->since = ktime_get_ns();
}
