// SPDX-License-Identifier: GPL-2.0-only
/* Ethernet frames (see frame.h) */
#include <arpa/inet.h>
#include <endian.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <string.h>
#include <zlib.h>
#include "frame.h"
#include "virtio_icrc.h"

/* In headers of newer kernels */
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

enum {
	ROCE_PORT = 4791,
	BTH_BYTES = 12,
	ICRC_BYTES = 4,
	VLAN_BYTES = 4,
	MAX_VLANS = 2,
	MAX_HEADERS = sizeof(struct ip6_hdr) + sizeof(struct udphdr) + BTH_BYTES,
};

/* Offsets of a UDP packet in a frame */
struct layout {
	bool is_v6;
	size_t ip;
	size_t udp;
	size_t payload;
	size_t end;
};

/* Unaligned fields in network order */
static uint16_t get16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

/* 802.1Q and 802.1ad */
static bool is_vlan(uint16_t type)
{
	return type == ETHERTYPE_VLAN || type == 0x88a8;
}

/* Find the IP header. Return: EtherType. */
static uint16_t skip_ethernet(const struct frame *frame, size_t *ip)
{
	size_t at = offsetof(struct ether_header, ether_type);
	int vlans;

	for (vlans = 0; at + 2 <= frame->length; vlans++, at += VLAN_BYTES) {
		*ip = at + 2;
		if (!is_vlan(get16(frame->data + at)) || vlans == MAX_VLANS)
			return get16(frame->data + at);
	}
	return 0;
}

static bool find_v4(const struct frame *frame, struct layout *layout)
{
	const uint8_t *ip = frame->data + layout->ip;

	/* ICRCs cover no IP options. */
	if (layout->ip + sizeof(struct iphdr) > frame->length || ip[0] != 0x45 ||
	    ip[offsetof(struct iphdr, protocol)] != IPPROTO_UDP ||
	    get16(ip + offsetof(struct iphdr, frag_off)) & (IP_MF | IP_OFFMASK))
		return false;
	layout->is_v6 = false;
	layout->udp = layout->ip + sizeof(struct iphdr);
	layout->end = layout->ip + get16(ip + offsetof(struct iphdr, tot_len));
	return true;
}

static bool find_v6(const struct frame *frame, struct layout *layout)
{
	const uint8_t *ip = frame->data + layout->ip;

	if (layout->ip + sizeof(struct ip6_hdr) > frame->length ||
	    ip[offsetof(struct ip6_hdr, ip6_nxt)] != IPPROTO_UDP)
		return false;
	layout->is_v6 = true;
	layout->udp = layout->ip + sizeof(struct ip6_hdr);
	layout->end = layout->udp + get16(ip + offsetof(struct ip6_hdr, ip6_plen));
	return true;
}

/* Return: false if the frame is not a UDP packet. */
static bool find_udp(const struct frame *frame, struct layout *layout)
{
	uint16_t type = skip_ethernet(frame, &layout->ip);

	if (!(type == ETHERTYPE_IP && find_v4(frame, layout)) &&
	    !(type == ETHERTYPE_IPV6 && find_v6(frame, layout)))
		return false;
	layout->payload = layout->udp + sizeof(struct udphdr);
	return layout->payload <= layout->end && layout->end <= frame->length;
}

static bool is_roce(const struct frame *frame, const struct layout *layout)
{
	return get16(frame->data + layout->udp + offsetof(struct udphdr, dest)) == ROCE_PORT &&
	       layout->payload + BTH_BYTES + ICRC_BYTES <= layout->end;
}

/* ------------------------------------------------------------------ checksums */

static uint32_t sum(uint32_t total, const uint8_t *data, size_t length)
{
	size_t i;

	for (i = 0; i + 1 < length; i += 2)
		total += get16(data + i);
	if (length & 1)
		total += data[length - 1] << 8;
	return (total & 0xffff) + (total >> 16);
}

static uint16_t fold(uint32_t total)
{
	total = (total & 0xffff) + (total >> 16);
	return ~((total & 0xffff) + (total >> 16));
}

/* The UDP checksum of the packet, with whatever its field contains */
static uint16_t udp_sum(const struct frame *frame, const struct layout *layout)
{
	size_t length = layout->end - layout->udp;
	const uint8_t *ip = frame->data + layout->ip;
	uint32_t total = IPPROTO_UDP + length;

	if (layout->is_v6)
		total = sum(total, ip + offsetof(struct ip6_hdr, ip6_src), 32);
	else
		total = sum(total, ip + offsetof(struct iphdr, saddr), 8);
	return fold(sum(total, frame->data + layout->udp, length));
}

/* A checksum of 0 would mean that there is none. */
static void set_udp_sum(struct frame *frame, const struct layout *layout)
{
	uint8_t *check = frame->data + layout->udp + offsetof(struct udphdr, check);
	uint16_t value;

	put16(check, 0);
	value = udp_sum(frame, layout);
	put16(check, value ? value : 0xffff);
}

/* Complete the checksum of any protocol, whose field has the sum of the pseudo header. */
static bool complete_sum(struct frame *frame)
{
	size_t start = le16toh(frame->hdr.csum_start);
	size_t at = start + le16toh(frame->hdr.csum_offset);
	uint16_t value;

	if (start >= frame->length || at + 2 > frame->length)
		return false;
	value = fold(sum(0, frame->data + start, frame->length - start));
	put16(frame->data + at, value ? value : 0xffff);
	return true;
}

/* ------------------------------------------------------------------ ICRC */

static void mask_v4(uint8_t *ip)
{
	ip[offsetof(struct iphdr, tos)] = 0xff;
	ip[offsetof(struct iphdr, ttl)] = 0xff;
	memset(ip + offsetof(struct iphdr, check), 0xff, 2);
}

/* Traffic class, flow label and hop limit */
static void mask_v6(uint8_t *ip)
{
	ip[0] |= 0x0f;
	memset(ip + 1, 0xff, 3);
	ip[offsetof(struct ip6_hdr, ip6_hlim)] = 0xff;
}

/* IBTA vol. 1, Annex A17.3.3; bytes on the wire */
static uint32_t icrc(const struct frame *frame, const struct layout *layout)
{
	static const uint8_t lrh[8] = { [0 ... 7] = 0xff };
	size_t headers = layout->payload + BTH_BYTES - layout->ip;
	uint8_t masked[MAX_HEADERS];
	uint8_t *udp = masked + (layout->udp - layout->ip);
	uLong crc;

	memcpy(masked, frame->data + layout->ip, headers);
	if (layout->is_v6)
		mask_v6(masked);
	else
		mask_v4(masked);
	memset(udp + offsetof(struct udphdr, check), 0xff, 2);
	/* FECN, BECN and reserved bits of the BTH */
	udp[sizeof(struct udphdr) + 4] = 0xff;
	crc = crc32(crc32(0, lrh, sizeof(lrh)), masked, headers);
	crc = crc32(crc, frame->data + layout->ip + headers,
		    layout->end - ICRC_BYTES - (layout->ip + headers));
	return htole32(crc);
}

static void set_icrc(struct frame *frame, const struct layout *layout)
{
	uint32_t value = icrc(frame, layout);

	memcpy(frame->data + layout->end - ICRC_BYTES, &value, ICRC_BYTES);
}

bool frame_is_right(const struct frame *frame)
{
	struct layout layout;
	uint32_t value;

	if (!find_udp(frame, &layout) || !is_roce(frame, &layout))
		return false;
	value = icrc(frame, &layout);
	if (memcmp(frame->data + layout.end - ICRC_BYTES, &value, ICRC_BYTES))
		return false;
	return !get16(frame->data + layout.udp + offsetof(struct udphdr, check)) ||
	       !udp_sum(frame, &layout);
}

/* ------------------------------------------------------------------ segmentation */

/* Set the lengths, and a v4 packet's identification and checksum. */
static void set_lengths(struct frame *frame, const struct layout *layout, uint16_t id)
{
	size_t udp_length = layout->end - layout->udp;
	uint8_t *ip = frame->data + layout->ip;

	put16(frame->data + layout->udp + offsetof(struct udphdr, len), udp_length);
	if (layout->is_v6) {
		put16(ip + offsetof(struct ip6_hdr, ip6_plen), udp_length);
		return;
	}
	put16(ip + offsetof(struct iphdr, tot_len), sizeof(struct iphdr) + udp_length);
	put16(ip + offsetof(struct iphdr, id), id);
	put16(ip + offsetof(struct iphdr, check), 0);
	put16(ip + offsetof(struct iphdr, check), fold(sum(0, ip, sizeof(struct iphdr))));
}

/* Send the bytes of @whole from @at on as a packet. */
static void send_segment(const struct frame *whole, struct layout layout, size_t at,
			 size_t length, uint16_t id,
			 void (*send)(void *context, const struct frame *frame),
			 void *context)
{
	static struct frame part;

	memcpy(part.data, whole->data, layout.payload);
	memcpy(part.data + layout.payload, whole->data + at, length);
	layout.end = layout.payload + length;
	part.length = layout.end;
	set_lengths(&part, &layout, id);
	if (whole->hdr.flags & VIRTIO_NET_HDR_F_ICRC)
		set_icrc(&part, &layout);
	if (whole->hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
		set_udp_sum(&part, &layout);
	send(context, &part);
}

static bool segment(const struct frame *whole, const struct layout *layout,
		    void (*send)(void *context, const struct frame *frame), void *context)
{
	size_t size = le16toh(whole->hdr.gso_size);
	size_t last = (layout->end - layout->payload) % size;
	uint16_t id = layout->is_v6 ? 0 :
		get16(whole->data + layout->ip + offsetof(struct iphdr, id));
	size_t at;

	if (whole->hdr.flags & VIRTIO_NET_HDR_F_ICRC &&
	    (size < BTH_BYTES + ICRC_BYTES || (last && last < BTH_BYTES + ICRC_BYTES)))
		return false;
	for (at = layout->payload; at < layout->end; at += size)
		send_segment(whole, *layout, at,
			     at + size < layout->end ? size : layout->end - at, id++,
			     send, context);
	return true;
}

bool frame_finish(struct frame *frame,
		  void (*send)(void *context, const struct frame *frame), void *context)
{
	struct layout layout;

	if (frame->hdr.gso_type == VIRTIO_NET_HDR_GSO_UDP_L4)
		return frame->hdr.gso_size && find_udp(frame, &layout) &&
		       segment(frame, &layout, send, context);
	if (frame->hdr.gso_type != VIRTIO_NET_HDR_GSO_NONE)
		return false;
	if (frame->hdr.flags & VIRTIO_NET_HDR_F_ICRC) {
		if (!find_udp(frame, &layout) || !is_roce(frame, &layout))
			return false;
		set_icrc(frame, &layout);
	}
	if (frame->hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM && !complete_sum(frame))
		return false;
	send(context, frame);
	return true;
}
