/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two QPs and what is between them: the real transport, over a model of memory,
 * queues and the network.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "../../drivers/infiniband/sw/verve/transport/transport.h"
#include "world.h"

enum {
	MOST_REQUESTS	= 64,
	GUARD		= 16,	/* bytes between two pieces of memory */
	ROM_BYTES	= 16384, /* of each region, that nobody changes */
	HOT_BYTES	= 4096,	/* that is written again and again */
	NUM_COUNTERS	= 4,	/* for atomics */
	GRH		= 40,	/* bytes before a datagram */
	GOOD_AH		= 1,	/* number of the only address handle */
	GOOD_QKEY	= 0x1234567,
	OWN_QKEY	= 1U << 31,	/* stands for the QP's own */
};

#define NO_PLACE	U32_MAX

/**
 * struct weather - what a direction of the network does to packets
 * @loss: lost, permille
 * @burst_begins: permille of packets that begin a time of heavy loss
 * @burst_ends: permille that end it
 * @repeat: come twice, permille
 * @overtaken: held back for long, permille
 * @marks: told to have met congestion, permille
 * @delay: ns, of each
 * @jitter: ns, of some
 * @ns_per_byte: of the link
 * @queue: ns of packets that may wait for the link
 * @out_from: ns: nothing comes through from then on
 * @out_until: ns
 */
struct weather {
	u32 loss, burst_begins, burst_ends;
	u32 repeat, overtaken, marks;
	u32 delay, jitter;
	u32 ns_per_byte, queue;
	u64 out_from, out_until;
};

/**
 * struct setting - what a run is like
 * @type: RC, UC or UD
 * @requests: of each node, at most
 * @longest: bytes of a message
 * @mtu: bytes of payload
 * @loopback: the QPs are of one device
 * @paging: pages of memory come and go
 * @blind: somebody sends packets who knows no PSN
 * @coalesce: ns that packets are collected for at most
 * @block: bytes of memory that are contiguous
 * @weather: of what each node sends
 * @losses: where it is not left to chance which packets are lost: how many of @lost
 * @lost: node 0's packets, counted from its first PSN on, that are lost once each
 */
struct setting {
	enum ib_qp_type type;
	u32 requests;
	u32 longest;
	u32 mtu;
	bool loopback;
	bool paging;
	bool blind;
	u32 coalesce;
	u32 block;
	struct weather weather[2];
	u32 losses;
	u32 lost[2];
};

/**
 * struct request - a send request of the plan
 * @op: enum ib_wr_opcode
 * @flags: enum ib_send_flags
 * @length: bytes
 * @local: where its own memory is in the region
 * @remote: where the peer's is
 * @imm: immediate data
 * @key: to be invalidated, or bound
 * @operand: compare or add
 * @swap: atomic
 * @found: atomic: what it must find
 * @source: READ: request whose data it finds; -1: what is always there
 * @bad_lkey: names memory that there is not
 * @bad_rkey: of the peer's
 * @gone_local: its own memory is there no more when a page of it is asked for
 * @gone_remote: nor is the peer's
 * @gone_receive: nor is that of the receive which it takes
 * @ah: UD: number of the address handle
 * @qkey: UD: what the packet says
 * @names_group: UD: it names the QPs of a group
 * @to_group: UD: it is sent to a group's address
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

/* A receive: on RC the peer's request that takes it, and its buffer */
struct receive {
	u32 request;
	u32 local;
	u32 length;
	bool gone;
};

/* Memory of a node, and what it must be */
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
 * struct oracle - UC and UD: what a user must be told
 * @under_way: the peer's request that the last packet was of
 * @next: which packet of it must come next; NO_PLACE: none can
 * @due: requests of the peer that have come whole, in their order
 * @num_due: of those
 * @num_told: of those, completions seen
 * @copies: by request: packets of it that the network has repeated
 * @times: by request: how often it was delivered
 * @sent: by request: packets of it that were sent
 */
struct oracle {
	u32 under_way, next;
	u32 due[3 * MOST_REQUESTS];
	u32 num_due, num_told;
	u32 copies[MOST_REQUESTS], times[MOST_REQUESTS], sent[MOST_REQUESTS];
};

/**
 * struct node - a QP, its user, and what the user knows
 * @index: 0 or 1
 * @dev: whose QP it is
 * @pd: of the QP
 * @ibqp: the core's part of @qp
 * @qp: the driver's QP
 * @scq: CQ of requests
 * @rcq: CQ of receives
 * @srq: used if the setting says so
 * @stats: counters of this end
 * @region: its memory
 * @plan: requests
 * @receives: receives
 * @num_requests: in @plan
 * @num_receives: in @receives
 * @go_back_n: keeps nothing that comes out of order
 * @late_receives: posted while requests come
 * @posted: requests
 * @done: requests known to be done
 * @recv_posted: receives
 * @recv_done: receives completed
 * @failed: the first status of a completion that was no success, or 0
 * @completions_left: that a CQ will take; the next one overruns it
 * @has_flushed: some requests have failed
 * @recv_failed: a receive has failed by its own memory
 * @flushed_recv: a receive was flushed
 * @inv_seen: keys that the peer has invalidated
 * @local_seen: local requests executed
 * @num_inv: keys that the peer's requests will invalidate
 * @num_local: local requests in @plan
 * @counters: what the memory for atomics must be in the end
 * @oracle: what UC and UD must deliver
 * @ring: packets that have come in, until they are polled
 * @ring_end: where the next one is put
 * @polling: a poll of @ring is due
 * @link_free: when what was sent will have left
 * @in_burst: of losses
 * @first_psn: of its first packet
 * @losses: of those that are not left to chance, seen to
 * @progress_at: when una last moved
 * @naks_at: completion_naks() then
 * @last_una: oldest PSN outstanding when it was last looked at
 * @sent: packets sent
 * @holds_lock: somebody has the QP's lock for a while
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
	u64 sent_at;	/* when anything was, last */
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

/* plan.c: what is to be sent and received, drawn before the run */
void plan_setting(void);
void plan_make(void);
/* Byte @i of the payload of @node's request @r */
u8 plan_byte(const struct node *node, u32 r, u32 i);
bool plan_takes_receive(const struct request *request);
bool plan_is_local(const struct request *request);
/* Must the peer refuse it, and fail? */
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
/* The same, of pages of its own */
u32 region_alloc_pages(struct region *region, u32 len);
void region_build(struct node *node);
void region_free(struct region *region);
/* The user fills, and means it. */
void region_fill(struct region *region, u32 at, const void *from, u32 len);
void region_scribble(struct region *region, u32 at, u32 len);
/* Whatever is there now may be there. */
void region_forgive(struct region *region, u32 at, u32 len);
void memory_pages_go(void *unused);

/* network.c */
/* Byte @i of what stands before a datagram */
static inline u8 grh_byte(u32 i)
{
	return 0xc0 + i;
}

/* Something happened that may cost a retry. */
void network_harm(void);
void network_drop_all(struct node *node);
/* A packet that nobody has sent; its payload means nothing. */
void network_inject(struct node *to, const struct verve_pdu *pdu);

/* The same, and nothing is taken in before it */
void network_strike(struct node *to, const struct verve_pdu *pdu);

/* blind.c: somebody who pretends to be the peer */
void blind_start(void);

/* oracle.c: what must come of the packets of UC and UD */
/* Packet @place of the peer's request @r has come to @node. */
void oracle_packet(struct node *node, u32 r, u32 place,
		   const struct verve_pdu *pdu, const u8 *payload);
/* Has all that came been taken in, so that no message can be missing? */
bool oracle_knows(const struct node *node);
/* The request whose message the next completion must tell of */
u32 oracle_next(struct node *node);
/* Nothing more comes. */
void oracle_rest(const struct node *node);

/* completion.c: what the user of a QP is told */
void check_event(struct ib_event *event, void *context);
/* A key is invalidated or bound. Return: 0, or -EINVAL: it may not be. */
int check_key(struct node *node, u32 key, bool is_remote);
/* Does request @r complete with a completion? */
bool completion_is_due(const struct node *node, u32 r);
/* Request @r is done: its results are there, and its memory is the user's. */
void completion_finish(struct node *node, u32 r);
/* A CQ was full: what became of later requests, the user is not told. */
static inline bool is_overrun(const struct node *node)
{
	return !node->completions_left;
}

/* How often something was missing that the peer had sent, or was sent */
u64 completion_naks(const struct node *node);
/*
 * A node that must refuse the peer's last request fails, and so does one whose own
 * receive fails: its requests are told so by nothing but being flushed.
 */
void completion_note_refusal(struct node *node);

/* go_back.c: what a loss costs where the peer keeps nothing that comes out of order */
void go_back_plan(void);
/* The nodes are set up: what chance has made of them must not matter. */
void go_back_set_up(void);
void go_back_step(void);
void go_back_check(void);

/* check.c: both engines. After each event */
void check_step(void);
/* At the end, when nothing is left to happen, or one has failed */
void check_rest(void);
void check_failed(void);

#endif
