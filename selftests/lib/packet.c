// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>

#include "packet.h"
#include "tap.h"

enum {
	BTH_LEN		= 12,
	ICRC_LEN	= 4,
	/* Longest headers (BTH, AtomicETH) and largest path MTU */
	LONGEST		= UDP_LEN + 40 + 4096 + ICRC_LEN,
	SOURCE_PORT	= 0xc000,
};

const char *const packet_counters[NUM_FATES] = {
	[FATE_QP]	= "rcvd_pkts",
	[FATE_LENGTH]	= "rx_drop_length",
	[FATE_HEADER]	= "rx_drop_header",
	[FATE_ICRC]	= "rx_icrc_encapsulated",
	[FATE_OPCODE]	= "rx_drop_opcode",
	[FATE_PKEY]	= "rx_drop_pkey",
	[FATE_NO_QP]	= "rx_drop_no_qp",
};

/* ---------------------------------------------------------------- opcodes */

#define DATA	(PART_KNOWN | PART_PAYLOAD)

/* Operations of RC (IBTA vol. 1, 9.2.1, table 38). UC has the first twelve. */
static const uint16_t operations[] = {
	[0x00] = DATA, [0x01] = DATA, [0x02] = DATA, [0x03] = DATA | PART_IMM,
	[0x04] = DATA, [0x05] = DATA | PART_IMM,
	[0x06] = DATA | PART_RETH, [0x07] = DATA, [0x08] = DATA,
	[0x09] = DATA | PART_IMM, [0x0a] = DATA | PART_RETH,
	[0x0b] = DATA | PART_RETH | PART_IMM,
	[0x0c] = PART_KNOWN | PART_RETH,
	[0x0d] = DATA | PART_AETH, [0x0e] = DATA, [0x0f] = DATA | PART_AETH,
	[0x10] = DATA | PART_AETH, [0x11] = PART_KNOWN | PART_AETH,
	[0x12] = PART_KNOWN | PART_AETH | PART_ATOMICACK,
	[0x13] = PART_KNOWN | PART_ATOMICETH,
	[0x14] = PART_KNOWN | PART_ATOMICETH,
	[0x16] = DATA | PART_IETH, [0x17] = DATA | PART_IETH,
	[0x1c] = PART_KNOWN | PART_FETH | PART_RETH,
	[0x1d] = DATA | PART_RETH,
};

unsigned int packet_parts(uint8_t opcode)
{
	switch (opcode) {
	case 0x00 ... 0x1d:
		return operations[opcode];
	case 0x20 ... 0x2b:
		return operations[opcode - 0x20];
	case 0x64:
		return DATA | PART_DETH;
	case 0x65:
		return DATA | PART_DETH | PART_IMM;
	case 0x81:
		return PART_KNOWN | PART_CNP;
	default:
		return 0;
	}
}

static unsigned int headers_len(unsigned int parts)
{
	static const uint8_t lengths[] = { 8, 4, 16, 28, 4, 8, 4, 4, 16 };
	unsigned int i, sum = BTH_LEN;

	for (i = 0; i < sizeof(lengths); i++)
		if (parts & 1 << i)
			sum += lengths[i];
	return sum;
}

/* ---------------------------------------------------------------- ICRC */

static uint32_t crc32(uint32_t crc, const uint8_t *data, unsigned int len)
{
	static uint32_t table[256];
	uint32_t i, bit, x;

	for (i = 0; !table[255] && i < 256; i++) {
		for (x = i, bit = 0; bit < 8; bit++)
			x = x >> 1 ^ (x & 1 ? 0xedb88320 : 0);
		table[i] = x;
	}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *data++) & 0xff];
	return crc;
}

/* Set the fields that routers may change to ones (Annex A17.3.3). */
static void mask(uint8_t *head, const struct packet *p)
{
	static const uint8_t ones[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	static const uint8_t v4[] = { 1, 8, 10, 11 }, v6[] = { 1, 2, 3, 7 };
	const uint8_t *where = p->ipv6 ? v6 : v4;
	uint8_t *ip = head + sizeof(ones);
	unsigned int i;

	memcpy(head, ones, sizeof(ones));	/* LRH, which RoCE has not */
	memcpy(ip, p->bytes, p->ip_len + UDP_LEN + BTH_LEN);
	for (i = 0; i < sizeof(v4); i++)
		ip[where[i]] = 0xff;
	if (p->ipv6)
		ip[0] |= 0x0f;
	memset(ip + p->ip_len + 6, 0xff, 2);
	ip[p->ip_len + UDP_LEN + 4] = 0xff;
}

/* ICRC of the bytes before @end */
static uint32_t icrc(const struct packet *p, unsigned int end)
{
	uint8_t head[8 + 60 + UDP_LEN + BTH_LEN];
	unsigned int covered = p->ip_len + UDP_LEN + BTH_LEN;
	uint32_t crc;

	mask(head, p);
	if (end < covered)
		return crc32(-1, head, 8 + end) ^ -1u;
	crc = crc32(-1, head, 8 + covered);
	return crc32(crc, p->bytes + covered, end - covered) ^ -1u;
}

/* ---------------------------------------------------------------- judging */

static unsigned int udp_len(const struct packet *p)
{
	const struct udphdr *udp = (const void *)(p->bytes + p->ip_len);

	return ntohs(udp->len);
}

static bool is_icrc_good(const struct packet *p)
{
	unsigned int end = p->ip_len + udp_len(p) - ICRC_LEN;
	uint32_t crc = icrc(p, end);

	return !memcmp(p->bytes + end, &crc, ICRC_LEN);
}

uint32_t packet_qpn(const struct packet *p)
{
	uint32_t word;

	memcpy(&word, p->bytes + p->ip_len + UDP_LEN + 4, sizeof(word));
	return ntohl(word) & 0xffffff;
}

static enum packet_fate transport_fate(const struct packet *p)
{
	const uint8_t *bth = p->bytes + p->ip_len + UDP_LEN;
	unsigned int parts = packet_parts(bth[0]), pad = bth[1] >> 4 & 3;
	unsigned int len = udp_len(p) - UDP_LEN - ICRC_LEN;
	unsigned int headers = headers_len(parts) + pad;

	if (bth[1] & 0x0f)
		return FATE_HEADER;
	if (!parts)
		return FATE_OPCODE;
	if (len < headers)
		return FATE_LENGTH;
	if (!(parts & PART_PAYLOAD) && len != headers)
		return FATE_HEADER;
	if ((bth[2] & 0x7f) != 0x7f || bth[3] != 0xff)
		return FATE_PKEY;
	return FATE_QP;
}

enum packet_fate packet_fate(const struct packet *p)
{
	if (p->ip_len != (p->ipv6 ? sizeof(struct ip6_hdr) : sizeof(struct ip)))
		return FATE_HEADER;
	if (udp_len(p) < UDP_LEN + BTH_LEN + ICRC_LEN || udp_len(p) > LONGEST)
		return FATE_LENGTH;
	if (!is_icrc_good(p))
		return FATE_ICRC;
	return transport_fate(p);
}

/* ---------------------------------------------------------------- making */

static void begin_v4(struct packet *p, const union ibv_gid *from,
		     const union ibv_gid *to)
{
	struct ip *ip = (void *)p->bytes;

	*ip = (struct ip){
		.ip_v = 4, .ip_hl = 5, .ip_id = htons(1),
		.ip_off = htons(IP_DF), .ip_ttl = 64, .ip_p = IPPROTO_UDP,
	};
	memcpy(&ip->ip_src, from->raw + 12, 4);
	memcpy(&ip->ip_dst, to->raw + 12, 4);
	p->ip_len = sizeof(*ip);
}

static void begin_v6(struct packet *p, const union ibv_gid *from,
		     const union ibv_gid *to)
{
	struct ip6_hdr *ip = (void *)p->bytes;

	*ip = (struct ip6_hdr){};
	ip->ip6_vfc = 0x60;
	ip->ip6_nxt = IPPROTO_UDP;
	ip->ip6_hlim = 64;
	memcpy(&ip->ip6_src, from->raw, sizeof(ip->ip6_src));
	memcpy(&ip->ip6_dst, to->raw, sizeof(ip->ip6_dst));
	p->ip_len = sizeof(*ip);
}

void packet_begin(struct packet *p, const union ibv_gid *from,
		  const union ibv_gid *to)
{
	struct udphdr udp = {
		.source = htons(SOURCE_PORT), .dest = htons(ROCE_PORT),
	};

	p->ipv6 = !IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)to->raw);
	if (p->ipv6)
		begin_v6(p, from, to);
	else
		begin_v4(p, from, to);
	p->len = p->ip_len;
	packet_add(p, &udp, sizeof(udp));
}

void packet_add(struct packet *p, const void *data, unsigned int len)
{
	if (len > sizeof(p->bytes) - p->len)
		tap_bail("a packet of %u bytes and %u more", p->len, len);
	memcpy(p->bytes + p->len, data, len);
	p->len += len;
}

void packet_bth(struct packet *p, uint8_t opcode, uint32_t qpn, uint32_t psn)
{
	const uint32_t bth[] = {
		htonl((uint32_t)opcode << 24 | 0xffff), htonl(qpn), htonl(psn),
	};

	packet_add(p, bth, sizeof(bth));
}

void packet_mark(struct packet *p, uint8_t tos)
{
	if (p->ipv6) {
		p->bytes[0] = 0x60 | tos >> 4;
		p->bytes[1] = tos << 4;
	} else {
		p->bytes[1] = tos;
	}
}

void packet_options(struct packet *p, unsigned int words)
{
	enum { NOP = 1 };
	uint8_t *end = p->bytes + p->ip_len;

	if (p->ipv6)
		return;
	memmove(end + 4 * words, end, p->len - p->ip_len);
	memset(end, NOP, 4 * words);
	p->bytes[0] += words;
	p->ip_len += 4 * words;
	p->len += 4 * words;
}

static void set_udp_len(struct packet *p, unsigned int len)
{
	struct udphdr *udp = (void *)(p->bytes + p->ip_len);

	udp->len = htons(len);
}

void packet_end(struct packet *p)
{
	unsigned int rest = p->len + ICRC_LEN - p->ip_len;
	uint32_t crc;

	if (p->ipv6)
		((struct ip6_hdr *)p->bytes)->ip6_plen = htons(rest);
	else
		((struct ip *)p->bytes)->ip_len = htons(p->ip_len + rest);
	set_udp_len(p, rest);
	crc = icrc(p, p->len);
	packet_add(p, &crc, sizeof(crc));
}

void packet_shrink(struct packet *p, unsigned int by)
{
	unsigned int len = udp_len(p);

	set_udp_len(p, len - by > UDP_LEN && by < len ? len - by : UDP_LEN);
}

/* ---------------------------------------------------------------- sending */

int packet_socket(bool ipv6)
{
	int fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_RAW, IPPROTO_RAW);

	if (fd < 0)
		tap_bail("raw socket: %s", strerror(errno));
	return fd;
}

void packet_send(int fd, const struct packet *p)
{
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in to4 = { .sin_family = AF_INET };
	const struct sockaddr *to = p->ipv6 ? (void *)&to6 : (void *)&to4;
	socklen_t size = p->ipv6 ? sizeof(to6) : sizeof(to4);

	memcpy(&to4.sin_addr, p->bytes + 16, sizeof(to4.sin_addr));
	memcpy(&to6.sin6_addr, p->bytes + 24, sizeof(to6.sin6_addr));
	if (sendto(fd, p->bytes, p->len, 0, to, size) != (ssize_t)p->len)
		tap_bail("sendto of %u bytes: %s", p->len, strerror(errno));
}
