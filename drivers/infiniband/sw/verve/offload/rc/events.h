/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: The book of a QP that is lent
 *
 * What the NIC has executed of the peer's requests, from the NIC to the engine: the
 * driver may hold locks that the engine's owner waits for, so it cannot have qp->lock,
 * and writes here. The engine reads when the driver reports. The receive at hand is
 * here, too, for as long as the QP is lent.
 */
#ifndef VERVE_OFFLOAD_RC_EVENTS_H
#define VERVE_OFFLOAD_RC_EVENTS_H

#include <rdma/verve_offload_rc.h>
#include "../../transport/qp.h"

enum {
	/* What a NIC may have done without reporting it */
	VERVE_BOOK_EVENTS	= 64,
};

/**
 * struct verve_book_event - something that a NIC has done
 * @is_read: @read, or else @done
 * @wr_id: of the receive
 * @done: a receive is done
 * @read: a READ of the peer's
 */
struct verve_book_event {
	bool is_read;
	union {
		struct {
			u64 wr_id;
			struct verve_offload_rc_done done;
		};
		struct verve_offload_rc_read read;
	};
};

/* Process. NULL: no memory. Freed by kfree(). */
struct verve_book *verve_book_alloc(void);

/* The QP is lent: the receive at hand goes to the book, and nothing is in it. */
void verve_book_open(struct verve_book *book, struct verve_responder *resp);
/* It is back, and so is that receive. BH off, both. */
void verve_book_close(struct verve_book *book, struct verve_responder *resp);

/* The oldest event that has not been taken. BH off. Return: false: none. */
bool verve_book_next(struct verve_book *book, struct verve_book_event *event);

/* rdma/verve_offload_rc.h: take_recv, received and read. BH off. */
int verve_book_take_recv(struct verve_book *book, struct verve_qp *qp,
			 struct verve_offload_rc_recv *recv);
void verve_book_received(struct verve_book *book,
			 const struct verve_offload_rc_done *done);
int verve_book_read(struct verve_book *book,
		    const struct verve_offload_rc_read *read);

#endif
