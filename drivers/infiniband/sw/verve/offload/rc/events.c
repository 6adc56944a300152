// SPDX-License-Identifier: GPL-2.0-only
/*
 * The book of a QP that is lent (see events.h)
 */
#include <linux/slab.h>
#include "events.h"

/**
 * struct verve_book - what the NIC writes and the engine reads
 * @lock: all of it; only the lock of a receive queue is taken inside
 * @head: events written, free running
 * @tail: events read
 * @events: in between
 * @recv_valid: @recv has been taken and has not completed
 * @recv: current receive
 */
struct verve_book {
	spinlock_t lock; /* all that follows */
	u32 head;
	u32 tail;
	struct verve_book_event events[VERVE_BOOK_EVENTS];
	bool recv_valid;
	struct verve_recv recv;
};

struct verve_book *verve_book_alloc(void)
{
	struct verve_book *book = kzalloc_obj(*book, GFP_KERNEL_ACCOUNT);

	if (book)
		spin_lock_init(&book->lock);
	return book;
}

void verve_book_open(struct verve_book *book, struct verve_responder *resp)
{
	spin_lock(&book->lock);
	book->head = 0;
	book->tail = 0;
	book->recv_valid = resp->recv_valid;
	if (book->recv_valid)
		book->recv = resp->recv;
	resp->recv_valid = false;
	spin_unlock(&book->lock);
}

void verve_book_close(struct verve_book *book, struct verve_responder *resp)
{
	spin_lock(&book->lock);
	resp->recv_valid = book->recv_valid;
	if (book->recv_valid)
		resp->recv = book->recv;
	book->recv_valid = false;
	spin_unlock(&book->lock);
}

/* Room for that many events more? */
static bool has_room(const struct verve_book *book, u32 n)
	__must_hold(&book->lock)
{
	return book->head - book->tail + n <= VERVE_BOOK_EVENTS;
}

static void write(struct verve_book *book, const struct verve_book_event *event)
	__must_hold(&book->lock)
{
	book->events[book->head++ % VERVE_BOOK_EVENTS] = *event;
}

bool verve_book_next(struct verve_book *book, struct verve_book_event *event)
{
	bool found;

	spin_lock(&book->lock);
	found = book->head != book->tail;
	if (found)
		*event = book->events[book->tail++ % VERVE_BOOK_EVENTS];
	spin_unlock(&book->lock);
	return found;
}

static int fetch(struct verve_book *book, struct verve_qp *qp)
	__must_hold(&book->lock)
{
	int err;

	if (book->recv_valid)
		return book->recv.is_bad ? -EINVAL : 0;
	if (!has_room(book, 1))
		return -EAGAIN;
	err = qp->srq ? verve_srq_fetch(qp->srq, &book->recv) :
			verve_rq_fetch(&qp->rq, &book->recv);
	book->recv_valid = err != -ENOENT;
	return err;
}

int verve_book_take_recv(struct verve_book *book, struct verve_qp *qp,
			 struct verve_offload_rc_recv *recv)
{
	int err;

	BUILD_BUG_ON(sizeof(struct ib_sge) != sizeof(struct verve_sge));
	spin_lock(&book->lock);
	err = fetch(book, qp);
	if (!err) {
		recv->length = book->recv.length;
		recv->num_sge = book->recv.num_sge;
		recv->sge = (const struct ib_sge *)book->recv.sge;
	}
	spin_unlock(&book->lock);
	return err;
}

/* There is room: a receive was taken, for which verve_book_read() leaves some. */
void verve_book_received(struct verve_book *book,
			 const struct verve_offload_rc_done *done)
{
	spin_lock(&book->lock);
	if (book->recv_valid && has_room(book, 1)) {
		write(book, &(struct verve_book_event) {
			.wr_id = book->recv.wr_id,
			.done = *done,
		});
		book->recv_valid = false;
	}
	spin_unlock(&book->lock);
}

int verve_book_read(struct verve_book *book,
		    const struct verve_offload_rc_read *read)
{
	int err = -EAGAIN;

	spin_lock(&book->lock);
	if (has_room(book, 2)) {
		write(book, &(struct verve_book_event) {
			.is_read = true,
			.read = *read,
		});
		err = 0;
	}
	spin_unlock(&book->lock);
	return err;
}
