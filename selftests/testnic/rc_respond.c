// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of the peer to offloaded QPs
 *
 * A packet is checked completely before it changes anything. If it is in any way unusual,
 * the QP is returned as it was before the packet.
 */
#include <linux/unaligned.h>
#include "rc.h"

enum {
	AETH = 4,
};

/* Opcodes: First, Middle, Last, Last with Immediate, Only, Only with Immediate */
static bool begins(u8 opcode)
{
	return opcode % 6 == 0 || opcode % 6 >= 4;
}

static bool ends(u8 opcode)
{
	return opcode % 6 >= 2;
}

static bool has_imm(u8 opcode)
{
	return opcode % 6 == 3 || opcode % 6 == 5;
}

static bool is_write(u8 opcode)
{
	return opcode >= RC_WRITE_FIRST;
}

/* ---------------------------------------------------------------- answers */

static bool send_aeth(struct rc *rc, u8 syndrome, u32 psn)
{
	struct sk_buff *frame;
	u8 aeth[AETH], *none;

	put_unaligned_be32(syndrome << 24 | (rc->state.msn & 0xffffff), aeth);
	frame = rc_frame(rc, RC_ACK, psn, 0, aeth, sizeof(aeth), 0, &none);
	if (frame)
		rc_send(rc, frame);
	return frame;
}

static u8 response_opcode(const struct rc_read *read)
{
	bool first = read->next == read->first, last = read->next == read->last;

	if (first)
		return last ? RC_READ_ONLY : RC_READ_FIRST;
	return last ? RC_READ_LAST : RC_READ_MIDDLE;
}

/* Return: true if a response was sent */
static bool send_response(struct rc *rc, struct rc_read *read)
{
	u32 offset = psn_diff(read->next, read->first) * rc->qp->mtu;
	unsigned int len = min(rc->qp->mtu, read->length - offset);
	u8 opcode = response_opcode(read), aeth[AETH], *payload;
	struct sk_buff *frame;

	put_unaligned_be32(AETH_ACK << 24 | (read->msn & 0xffffff), aeth);
	frame = rc_frame(rc, opcode, read->next, 0, aeth,
			 opcode == RC_READ_MIDDLE ? 0 : AETH, len, &payload);
	if (!frame)
		return false;
	if (!nic_memory_copy(rc->nic, rc->qp->pd, read->rkey,
			     IB_ACCESS_REMOTE_READ, read->va + offset, payload,
			     len, false)) {
		kfree_skb(frame);
		rc_ask_return(rc);
		return false;
	}
	read->next = psn_add(read->next, 1);
	rc_send(rc, frame);
	return true;
}

static bool is_answered(const struct rc_read *read)
{
	return psn_before(read->last, read->next);
}

static bool respond_read(struct rc *rc)
{
	struct rc_read *read = &rc->reads[rc->read_tail % RC_READS];
	bool done;

	if (rc->repeats) {
		done = send_response(rc, &rc->repeat);
		rc->repeats = !is_answered(&rc->repeat);
		return done;
	}
	done = send_response(rc, read);
	rc->read_tail += is_answered(read);
	return done;
}

bool rc_respond(struct rc *rc)
{
	if (rc->repeats || rc->read_tail != rc->read_head)
		return respond_read(rc);
	if (rc->rnr_due) {
		rc->rnr_due = false;
		rc->ack_due = false;
		return send_aeth(rc, AETH_RNR | rc->terms.min_rnr_timer,
				 rc->state.epsn);
	}
	if (rc->nak_due) {
		rc->nak_due = false;
		rc->ack_due = false;
		return send_aeth(rc, AETH_SEQUENCE, rc->state.epsn);
	}
	if (!rc->ack_due)
		return false;
	rc->ack_due = false;
	return send_aeth(rc, AETH_ACK, psn_add(rc->state.epsn, -1));
}

/* ---------------------------------------------------------------- READs */

static bool is_readable(struct rc *rc, const struct nic_packet *p)
{
	return rc->qp->access & IB_ACCESS_REMOTE_READ && !p->len &&
	       p->dmalen <= 1u << 31 &&
	       nic_memory_allows(rc->nic, rc->qp->pd, p->rkey,
				 IB_ACCESS_REMOTE_READ, p->va, p->dmalen);
}

static struct rc_read read_of(const struct rc *rc, const struct nic_packet *p)
{
	u32 packets = max(1u, DIV_ROUND_UP(p->dmalen, rc->qp->mtu));

	return (struct rc_read) {
		.first = p->psn,
		.next = p->psn,
		.last = psn_add(p->psn, packets - 1),
		.msn = rc->state.msn,
		.va = p->va,
		.rkey = p->rkey,
		.length = p->dmalen,
	};
}

static void take_read(struct rc *rc, const struct nic_packet *p)
{
	u32 most = min_t(u32, rc->terms.max_dest_rd_atomic, RC_READS);
	struct roce_offload_rc_read told = {
		.psn = p->psn,
		.msn = rc->state.msn + 1,
		.va = p->va,
		.rkey = p->rkey,
		.length = p->dmalen,
	};
	int err;

	if (rc->state.message || !is_readable(rc, p) ||
	    rc->read_head - rc->read_tail >= most) {
		rc_ask_return(rc);
		return;
	}
	rc->has_news = true;
	nic_work_ends();
	err = roce_offload_rc_read(rc->qp, &told);
	nic_work_begins();
	if (err)
		return;
	rc->state.msn++;
	rc->reads[rc->read_head++ % RC_READS] = read_of(rc, p);
	rc->state.epsn = psn_add(rc->reads[(rc->read_head - 1) % RC_READS].last,
				 1);
	rc->nak_sent = false;
}

/* Is a repeated READ a part of an earlier one, or the same (IBTA 9.7.4.1.1)? */
static bool is_part(const struct rc *rc, const struct rc_read *read,
		    const struct nic_packet *p)
{
	u32 offset = psn_diff(p->psn, read->first) * rc->qp->mtu;

	return !psn_before(p->psn, read->first) &&
	       !psn_before(read->last, p->psn) && p->rkey == read->rkey &&
	       p->va == read->va + offset &&
	       p->dmalen <= read->length - offset;
}

static void repeat_read(struct rc *rc, const struct nic_packet *p)
{
	u32 i, known = min_t(u32, rc->read_head, RC_READS);

	for (i = 1; i <= known; i++) {
		const struct rc_read *read =
			&rc->reads[(rc->read_head - i) % RC_READS];

		if (!is_part(rc, read, p))
			continue;
		/* An answer is under way or due already. */
		if (rc->repeats || !is_answered(read))
			return;
		rc->repeat = read_of(rc, p);
		rc->repeat.msn = read->msn;
		rc->repeats = true;
		return;
	}
	rc_ask_return(rc);
}

/* ---------------------------------------------------------------- SEND, WRITE */

/* Check the sequence of opcodes, and their lengths. */
static bool is_regular(const struct rc *rc, const struct nic_packet *p)
{
	u32 mtu = rc->qp->mtu, message = rc->state.message;
	u32 kind = is_write(p->opcode) ? ROCE_OFFLOAD_RC_WRITE :
					 ROCE_OFFLOAD_RC_SEND;

	if (begins(p->opcode) ? message : message != kind)
		return false;
	if (!ends(p->opcode))
		return p->len == mtu;
	return p->len <= mtu && (p->len || begins(p->opcode));
}

static bool begin_write(struct rc *rc, const struct nic_packet *p,
			struct roce_offload_rc_state *state)
{
	state->va = p->va;
	state->rkey = p->rkey;
	state->left = p->dmalen;
	return rc->qp->access & IB_ACCESS_REMOTE_WRITE;
}

static bool write(struct rc *rc, const u8 *frame, const struct nic_packet *p,
		  struct roce_offload_rc_state *state)
{
	if (begins(p->opcode) && !begin_write(rc, p, state))
		return false;
	if (ends(p->opcode) ? p->len != state->left : p->len >= state->left)
		return false;
	if (!nic_memory_allows(rc->nic, rc->qp->pd, state->rkey,
			       IB_ACCESS_REMOTE_WRITE,
			       state->va + state->offset, state->left))
		return false;
	state->left -= p->len;
	return nic_memory_copy(rc->nic, rc->qp->pd, state->rkey,
			       IB_ACCESS_REMOTE_WRITE,
			       state->va + state->offset,
			       (u8 *)frame + p->payload, p->len, true);
}

static bool receive(struct rc *rc, const u8 *frame, const struct nic_packet *p,
		    const struct roce_offload_rc_state *state,
		    const struct roce_offload_rc_recv *recv)
{
	return p->len <= recv->length - state->offset &&
	       nic_memory_copy_sges(rc->nic, rc->qp->pd, recv->sge,
				    recv->num_sge, state->offset,
				    (u8 *)frame + p->payload, p->len, true);
}

/* Return: the oldest receive; NULL: drop the packet */
static const struct roce_offload_rc_recv *find_recv(struct rc *rc)
{
	if (rc->recv_head != rc->recv_tail)
		return &rc->recvs[rc->recv_tail % RC_RECVS];
	if (rc->needs_recv)
		return NULL;
	rc->needs_recv = true;
	nic_work_ends();
	roce_offload_rc_need_recv(rc->qp);
	nic_work_begins();
	return NULL;
}

static void tell(struct rc *rc, const u8 *frame, const struct nic_packet *p,
		 u32 length)
{
	struct roce_offload_rc_done done = {
		.length = length,
		.is_write = is_write(p->opcode),
		.has_imm = has_imm(p->opcode),
		.is_solicited = p->is_solicited,
	};

	if (done.has_imm)
		memcpy(&done.imm, frame + p->payload - sizeof(done.imm),
		       sizeof(done.imm));
	rc->has_news = true;
	rc->recv_tail++;
	nic_work_ends();
	roce_offload_rc_received(rc->qp, &done);
	nic_work_begins();
}

/*
 * Execute a packet. Return: 0, and @state is the progress afterwards; -EAGAIN: drop the
 * packet; -EINVAL: return the QP
 */
static int execute(struct rc *rc, const u8 *frame, const struct nic_packet *p,
		   struct roce_offload_rc_state *state)
{
	bool needs_recv = !is_write(p->opcode) || has_imm(p->opcode);
	const struct roce_offload_rc_recv *recv = NULL;

	if (!is_regular(rc, p))
		return -EINVAL;
	if (begins(p->opcode))
		state->offset = 0;
	if (needs_recv) {
		recv = find_recv(rc);
		if (!recv)
			return -EAGAIN;
	}
	if (is_write(p->opcode) ? !write(rc, frame, p, state) :
				  !receive(rc, frame, p, state, recv))
		return -EINVAL;
	state->offset += p->len;
	state->message = is_write(p->opcode) ? ROCE_OFFLOAD_RC_WRITE :
					       ROCE_OFFLOAD_RC_SEND;
	if (!ends(p->opcode))
		return 0;
	if (needs_recv)
		tell(rc, frame, p, state->offset);
	state->message = ROCE_OFFLOAD_RC_NONE;
	state->msn++;
	return 0;
}

static void take_data(struct rc *rc, const u8 *frame,
		      const struct nic_packet *p)
{
	struct roce_offload_rc_state state = rc->state;

	switch (execute(rc, frame, p, &state)) {
	case 0:
		break;
	case -EAGAIN:
		return;
	default:
		rc_ask_return(rc);
		return;
	}
	rc->state = state;
	rc->state.epsn = psn_add(p->psn, 1);
	rc->nak_sent = false;
	rc->nak_due = false;
	rc->rnr_due = false;
	rc->ack_due |= p->asks_ack;
}

/* Answer a request that was executed before: acknowledge it, or read again. */
static void repeat(struct rc *rc, const struct nic_packet *p)
{
	if (p->opcode == RC_READ)
		repeat_read(rc, p);
	else
		rc->ack_due = true;
}

void rc_take_request(struct rc *rc, const u8 *frame, const struct nic_packet *p)
{
	int ahead = psn_diff(p->psn, rc->state.epsn);

	if (ahead > 0) {
		rc->nak_due |= !rc->nak_sent && !rc->needs_recv;
		rc->nak_sent = true;
	} else if (ahead < 0) {
		repeat(rc, p);
	} else if (p->opcode == RC_READ) {
		take_read(rc, p);
	} else {
		take_data(rc, frame, p);
	}
}
