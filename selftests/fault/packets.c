// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forged packets to connected QPs, by an attacker that knows their numbers, PSNs and keys
 * (lib/forge.h). The attacker may break the connection that the packets pretend to belong
 * to. But memory without rights for that connection stays unchanged, another connection
 * goes on, every packet is counted, and broken QPs can be destroyed at once.
 *
 * SEED=N repeats a run, ROUNDS=N sets its length.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "../lib/canary.h"
#include "../lib/dice.h"
#include "../lib/ends.h"
#include "../lib/forge.h"
#include "../lib/hwstats.h"
#include "../lib/packet.h"
#include "../lib/tap.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

enum {
	PACKETS		= 200,	/* in a round, at most */
	PACKETS_AFTER	= 8,	/* to a QP that is in error, on average */
	SIZE		= 20000,
	OUTSTANDING	= 8,
	SETTLE_MS	= 3000,
};

/* The end that is attacked */
enum { SIDE_A, SIDE_B, SIDES };

static struct ends e, other;
static struct canary canary[SIDES];
static struct end *const sides[SIDES] = { &e.a, &e.b };
static int sockets[SIDES];
static uint64_t seed, slowest;
static unsigned int rounds, forged;

/* Counters expected for forged packets, by the device that is attacked */
static uint64_t expected[SIDES][NUM_FATES];

/* ---------------------------------------------------------------- bystander */

static pthread_t bystander;
static atomic_bool enough, disturbed;
static atomic_uint messages;

/* The bystander sends its last message after the attack, however short that was. */
static void *stand_by(void *arg)
{
	bool last;

	do {
		last = enough;
		if (write_arrives(&other, SIZE))
			messages++;
		else
			disturbed = true;
		usleep(1000);
	} while (!last && !disturbed);
	return NULL;
}

static void bystander_begin(void)
{
	other = e;
	ends_connect(&other, &(struct qp_conf){ .type = IBV_QPT_RC });
	enough = false;
	disturbed = false;
	messages = 0;
	if (pthread_create(&bystander, NULL, stand_by, NULL))
		tap_bail("pthread_create");
}

static bool bystander_end(void)
{
	enough = true;
	pthread_join(bystander, NULL);
	ends_disconnect(&other);
	tap_diag("the other connection: %u messages", messages);
	CHECK(!disturbed, "another connection was disturbed");
	CHECK(messages, "another connection made no progress");
	return true;
}

/* ---------------------------------------------------------------- traffic */

struct traffic {
	pthread_t thread;
	struct dice dice;
	enum ibv_qp_type service;
	atomic_bool stop;
};

static enum ibv_wr_opcode traffic_opcode(struct traffic *t)
{
	static const enum ibv_wr_opcode rc[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_RDMA_WRITE_WITH_IMM,
	};

	switch (t->service) {
	case IBV_QPT_RC:
		return dice_pick(&t->dice, rc);
	case IBV_QPT_UC:
		return dice_pick(&t->dice, (rc)) == IBV_WR_SEND ?
			IBV_WR_SEND : IBV_WR_RDMA_WRITE;
	default:
		return IBV_WR_SEND;
	}
}

static uint32_t traffic_size(struct traffic *t, enum ibv_wr_opcode opcode)
{
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return 8;
	if (t->service == IBV_QPT_UD || opcode == IBV_WR_SEND)
		return dice_roll(&t->dice, 1000);
	return dice_roll(&t->dice, 12000);
}

static int traffic_post(struct traffic *t)
{
	const struct canary *from = &canary[SIDE_A], *to = &canary[SIDE_B];
	enum ibv_wr_opcode opcode = traffic_opcode(t);
	struct ibv_sge sge = {
		.addr = (uintptr_t)canary_area(from, AREA_OPEN),
		.length = traffic_size(t, opcode),
		.lkey = from->mr[AREA_OPEN]->lkey,
	};
	struct ibv_send_wr wr = work(&e, opcode, &sge);

	if (t->service == IBV_QPT_UD)
		return post(&e.a, &wr);
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr =
			(uintptr_t)canary_area(to, AREA_OPEN);
		wr.wr.atomic.rkey = to->mr[AREA_OPEN]->rkey;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)canary_area(to, AREA_OPEN);
		wr.wr.rdma.rkey = to->mr[AREA_OPEN]->rkey;
	}
	return post(&e.a, &wr);
}

/* Poll for completions, and replace the receives that were used. */
static int reap(void)
{
	struct ibv_wc wc;
	int n = 0, i;

	for (i = 0; i < SIDES; i++) {
		while (ibv_poll_cq(sides[i]->rcq, 1, &wc) > 0)
			if (wc.status == IBV_WC_SUCCESS)
				canary_receive(&canary[i], wc.wr_id);
		while (ibv_poll_cq(sides[i]->scq, 1, &wc) > 0)
			n++;
	}
	return n;
}

static void *drive(void *arg)
{
	struct traffic *t = arg;
	int under_way = 0;

	while (!t->stop) {
		if (under_way < OUTSTANDING && !traffic_post(t))
			under_way++;
		under_way -= reap();
		sched_yield();
	}
	return NULL;
}

/* ---------------------------------------------------------------- attack */

/* Is there a QP with this number? No packet reaches any other. */
static bool is_qp(int side, uint32_t qpn)
{
	const struct end *o = side == SIDE_A ? &other.a : &other.b;

	return qpn == 1 || qpn == sides[side]->qp->qp_num ||
	       (o->qp && qpn == o->qp->qp_num);
}

static enum packet_fate fate(int side, const struct packet *p)
{
	enum packet_fate fate = packet_fate(p);

	return fate == FATE_QP && !is_qp(side, packet_qpn(p)) ? FATE_NO_QP :
								fate;
}

static struct forger forger_of(enum ibv_qp_type service, int side,
			       uint64_t round)
{
	return (struct forger){
		.dice = dice_of(seed, round * SIDES + side),
		.peer = sides[!side],
		.victim = sides[side],
		.memory = &canary[side],
		.service = service,
		.under_way = 0x81,
	};
}

static enum packet_fate shoot(struct forger *f, int side)
{
	enum packet_fate what;
	struct packet p;

	forge(f, &p);
	what = fate(side, &p);
	expected[side][what]++;
	forged++;
	packet_send(sockets[side], &p);
	return what;
}

static void connect_all(enum ibv_qp_type service)
{
	struct qp_conf conf = { .type = service };
	uint32_t i;

	ends_connect(&e, &conf);
	for (i = 0; i < SLOTS; i++) {
		canary_receive(&canary[SIDE_A], i);
		canary_receive(&canary[SIDE_B], i);
	}
}

static bool teardown(void)
{
	uint64_t from = now_ms(), took;

	ends_disconnect(&e);
	took = now_ms() - from;
	if (took > slowest)
		slowest = took;
	CHECK(took < WAIT_MS / 2, "destroying took %llu ms",
	      (unsigned long long)took);
	return canary_lives(&canary[SIDE_A]) && canary_lives(&canary[SIDE_B]);
}

static bool is_broken(void)
{
	return end_state(&e.a) == IBV_QPS_ERR || end_state(&e.b) == IBV_QPS_ERR;
}

static bool attack(enum ibv_qp_type service, uint64_t round)
{
	struct forger forgers[SIDES] = {
		forger_of(service, SIDE_A, round),
		forger_of(service, SIDE_B, round),
	};
	struct traffic t = {
		.dice = dice_of(seed, ~round), .service = service,
	};
	int i;

	connect_all(service);
	if (pthread_create(&t.thread, NULL, drive, &t))
		tap_bail("pthread_create");
	for (i = 0; i < PACKETS; i++) {
		int side = dice_roll(&forgers[0].dice, 4) ? SIDE_B : SIDE_A;

		shoot(&forgers[side], side);
		if (is_broken() && dice_one_in(&forgers[0].dice, PACKETS_AFTER))
			break;
	}
	t.stop = true;
	pthread_join(t.thread, NULL);
	return teardown();
}

/* ---------------------------------------------------------------- accounts */

static struct hwstats before[SIDES], after[SIDES];

static uint64_t grown(int side, const char *name)
{
	return hwstats_growth(&before[side], &after[side], name);
}

static void accounts_begin(void)
{
	int i;

	memset(expected, 0, sizeof(expected));
	for (i = 0; i < SIDES; i++)
		hwstats_read(&before[i], sides[i]->name);
}

/* Packets of the traffic may arrive after their QP is destroyed. */
static bool is_expected(int side, enum packet_fate fate, bool *exact)
{
	uint64_t want = expected[side][fate];
	uint64_t got = grown(side, packet_counters[fate]);

	*exact = fate != FATE_QP && fate != FATE_OPCODE && fate != FATE_NO_QP;
	return *exact ? got == want : got >= want;
}

/* Packets received are those of the peer and the forged ones; none is missing. */
static bool is_balanced(int side)
{
	uint64_t forged = 0, dropped = 0;
	int i;

	for (i = 0; i < NUM_FATES; i++) {
		forged += expected[side][i];
		if (i == FATE_OPCODE)
			dropped += expected[side][i];
		else
			dropped += grown(side, packet_counters[i]);
	}
	return dropped == forged + grown(!side, "sent_pkts");
}

static bool is_accounted(void)
{
	bool good = true, exact;
	int side, i;

	for (side = 0; side < SIDES; side++)
		hwstats_read(&after[side], sides[side]->name);
	for (side = 0; side < SIDES; side++) {
		good = good && is_balanced(side);
		for (i = 0; i < NUM_FATES; i++)
			good = good && is_expected(side, i, &exact);
	}
	return good;
}

static void explain(int side)
{
	bool exact;
	int i;

	tap_diag("device %s: peer sent %llu", sides[side]->name,
		 (unsigned long long)grown(!side, "sent_pkts"));
	for (i = 0; i < NUM_FATES; i++)
		tap_diag("%s%s: forged %llu, counted %llu",
			 is_expected(side, i, &exact) ? "" : "WRONG ",
			 packet_counters[i],
			 (unsigned long long)expected[side][i],
			 (unsigned long long)grown(side, packet_counters[i]));
	hwstats_diag(&before[side], &after[side]);
}

static bool accounts_end(void)
{
	struct deadline end = deadline_in(SETTLE_MS);

	while (!is_accounted()) {
		if (!is_past(&end))
			continue;
		explain(SIDE_A);
		explain(SIDE_B);
		return false;
	}
	return true;
}

/* ---------------------------------------------------------------- tests */

static bool under_traffic(enum ibv_qp_type service)
{
	bool good = true;
	unsigned int i;

	forged = 0;
	accounts_begin();
	bystander_begin();
	for (i = 0; good && forged < rounds * PACKETS; i++) {
		good = attack(service, i);
		if (!good)
			tap_diag("in round %u", i);
	}
	good = bystander_end() && good;
	memset(&other, 0, sizeof(other));
	tap_diag("%u packets to %u connections", forged, i);
	return accounts_end() && good;
}

/*
 * A packet is counted once as taken or dropped after a QP got it. A packet that waited
 * for its turn and is dropped meanwhile counts elsewhere.
 */
static bool is_counted_once(enum ibv_qp_type service, enum packet_fate fate)
{
	uint64_t drops = hwstats_growth_of(&before[SIDE_B], &after[SIDE_B],
					   "rx_drop_") -
			 grown(SIDE_B, "rx_drop_ooo") +
			 grown(SIDE_B, "rx_icrc_encapsulated") +
			 grown(SIDE_B, "rp_cnp_ignored");
	uint64_t taken = grown(SIDE_B, "rdma_recvs") +
			 grown(SIDE_B, "resp_cqe_error");

	if (fate != FATE_QP)
		return drops == 1 && !taken;
	return service == IBV_QPT_UD ? drops + taken == 1 : drops <= 1;
}

static bool shoot_once(struct forger *f)
{
	struct deadline end = deadline_in(SETTLE_MS);
	enum packet_fate fate;

	hwstats_read(&before[SIDE_B], e.b.name);
	fate = shoot(f, SIDE_B);
	do {
		hwstats_read(&after[SIDE_B], e.b.name);
		if (grown(SIDE_B, packet_counters[fate]) &&
		    is_counted_once(f->service, fate))
			return true;
	} while (!is_past(&end));
	tap_diag("%s is due; what has grown:", packet_counters[fate]);
	hwstats_diag(&before[SIDE_B], &after[SIDE_B]);
	return false;
}

static bool one_by_one(enum ibv_qp_type service)
{
	bool good = true;
	unsigned int i, j;

	for (i = 0; good && i < rounds / 4 + 1; i++) {
		struct forger f = forger_of(service, SIDE_B, ~(uint64_t)i);

		connect_all(service);
		for (j = 0; good && j < 16; j++) {
			good = shoot_once(&f);
			reap();
		}
		good = teardown() && good;
		if (!good)
			tap_diag("in round %u, packet %u", i, j);
	}
	return good;
}

static void start(int argc, char **argv)
{
	const char *number = getenv("ROUNDS");
	int i;

	ends_open(&e, argc, argv);
	seed = dice_seed();
	rounds = number ? atoi(number) : e.quick ? 15 : 60;
	for (i = 0; i < SIDES; i++) {
		canary_new(&canary[i], sides[i]);
		end_enter(sides[!i]);
		sockets[i] = packet_socket(e.ipv6);
	}
	tap_diag("SEED=%llu ROUNDS=%u", (unsigned long long)seed, rounds);
}

int main(int argc, char **argv)
{
	static const struct {
		enum ibv_qp_type type;
		const char *name;
	} services[] = {
		{ IBV_QPT_RC, "RC" }, { IBV_QPT_UC, "UC" }, { IBV_QPT_UD, "UD" },
	};
	unsigned int i;

	start(argc, argv);
	tap_plan(2 * ARRAY_SIZE(services));
	for (i = 0; i < ARRAY_SIZE(services); i++) {
		tap_result(under_traffic(services[i].type),
			   "%s, %u packets under traffic", services[i].name,
			   rounds * PACKETS);
		tap_result(one_by_one(services[i].type),
			   "%s, one by one", services[i].name);
	}
	tap_diag("destroying took %llu ms at most", (unsigned long long)slowest);
	for (i = 0; i < SIDES; i++) {
		close(sockets[i]);
		canary_free(&canary[i]);
	}
	ends_close(&e);
	return tap_done();
}
