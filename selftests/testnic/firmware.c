// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of placed packets: the firmware of the NIC does what the driver asks for when it
 * comes to it, QP by QP, in any order
 */
#include <linux/random.h>
#include "nic.h"

void nic_end_run(struct known_qp *known)
{
	lockdep_assert_held(&known->nic->placing);
	if (!known->is_placing)
		return;
	known->is_placing = false;
	roce_offload_rx_stopped(known->qp, known->run, known->placed);
}

static void begin_run(struct known_qp *known)
{
	const struct roce_offload_rx_point *point = &known->point;

	known->is_placing = true;
	known->run = known->next_run;
	known->placed = ROCE_OFFLOAD_NO_PSN;
	known->next = (point->psn + 1) & 0xffffff;
	known->left = point->left;
	known->va = point->va;
	known->rkey = point->rkey;
	roce_offload_rx_started(known->qp, known->run);
}

static void carry_out(struct known_qp *known)
{
	if (known->start)
		begin_run(known);
	known->start = false;
	if (known->stop)
		nic_end_run(known);
	known->stop = false;
}

/* The time may end early, when the QP leaves. */
static void take_time(struct nic *nic, struct known_qp *known)
{
	u32 slow = READ_ONCE(nic->slow);

	if (slow)
		wait_event_hrtimeout(nic->holding, READ_ONCE(known->leaves),
				     ns_to_ktime((u64)(get_random_u32() % slow) *
						 NSEC_PER_USEC));
}

static void requests(struct work_struct *work)
{
	struct known_qp *known = container_of(work, struct known_qp, requests);
	struct nic *nic = known->nic;

	take_time(nic, known);
	spin_lock_bh(&nic->placing);
	carry_out(known);
	spin_unlock_bh(&nic->placing);
}

void nic_firmware_init(struct known_qp *known)
{
	INIT_WORK(&known->requests, requests);
}

void nic_firmware_exit(struct known_qp *known)
{
	struct nic *nic = known->nic;

	WRITE_ONCE(known->leaves, true);
	wake_up_all(&nic->holding);
	cancel_work_sync(&known->requests);
	spin_lock_bh(&nic->placing);
	known->stop = true;
	carry_out(known);
	spin_unlock_bh(&nic->placing);
}

void nic_rx_start(void *context, u32 run,
		  const struct roce_offload_rx_point *point)
{
	struct known_qp *known = context;

	spin_lock(&known->nic->placing);
	known->start = true;
	/* An earlier run, which has ended by itself since */
	known->stop = false;
	known->next_run = run;
	known->point = *point;
	spin_unlock(&known->nic->placing);
	queue_work(system_unbound_wq, &known->requests);
}

void nic_rx_stop(void *context)
{
	struct known_qp *known = context;

	spin_lock(&known->nic->placing);
	known->stop = true;
	spin_unlock(&known->nic->placing);
	queue_work(system_unbound_wq, &known->requests);
}
