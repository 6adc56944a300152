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

/* Return: number of packets added; or an error, and one packet is lost */
static int add_some(struct verve_train *train, struct verve_flow *flow,
		    struct verve_burst *burst, u32 first)
{
	struct verve_pdu pdu;
	int done;

	if (unlikely(flow->has_lso)) {
		done = verve_train_put_lso(train, flow, burst, first);
		if (done)
			return done;
	}
	verve_burst_pdu(burst, first, 1,
			min(burst->length - first * burst->mtu, burst->mtu),
			&pdu);
	return verve_train_put(train, flow, burst, &pdu) ?: 1;
}

static int add_packets(struct verve_train *train, struct verve_flow *flow,
		       struct verve_burst *burst)
{
	int done;
	u32 i;

	for (i = 0; i < burst->packets; i += done) {
		done = add_some(train, flow, burst, i);
		if (likely(done > 0)) {
			flow->ip_id += done;
			continue;
		}
		if (done == -EAGAIN && i) {
			verve_burst_truncate(burst, i);
			return 0;
		}
		if (done != -ENOMEM && done != -EMSGSIZE)
			return done;
		verve_count(train, send_err, 1);
		done = 1;
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
