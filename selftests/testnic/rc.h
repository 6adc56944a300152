/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NIC that runs RC QPs with go-back-N, NAKs and a timer. It returns a QP for anything
 * beyond plain sending and receiving.
 */
#ifndef VERVE_TESTNIC_RC_H
#define VERVE_TESTNIC_RC_H

#include "nic.h"

enum {
	/* Requests of a QP, and READs of the peer that are remembered */
	RC_WRS		= 48,
	RC_READS	= 128,
	RC_RECVS	= NIC_RECVS,
	/* PSNs that may be outstanding */
	RC_WINDOW	= 64,
	/* Frames of one QP before others have their turn */
	RC_BUDGET	= 64,
};

/* Opcodes of RC, and bits of the AETH and the BTH */
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
 * struct rc_read - a READ of the peer
 * @first: PSN of the request
 * @next: PSN of the next response to send
 * @last: PSN of the last response
 * @msn: MSN of the request
 * @va: address of the first byte
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
 * struct rc - an offloaded QP; under nic.placing
 * @nic: NIC
 * @qp: description by the registry
 * @terms: terms of the offload
 * @is_running: the NIC has not asked for the QP's return
 * @has_news: a report is due
 * @state: progress; @state.psn is one beyond the newest PSN ever sent
 * @wrs: ring of requests
 * @head: one beyond the newest request, free running
 * @tail: oldest request, free running
 * @posted: one beyond the last PSN of the newest request
 * @next: PSN to send next
 * @has_gone_back: went back since @state.una last moved
 * @since: time in ns when @state.una moved or all was sent again
 * @tries: number of times that all was sent again since @state.una moved
 * @recvs: ring of receives
 * @recv_head: one beyond the newest receive, free running
 * @recv_tail: oldest receive, free running
 * @needs_recv: a packet was dropped, and the driver has asked for a receive
 * @nak_sent: a NAK for the current gap was sent
 * @ack_due: an ACK is due behind the responses
 * @rnr_due: an RNR NAK is due behind the responses
 * @nak_due: a NAK is due behind the responses
 * @reads: ring of READs of the peer
 * @read_head: one beyond the newest READ, free running
 * @read_tail: oldest READ that is not answered, free running
 * @repeat: READ that is answered again
 * @repeats: @repeat is under way
 */
struct rc {
	struct nic *nic;
	struct roce_offload_qp *qp;
	struct roce_offload_rc_terms terms;
	bool is_running;
	bool has_news;
	struct roce_offload_rc_state state;

	struct roce_offload_rc_wr wrs[RC_WRS];
	u32 head;
	u32 tail;
	u32 posted;
	u32 next;
	bool has_gone_back;
	u64 since;
	unsigned int tries;

	struct roce_offload_rc_recv recvs[RC_RECVS];
	u32 recv_head;
	u32 recv_tail;
	bool needs_recv;
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

/* Signed distance of 24-bit PSNs */
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
extern const struct roce_offload_rc_ops nic_rc_ops;
void nic_rc_init(struct nic *nic);
/**
 * nic_rc_receive() - process a frame for an offloaded QP
 * @nic: NIC that received the frame
 * @frame: frame with a correct ICRC, from the Ethernet header on
 * @len: length of the frame
 * @end: offset of the ICRC
 *
 * Context: NAPI.
 * Return: true if the frame was for an offloaded QP.
 */
bool nic_rc_receive(struct nic *nic, const u8 *frame, unsigned int len,
		    unsigned int end);
/* Send what is due, and report. NAPI. Return: true if there is more to send. */
bool nic_rc_run(struct nic *nic);
/* Return all QPs to software. Process context. */
void nic_rc_stop(struct nic *nic);
/* Stop in front of a packet or request that the NIC cannot handle, and return the QP. */
void rc_ask_return(struct rc *rc);

/* rc_frame.c */

/**
 * rc_frame() - begin a frame to the peer
 * @rc: QP
 * @opcode: opcode in the BTH
 * @psn: PSN in the BTH
 * @flags: RC_SOLICITED, RC_ASKS_ACK
 * @ext: extended headers
 * @ext_len: length of @ext
 * @len: length of the payload
 * @payload: set to the place of the payload
 *
 * Return: frame, or NULL without memory.
 */
struct sk_buff *rc_frame(struct rc *rc, u8 opcode, u32 psn, unsigned int flags,
			 const u8 *ext, unsigned int ext_len, unsigned int len,
			 u8 **payload);
/* Send a complete frame. */
void rc_send(struct rc *rc, struct sk_buff *frame);

/* rc_request.c: requests of the QP, and the peer's answers */
bool rc_send_request(struct rc *rc);	/* Return: true if one was sent */
void rc_take_response(struct rc *rc, const u8 *frame,
		      const struct nic_packet *p);
void rc_look_at_clock(struct rc *rc);

/* rc_respond.c: requests of the peer, and the QP's answers */
bool rc_respond(struct rc *rc);		/* Return: true if one was sent */
void rc_take_request(struct rc *rc, const u8 *frame,
		     const struct nic_packet *p);

#endif
