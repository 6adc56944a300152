/* SPDX-License-Identifier: GPL-2.0-only */
/* Posting work requests that differ from the plain one in a field or two. */
#ifndef SELFTESTS_WORK_H
#define SELFTESTS_WORK_H

#include "ends.h"

/* Messages lie here in an end's memory, guards before and after. */
#define MSG_OFFSET	4096u
#define GUARD		64u
#define POISON		0xa5

static inline uint8_t *msg(const struct end *end)
{
	return end->buf + MSG_OFFSET;
}

/* An SGE over @size bytes of the end's message. */
struct ibv_sge end_sge(const struct end *end, uint32_t size);

/* Fills with bytes that differ between offsets and between calls. */
void fill(uint8_t *at, size_t size);

/*
 * A signaled work request of end a: from its message to that of end b, or
 * back. @sge must live as long as the request. wr_id is the opcode.
 */
struct ibv_send_wr work(const struct ends *e, enum ibv_wr_opcode opcode,
			struct ibv_sge *sge);

/* Return: 0 or what ibv_post_send(), ibv_post_recv() said. */
int post(struct end *end, struct ibv_send_wr *wr);
int post_recv(struct end *end, uint64_t wr_id, struct ibv_sge *sge, int n);

/* A WRITE of new bytes from end a. Return: whether end b has them then. */
bool write_arrives(struct ends *e, uint32_t size);

/* A receive over @size bytes of the end's message; ends the program if refused. */
void receive(struct end *end, uint64_t wr_id, uint32_t size);

#endif
