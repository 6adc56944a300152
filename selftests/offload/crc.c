// SPDX-License-Identifier: GPL-2.0-only
/*
 * The invariant CRC, from the specification and nothing else (IBTA vol. 1, Annex
 * A17.3.3): four bits at a time, over a copy of the headers with ones where routers
 * write.
 */
#include <linux/string.h>
#include "nic.h"

enum {
	ETH		= 14,
	VLAN_TAG	= 4,
	IPV4		= 20,
	IPV6		= 40,
	UDP		= 8,
	BTH		= 12,
	LRH		= 8,
	ICRC		= 4,
	PORT		= 4791,
};

static u32 nibbles[16];

void nic_crc_init(void)
{
	unsigned int i, bit;

	for (i = 0; i < 16; i++) {
		u32 value = i;

		for (bit = 0; bit < 4; bit++)
			value = value & 1 ? value >> 1 ^ 0xedb88320 : value >> 1;
		nibbles[i] = value;
	}
}

static u32 update(u32 crc, const u8 *data, unsigned int len)
{
	while (len--) {
		crc ^= *data++;
		crc = crc >> 4 ^ nibbles[crc & 15];
		crc = crc >> 4 ^ nibbles[crc & 15];
	}
	return crc;
}

static unsigned int get16(const u8 *at)
{
	return at[0] << 8 | at[1];
}

unsigned int nic_find_ip(const u8 *frame, unsigned int len)
{
	unsigned int at = ETH;

	while (len >= at + VLAN_TAG && get16(frame + at - 2) == 0x8100)
		at += VLAN_TAG;
	if (len >= at + IPV4 && get16(frame + at - 2) == 0x0800 &&
	    frame[at] == 0x45 && frame[at + 9] == 17 &&
	    !(get16(frame + at + 6) & 0x3fff))
		return at;
	if (len >= at + IPV6 && get16(frame + at - 2) == 0x86dd &&
	    frame[at + 6] == 17)
		return at;
	return 0;
}

static void mask(u8 *ip, unsigned int ip_len)
{
	if (ip_len == IPV4) {
		ip[1] = 0xff;
		ip[8] = 0xff;
		memset(ip + 10, 0xff, 2);
	} else {
		ip[0] |= 0x0f;
		memset(ip + 1, 0xff, 3);
		ip[7] = 0xff;
	}
	memset(ip + ip_len + 6, 0xff, 2);
	ip[ip_len + UDP + 4] = 0xff;
}

unsigned int nic_icrc(const u8 *frame, unsigned int len, u8 icrc[4])
{
	unsigned int ip = nic_find_ip(frame, len), ip_len, head, end, i;
	u8 masked[LRH + IPV6 + UDP + BTH];
	u32 crc;

	if (!ip)
		return 0;
	ip_len = frame[ip] >> 4 == 4 ? IPV4 : IPV6;
	head = ip_len + UDP + BTH;
	if (len < ip + head + ICRC || get16(frame + ip + ip_len + 2) != PORT)
		return 0;
	end = ip + ip_len + get16(frame + ip + ip_len + 4) - ICRC;
	if (end < ip + head || end + ICRC > len)
		return 0;

	memset(masked, 0xff, LRH);
	memcpy(masked + LRH, frame + ip, head);
	mask(masked + LRH, ip_len);
	crc = update(~0u, masked, LRH + head);
	crc = ~update(crc, frame + ip + head, end - ip - head);
	for (i = 0; i < ICRC; i++)
		icrc[i] = crc >> 8 * i;
	return end;
}
