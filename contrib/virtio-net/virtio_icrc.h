/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ICRCs of RoCEv2 packets, computed and checked by a virtio network device: what driver
 * and device agree on. Neither the feature nor the flag is assigned by the specification.
 */
#ifndef VIRTIO_ICRC_H
#define VIRTIO_ICRC_H

/* The device has the flag below, and its driver may use it. */
#define VIRTIO_NET_F_ICRC	48

/*
 * In hdr.flags of a packet to send: the device replaces the last 4 bytes of the packet,
 * or of each packet that it makes of this one, by the ICRC. It computes the UDP checksum
 * afterwards. Of a received packet: the ICRC is right, and so is the UDP checksum, if
 * the packet has one.
 */
#define VIRTIO_NET_HDR_F_ICRC	0x80

#endif
