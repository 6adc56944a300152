/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two QPs and all between them: the real transport over a model of memory, queues and
 * network
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "../../drivers/infiniband/sw/verve/transport/transport.h"
#include "world.h"

enum {
	MOST_REQUESTS	= 64,
	GUARD		= 16,	/* bytes between two pieces of memory */
	ROM_BYTES	= 16384, /* of each region, never written */
	HOT_BYTES	= 4096,	/* of each region, written again and again */
	NUM_COUNTERS	= 4,	/* for atomics */
	GRH		= 40,	/* bytes before a datagram */
	GOOD_AH		= 1,	/* number of the only address handle */
	GOOD_QKEY	= 0x1234567,
	OWN_QKEY	= 1U << 31,	/* stands for the QP's own */
};

/* Key of a node's region */
#define REGION_KEY(node)	(0x1000 * ((node) + 1))

#define NO_PLACE	U32_MAX

/**
 * struct weather - behaviour of the network in one direction
 * @loss: lost packets, permille
 * @burst_begins: packets that begin a time of heavy loss, permille
 * @burst_ends: packets that end such a time, permille
 * @repeat: duplicated packets, permille
 * @overtaken: packets that are delayed for long, permille
 * @marks: packets with a congestion mark, permille
 * @delay: ns, of each packet
 * @jitter: ns, of some packets
 * @ns_per_byte: speed of the link
 * @queue: ns of packets that may wait for the link
 * @out_from: begin of an outage in ns
 * @out_until: end of the outage in ns
 */
struct weather {
	u32 loss, burst_begins, burst_ends;
	u32 repeat, overtaken, marks;
	u32 delay, jitter;
	u32 ns_per_byte, queue;
	u64 out_from, out_until;
};

/**
 * struct setting - conditions of a run
 * @type: RC, UC or UD
 * @requests: most requests of each node
 * @longest: bytes of the longest message
 * @mtu: payload bytes of a packet
 * @loopback: both QPs are of one device
 * @bypass: ns for which two devices send packets, and need none, in turn; 0: always
 *	packets
 * @paging: pages of memory come and go
 * @at_once: a node posts all its requests together
 * @cold: the pages of node 0 are absent at first
 * @keys_idle: only the QP uses the keys that it invalidates
 * @mute: no answer comes twice
 * @blind: an attacker sends packets without knowing a PSN
 * @coalesce: ns for which arriving packets are collected, at most
 * @block: bytes of contiguous memory
 * @weather: network from each node
 * @losses: number of packets in @lost, when losses are not random
 * @lost: packets of node 0 that are lost once, counted from its first PSN
 */
struct setting {
	enum ib_qp_type type;
	u32 requests;
	u32 longest;
	u32 mtu;
	bool loopback;
	u32 bypass;
	bool paging;
	bool at_once;
	bool cold;
	bool keys_idle;
	bool mute;
	bool blind;
	u32 coalesce;
	u32 block;
	struct weather weather[2];
	u32 losses;
	u32 lost[24];
};

/**
 * struct request - a send request of the plan
 * @op: enum ib_wr_opcode
 * @flags: enum ib_send_flags
 * @length: bytes
 * @local: offset of the local memory in its region
 * @remote: offset of the remote memory in its region
 * @imm: immediate data
 * @key: key to invalidate or bind
 * @operand: compare or add value
 * @swap: atomic: swap value
 * @found: atomic: expected original value
 * @source: READ: request whose data it reads; -1: data that never change
 * @bad_lkey: the local key does not exist
 * @bad_rkey: the remote key does not exist
 * @gone_local: a page of the local memory is gone when it is needed
 * @gone_remote: a page of the remote memory is gone when it is needed
 * @gone_receive: a page of the receive that it takes is gone when it is needed
 * @ah: UD: number of the address handle
 * @qkey: UD: Q_Key of the packet
 * @names_group: UD: the destination QPN is that of a group
 * @to_group: UD: the address is that of a group
 */
struct request {
	enum ib_wr_opcode op;
	int flags;
	u32 length;
	u32 local;
	u32 remote;
	u32 imm;
	u32 key;
	u64 operand, swap, found;
	int source;
	bool bad_lkey;
	bool bad_rkey;
	bool gone_local;
	bool gone_remote;
	bool gone_receive;
	u32 ah, qkey;
	bool names_group, to_group;
};

/* A receive: its buffer, and on RC the peer's request that takes it */
struct receive {
	u32 request;
	u32 local;
	u32 length;
	bool gone;
};

/* Memory of a node, and its expected content */
struct region {
	struct verve_mr mr;
	struct verve_odp *odp;
	u8 *bytes;
	u8 *image;
	bool *absent;
	bool *gone;
	u32 size;
	u32 room;
	int held;
};

/**
 * struct oracle - expected deliveries on UC and UD
 * @under_way: request of the peer that the last packet belongs to
 * @next: index of its packet that must come next; NO_PLACE: none can
 * @due: requests of the peer that have arrived whole, in order
 * @num_due: number of @due
 * @num_told: completions seen of @due
 * @copies: packets of each request that the network repeated
 * @times: deliveries of each request
 * @sent: packets sent of each request
 */
struct oracle {
	u32 under_way, next;
	u32 due[3 * MOST_REQUESTS];
	u32 num_due, num_told;
	u32 copies[MOST_REQUESTS], times[MOST_REQUESTS], sent[MOST_REQUESTS];
};

/**
 * struct node - a QP, its user, and the user's knowledge
 * @index: 0 or 1
 * @dev: device of the QP
 * @pd: PD of the QP
 * @ibqp: the core's part of @qp
 * @qp: the driver's QP
 * @scq: CQ of requests
 * @rcq: CQ of receives
 * @srq: used if the setting says so
 * @stats: counters of this end
 * @region: memory of the node
 * @plan: requests
 * @receives: receives
 * @num_requests: number of @plan
 * @num_receives: number of @receives
 * @go_back_n: drops all packets out of order
 * @answered: one beyond the PSN of its last answer, or the first PSN to be answered
 * @late_receives: posts receives while requests arrive
 * @posted: requests posted
 * @done: requests known to be done
 * @recv_posted: receives posted
 * @recv_done: receives completed
 * @failed: first error status of a completion, or 0
 * @completions_left: completions that the CQ takes before it is overrun
 * @has_flushed: some requests have failed
 * @recv_failed: a receive has failed by its own memory
 * @flushed_recv: a receive was flushed
 * @inv_seen: keys that the peer has invalidated
 * @local_seen: local requests executed
 * @num_inv: keys that the peer's requests will invalidate
 * @num_local: local requests in @plan
 * @counters: expected final values of the memory for atomics
 * @oracle: expected deliveries on UC and UD
 * @ring: received packets until they are polled
 * @ring_end: slot of the next packet
 * @polling: a poll of @ring is due
 * @link_free: time when all packets sent will have left
 * @in_burst: the network is in a time of heavy loss
 * @first_psn: PSN of the first packet
 * @losses: planned losses that have happened
 * @progress_at: time when una last moved
 * @naks_at: completion_naks() at @progress_at
 * @last_una: oldest outstanding PSN at the last check
 * @sent: packets sent
 * @holds_lock: another context holds the QP's lock for a while
 */
struct node {
	u32 index;
	struct verve_dev *dev;
	struct ib_pd pd;
	struct ib_qp ibqp;
	struct verve_qp qp;
	struct verve_cq scq, rcq;
	struct verve_srq srq;
	struct verve_stats stats;
	struct region region;

	struct request plan[MOST_REQUESTS];
	struct receive receives[MOST_REQUESTS];
	u32 num_requests, num_receives;
	bool go_back_n;
	u32 answered;
	bool late_receives;
	u32 posted, done;
	u32 recv_posted, recv_done;
	enum ib_wc_status failed;
	u32 completions_left;
	bool has_flushed;
	bool recv_failed, flushed_recv;
	u32 inv_seen, local_seen;
	u32 num_inv, num_local;
	u64 counters[NUM_COUNTERS];
	struct oracle oracle;

	struct packet *ring, **ring_end;
	bool polling;
	u64 link_free;
	bool in_burst;
	u32 first_psn;
	u32 losses;
	u64 progress_at, naks_at;
	u32 last_una;
	u64 sent;
	bool holds_lock;
};

struct model {
	struct setting set;
	struct node node[2];
	struct verve_dev dev[2];
	u64 lost, repeated, overtaken, harm;
	u64 arrivals;	/* not freed yet */
	u64 sent_at;	/* time of the last packet sent */
	bool expects_failure;
	u32 disturbances;
	u64 needed;
	bool is_traced;
};

extern struct model model;

static inline struct node *peer_of(const struct node *node)
{
	return &model.node[!node->index];
}

static inline struct node *node_of(const struct verve_qp *qp)
{
	return container_of(qp, struct node, qp);
}

/* plan.c: requests and receives, drawn before the run */
void plan_setting(void);
void plan_make(void);
/* Byte @i of the payload of @node's request @r */
u8 plan_byte(const struct node *node, u32 r, u32 i);
bool plan_takes_receive(const struct request *request);
bool plan_is_local(const struct request *request);
/* Must the peer refuse the request, and fail? */
bool plan_is_refused(const struct request *request);
static inline bool plan_is_reliable(void)
{
	return model.set.type == IB_QPT_RC;
}

/* node.c: a QP and its user */
void node_set_up(struct node *node);
void node_start(struct node *node);
void node_tear_down(struct node *node);

/* memory.c */
u32 region_alloc(struct region *region, u32 len);
/* The same, on pages of its own */
u32 region_alloc_pages(struct region *region, u32 len);
void region_build(struct node *node);
void region_free(struct region *region);
/* The user writes memory, and the expected content follows. */
void region_fill(struct region *region, u32 at, const void *from, u32 len);
void region_scribble(struct region *region, u32 at, u32 len);
/* Accept the present content. */
void region_forgive(struct region *region, u32 at, u32 len);
void memory_pages_go(void *unused);

/* network.c */
/* Byte @i in front of a datagram */
static inline u8 grh_byte(u32 i)
{
	return 0xc0 + i;
}

/* Note an event that may cost a retry. */
void network_harm(void);
void network_drop_all(struct node *node);
/* Inject a packet that no node has sent; its payload is arbitrary. */
void network_inject(struct node *to, const struct verve_pdu *pdu);

/* The same, before all packets that wait */
void network_strike(struct node *to, const struct verve_pdu *pdu);

/* blind.c: an attacker that pretends to be the peer */
void blind_start(void);

/* oracle.c: expected deliveries on UC and UD */
/* Packet @place of the peer's request @r has arrived at @node. */
void oracle_packet(struct node *node, u32 r, u32 place,
		   const struct verve_pdu *pdu, const u8 *payload);
/* Have all packets that arrived been taken in, so that no message can be missing? */
bool oracle_knows(const struct node *node);
/* The request of the message that must complete next */
u32 oracle_next(struct node *node);
/* Check the end of a run, after the last packet. */
void oracle_rest(const struct node *node);

/* completion.c: completions and events of a QP */
void check_event(struct ib_event *event, void *context);
/* Note an invalidated or bound key. Return: 0, or -EINVAL when that is not allowed. */
int check_key(struct node *node, u32 key, bool is_remote);
/* Has request @r a completion? */
bool completion_is_due(const struct node *node, u32 r);
/* Request @r is done: its results are there, and its memory belongs to the user again. */
void completion_finish(struct node *node, u32 r);
/* Has a CQ overrun? The user does not see later completions. */
static inline bool is_overrun(const struct node *node)
{
	return !node->completions_left;
}

/* Number of missing packets that the peer sent, or that were sent to it */
u64 completion_naks(const struct node *node);
/*
 * A node that must refuse the peer's last request fails, and so does one whose own
 * receive fails. Only flushed completions tell the user.
 */
void completion_note_refusal(struct node *node);

/**
 * struct scenario - a run with fixed losses (scenario.c)
 * @name: for its result
 * @plan: makes the plan, in place of chance
 * @set_up: sets up the nodes
 * @check: checks the run at its end
 */
struct scenario {
	const char *name;
	void (*plan)(void);
	void (*set_up)(void);
	void (*check)(void);
};

/* All, and an empty one at the end */
extern const struct scenario scenarios[];

/* Note the times after each event. */
void scenario_step(void);

/* check.c: both engines. After each event */
void check_step(void);
/* At the end: no event is left, or a QP has failed */
void check_rest(void);
void check_failed(void);

#endif
