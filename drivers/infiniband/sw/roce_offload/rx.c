// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of placed packets (see "DDP" in rdma/roce_offload.h)
 *
 * The state of a QP's run and the number of the run are one word. So an answer to a
 * request for an earlier run, which a device may give late, changes nothing. A driver
 * answers under its own locks, which it also takes in ops.rx_start() and ops.rx_stop():
 * therefore answers take no lock.
 */
#include <linux/export.h>
#include "offload.h"

static u32 word(u32 run, enum roce_offload_rx state)
{
	return run << ROCE_OFFLOAD_RX_STATE_BITS | state;
}

static u32 run_of(u32 rx)
{
	return rx >> ROCE_OFFLOAD_RX_STATE_BITS;
}

static bool is_active(u32 rx)
{
	return rx != word(run_of(rx), ROCE_OFFLOAD_RX_STOPPED);
}

static bool may_begin(struct roce_offload *offload)
{
	return offload &&
	       roce_offload_active(offload) & ROCE_OFFLOAD_RX_DDP;
}

bool roce_offload_rx_start(struct roce_offload_qp *qp,
			   const struct roce_offload_rx_point *point)
{
	struct roce_offload *offload;
	bool begins;
	u32 run;

	spin_lock(&qp->lock);
	offload = qp->object.offload;
	begins = may_begin(offload) && !is_active(READ_ONCE(qp->rx));
	if (begins) {
		run = run_of(qp->rx + word(1, 0));
		/* No answer changes the word before the driver knows the new run. */
		WRITE_ONCE(qp->rx, word(run, ROCE_OFFLOAD_RX_STARTING));
		offload->ops->rx_start(qp->object.context, run, point);
	}
	spin_unlock(&qp->lock);
	return begins;
}

/* Return: true if the device is to be asked. */
static bool begin_stop(struct roce_offload_qp *qp)
	__must_hold(&qp->lock)
{
	u32 rx = READ_ONCE(qp->rx), stopping;

	do {
		stopping = word(run_of(rx), ROCE_OFFLOAD_RX_STOPPING);
		if (!is_active(rx) || rx == stopping)
			return false;
	} while (!try_cmpxchg(&qp->rx, &rx, stopping));
	return true;
}

void roce_offload_rx_close(struct roce_offload_qp *qp)
{
	begin_stop(qp);
}

void roce_offload_rx_stop(struct roce_offload_qp *qp)
{
	struct roce_offload *offload;

	spin_lock(&qp->lock);
	offload = qp->object.offload;
	if (offload && begin_stop(qp))
		offload->ops->rx_stop(qp->object.context);
	spin_unlock(&qp->lock);
}

void roce_offload_rx_started(struct roce_offload_qp *qp, u32 run)
{
	u32 starting = word(run, ROCE_OFFLOAD_RX_STARTING);

	if (try_cmpxchg(&qp->rx, &starting,
			word(run, ROCE_OFFLOAD_RX_PLACING)))
		qp->rx_answered(qp);
}
EXPORT_SYMBOL_GPL(roce_offload_rx_started);

void roce_offload_rx_stopped(struct roce_offload_qp *qp, u32 run, u32 psn)
{
	u32 rx = READ_ONCE(qp->rx);

	do {
		if (run_of(rx) != run || !is_active(rx))
			return;
		/* Seen by readers of the new state: see roce_offload_rx_state(). */
		WRITE_ONCE(qp->placed, psn);
	} while (!try_cmpxchg(&qp->rx, &rx,
			      word(run, ROCE_OFFLOAD_RX_STOPPED)));
	qp->rx_answered(qp);
}
EXPORT_SYMBOL_GPL(roce_offload_rx_stopped);

void roce_offload_rx_end(struct roce_offload_qp *qp)
{
	roce_offload_rx_stopped(qp, run_of(READ_ONCE(qp->rx)),
				ROCE_OFFLOAD_NO_PSN);
}
