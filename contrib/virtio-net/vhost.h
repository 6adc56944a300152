/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Back end of a vhost-user network device: protocol, the guest's memory, and split rings.
 * One receive queue, one transmit queue, one thread. The device reads and writes only the
 * memory of the guest, whatever the rings contain. The virtual machine is trusted not to
 * truncate the file with that memory, nor to make its file descriptors block.
 */
#ifndef VHOST_H
#define VHOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/virtio_ring.h>
#include "frame.h"

enum {
	VHOST_RX,	/* frames for the guest */
	VHOST_TX,
	VHOST_QUEUES,
	VHOST_MAX_REGIONS = 8,
};

/**
 * struct vhost_region - a part of the guest's memory
 * @guest: physical address
 * @user: address in the process of the guest
 * @size: bytes
 * @mapped: address here
 * @map: mapping of the file
 * @map_size: its bytes
 */
struct vhost_region {
	uint64_t guest;
	uint64_t user;
	uint64_t size;
	uint8_t *mapped;
	void *map;
	size_t map_size;
};

/**
 * struct vhost_queue - a split ring
 * @num: number of descriptors
 * @desc: descriptors; NULL while the queue is not set up
 * @avail: ring of the guest
 * @used: ring of the device
 * @next: next entry of @avail
 * @kick: file descriptor by which the guest notifies, or -1
 * @call: file descriptor by which the device notifies, or -1
 * @enabled: the guest uses the queue
 */
struct vhost_queue {
	uint32_t num;
	const struct vring_desc *desc;
	const struct vring_avail *avail;
	struct vring_used *used;
	uint16_t next;
	int kick;
	int call;
	bool enabled;
};

/**
 * struct vhost - a device
 * @listener: socket that the guest connects to
 * @fd: connection, or -1
 * @offered: features of the device
 * @features: features in use
 * @mac: Ethernet address
 * @regions: the guest's memory
 * @num_regions: how many
 * @queues: by number
 */
struct vhost {
	int listener;
	int fd;
	uint64_t offered;
	uint64_t features;
	uint8_t mac[6];
	struct vhost_region regions[VHOST_MAX_REGIONS];
	uint32_t num_regions;
	struct vhost_queue queues[VHOST_QUEUES];
};

/* Create the socket of a device. Return: false with a message. */
bool vhost_listen(struct vhost *vhost, const char *path);

/* Accept the guest, after an earlier one. */
void vhost_accept(struct vhost *vhost);

/* Process a message of the guest. A guest that breaks the protocol is disconnected. */
void vhost_message(struct vhost *vhost);

/* Part from the guest, and forget its memory. */
void vhost_disconnect(struct vhost *vhost);

static inline bool vhost_has(const struct vhost *vhost, unsigned int feature)
{
	return vhost->features >> feature & 1;
}

/**
 * vhost_take() - take the next frame to send
 * @vhost: device
 * @frame: set to a copy of the frame
 *
 * Return: false if there is none. A frame that cannot be read has length 0.
 */
bool vhost_take(struct vhost *vhost, struct frame *frame);

/**
 * vhost_put() - hand a frame to the guest
 * @vhost: device
 * @frame: frame with the header for the guest
 *
 * Return: false if the guest has no buffer. A frame that is too long for the buffer is
 * dropped.
 */
bool vhost_put(struct vhost *vhost, struct frame *frame);

/* Does the guest receive frames? */
bool vhost_is_up(const struct vhost *vhost);

/* Notify the guest of buffers that the device has used. */
void vhost_notify(struct vhost *vhost, int queue);

#endif
