/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a packet means for a QP: decisions without effects. Values in, values
 * out; no locks, no memory, no time.
 */
#ifndef VERVE_TRANSPORT_VERDICT_H
#define VERVE_TRANSPORT_VERDICT_H

#include <linux/types.h>
#include "../wire/headers.h"

/* Where a request's PSN lies (IBTA vol. 1, 9.7.4.1.1). */
enum verve_psn_class {
	VERVE_PSN_EXPECTED,
	VERVE_PSN_DUPLICATE,
	VERVE_PSN_OOO,
	VERVE_PSN_FAR,	/* ahead by VERVE_MAX_AHEAD or more */
};

enum verve_psn_class verve_verdict_psn(u32 psn, u32 expected);

/* Of a duplicate: may it be the peer's, which repeats what is not acknowledged? */
bool verve_verdict_is_recent(u32 psn, u32 expected);

/**
 * enum verve_request_verdict - what the responder makes of a request whose turn it is
 * @VERVE_REQUEST_DONE: it has been executed
 * @VERVE_REQUEST_LATER: it counts as lost: memory must be paged in, or a key that it
 *	invalidates is still in use
 * @VERVE_REQUEST_NO_RECV: it needs a receive, and none is posted
 * @VERVE_REQUEST_TOO_LONG: it is longer than its receive
 * @VERVE_REQUEST_INVALID: it breaks a rule of the protocol
 * @VERVE_REQUEST_NO_ACCESS: the memory that it names may not be accessed
 * @VERVE_REQUEST_BAD_KEY: the key that it invalidates may not be invalidated
 * @VERVE_REQUEST_BAD_RECV: its receive is malformed
 * @VERVE_REQUEST_BAD_MEMORY: the memory of its receive may not be accessed
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
 * struct verve_expect - what a responder is in the middle of
 * @op: VERVE_OP_SEND or VERVE_OP_WRITE while a message is under way, else 0
 * @mtu: bytes
 * @packets: that the request stands for: 1 from the network
 * @left: WRITE under way: bytes to come
 * @access: IB_ACCESS_REMOTE_* and IB_ACCESS_FLUSH_* that the QP allows
 * @max_read: READs, atomics and so on that the QP takes; 0 refuses them
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
 * verve_verdict_request() - may this request, in its order, be executed?
 * @expect: state of the responder
 * @pdu: the packet
 *
 * Checks the sequence of opcodes (9.7.4.1.2), what the QP allows (9.7.4.1.3),
 * lengths (9.7.4.1.6), and what FLUSH and ATOMIC WRITE (Annex A19) may say.
 * Keys, alignment and receive buffers are not looked at. Used
 * for RC and UC; the caller has seen that the opcode belongs to the service.
 *
 * Return: VERVE_REQUEST_DONE: nothing is against it; or VERVE_REQUEST_INVALID.
 */
enum verve_request_verdict
verve_verdict_request(const struct verve_expect *expect,
		      const struct verve_pdu *pdu);

/* IB_ACCESS_FLUSH_* that a FLUSH with these bits needs, of QP and region. */
int verve_verdict_flush_access(u32 feth);

/**
 * struct verve_awaited - a packet that a READ, or an atomic, waits for
 * @starts: it is the first that a request asks for
 * @ends: it is the last
 * @again: some were asked for again, perhaps from and up to other places
 */
struct verve_awaited {
	bool starts;
	bool ends;
	bool again;
};

enum verve_response_verdict {
	VERVE_RESPONSE_GOOD,
	VERVE_RESPONSE_STRAY,	/* it may be good, but answers something else */
	VERVE_RESPONSE_BAD,
};

/**
 * verve_verdict_response() - may this response come here?
 * @awaited: what does
 * @pdu: response to a READ or an atomic
 *
 * Checks the syndrome, which has to be an ACK's, and that First, Middle and Last stand in
 * their places (9.9.2). Of what was asked for again, the answer may begin and end in
 * the middle, where rdma_rxe has it begin with a Middle.
 *
 * Context: any. Pure.
 * Return: whether it is the packet that is waited for.
 */
enum verve_response_verdict
verve_verdict_response(const struct verve_awaited *awaited,
		       const struct verve_pdu *pdu);

/* What an acknowledgement's PSN says to a requester (9.7.5.1.1). */
enum verve_ack_class {
	VERVE_ACK_VALID,	/* of something that is outstanding */
	VERVE_ACK_STALE,	/* of what has been acknowledged before */
	VERVE_ACK_GHOST,	/* of what was never sent */
};

/**
 * verve_verdict_ack() - classify an ACK's PSN
 * @psn: the ACK's
 * @una: oldest PSN outstanding
 * @max_psn: one beyond the newest PSN sent
 *
 * Context: any. Pure.
 * Return: whether it acknowledges anything.
 */
enum verve_ack_class verve_verdict_ack(u32 psn, u32 una, u32 max_psn);

/* enum ib_wc_status of a NAK code other than sequence error, 9.7.5.2.8. */
int verve_verdict_nak_status(u8 syndrome);

/* Nanoseconds of an RNR NAK timer code, 9.7.5.2.8 (table 45). */
u64 verve_rnr_timeout_ns(u8 code);
/* Nanoseconds of a local ACK timeout code, 9.7.6.1.3; 0 for none. */
u64 verve_ack_timeout_ns(u8 code);

#endif
