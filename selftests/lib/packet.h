/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RoCEv2 packets by hand, as a peer might send them that knows a connection and
 * keeps to no rule.
 *
 *	packet_begin(&p, &from, &to);		IP and UDP
 *	packet_add(&p, &bth, sizeof(bth));	and what follows
 *	packet_end(&p);				lengths and ICRC
 *	packet_send(fd, &p);
 *
 * Shares no code with the driver: what that must make of a packet is judged here
 * once more (packet_fate()), by the specification.
 */
#ifndef SELFTESTS_PACKET_H
#define SELFTESTS_PACKET_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define ROCE_PORT	4791
#define PACKET_ROOM	8500

struct packet {
	uint8_t bytes[PACKET_ROOM];
	unsigned int ip_len;	/* of the IP header */
	unsigned int len;
	bool ipv6;
};

/* Extended headers of an operation, in their order on the wire */
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

/* enum packet_part of a BTH opcode; 0 if it is not RoCE's */
unsigned int packet_parts(uint8_t opcode);

/* Why no QP gets a packet, as the device has to count it */
enum packet_fate {
	FATE_QP,		/* one gets it, if there is that QP */
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
/* A BTH of the default partition that asks for no ACK */
void packet_bth(struct packet *p, uint8_t opcode, uint32_t qpn, uint32_t psn);
/* The traffic class, ECN included */
void packet_mark(struct packet *p, uint8_t tos);
/* Room for @words of IPv4 options, which do nothing; nothing is added before. */
void packet_options(struct packet *p, unsigned int words);
void packet_end(struct packet *p);
/* UDP's length is less by @by than what there is. */
void packet_shrink(struct packet *p, unsigned int by);

/* In the network namespace of the caller. Both end the program if they cannot. */
int packet_socket(bool ipv6);
void packet_send(int fd, const struct packet *p);

#endif
