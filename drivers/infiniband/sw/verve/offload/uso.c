// SPDX-License-Identifier: GPL-2.0-only
/*
 * UDP segmentation by the NIC (see uso.h): conditions and trials
 */
#include <linux/if_vlan.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <net/dst.h>
#include <rdma/roce_offload.h>
#include "../device.h"
#include "../path/net.h"
#include "../path/train.h"
#include "../wire/psn.h"
#include "icrc.h"
#include "uso.h"

enum {
	/*
	 * Eight failures in a row are not chance: where one packet in ten is lost, one
	 * trial in five fails.
	 */
	MOST_FAILURES = 8,
};

/*
 * A trial without an ACK or a loss in this time belongs to a QP that is gone, or to one
 * with a very long path.
 */
#define TRIAL_TIME	HZ

static struct verve_uso *knowledge(struct verve_dev *dev, bool is_v6)
{
	return &dev->uso[is_v6];
}

/* The netdev below a VLAN segments its packets. */
static const struct net_device *segmenter(const struct net_device *ndev)
{
	return is_vlan_dev(ndev) ? vlan_dev_real_dev(ndev) : ndev;
}

static enum verve_uso_status ask_features(const struct net_device *ndev)
{
	netdev_features_t trains = NETIF_F_GSO_FRAGLIST | NETIF_F_FRAGLIST;
	netdev_features_t needed = NETIF_F_GSO_UDP_L4 | NETIF_F_SG;
	netdev_features_t features = READ_ONCE(ndev->features);

	if ((features & trains) == trains)
		return VERVE_USO_TRAINS;
	if ((features & needed) != needed)
		return VERVE_USO_LACKING;
	return list_empty(&ndev->adj_list.lower) ? VERVE_USO_USED :
						   VERVE_USO_STACKED;
}

enum verve_uso_status verve_uso_query(const struct verve_dev *dev,
				      struct net_device *ndev, bool is_v6)
{
	const struct verve_uso *uso = &dev->uso[is_v6];
	bool has_icrcs =
		verve_icrc_offload_is_offered(dev, ndev,
					      ROCE_OFFLOAD_TX_ICRC_SEGMENTED);
	enum verve_uso_status answer = ask_features(segmenter(ndev));

	if (answer != VERVE_USO_USED && !has_icrcs)
		return answer;
	if (!verve_train_is_allowed())
		return VERVE_USO_DISABLED;
	if (has_icrcs)
		return VERVE_USO_USED;
	if (verve_icrc_offload_is_offered(dev, ndev, ROCE_OFFLOAD_TX_ICRC))
		return VERVE_USO_ICRC_OFFLOAD;
	if (atomic_read(&uso->failures) >= MOST_FAILURES)
		return VERVE_USO_FAILED;
	return READ_ONCE(uso->is_trusted) ? VERVE_USO_USED : VERVE_USO_TRIED;
}

/* Trials apply to the netdev of the device only, and VLANs on it. */
static bool is_own(const struct verve_dev *dev, const struct net_device *ndev)
{
	const struct net_device *own = verve_ndev_rcu(dev);

	return own && segmenter(ndev) == segmenter(own);
}

static bool is_able(const struct verve_dev *dev, const struct verve_flow *flow)
{
	const struct net_device *ndev = flow->dst->dev;

	return !flow->icrc_offload && is_own(dev, ndev) &&
	       ask_features(segmenter(ndev)) == VERVE_USO_USED &&
	       atomic_read(&dev->uso[flow->av.is_v6].failures) < MOST_FAILURES;
}

static bool is_trial_due(const struct verve_uso *uso,
			 const struct verve_flow *flow)
{
	return flow->uso.failures < MOST_FAILURES &&
	       (READ_ONCE(uso->is_trusted) ||
		time_after_eq(jiffies, READ_ONCE(uso->trial_until)));
}

u32 verve_uso_segs(const struct verve_dev *dev, struct verve_flow *flow,
		   const struct verve_burst *burst)
{
	const struct verve_uso *uso = &dev->uso[flow->av.is_v6];

	if (flow->has_uso)
		return verve_icrc_offload_segments(flow, burst) ?
		       VERVE_BUDGET_PACKETS : 0;
	if (burst->segmentation < VERVE_SEGMENT_PROVEN || !is_able(dev, flow))
		return 0;
	if (flow->uso.generation != READ_ONCE(uso->generation))
		flow->uso = (struct verve_uso_flow) {
			.generation = READ_ONCE(uso->generation),
		};
	if (flow->uso.state == VERVE_USO_PROVEN)
		return VERVE_BUDGET_PACKETS;
	if (flow->uso.state == VERVE_USO_UNPROVEN &&
	    burst->segmentation == VERVE_SEGMENT_TRY && is_trial_due(uso, flow))
		return VERVE_USO_TRIAL_SEGS;
	return 0;
}

bool verve_uso_try(struct verve_dev *dev, struct verve_flow *flow, u32 psn)
{
	struct verve_uso *uso = knowledge(dev, flow->av.is_v6);
	unsigned long until = READ_ONCE(uso->trial_until);

	if (!is_trial_due(uso, flow) ||
	    (!READ_ONCE(uso->is_trusted) &&
	     cmpxchg(&uso->trial_until, until, jiffies + TRIAL_TIME) != until))
		return false;
	flow->uso.state = VERVE_USO_ON_TRIAL;
	flow->uso.psn = psn & VERVE_PSN_MASK;
	return true;
}

/* Return: true if the result counts, false if the NIC has been reset since. */
static bool end_trial(struct verve_uso *uso, struct verve_flow *flow,
		      enum verve_uso_state state)
{
	if (flow->uso.state != VERVE_USO_ON_TRIAL)
		return false;
	flow->uso.state = state;
	if (flow->uso.generation != READ_ONCE(uso->generation))
		return false;
	WRITE_ONCE(uso->trial_until, jiffies);
	return true;
}

void verve_uso_arrived(struct verve_dev *dev, struct verve_flow *flow)
{
	struct verve_uso *uso = knowledge(dev, flow->av.is_v6);

	if (!end_trial(uso, flow, VERVE_USO_PROVEN))
		return;
	flow->uso.failures = 0;
	atomic_set(&uso->failures, 0);
	WRITE_ONCE(uso->is_trusted, true);
}

bool verve_uso_lost(struct verve_dev *dev, struct verve_flow *flow)
{
	struct verve_uso *uso = knowledge(dev, flow->av.is_v6);

	/* A retransmission may mean that the NIC segments in another way now. */
	if (flow->uso.state == VERVE_USO_PROVEN)
		flow->uso.state = VERVE_USO_UNPROVEN;
	if (!end_trial(uso, flow, VERVE_USO_UNPROVEN))
		return false;
	flow->uso.failures++;
	atomic_inc(&uso->failures);
	return true;
}

void verve_uso_cancel(struct verve_dev *dev, struct verve_flow *flow)
{
	end_trial(knowledge(dev, flow->av.is_v6), flow, VERVE_USO_UNPROVEN);
}

void verve_uso_reset(struct verve_dev *dev)
{
	struct verve_uso *uso;

	for (uso = dev->uso; uso < dev->uso + ARRAY_SIZE(dev->uso); uso++) {
		WRITE_ONCE(uso->generation, uso->generation + 1);
		WRITE_ONCE(uso->is_trusted, false);
		WRITE_ONCE(uso->trial_until, jiffies);
		atomic_set(&uso->failures, 0);
	}
}
