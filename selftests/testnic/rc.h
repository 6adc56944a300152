/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NIC that runs RC QPs: go back n, with the peer's NAKs and a timer; and whatever
 * is not plain sending and receiving, it gives back.
 */
#ifndef VERVE_TESTNIC_RC_H
#define VERVE_TESTNIC_RC_H

#include "nic.h"

enum {
	/* Requests that it takes, and READs of the peer's that it remembers */
	RC_WRS		= 48,
	RC_READS	= 128,
	/* PSNs that it sends before something is acknowledged */
	RC_WINDOW	= 64,
	/* Frames of a QP that it sends before others' turn */
	RC_BUDGET	= 64,
};

/* Opcodes of RC, and what is in the AETH and the BTH */
enum {
	RC_SEND_FIRST	= 0,
	RC_WRITE_FIRST	= 6,
	RC_READ		= 12,
	RC_READ_FIRST	= 13,
	RC_READ_MIDDLE	= 14,
	RC_READ_LAST	= 15,
	RC_READ_ONLY	= 16,
	RC_ACK		= 17,
	RC_SOLICITED	= BIT(0),
	RC_ASKS_ACK	= BIT(1),
	AETH_ACK	= 0x1f,
	AETH_RNR	= 0x20,
	AETH_SEQUENCE	= 0x60,
};

/**
 * struct rc_read - a READ of the peer's
 * @first: PSN of the request
 * @next: of the next response to be sent
 * @last: of the last one
 * @msn: of the request
 * @va: of the response @first
 * @rkey: key
 * @length: bytes
 */
struct rc_read {
	u32 first;
	u32 next;
	u32 last;
	u32 msn;
	u64 va;
	u32 rkey;
	u32 length;
};

/**
 * struct rc - a QP that the NIC has; under nic.placing
 * @nic: NIC
 * @qp: as it was told
 * @terms: as they were told
 * @is_running: it has not given the QP back
 * @has_news: there is something to report
 * @state: how far it is. .psn: one beyond the newest PSN ever sent
 * @wrs: requests, a ring
 * @head: one beyond the newest of them, free running
 * @tail: the oldest
 * @posted: one beyond the PSN of the newest
 * @next: PSN to be sent next
 * @has_gone_back: since state.una has moved
 * @since: ns: when state.una moved, or all was sent again
 * @tries: how often that was since then
 * @nak_sent: the gap has been told
 * @ack_due: an ACK is, once the responses have been sent
 * @rnr_due: likewise
 * @nak_due: likewise
 * @reads: READs of the peer's, a ring
 * @read_head: one beyond the newest, free running
 * @read_tail: the oldest that has not been answered
 * @repeat: one that is answered again
 * @repeats: it is under way
 */
struct rc {
	struct nic *nic;
	struct verve_offload_qp *qp;
	struct verve_offload_rc_terms terms;
	bool is_running;
	bool has_news;
	struct verve_offload_rc_state state;

	struct verve_offload_rc_wr wrs[RC_WRS];
	u32 head;
	u32 tail;
	u32 posted;
	u32 next;
	bool has_gone_back;
	u64 since;
	unsigned int tries;

	bool nak_sent;
	bool ack_due;
	bool rnr_due;
	bool nak_due;
	struct rc_read reads[RC_READS];
	u32 read_head;
	u32 read_tail;
	struct rc_read repeat;
	bool repeats;
};

/* Signed distance of PSNs, of 24 bits */
static inline int psn_diff(u32 a, u32 b)
{
	return (int)((a - b) << 8) >> 8;
}

static inline bool psn_before(u32 a, u32 b)
{
	return psn_diff(a, b) < 0;
}

static inline u32 psn_add(u32 psn, u32 n)
{
	return (psn + n) & 0xffffff;
}

/* rc.c */
extern const struct verve_offload_rc_ops nic_rc_ops;
void nic_rc_init(struct nic *nic);
/**
 * nic_rc_receive() - a frame from the wire, whose ICRC is right
 * @nic: that it came to
 * @frame: from the Ethernet header on
 * @len: of it
 * @end: offset of the ICRC
 * Context: NAPI.
 * Return: whether it was for a QP that the NIC has
 */
bool nic_rc_receive(struct nic *nic, const u8 *frame, unsigned int len,
		    unsigned int end);
/* Send what is due, and report. NAPI. Return: whether there is more to send. */
bool nic_rc_run(struct nic *nic);
/* Give all QPs back. Process. */
void nic_rc_stop(struct nic *nic);
/* It stays where it is, in front of what it cannot do. */
void rc_ask_return(struct rc *rc);

/* rc_frame.c */

/**
 * rc_frame() - a frame to the peer
 * @rc: QP
 * @opcode: of the BTH
 * @psn: of the BTH
 * @flags: RC_SOLICITED, RC_ASKS_ACK
 * @ext: extended headers
 * @ext_len: bytes
 * @len: of the payload
 * @payload: set to where that goes
 * Return: NULL: no memory
 */
struct sk_buff *rc_frame(struct rc *rc, u8 opcode, u32 psn, unsigned int flags,
			 const u8 *ext, unsigned int ext_len, unsigned int len,
			 u8 **payload);
/* Complete: to the wire */
void rc_send(struct rc *rc, struct sk_buff *frame);

/* rc_request.c: its requests, and the peer's answers */
bool rc_send_request(struct rc *rc);	/* Return: whether one was sent */
void rc_take_response(struct rc *rc, const u8 *frame,
		      const struct nic_packet *p);
void rc_look_at_clock(struct rc *rc);

/* rc_respond.c: the peer's requests, and its answers */
bool rc_respond(struct rc *rc);		/* Return: whether one was sent */
void rc_take_request(struct rc *rc, const u8 *frame,
		     const struct nic_packet *p);

#endif
