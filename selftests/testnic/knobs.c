// SPDX-License-Identifier: GPL-2.0-only
/*
 * Knobs and counters for the tests: /sys/kernel/debug/verve_testnic/NETDEV
 */
#include <linux/debugfs.h>
#include "nic.h"
#include "rc.h"

static struct dentry *root;

/* Set the abilities of the hardware, and update the registration. */
static int set_able(void *data, u64 value)
{
	struct nic *nic = data;

	mutex_lock(&nic->lock);
	WRITE_ONCE(nic->able, value);
	if (nic->offload)
		roce_offload_update(nic->offload);
	mutex_unlock(&nic->lock);
	return 0;
}

static int get_able(void *data, u64 *value)
{
	*value = ((struct nic *)data)->able;
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(able_ops, get_able, set_able, "%llu\n");

/* Register the NIC, or unregister it, as if its driver was loaded or unloaded. */
static int set_offered(void *data, u64 value)
{
	struct nic *nic = data;
	int err = 0;

	mutex_lock(&nic->lock);
	if (value && !nic->offload)
		err = nic_offer(nic);
	else if (!value)
		nic_withdraw(nic);
	mutex_unlock(&nic->lock);
	return err;
}

static int get_offered(void *data, u64 *value)
{
	*value = !!((struct nic *)data)->offload;
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(offered_ops, get_offered, set_offered, "%llu\n");

static int reset(void *data, u64 value)
{
	struct nic *nic = data;

	mutex_lock(&nic->lock);
	nic_reset(nic);
	mutex_unlock(&nic->lock);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(reset_ops, NULL, reset, "%llu\n");

/* Return all offloaded QPs at once, without a reason. */
static int give_back(void *data, u64 value)
{
	nic_rc_stop(data);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(give_back_ops, NULL, give_back, "%llu\n");

static int set_full(void *data, u64 value)
{
	struct nic *nic = data;

	if (value)
		WRITE_ONCE(nic->full, 1);
	else
		nic_make_room(nic);
	return 0;
}

static int get_full(void *data, u64 *value)
{
	*value = ((struct nic *)data)->full;
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(full_ops, get_full, set_full, "%llu\n");

static int set_hold(void *data, u64 value)
{
	struct nic *nic = data;

	WRITE_ONCE(nic->hold, !!value);
	wake_up_all(&nic->holding);
	return 0;
}

static int get_hold(void *data, u64 *value)
{
	*value = ((struct nic *)data)->hold;
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(hold_ops, get_hold, set_hold, "%llu\n");

static int get_busy(void *data, u64 *value)
{
	*value = atomic64_read(&((struct nic *)data)->busy);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(busy_ops, get_busy, NULL, "%llu\n");

void nic_knobs_add(struct nic *nic, const char *name)
{
	struct dentry *dir = debugfs_create_dir(name, root);

	debugfs_create_file_unsafe("able", 0600, dir, nic, &able_ops);
	debugfs_create_file_unsafe("offered", 0600, dir, nic, &offered_ops);
	debugfs_create_file_unsafe("busy", 0400, dir, nic, &busy_ops);
	debugfs_create_file_unsafe("reset", 0200, dir, nic, &reset_ops);
	debugfs_create_atomic_t("refuse", 0600, dir, &nic->refuse);
	debugfs_create_file_unsafe("full", 0600, dir, nic, &full_ops);
	debugfs_create_atomic_t("turned_away", 0400, dir, &nic->turned_away);
	debugfs_create_atomic_t("helped", 0400, dir, &nic->helped);
	debugfs_create_atomic_t("given_up", 0400, dir, &nic->given_up);
	debugfs_create_file_unsafe("hold", 0600, dir, nic, &hold_ops);
	debugfs_create_atomic_t("held", 0400, dir, &nic->held);
	debugfs_create_u32("slow", 0600, dir, &nic->slow);
	debugfs_create_u32("restless", 0600, dir, &nic->restless);
	debugfs_create_atomic_t("corrupt", 0600, dir, &nic->corrupt);
	debugfs_create_u32("lose", 0600, dir, &nic->lose);
	debugfs_create_u32("reorder", 0600, dir, &nic->reorder);
	debugfs_create_u32("scatter", 0600, dir, &nic->scatter);
	debugfs_create_atomic_t("scattered", 0400, dir, &nic->scattered);
	debugfs_create_u32("ids", 0600, dir, &nic->ids);
	debugfs_create_atomic_t("made", 0400, dir, &nic->made);
	debugfs_create_atomic_t("trains", 0400, dir, &nic->trains);
	debugfs_create_atomic_t("segmented", 0400, dir, &nic->segmented);
	debugfs_create_atomic_t("cut", 0400, dir, &nic->cut);
	debugfs_create_atomic_t("miscut", 0600, dir, &nic->miscut);
	debugfs_create_atomic_t("verified", 0400, dir, &nic->verified);
	debugfs_create_atomic_t("unable", 0400, dir, &nic->unable);
	debugfs_create_atomic_t("dirty", 0400, dir, &nic->dirty);
	debugfs_create_atomic_t("mrs", 0400, dir, &nic->num_mrs);
	debugfs_create_atomic_t("qps", 0400, dir, &nic->num_qps);
	debugfs_create_atomic_t("fail", 0600, dir, &nic->fail);
	debugfs_create_u32("recvs", 0600, dir, &nic->recvs);
	debugfs_create_u32("qpns", 0600, dir, &nic->num_qpns);
	debugfs_create_u32("keys", 0600, dir, &nic->num_keys);
	debugfs_create_u32("mangle", 0600, dir, &nic->mangle);
	debugfs_create_u32("mangle_one", 0600, dir, &nic->mangle_one);
	debugfs_create_atomic_t("placed", 0400, dir, &nic->placed);
	debugfs_create_atomic_t("placed_bytes", 0400, dir, &nic->placed_bytes);
	debugfs_create_atomic_t("watched", 0400, dir, &nic->watched);
	debugfs_create_atomic_t("offloaded", 0400, dir, &nic->num_offloaded);
	debugfs_create_atomic_t("carried", 0400, dir, &nic->carried);
	debugfs_create_atomic_t("given_back", 0400, dir, &nic->given_back);
	debugfs_create_atomic_t("dead", 0600, dir, &nic->dead);
	debugfs_create_u32("astray", 0600, dir, &nic->astray);
	debugfs_create_file_unsafe("give_back", 0200, dir, nic,
				   &give_back_ops);
}

void nic_knobs_init(void)
{
	root = debugfs_create_dir("verve_testnic", NULL);
}

void nic_knobs_exit(void)
{
	debugfs_remove(root);
}
