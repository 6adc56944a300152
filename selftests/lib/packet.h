/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RoCEv2 packets built by hand, as a malicious peer might send them.
 *
 *	packet_begin(&p, &from, &to);		IP and UDP
 *	packet_add(&p, &bth, sizeof(bth));	and what follows
 *	packet_end(&p);				lengths and ICRC
 *	packet_send(fd, &p);
 *
 * This file shares no code with the driver. packet_fate() predicts from the
 * specification what the driver must do with a packet.
 */
#ifndef SELFTESTS_PACKET_H
#define SELFTESTS_PACKET_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define ROCE_PORT	4791
#define PACKET_ROOM	8500
#define UDP_LEN		8

struct packet {
	uint8_t bytes[PACKET_ROOM];
	unsigned int ip_len;	/* bytes of the IP header */
	unsigned int len;
	bool ipv6;
};

/* Extended headers of an operation, in wire order */
enum packet_part {
	PART_DETH	= 1 << 0,
	PART_FETH	= 1 << 1,
	PART_RETH	= 1 << 2,
	PART_ATOMICETH	= 1 << 3,
	PART_AETH	= 1 << 4,
	PART_ATOMICACK	= 1 << 5,
	PART_IMM	= 1 << 6,
	PART_IETH	= 1 << 7,
	PART_CNP	= 1 << 8,
	PART_PAYLOAD	= 1 << 9,
	PART_KNOWN	= 1 << 10,
};

/* Return: enum packet_part of a BTH opcode, or 0 for opcodes that RoCE has not. */
unsigned int packet_parts(uint8_t opcode);

/* Reason why no QP gets a packet, which selects the counter of the drop */
enum packet_fate {
	FATE_QP,		/* the QP gets the packet, if it exists */
	FATE_LENGTH,
	FATE_HEADER,
	FATE_ICRC,
	FATE_OPCODE,
	FATE_PKEY,
	FATE_NO_QP,
	NUM_FATES,
};

extern const char *const packet_counters[NUM_FATES];

enum packet_fate packet_fate(const struct packet *p);
uint32_t packet_qpn(const struct packet *p);

void packet_begin(struct packet *p, const union ibv_gid *from,
		  const union ibv_gid *to);
void packet_add(struct packet *p, const void *data, unsigned int len);
/* Add a BTH with the default P_Key and without AckReq. */
void packet_bth(struct packet *p, uint8_t opcode, uint32_t qpn, uint32_t psn);
/* Set the traffic class, including ECN. */
void packet_mark(struct packet *p, uint8_t tos);
/* Add @words of IPv4 options without effect, before all other headers. */
void packet_options(struct packet *p, unsigned int words);
void packet_end(struct packet *p);
/* Reduce the length in the UDP header by @by. */
void packet_shrink(struct packet *p, unsigned int by);

/* Open a socket in the caller's network namespace. Both functions exit on failure. */
int packet_socket(bool ipv6);
void packet_send(int fd, const struct packet *p);

#endif
