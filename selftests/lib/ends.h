/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two ends of a connection in one process, so that a test sees both sides. The ends
 * may be on one device or on two, and in two network namespaces.
 *
 *	struct ends e;
 *
 *	ends_open(&e, argc, argv);		devices, PDs, memory
 *	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
 *	... post on e.a, receive on e.b ...
 *	ends_disconnect(&e);			QPs and CQs
 *	ends_close(&e);
 */
#ifndef SELFTESTS_ENDS_H
#define SELFTESTS_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

/* Room for the largest message of the tables and guards around it */
#define END_MEMORY	(2u << 20)
#define UD_QKEY		0x1ee7c0deu

struct end {
	const char *name;
	const char *netns;	/* NULL: network namespace of the program's start */
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct ibv_pd *pd;
	union ibv_gid gid;
	int gid_index;
	enum ibv_mtu active_mtu;
	/* Registered memory with all access rights */
	struct ibv_mr *mr;
	uint8_t *buf;
	/* Each ends_connect() creates the following objects. */
	struct ibv_comp_channel *chan;
	struct ibv_cq *scq, *rcq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	uint32_t psn;
	uint32_t max_inline;
};

struct ends {
	struct end a, b;
	bool ipv6, quick, huge;
	uint32_t most;		/* largest message, 0: no limit */
	uint8_t timeout;	/* local ACK timeout for this network, 0: any */
};

/* Attributes of QPs; zero means the default. */
struct qp_conf {
	enum ibv_qp_type type;
	enum ibv_mtu mtu;
	struct ibv_srq *srq;	/* SRQ of end b */
	unsigned int depth;	/* depth of all four queues */
	unsigned int sges;
	unsigned int inline_data;
	uint64_t send_ops;	/* IBV_QP_EX_WITH_*: for the ibv_wr_ functions */
	unsigned int access;	/* remote access flags; NO_ACCESS: none */
	uint8_t timeout, retry_cnt, rnr_retry, rnr_timer;
	bool no_retry;		/* retry_cnt 0 */
	bool no_rnr_retry;	/* rnr_retry 0 */
	bool signal_all;
};

#define NO_ACCESS	(1u << 31)
#define ALL_REMOTE	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_ATOMIC)

/*
 * Read the common options (see usage in ends.c) and open both ends. Exits when a
 * device is missing or has no GID of the wanted family.
 */
void ends_open(struct ends *e, int argc, char **argv);
void ends_close(struct ends *e);

/* Open one end, for a test whose other end is in another process. */
void end_open(struct end *end, const char *dev, bool ipv6);
/* The same, without memory, for a test that has its own */
void end_open_device(struct end *end, const char *dev, bool ipv6);
void end_close(struct end *end);
/* Move an existing QP to RTS. Uses gid, psn and qp->qp_num of @peer. */
void end_connect(struct end *end, const struct end *peer,
		 const struct qp_conf *conf);

/* Move the calling thread into the network namespace of an end. */
void end_enter(const struct end *end);

/* Create CQs and a QP at both ends and move both QPs to RTS. */
void ends_connect(struct ends *e, const struct qp_conf *conf);
void ends_disconnect(struct ends *e);

/* Steps of ends_connect(), for tests that do not take all of them */
void ends_create(struct ends *e, const struct qp_conf *conf);
void end_create_qp(struct end *end, const struct qp_conf *conf,
		   struct ibv_srq *srq);
void end_destroy_qp(struct end *end);
void end_create_cqs(struct end *end, unsigned int cqe);
void end_destroy_cqs(struct end *end);

/* Fill in the attributes of a transition, for tests that change them. Return: mask. */
int attr_init(struct ibv_qp_attr *attr, const struct qp_conf *conf);
int attr_rtr(struct ibv_qp_attr *attr, const struct qp_conf *conf,
	     const struct end *end, const struct end *peer);
int attr_rts(struct ibv_qp_attr *attr, const struct qp_conf *conf,
	     const struct end *end);

/* Return: result of ibv_modify_qp(). */
int end_to_init(struct end *end, const struct qp_conf *conf);
int end_to_rtr(struct end *end, const struct end *peer,
	       const struct qp_conf *conf);
int end_to_rts(struct end *end, const struct qp_conf *conf);
int end_to_error(struct end *end);

/* Return: state of the QP by ibv_query_qp(). */
enum ibv_qp_state end_state(struct end *end);

static inline unsigned int mtu_bytes(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

#endif
