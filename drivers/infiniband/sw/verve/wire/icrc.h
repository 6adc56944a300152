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
 * verve_icrc_start_v4() - start the ICRC with the LRH, IPv4, UDP and BTH headers
 * @ip: header of 20 bytes, as sent
 * @udp: UDP header
 * @bth: the 12 bytes of BTH
 *
 * TOS, TTL, both checksums, FECN, BECN and the reserved bits of the BTH are
 * masked. verve_icrc_update() adds what follows the BTH, and verve_icrc_end()
 * finishes the ICRC.
 *
 * Context: any up to softirq.
 * Return: the running value.
 */
u32 verve_icrc_start_v4(const struct iphdr *ip, const struct udphdr *udp,
			const u8 *bth);

/*
 * Like verve_icrc_start_v4(), for IPv6. Traffic class, flow label and hop limit
 * are masked.
 */
u32 verve_icrc_start_v6(const struct ipv6hdr *ip, const struct udphdr *udp,
			const u8 *bth);

/* Add @len bytes to the running value @crc. Context: any up to softirq. */
u32 verve_icrc_update(u32 crc, const void *data, size_t len);

/* Convert a running value to the ICRC field, least significant byte first. */
static inline __le32 verve_icrc_end(u32 crc)
{
	return cpu_to_le32(~crc);
}

/* Select the fastest CRC at module load. Context: process. Return: 0 or -errno. */
int verve_icrc_init(void);
void verve_icrc_exit(void);

#endif
