/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of memory windows. End b has a window, and end a sends requests.
 */
#ifndef SELFTESTS_WINDOW_H
#define SELFTESTS_WINDOW_H

#include <stdbool.h>
#include "ends.h"
#include "work.h"

#define SIZE		9000u	/* of windows: several packets, the last one short */
#define BIND_ID		7
#define INV_ID		8

/**
 * struct windows - objects of a test
 * @e: both ends, connected
 * @base: region of b's memory without remote access, but for windows
 * @mw: window, unbound when the test begins
 * @type: type of @mw
 * @service: transport service of the QPs
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

/* Run all tests for both types of windows. Return: exit code of the program. */
int windows_run(const struct window_test *tests, size_t n, int argc,
		char **argv);

/* Replace QPs and CQs by new ones. */
void reconnect(void);
struct ibv_mw *new_window(void);

/* Return: address of a byte of an end's message. */
uint64_t at(const struct end *end, uint32_t offset);

/* Return: a request that binds w.mw to SIZE bytes of b's message. Tests may change it. */
struct ibv_send_wr bind_wr(int access);
/* Post the request and expect success. The window gets the new key. */
bool post_bind(struct end *end, struct ibv_send_wr *wr);
bool bind_all(int access);
/* Unbind the window by ibv_bind_mw() with length 0. Return: its result. */
int unbind(void);
/* Post LOCAL_INV. Return: result of ibv_post_send(). */
int post_invalidation(uint32_t rkey);

/* Return: a request of end a to that key and address of end b. */
struct ibv_send_wr through(struct ibv_sge *sge, enum ibv_wr_opcode op,
			   uint32_t rkey, uint64_t va);
/* Post a request. Return: status of its completion, or -1. */
int access_at(enum ibv_wr_opcode op, uint32_t rkey, uint64_t va,
	      uint32_t size);
int write_all(void);
/* Expect that the access is refused. Replaces both QPs, which are in error then. */
bool is_closed(uint32_t rkey, enum ibv_wr_opcode op, uint64_t va,
	       uint32_t size);
bool key_is_closed(uint32_t rkey);

#endif
