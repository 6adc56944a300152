/* SPDX-License-Identifier: GPL-2.0-only */
/* Ethernet frames: segmentation, checksums and ICRCs */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/virtio_net.h>

/* With the largest IP packet, Ethernet header and VLAN tags */
#define FRAME_MAX	(65535 + 22)

/**
 * struct frame - a frame with its virtio header
 * @length: bytes of @data
 * @hdr: as the driver gave it, or for the driver
 * @data: from the Ethernet header on, next to @hdr as in the ring
 */
struct frame {
	size_t length;
	struct virtio_net_hdr_v1 hdr;
	uint8_t data[FRAME_MAX];
};

/**
 * frame_finish() - do what the header of a frame to send asks for
 * @frame: frame, changed by the function
 * @send: called for each frame of the wire, in order
 * @context: for @send
 *
 * Return: false if the frame is malformed; nothing is sent then.
 */
bool frame_finish(struct frame *frame,
		  void (*send)(void *context, const struct frame *frame), void *context);

/**
 * frame_is_right() - check the ICRC of a received frame
 * @frame: frame, without its virtio header
 *
 * Return: true if the frame has a right ICRC, and a right UDP checksum or none.
 */
bool frame_is_right(const struct frame *frame);

#endif
