/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of memory windows: end b has a window, end a the requests.
 */
#ifndef SELFTESTS_WINDOW_H
#define SELFTESTS_WINDOW_H

#include <stdbool.h>
#include "ends.h"
#include "work.h"

#define SIZE		9000u	/* of windows: more than a packet, and odd */
#define BIND_ID		7
#define INV_ID		8

/**
 * struct windows - what a test works with
 * @e: both ends, connected
 * @base: all of b's memory, with no right for peers but through windows
 * @mw: a window, not bound when the test begins
 * @type: of it
 * @service: of the QPs
 */
struct windows {
	struct ends e;
	struct ibv_mr *base;
	struct ibv_mw *mw;
	enum ibv_mw_type type;
	enum ibv_qp_type service;
};

extern struct windows w;

struct window_test {
	const char *name;
	bool (*run)(void);
	enum ibv_mw_type only;		/* 0: both types */
	enum ibv_qp_type service;	/* 0: RC */
};

/* Runs all of them for both types. Return: what main() returns. */
int windows_run(const struct window_test *tests, size_t n, int argc,
		char **argv);

/* QPs and CQs anew */
void reconnect(void);
struct ibv_mw *new_window(void);

/* Address of a byte of an end's message */
uint64_t at(const struct end *end, uint32_t offset);

/* A request to bind w.mw anew to SIZE bytes of b's message, to be spoilt */
struct ibv_send_wr bind_wr(int access);
/* Posts it and sees that it succeeds; the window's key is the new one. */
bool post_bind(struct end *end, struct ibv_send_wr *wr);
bool bind_all(int access);
/* ibv_bind_mw() to nothing. Return: what that said. */
int unbind(void);
/* LOCAL_INV. Return: 0, or what post_send said. */
int post_invalidation(uint32_t rkey);

/* A request of a to b by that key and address */
struct ibv_send_wr through(struct ibv_sge *sge, enum ibv_wr_opcode op,
			   uint32_t rkey, uint64_t va);
/* Return: how it ended, or -1. */
int access_at(enum ibv_wr_opcode op, uint32_t rkey, uint64_t va,
	      uint32_t size);
int write_all(void);
/* Nothing can be done that way; both QPs are in error after that, and new. */
bool is_closed(uint32_t rkey, enum ibv_wr_opcode op, uint64_t va,
	       uint32_t size);
bool key_is_closed(uint32_t rkey);

#endif
