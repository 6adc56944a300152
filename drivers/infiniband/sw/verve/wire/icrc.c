// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invariant CRC of RoCEv2 (IBTA vol. 1, 7.8.1; Annex A17.3.3)
 *
 * The ICRC is the CRC-32 of Ethernet over all fields that no router may change.
 * Fields that a router may change count as all ones. The eight bytes of the
 * local route header, which only InfiniBand has, count as ones too.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <verve/crc32.h>
#include "headers.h"
#include "icrc.h"

/* The running value after the eight bytes of masked LRH. */
#define AFTER_LRH	0xdebb20e3

struct masked_tail {
	struct udphdr udp;
	struct verve_bth_hdr bth;
} __packed;

static void mask_tail(struct masked_tail *tail, const struct udphdr *udp,
		      const u8 *bth)
{
	memcpy(&tail->udp, udp, sizeof(tail->udp));
	memset(&tail->udp.check, 0xff, sizeof(tail->udp.check));
	memcpy(&tail->bth, bth, sizeof(tail->bth));
	tail->bth.qpn |= cpu_to_be32(~VERVE_24BIT_MASK);
}

u32 verve_icrc_start_v4(const struct iphdr *ip, const struct udphdr *udp,
			const u8 *bth)
{
	struct {
		struct iphdr ip;
		struct masked_tail tail;
	} __packed masked;

	memcpy(&masked.ip, ip, sizeof(masked.ip));
	masked.ip.tos = 0xff;
	masked.ip.ttl = 0xff;
	memset(&masked.ip.check, 0xff, sizeof(masked.ip.check));
	mask_tail(&masked.tail, udp, bth);
	return verve_icrc_update(AFTER_LRH, &masked, sizeof(masked));
}

u32 verve_icrc_start_v6(const struct ipv6hdr *ip, const struct udphdr *udp,
			const u8 *bth)
{
	struct {
		struct ipv6hdr ip;
		struct masked_tail tail;
	} __packed masked;

	memcpy(&masked.ip, ip, sizeof(masked.ip));
	masked.ip.priority = 0xf;
	memset(masked.ip.flow_lbl, 0xff, sizeof(masked.ip.flow_lbl));
	masked.ip.hop_limit = 0xff;
	mask_tail(&masked.tail, udp, bth);
	return verve_icrc_update(AFTER_LRH, &masked, sizeof(masked));
}

u32 verve_icrc_update(u32 crc, const void *data, size_t len)
{
	return compat_crc32_le(crc, data, len);
}

int verve_icrc_init(void)
{
	return compat_crc32_init();
}

void verve_icrc_exit(void)
{
	compat_crc32_exit();
}
