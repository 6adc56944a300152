/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every limit that Verve advertises or works by, with its unit and its reason.
 */
#ifndef VERVE_LIMITS_H
#define VERVE_LIMITS_H

enum verve_limits {
	/* Queues. A ring of n slots holds n - 1 entries (see queue/ring.h). */
	VERVE_MAX_QP		= 1 << 17,
	VERVE_MAX_CQ		= 1 << 17,
	VERVE_MAX_SRQ		= 1 << 16,
	VERVE_MAX_QP_WR		= (1 << 15) - 1,
	VERVE_MAX_SRQ_WR	= (1 << 18) - 1,
	VERVE_MAX_CQE		= (1 << 20) - 1,
	/* Moderation of a CQ's events: completions, and microseconds. */
	VERVE_MAX_CQ_COUNT	= (1 << 16) - 1,
	VERVE_MAX_CQ_PERIOD	= (1 << 16) - 1,

	/* Scatter/gather entries of one work request; what librxe expects. */
	VERVE_MAX_SGE		= 32,
	/* What the kernel's users are told of READs: NFS takes more than 16 for
	 * the depth of its memory registrations.
	 */
	VERVE_MAX_SGE_RD	= 16,
	/* Bytes; fits where a full SGE list would be. */
	VERVE_MAX_INLINE	= VERVE_MAX_SGE * 16,

	VERVE_MAX_PD		= 1 << 17,
	VERVE_MAX_AH		= 1 << 17,
	VERVE_MAX_MR		= 1 << 22,
	VERVE_MAX_MW		= 1 << 20,
	/* Pieces of memory of one fast registration. */
	VERVE_MAX_FAST_PAGES	= 1024,

	/* Groups of a device; QPs of a group, each of which gets every packet
	 * in one go; QPs of all groups.
	 */
	VERVE_MAX_MCAST_GRP	= 1 << 13,
	VERVE_MAX_MCAST_QP_ATTACH = 64,
	VERVE_MAX_TOTAL_MCAST_QP_ATTACH = 1 << 16,

	/* READs and atomics that a QP may have under way, either side. */
	VERVE_MAX_RD_ATOMIC	= 128,

	VERVE_GID_TABLE_LEN	= 1024,
	VERVE_PKEY_TABLE_LEN	= 1,

	/* 4.096 us * 2^15 = 134 ms */
	VERVE_LOCAL_CA_ACK_DELAY = 15,

	/* PSNs a requester leaves unacknowledged. */
	VERVE_MAX_UNACKED	= 256,
	/* Responses that one READ request asks for, of a longer READ. */
	VERVE_READ_PIECE	= VERVE_MAX_UNACKED / 4,
	/* Packets between two requested acknowledgements. */
	VERVE_ACKREQ_INTERVAL	= 64,
	/* Packets that wait in a QP while memory for them is paged in. */
	VERVE_MAX_HELD		= VERVE_MAX_UNACKED,
	/* In all QPs, beyond the first few of each. */
	VERVE_MIN_HELD		= 8,
	VERVE_MAX_HELD_TOTAL	= 1 << 14,
	/* Bytes of memory that packets in a QP's inbox take, until its engine takes
	 * them in, and what each counts as at least, and at most. Whose PSN is
	 * further away than that from those under way is not the peer's, if there is
	 * too much.
	 */
	VERVE_MAX_BACKLOG	= 8 << 20,
	VERVE_BACKLOG_LEAST	= 8 << 10,
	VERVE_BACKLOG_MOST	= 64 << 10,
	VERVE_NEAR_PSNS		= 1 << 16,
	/* Page faults that are under way: of a process, and of all. */
	VERVE_MAX_FAULTS	= 8,
	VERVE_MAX_FAULTS_TOTAL	= 512,
	/* Requests so far ahead of their turn, or further, are not kept until then: a
	 * peer that would gain by it, Verve, is never there.
	 */
	VERVE_MAX_AHEAD		= VERVE_MAX_UNACKED,
	/* Packets that came out of order: of a QP, either way; of all, beside
	 * the first few of each, which nobody else can take.
	 */
	VERVE_MAX_OOO		= VERVE_MAX_UNACKED,
	VERVE_MAX_OOO_TOTAL	= 1 << 14,
	VERVE_MIN_OOO		= 16,
	/* ms: they wait for as long, and for twice as long at most. */
	VERVE_OOO_MS		= 50,
	/* Datagrams to QP 1 from hosts that are no known neighbours: those let
	 * through in so many seconds, and hosts looked for in one.
	 */
	VERVE_MAX_UNKNOWN_NEIGH	= 3,
	VERVE_UNKNOWN_NEIGH_SECONDS = 4,
	VERVE_MAX_NEIGH_PROBES	= 64,
	/* What one round of an engine may send before others run. A request that
	 * is flushed, or a receive, costs as much as a packet.
	 */
	VERVE_BUDGET_PACKETS	= 64,
	/* Looks at a send queue in one round, whatever comes of them; to send one
	 * request takes two.
	 */
	VERVE_BUDGET_STEPS	= 4 * VERVE_BUDGET_PACKETS,
	/* Requests that are begun and have not completed. What is sent is bounded by
	 * its PSNs; local requests, which have none, wait at so many.
	 */
	VERVE_MAX_BEGUN		= 2 * VERVE_MAX_UNACKED,
};

/* Bytes; the IBTA's limit of a message (C9-2). */
#define VERVE_MAX_MSG		(1U << 31)

/* RoCEv2 */
#define VERVE_UDP_PORT		4791
#define VERVE_DEFAULT_PKEY	0xffff

#endif
