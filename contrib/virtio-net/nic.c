// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: nic SOCKET SOCKET
 *
 * Two network cards with a cable between them, for guests whose virtio devices connect to
 * the sockets (vhost-user). The cards segment UDP, and compute checksums and ICRCs of
 * RoCEv2 packets. They check the ICRCs of packets that they receive. At the end, each
 * prints what it did.
 */
#include <errno.h>
#include <net/ethernet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/virtio_config.h>
#include "frame.h"
#include "vhost.h"
#include "virtio_icrc.h"

/* In headers of newer kernels */
#ifndef VIRTIO_NET_F_HOST_USO
#define VIRTIO_NET_F_HOST_USO 56
#endif

enum {
	CARDS = 2,
	/* Frames on the cable whose receiver has no buffers */
	MAX_FRAMES = 4096,
	/* Frames that a card takes at a time */
	BUDGET = 64,
};

#define FEATURE(name) (1ULL << (name))
#define FEATURES (FEATURE(VIRTIO_F_VERSION_1) | FEATURE(VIRTIO_NET_F_MAC) | \
		  FEATURE(VIRTIO_NET_F_CSUM) | FEATURE(VIRTIO_NET_F_HOST_USO) | \
		  FEATURE(VIRTIO_NET_F_ICRC))

/* A frame on the cable */
struct waiting {
	struct waiting *next;
	struct virtio_net_hdr_v1 hdr;
	size_t length;
	uint8_t data[];
};

struct card {
	struct vhost vhost;
	struct card *peer;
	struct waiting *first, **end;
	unsigned int num_waiting;
	unsigned long sent, icrcs, segmented, verified, dropped;
};

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

/* ------------------------------------------------------------------ the cable */

/* Called by frame_finish() for each frame that a card sends */
static void transmit(void *context, const struct frame *frame)
{
	struct card *card = context, *peer = card->peer;
	struct waiting *waiting = NULL;

	card->sent++;
	if (vhost_is_up(&peer->vhost) && peer->num_waiting < MAX_FRAMES)
		waiting = malloc(sizeof(*waiting) + frame->length);
	if (!waiting) {
		peer->dropped++;
		return;
	}
	memset(&waiting->hdr, 0, sizeof(waiting->hdr));
	waiting->hdr.num_buffers = 1;
	if (vhost_has(&peer->vhost, VIRTIO_NET_F_ICRC) && frame_is_right(frame)) {
		waiting->hdr.flags = VIRTIO_NET_HDR_F_DATA_VALID | VIRTIO_NET_HDR_F_ICRC;
		peer->verified++;
	}
	waiting->next = NULL;
	waiting->length = frame->length;
	memcpy(waiting->data, frame->data, frame->length);
	*peer->end = waiting;
	peer->end = &waiting->next;
	peer->num_waiting++;
}

/* Return: true if there may be more. */
static bool take_frames(struct card *card)
{
	static struct frame frame;
	unsigned long before;
	int i;

	for (i = 0; i < BUDGET && vhost_take(&card->vhost, &frame); i++) {
		before = card->sent;
		if (frame.length < ETHER_HDR_LEN || !frame_finish(&frame, transmit, card)) {
			card->dropped++;
			continue;
		}
		if (frame.hdr.flags & VIRTIO_NET_HDR_F_ICRC)
			card->icrcs += card->sent - before;
		if (frame.hdr.gso_type)
			card->segmented++;
	}
	if (i)
		vhost_notify(&card->vhost, VHOST_TX);
	return i == BUDGET;
}

static void put_frames(struct card *card)
{
	static struct frame frame;
	struct waiting *waiting;
	int done = 0;

	while ((waiting = card->first)) {
		frame.hdr = waiting->hdr;
		frame.length = waiting->length;
		memcpy(frame.data, waiting->data, waiting->length);
		if (vhost_is_up(&card->vhost) && !vhost_put(&card->vhost, &frame))
			break;
		card->first = waiting->next;
		card->num_waiting--;
		free(waiting);
		done++;
	}
	if (!card->first)
		card->end = &card->first;
	if (done)
		vhost_notify(&card->vhost, VHOST_RX);
}

/* ------------------------------------------------------------------ events */

enum {
	ON_LISTENER,
	ON_MESSAGE,
	ON_RX,
	ON_TX,
	EVENTS,
};

static bool listen_on(struct card *card, struct card *peer, const char *path, int number)
{
	const uint8_t mac[] = { 0x52, 0x54, 0x00, 0x76, 0x76, number };

	card->peer = peer;
	card->end = &card->first;
	card->vhost.offered = FEATURES;
	memcpy(card->vhost.mac, mac, sizeof(mac));
	return vhost_listen(&card->vhost, path);
}

static void set_events(const struct card *card, struct pollfd *polled)
{
	polled[ON_LISTENER].fd = card->vhost.listener;
	polled[ON_MESSAGE].fd = card->vhost.fd;
	polled[ON_RX].fd = card->vhost.queues[VHOST_RX].kick;
	polled[ON_TX].fd = card->vhost.queues[VHOST_TX].kick;
}

/*
 * The rings tell the reason of a kick. Both queues may have one file descriptor, so there
 * may be nothing left to read. Return: false if no kick will come any more.
 */
static bool read_kick(const struct pollfd *polled)
{
	uint64_t count;

	if (polled->revents & POLLIN)
		return read(polled->fd, &count, sizeof(count)) > 0 || errno == EAGAIN;
	return !polled->revents;
}

static void react(struct card *card, const struct pollfd *polled)
{
	bool kicked = read_kick(&polled[ON_RX]) && read_kick(&polled[ON_TX]);

	if (!kicked)
		vhost_disconnect(&card->vhost);
	else if (polled[ON_MESSAGE].revents)
		vhost_message(&card->vhost);
	if (polled[ON_LISTENER].revents)
		vhost_accept(&card->vhost);
}

static void wait_for_events(const struct card *cards, struct pollfd *polled, bool more)
{
	int i;

	for (i = 0; i < CARDS; i++)
		set_events(&cards[i], polled + i * EVENTS);
	for (i = 0; i < CARDS * EVENTS; i++) {
		polled[i].events = POLLIN;
		polled[i].revents = 0;
	}
	poll(polled, CARDS * EVENTS, more ? 0 : 1000);
}

static void run(struct card *cards)
{
	struct pollfd polled[CARDS * EVENTS];
	bool more = false;
	int i;

	while (!ended) {
		wait_for_events(cards, polled, more);
		more = false;
		for (i = 0; i < CARDS; i++) {
			react(&cards[i], polled + i * EVENTS);
			more |= take_frames(&cards[i]);
		}
		for (i = 0; i < CARDS; i++)
			put_frames(&cards[i]);
	}
}

int main(int argc, char **argv)
{
	static struct card cards[CARDS];
	int i;

	if (argc != 1 + CARDS) {
		fprintf(stderr, "usage: %s SOCKET SOCKET\n", argv[0]);
		return 2;
	}
	for (i = 0; i < CARDS; i++) {
		if (!listen_on(&cards[i], &cards[!i], argv[1 + i], i))
			return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, end);
	signal(SIGINT, end);
	run(cards);
	for (i = 0; i < CARDS; i++)
		printf("card %d: sent %lu, ICRCs made %lu, segmented %lu, ICRCs right %lu, dropped %lu\n",
		       i, cards[i].sent, cards[i].icrcs, cards[i].segmented,
		       cards[i].verified, cards[i].dropped);
	return 0;
}
