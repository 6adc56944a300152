/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits that Verve advertises or applies, with unit and reason.
 */
#ifndef VERVE_LIMITS_H
#define VERVE_LIMITS_H

enum verve_limits {
	/* Queues. A ring of 2^n slots holds 2^n - 1 entries (see queue/ring.h). */
	VERVE_MAX_QP		= 1 << 17,
	VERVE_MAX_CQ		= 1 << 17,
	VERVE_MAX_SRQ		= 1 << 16,
	VERVE_MAX_QP_WR		= (1 << 15) - 1,
	VERVE_MAX_SRQ_WR	= (1 << 18) - 1,
	VERVE_MAX_CQE		= (1 << 20) - 1,
	/* Moderation of a CQ's events: completions, microseconds */
	VERVE_MAX_CQ_COUNT	= (1 << 16) - 1,
	VERVE_MAX_CQ_PERIOD	= (1 << 16) - 1,

	/* Scatter/gather entries of a work request, the value that librxe expects */
	VERVE_MAX_SGE		= 32,
	/* The same for READs of kernel users. NFS takes a larger value for the depth
	 * of its memory registrations.
	 */
	VERVE_MAX_SGE_RD	= 16,
	/* Bytes of inline data, which take the place of a full list of segments */
	VERVE_MAX_INLINE	= VERVE_MAX_SGE * 16,

	/* PDs, AHs, CQs, QPs and SRQs of a device, of each kind, beyond these limits, for
	 * kernel users
	 */
	VERVE_KERNEL_RESERVE	= 1 << 12,

	VERVE_MAX_PD		= 1 << 17,
	VERVE_MAX_AH		= 1 << 17,
	VERVE_MAX_MR		= 1 << 22,
	VERVE_MAX_MW		= 1 << 20,
	/* Pages or segments of a fast registration */
	VERVE_MAX_FAST_PAGES	= 1024,

	/* Multicast groups of a device; QPs of a group, to all of which a packet is
	 * delivered at once; QPs of all groups
	 */
	VERVE_MAX_MCAST_GRP	= 1 << 13,
	VERVE_MAX_MCAST_QP_ATTACH = 64,
	VERVE_MAX_TOTAL_MCAST_QP_ATTACH = 1 << 16,

	/* Outstanding READs and atomics of a QP, as requester and as responder */
	VERVE_MAX_RD_ATOMIC	= 128,

	/* GIDs of a device in the initial network namespace, and in any other. In shared
	 * mode, the core copies each device's sysfs into each namespace, and three files
	 * for each GID with it.
	 */
	VERVE_GID_TABLE_LEN	= 256,
	VERVE_GID_TABLE_LEN_NETNS = 14,
	VERVE_PKEY_TABLE_LEN	= 1,

	/* 4.096 us * 2^15 = 134 ms */
	VERVE_LOCAL_CA_ACK_DELAY = 15,

	/* Unacknowledged PSNs of a requester */
	VERVE_MAX_UNACKED	= 256,
	/* Response packets of each READ request into which a long READ is split */
	VERVE_READ_PIECE	= VERVE_MAX_UNACKED / 4,
	/* Packets between two packets with AckReq */
	VERVE_ACKREQ_INTERVAL	= 64,
	/* Packets of a QP that wait for a page fault */
	VERVE_MAX_HELD		= VERVE_MAX_UNACKED,
	/* Those that any QP may hold, and those of all QPs beyond that */
	VERVE_MIN_HELD		= 8,
	VERVE_MAX_HELD_TOTAL	= 1 << 14,
	/* Bytes of memory of packets in a QP's inbox, and the least and most bytes
	 * that a packet counts as. The half full inbox of a connected QP only takes
	 * packets of the peer whose PSN is within VERVE_NEAR_PSNS of the expected one.
	 */
	VERVE_MAX_BACKLOG	= 8 << 20,
	VERVE_BACKLOG_LEAST	= 8 << 10,
	VERVE_BACKLOG_MOST	= 64 << 10,
	VERVE_NEAR_PSNS		= 1 << 16,
	/* Page faults under way, of a process and of all processes */
	VERVE_MAX_FAULTS	= 8,
	VERVE_MAX_FAULTS_TOTAL	= 512,
	/* Distance in PSNs from which on early requests are dropped. Requests of a
	 * Verve peer are never so far ahead, and other peers send them again.
	 */
	VERVE_MAX_AHEAD		= VERVE_MAX_UNACKED,
	/* Packets kept out of order: by a QP in each direction; by all QPs, in
	 * addition to those that are reserved for each QP; and the reserved ones
	 */
	VERVE_MAX_OOO		= VERVE_MAX_UNACKED,
	VERVE_MAX_OOO_TOTAL	= 1 << 14,
	VERVE_MIN_OOO		= 16,
	/* Milliseconds that such packets are kept; at most little more than twice as
	 * long. The missing packet may have to pass a long queue.
	 */
	VERVE_OOO_MS		= 500,
	/* Such intervals in a row that do not count, because others got their turn */
	VERVE_MAX_OOO_EXTENSIONS = 3,
	/* Least milliseconds between two NAKs of early requests that are too far ahead */
	VERVE_FAR_MS		= 50,
	/* Datagrams to QP 1 from hosts that are no known neighbours: number that
	 * passes in an interval; seconds of the interval; and number of such hosts
	 * that are resolved in a second
	 */
	VERVE_MAX_UNKNOWN_NEIGH	= 3,
	VERVE_UNKNOWN_NEIGH_SECONDS = 4,
	VERVE_MAX_NEIGH_PROBES	= 64,
	/* Packets that one round of an engine may send before others run. A flushed
	 * request or receive costs as much as a packet.
	 */
	VERVE_BUDGET_PACKETS	= 64,
	/* Packets of its own requests that a QP may send in a round, at least, however
	 * many responses to its peer the round has sent
	 */
	VERVE_BUDGET_REQUESTS	= (VERVE_BUDGET_PACKETS + 3) / 4,
	/* Steps of the requester in one round, with or without a packet. Sending a
	 * request takes two steps.
	 */
	VERVE_BUDGET_STEPS	= 4 * VERVE_BUDGET_PACKETS,
	/* Requests that have begun and not completed. The window of PSNs limits
	 * requests that send packets. This limits local requests, which have no PSNs.
	 */
	VERVE_MAX_BEGUN		= 2 * VERVE_MAX_UNACKED,
};

/* Bytes of a message, the limit of the IBTA (C9-2) */
#define VERVE_MAX_MSG		(1U << 31)

/* RoCEv2 */
#define VERVE_UDP_PORT		4791
#define VERVE_DEFAULT_PKEY	0xffff

#endif
