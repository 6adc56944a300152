// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bursts to packets
 */
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include "../device.h"
#include "../offload/icrc.h"
#include "../trace.h"
#include "loop.h"
#include "net.h"
#include "train.h"

/* Continue the train and its IPv4 identifications, or send it if @flow is another. */
static void join(struct verve_train *train, struct verve_flow *flow)
{
	if (!train->head)
		return;
	if (train->icrc_offload == flow->icrc_offload &&
	    verve_packet_is_of(train->head, flow))
		flow->ip_id = train->ip_id;
	else
		verve_train_flush(train);
}

/* Return: 0; or an error, and the packet is lost */
static int add_packet(struct verve_train *train, struct verve_flow *flow,
		      const struct verve_burst *burst, u32 i)
{
	struct verve_pdu pdu;

	verve_burst_pdu(burst, i, 1,
			min(burst->length - i * burst->mtu, burst->mtu), &pdu);
	return verve_train_put(train, flow, burst, &pdu);
}

static int add_packets(struct verve_train *train, struct verve_flow *flow,
		       struct verve_burst *burst)
{
	int err;
	u32 i;

	for (i = 0; i < burst->packets; i++) {
		err = add_packet(train, flow, burst, i);
		if (likely(!err)) {
			flow->ip_id++;
			continue;
		}
		if (err == -EAGAIN && i) {
			verve_burst_truncate(burst, i);
			return 0;
		}
		if (err != -ENOMEM && err != -EMSGSIZE)
			return err;
		verve_count(train, send_err, 1);
	}
	return 0;
}

static int lose(struct verve_train *train, const struct verve_burst *burst)
{
	verve_count(train, send_err, burst->packets);
	return burst->length ? verve_iter_skip(burst->payload, burst->length) : 0;
}

int verve_train_add(struct verve_train *train, struct verve_flow *flow,
		    struct verve_burst *burst)
{
	int err;

	if (train->peer)
		return verve_loop_send(train, burst);

	trace_verve_burst(train->qpn, burst);
	rcu_read_lock();
	if (likely(verve_flow_route(flow, train->dev))) {
		verve_icrc_offload_select(train->dev, flow);
		join(train, flow);
		err = add_packets(train, flow, burst);
		train->ip_id = flow->ip_id;
	} else {
		err = lose(train, burst);
	}
	rcu_read_unlock();
	return err;
}
