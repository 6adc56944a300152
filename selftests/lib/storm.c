// SPDX-License-Identifier: GPL-2.0-only
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "storm.h"
#include "tap.h"
#include "wc.h"
#include "work.h"

enum {
	/* Outstanding WRITEs */
	DEPTH	= 8,
	/*
	 * Distance of the bytes under test. Setting them must take less time than a
	 * WRITE of the whole memory.
	 */
	STRIDE	= 1024,
};

static void run_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void *blow(void *arg)
{
	struct storm *s = arg;
	struct ibv_sge sge = end_sge(&s->e.a, s->size);
	struct ibv_send_wr wr = work(&s->e, IBV_WR_RDMA_WRITE, &sge);
	unsigned int posted = 0;
	struct ibv_wc wc;

	run_on(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	wr.wr.rdma.remote_addr = s->va;
	wr.wr.rdma.rkey = s->rkey;
	while (!s->stop) {
		for (; posted < s->written + DEPTH; posted++)
			if (post(&s->e.a, &wr))
				return NULL;
		if (!poll_one(s->e.a.scq, &wc) || wc.status != IBV_WC_SUCCESS)
			return NULL;
		s->written++;
	}
	return NULL;
}

void storm_begin(struct storm *s, const struct ends *like, uint8_t *to,
		 uint64_t va, uint32_t size, uint32_t rkey)
{
	struct deadline end = deadline_in(WAIT_MS);

	*s = (struct storm){
		.e = *like, .to = to, .va = va, .size = size, .rkey = rkey,
	};
	ends_connect(&s->e, &(struct qp_conf){ .type = IBV_QPT_RC });
	memset(msg(&s->e.a), 0, size);
	run_on(0);
	if (pthread_create(&s->thread, NULL, blow, s))
		tap_bail("pthread_create");
	while (!s->written && !is_past(&end))
		usleep(100);
	if (!s->written)
		tap_bail("nothing is written by key %#x", s->rkey);
}

/* Allow all CPUs again. */
static void run_anywhere(void)
{
	cpu_set_t cpus;

	memset(&cpus, 0xff, sizeof(cpus));
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

void storm_end(struct storm *s)
{
	s->stop = true;
	pthread_join(s->thread, NULL);
	run_anywhere();
	ends_disconnect(&s->e);
}

bool storm_is_over(struct storm *s)
{
	volatile uint8_t *to = s->to;
	uint32_t bad = s->size, i;

	for (i = STRIDE - 1; i < s->size; i += STRIDE)
		to[i] = POISON;
	usleep(2000);
	for (i = STRIDE - 1; i < s->size; i += STRIDE)
		if (to[i] != POISON && bad == s->size)
			bad = i;
	storm_end(s);
	CHECK(bad == s->size, "byte %u was written", bad);
	return true;
}
