// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "mangle.h"

enum {
	WORDS		= 32,	/* of 8 bytes in a command */
	ATTRS		= 12,
	OBJECTS		= 24,
	METHODS		= 14,
	COMMANDS	= 60,
	EXTENDED	= 1u << 31,
};

static __thread struct mangle *current;

void mangle_begin(struct mangle *m)
{
	current = m;
}

static uint64_t address(struct mangle *m)
{
	return (uintptr_t)m->memory + dice_roll(&m->dice, m->size);
}

/* Handles are small numbers. A word may hold two handles, or a size and a handle. */
static uint64_t word(struct mangle *m)
{
	struct dice *d = &m->dice;

	switch (dice_roll(d, 8)) {
	case 0:
		return dice_edge(d);
	case 1:
	case 2:
		return address(m);
	case 3:
		return dice_roll(d, 4096);
	default:
		return (uint64_t)dice_roll(d, 16) << 32 | dice_roll(d, 16);
	}
}

/* ---------------------------------------------------------------- write() */

void mangle_write(struct mangle *m, struct ibv_context *ctx)
{
	struct dice *d = &m->dice;
	uint32_t words = 2 + dice_roll(d, WORDS - 2), i;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint64_t words[WORDS];
	} call = {
		.hdr = {
			.command = dice_roll(d, COMMANDS),
			.in_words = 2 + 2 * words,
			.out_words = dice_roll(d, 64),
		},
	};

	for (i = 0; i < words; i++)
		call.words[i] = word(m);
	call.words[0] = address(m);
	if (dice_one_in(d, 2)) {
		call.hdr.command |= EXTENDED;
		call.hdr.in_words = words - 2;
		call.words[1] = 0;
	}
	if (dice_one_in(d, 16))
		call.hdr.in_words = dice_any(d);
	/* The kernel may refuse or execute the command. */
	if (write(ctx->cmd_fd, &call, sizeof(call.hdr) + 8 * words) < 0)
		return;
}

/* ---------------------------------------------------------------- ioctl() */

/* When this command fails, the core leaks a reference to the task. */
static bool asks_for_context(const struct ib_uverbs_ioctl_hdr *hdr)
{
	return hdr->object_id == UVERBS_OBJECT_DEVICE &&
	       hdr->method_id == UVERBS_METHOD_GET_CONTEXT;
}

static void make_attr(struct mangle *m, struct ib_uverbs_attr *attr)
{
	static const uint16_t lengths[] = { 0, 0, 4, 8, 8, 16, 64, 1024 };
	struct dice *d = &m->dice;

	attr->len = dice_pick(d, lengths);
	attr->flags = dice_one_in(d, 16) ? dice_any(d) :
					   UVERBS_ATTR_F_MANDATORY;
	attr->data = attr->len > 8 ? address(m) : word(m);
	if (dice_one_in(d, 2) && attr->len <= 8)
		attr->data &= 0xff;
}

void mangle_ioctl(struct mangle *m, struct ibv_context *ctx)
{
	struct dice *d = &m->dice;
	uint32_t n = dice_roll(d, ATTRS), i;
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[ATTRS];
	} call = {
		.hdr = {
			.object_id = dice_roll(d, OBJECTS),
			.method_id = dice_roll(d, METHODS),
			.driver_id = RDMA_DRIVER_RXE,
			.num_attrs = n,
			.length = sizeof(call.hdr) + n * sizeof(call.attrs[0]),
		},
	};

	for (i = 0; i < n; i++) {
		call.attrs[i].attr_id = i;
		make_attr(m, &call.attrs[i]);
	}
	if (n && dice_one_in(d, 2))
		call.attrs[n - 1].attr_id = UVERBS_ATTR_UHW_IN;
	if (!asks_for_context(&call.hdr))
		syscall(SYS_ioctl, ctx->cmd_fd, RDMA_VERBS_IOCTL, &call.hdr);
}

/* ---------------------------------------------------------------- the library's */

/* Change values and handles, but no pointers to the library's memory. */
static void change(struct mangle *m, struct ib_uverbs_ioctl_hdr *hdr)
{
	struct dice *d = &m->dice;
	struct ib_uverbs_attr *attr = &hdr->attrs[dice_roll(d, hdr->num_attrs)];

	switch (dice_roll(d, 6)) {
	case 0:
		hdr->method_id = dice_roll(d, METHODS);
		break;
	case 1:
		hdr->object_id = dice_roll(d, OBJECTS);
		break;
	case 2:
		attr->attr_id = dice_roll(d, ATTRS);
		break;
	case 3:
		if (attr->len <= 8)
			attr->len = dice_roll(d, 9);
		break;
	default:
		if (attr->len <= 8)
			attr->data = word(m);
	}
}

/* Change input that the command points to, in the library's memory. */
static void change_input(struct mangle *m, struct ib_uverbs_ioctl_hdr *hdr)
{
	struct dice *d = &m->dice;
	struct ib_uverbs_attr *attr = &hdr->attrs[dice_roll(d, hdr->num_attrs)];
	bool is_write = hdr->object_id == UVERBS_OBJECT_DEVICE &&
			hdr->method_id == UVERBS_METHOD_INVOKE_WRITE;

	if (is_write && attr->attr_id == UVERBS_ATTR_CORE_IN && attr->len > 16) {
		uint32_t at = 8 + dice_roll(d, attr->len / 4 - 3) * 4;
		uint32_t value = dice_one_in(d, 2) ? dice_edge(d) :
						     dice_roll(d, 64);

		memcpy((uint8_t *)(uintptr_t)attr->data + at, &value,
		       sizeof(value));
	}
}

static int call(int fd, unsigned long request, void *arg)
{
	return syscall(SYS_ioctl, fd, request, arg);
}

/* Call with a changed copy, and give the library the handles of new objects. */
static int call_changed(int fd, struct ib_uverbs_ioctl_hdr *hdr)
{
	size_t size = sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]);
	uint64_t copy[128];
	struct ib_uverbs_ioctl_hdr *mine = (void *)copy;
	int err, i;

	if (size > sizeof(copy) || !hdr->num_attrs)
		return call(fd, RDMA_VERBS_IOCTL, hdr);
	memcpy(copy, hdr, size);
	if (dice_one_in(&current->dice, 2))
		change(current, mine);
	else
		change_input(current, mine);
	if (asks_for_context(hdr) || asks_for_context(mine))
		return call(fd, RDMA_VERBS_IOCTL, hdr);
	err = call(fd, RDMA_VERBS_IOCTL, mine);
	for (i = 0; i < hdr->num_attrs; i++)
		if (mine->attrs[i].attr_id == hdr->attrs[i].attr_id)
			hdr->attrs[i].data = mine->attrs[i].data;
	return err;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request != RDMA_VERBS_IOCTL || !current || !current->one_in ||
	    !dice_one_in(&current->dice, current->one_in))
		return call(fd, request, arg);
	return call_changed(fd, arg);
}
