// SPDX-License-Identifier: GPL-2.0-only
/*
 * The invariant CRC, independent of Verve's and only by the specification (IBTA vol. 1,
 * Annex A17.3.3): eight bytes at a time, over a copy of the headers with ones in the
 * fields that routers change.
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
	STEP		= 8,
};

/* CRC of a byte value with a number of zero bytes behind it */
static u32 tables[STEP][256];

void nic_crc_init(void)
{
	unsigned int i, bit, step;

	for (i = 0; i < 256; i++) {
		u32 value = i;

		for (bit = 0; bit < 8; bit++)
			value = value & 1 ? value >> 1 ^ 0xedb88320 : value >> 1;
		tables[0][i] = value;
	}
	for (step = 1; step < STEP; step++) {
		for (i = 0; i < 256; i++) {
			u32 value = tables[step - 1][i];

			tables[step][i] = value >> 8 ^ tables[0][value & 0xff];
		}
	}
}

static u32 update(u32 crc, const u8 *data, unsigned int len)
{
	for (; len >= STEP; len -= STEP, data += STEP) {
		crc = tables[7][data[0] ^ (crc & 0xff)] ^
		      tables[6][data[1] ^ (crc >> 8 & 0xff)] ^
		      tables[5][data[2] ^ (crc >> 16 & 0xff)] ^
		      tables[4][data[3] ^ crc >> 24] ^
		      tables[3][data[4]] ^ tables[2][data[5]] ^
		      tables[1][data[6]] ^ tables[0][data[7]];
	}
	while (len--)
		crc = crc >> 8 ^ tables[0][*data++ ^ (crc & 0xff)];
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
