/* SPDX-License-Identifier: GPL-2.0-only */
/* Work requests with defaults, of which a test changes a field or two */
#ifndef SELFTESTS_WORK_H
#define SELFTESTS_WORK_H

#include "ends.h"

/* Offset of messages in an end's memory, between guards */
#define MSG_OFFSET	4096u
#define GUARD		64u
#define POISON		0xa5

static inline uint8_t *msg(const struct end *end)
{
	return end->buf + MSG_OFFSET;
}

/* Return: an SGE over @size bytes of the end's message. */
struct ibv_sge end_sge(const struct end *end, uint32_t size);

/* Fill memory with bytes that differ between offsets and between calls. */
void fill(uint8_t *at, size_t size);

/*
 * Return: a signaled work request of end a, from its message to that of end b or
 * back. @sge must live as long as the request. wr_id is the opcode.
 */
struct ibv_send_wr work(const struct ends *e, enum ibv_wr_opcode opcode,
			struct ibv_sge *sge);

/* Return: result of ibv_post_send() or ibv_post_recv(). */
int post(struct end *end, struct ibv_send_wr *wr);
int post_recv(struct end *end, uint64_t wr_id, struct ibv_sge *sge, int n);

/* Send a WRITE of new bytes from end a. Return: true if they arrive at end b. */
bool write_arrives(struct ends *e, uint32_t size);

/* Post a receive over @size bytes of the end's message. Exits if refused. */
void receive(struct end *end, uint64_t wr_id, uint32_t size);

#endif
