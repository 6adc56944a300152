/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Invariant CRC of RoCEv2 (IBTA vol. 1, 7.8.1; Annex A17.3.3)
 */
#ifndef VERVE_WIRE_ICRC_H
#define VERVE_WIRE_ICRC_H

#include <linux/types.h>
#include <asm/byteorder.h>

struct iphdr;
struct ipv6hdr;
struct udphdr;

#define VERVE_ICRC_LEN	4

/**
 * verve_icrc_start_v4() - ICRC over masked LRH, IPv4, UDP and BTH headers
 * @ip: header of 20 bytes as it will be on the wire
 * @udp: UDP header
 * @bth: the 12 bytes of BTH
 *
 * Masked: TOS, TTL, both checksums, BTH's FECN, BECN and reserved bits. The
 * running value is then fed what follows BTH with verve_icrc_update() and
 * finished by verve_icrc_end().
 *
 * Context: any up to softirq.
 * Return: the running value.
 */
u32 verve_icrc_start_v4(const struct iphdr *ip, const struct udphdr *udp,
			const u8 *bth);

/* As verve_icrc_start_v4(); masked: traffic class, flow label, hop limit. */
u32 verve_icrc_start_v6(const struct ipv6hdr *ip, const struct udphdr *udp,
			const u8 *bth);

/* Feed @len bytes more. Context: any up to softirq. */
u32 verve_icrc_update(u32 crc, const void *data, size_t len);

/* The four bytes as they stand on the wire, least significant first. */
static inline __le32 verve_icrc_end(u32 crc)
{
	return cpu_to_le32(~crc);
}

/* Module load: look for the fastest CRC. Process. Return: 0 or -errno. */
int verve_icrc_init(void);
void verve_icrc_exit(void);

#endif
