// SPDX-License-Identifier: GPL-2.0-only
/*
 * Performance management (IBTA vol. 1, 16.1), the source of
 * /sys/class/infiniband/DEV/ports/1/counters.
 *
 * The core queries the port by management datagrams that do not leave the machine.
 * Datagrams from the network get IB_MAD_RESULT_FAILURE, because peers must not read
 * the counters. Agents that listen on QP 1 still get them.
 *
 * On IB_MAD_RESULT_SUCCESS, the core would answer that nobody serves the class. For
 * this it resolves the neighbour, which takes a second if the neighbour does not
 * exist. Datagrams of the connection manager would wait as long, and the device may
 * be gone afterwards.
 */
#include <linux/minmax.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include "device.h"
#include "ops.h"

/* Offset of an attribute in the data of a MAD (16.1.1) */
#define ATTRIBUTE_OFFSET	40

enum { REPLY = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY };

#define COUNT(total, name)	((total)->counter[VERVE_CNT_##name])

/* Counters saturate (16.1.3.5). */
static u8 clamp8(u64 value)
{
	return min_t(u64, value, U8_MAX);
}

static __be16 clamp16(u64 value)
{
	return cpu_to_be16(min_t(u64, value, U16_MAX));
}

static __be32 clamp32(u64 value)
{
	return cpu_to_be32(min_t(u64, value, U32_MAX));
}

/* The unit of data counters is four bytes (16.1.3.5). */
static u64 words(u64 bytes)
{
	return bytes / 4;
}

static u64 receive_errors(const struct verve_stats *total)
{
	return COUNT(total, rx_icrc_encapsulated) +
	       COUNT(total, rx_drop_length) + COUNT(total, rx_drop_header) +
	       COUNT(total, rx_drop_memory);
}

static void put_counters(void *data, const struct verve_stats *total)
{
	struct ib_pma_portcounters *counters = data;

	counters->link_downed_counter = clamp8(COUNT(total, link_downed));
	counters->port_rcv_errors = clamp16(receive_errors(total));
	counters->port_rcv_constraint_errors =
		clamp8(COUNT(total, rx_drop_pkey));
	counters->port_xmit_discards = clamp16(COUNT(total, send_err));
	counters->port_xmit_data = clamp32(words(COUNT(total, sent_bytes)));
	counters->port_rcv_data = clamp32(words(COUNT(total, rcvd_bytes)));
	counters->port_xmit_packets = clamp32(COUNT(total, sent_pkts));
	counters->port_rcv_packets = clamp32(COUNT(total, rcvd_pkts));
}

static void put_counters_ext(void *data, const struct verve_stats *total)
{
	struct ib_pma_portcounters_ext *counters = data;
	u64 sent = COUNT(total, sent_pkts), rcvd = COUNT(total, rcvd_pkts);
	u64 mcast_sent = min(COUNT(total, sent_mcast_pkts), sent);
	u64 mcast_rcvd = min(COUNT(total, rcvd_mcast_pkts), rcvd);

	counters->port_xmit_data = cpu_to_be64(words(COUNT(total, sent_bytes)));
	counters->port_rcv_data = cpu_to_be64(words(COUNT(total, rcvd_bytes)));
	counters->port_xmit_packets = cpu_to_be64(sent);
	counters->port_rcv_packets = cpu_to_be64(rcvd);
	counters->port_unicast_xmit_packets = cpu_to_be64(sent - mcast_sent);
	counters->port_unicast_rcv_packets = cpu_to_be64(rcvd - mcast_rcvd);
	counters->port_multicast_xmit_packets = cpu_to_be64(mcast_sent);
	counters->port_multicast_rcv_packets = cpu_to_be64(mcast_rcvd);
}

static int get_attribute(struct verve_dev *dev, __be16 id, void *data)
{
	struct ib_class_port_info *info = data;
	struct verve_stats total;

	if (id == IB_PMA_CLASS_PORT_INFO) {
		info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
		return REPLY;
	}
	verve_stats_total(dev, &total);
	if (id == IB_PMA_PORT_COUNTERS)
		put_counters(data, &total);
	else if (id == IB_PMA_PORT_COUNTERS_EXT)
		put_counters_ext(data, &total);
	else
		return IB_MAD_RESULT_FAILURE;
	return REPLY;
}

int verve_process_mad(struct ib_device *ibdev, int flags, u32 port_num,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index)
{
	if (wc)
		return IB_MAD_RESULT_FAILURE;
	if (port_num != 1 || in->mad_hdr.method != IB_MGMT_METHOD_GET ||
	    in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return IB_MAD_RESULT_FAILURE;

	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	return get_attribute(to_vdev(ibdev), in->mad_hdr.attr_id,
			     out->data + ATTRIBUTE_OFFSET);
}
