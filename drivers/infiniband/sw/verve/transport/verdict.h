/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decisions about received packets: pure functions of their arguments, without
 * locks and clocks
 */
#ifndef VERVE_TRANSPORT_VERDICT_H
#define VERVE_TRANSPORT_VERDICT_H

#include <linux/types.h>
#include "../wire/headers.h"

/* Class of a request's PSN (IBTA vol. 1, 9.7.4.1.1) */
enum verve_psn_class {
	VERVE_PSN_EXPECTED,
	VERVE_PSN_DUPLICATE,
	VERVE_PSN_OOO,
	VERVE_PSN_FAR,	/* ahead by VERVE_MAX_AHEAD or more */
};

enum verve_psn_class verve_verdict_psn(u32 psn, u32 expected);

/* Is a duplicate recent enough to be a repeat of an unacknowledged request? */
bool verve_verdict_is_recent(u32 psn, u32 expected);

/**
 * enum verve_request_verdict - result of the request whose turn it is
 * @VERVE_REQUEST_DONE: executed
 * @VERVE_REQUEST_LATER: treated as lost: memory must be paged in, or a key that
 *	the request invalidates is still in use
 * @VERVE_REQUEST_NO_RECV: no receive is posted for the request
 * @VERVE_REQUEST_TOO_LONG: longer than its receive
 * @VERVE_REQUEST_INVALID: violates the protocol
 * @VERVE_REQUEST_NO_ACCESS: access to the remote memory is not allowed
 * @VERVE_REQUEST_BAD_KEY: invalidation of the key is not allowed
 * @VERVE_REQUEST_BAD_RECV: the receive is malformed
 * @VERVE_REQUEST_BAD_MEMORY: access to the memory of the receive is not allowed
 */
enum verve_request_verdict {
	VERVE_REQUEST_DONE,
	VERVE_REQUEST_LATER,
	VERVE_REQUEST_NO_RECV,
	VERVE_REQUEST_TOO_LONG,
	VERVE_REQUEST_INVALID,
	VERVE_REQUEST_NO_ACCESS,
	VERVE_REQUEST_BAD_KEY,
	VERVE_REQUEST_BAD_RECV,
	VERVE_REQUEST_BAD_MEMORY,
};

/**
 * struct verve_expect - state of the responder before a request
 * @op: VERVE_OP_SEND or VERVE_OP_WRITE while a message is in progress, otherwise
 *	0
 * @mtu: path MTU in bytes
 * @packets: number of packets that the request stands for: 1 from the network
 * @left: WRITE in progress: bytes still to come
 * @access: IB_ACCESS_REMOTE_* and IB_ACCESS_FLUSH_* that the QP allows
 * @max_read: number of READs, atomics and so on that the QP accepts; 0 refuses
 *	them
 */
struct verve_expect {
	u32 op;
	u32 mtu;
	u32 packets;
	u32 left;
	int access;
	u32 max_read;
};

/**
 * verve_verdict_request() - check whether a request may be executed
 * @expect: state of the responder
 * @pdu: request with the expected PSN
 *
 * Checks the opcode sequence (9.7.4.1.2), the rights that the QP grants
 * (9.7.4.1.3), lengths (9.7.4.1.6), and the fields of FLUSH and ATOMIC WRITE
 * (Annex A19). Does not check keys, alignment and receive buffers. Serves RC and
 * UC. The caller has checked that the opcode belongs to the service.
 *
 * Return: VERVE_REQUEST_DONE if the request may be executed, or
 * VERVE_REQUEST_INVALID.
 */
enum verve_request_verdict
verve_verdict_request(const struct verve_expect *expect,
		      const struct verve_pdu *pdu);

/*
 * IB_ACCESS_FLUSH_* that the QP and region must grant for a FLUSH with these bits
 */
int verve_verdict_flush_access(u32 feth);

/**
 * struct verve_awaited - the READ or atomic response that is due
 * @starts: first packet of the request's response
 * @ends: last packet of the request's response
 * @again: packets of the response were requested again, perhaps with other
 *	boundaries
 */
struct verve_awaited {
	bool starts;
	bool ends;
	bool again;
};

enum verve_response_verdict {
	VERVE_RESPONSE_GOOD,
	VERVE_RESPONSE_STRAY,	/* may be valid, but answers another request */
	VERVE_RESPONSE_BAD,
};

/**
 * verve_verdict_response() - check whether a response is the one that is due
 * @awaited: response that is due
 * @pdu: response to a READ or an atomic
 *
 * Checks that the syndrome is an ACK's, and that First, Middle and Last are in
 * their places (9.9.2). A response that was requested again may begin and end in
 * the middle. rdma_rxe begins such a response with a Middle.
 *
 * Context: any. Pure.
 * Return: whether the response is the one that is due.
 */
enum verve_response_verdict
verve_verdict_response(const struct verve_awaited *awaited,
		       const struct verve_pdu *pdu);

/* Class of an ACK's PSN for a requester (9.7.5.1.1) */
enum verve_ack_class {
	VERVE_ACK_VALID,	/* PSN is outstanding */
	VERVE_ACK_STALE,	/* PSN was acknowledged before */
	VERVE_ACK_GHOST,	/* PSN was never sent */
};

/**
 * verve_verdict_ack() - classify the PSN of an ACK
 * @psn: PSN of the ACK
 * @una: oldest outstanding PSN
 * @max_psn: one beyond the newest PSN sent
 *
 * Context: any. Pure.
 * Return: class of the PSN.
 */
enum verve_ack_class verve_verdict_ack(u32 psn, u32 una, u32 max_psn);

/* Map a NAK code other than sequence error to enum ib_wc_status (9.7.5.2.8). */
int verve_verdict_nak_status(u8 syndrome);

/* Nanoseconds of an RNR NAK timer code, 9.7.5.2.8 (table 45). */
u64 verve_rnr_timeout_ns(u8 code);
/* Nanoseconds of a local ACK timeout code, 9.7.6.1.3; 0 for none. */
u64 verve_ack_timeout_ns(u8 code);

#endif
