// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the ICRC with packets of hardware, with the sample packet of the
 * specification, and against a bitwise CRC
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "icrc.c"

enum {
	IPV4_LEN	= 20,
	IPV6_LEN	= 40,
	UDP_LEN		= 8,
	BTH_LEN		= 12,
	GRH_LEN		= 40,
};

/* CNP of a ConnectX-4 Lx, IPv4 header to ICRC (test data of scapy) */
static const u8 hw_cnp[] = {
	0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61,
	0x0a, 0x00, 0x11, 0x01, 0x0a, 0x00, 0x12, 0x01,
	0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00,
	0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x82, 0xfd, 0x00, 0x2a,
};

/* UC SEND Only of a Mellanox NIC, with a UDP checksum (test data of scapy) */
static const u8 hw_uc_send[] = {
	0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11, 0xb4, 0xd5,
	0xc0, 0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07,
	0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c, 0xac, 0xa2,
	0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10,
	0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a,
	0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00,
	0x78, 0xf3, 0x53, 0xf3,
};

/*
 * UC SEND Only over IPv6, from the test data of scapy: made, not captured. The
 * ICRC masks flow label (0x1face) and traffic class (0xe2).
 */
static const u8 made_uc_send_v6[] = {
	0x6e, 0x21, 0xfa, 0xce, 0x00, 0x2c, 0x11, 0xff,
	0x20, 0x22, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x23,
	0x20, 0x23, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x24,
	0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c, 0xe7, 0xc5,
	0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10,
	0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a,
	0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00,
	0x3e, 0x5b, 0x74, 0x3b,
};

/*
 * RoCEv1 packets of Mellanox NICs, GRH to ICRC. They have no UDP header, and the
 * GRH is masked like an IPv6 header.
 */
static const u8 hw_v1_write[] = {
	0x60, 0x20, 0x00, 0x00, 0x00, 0x28, 0x1b, 0x40,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x0f, 0x00, 0x00, 0x02,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x0f, 0x00, 0x00, 0x02,
	0x0a, 0x70, 0xff, 0xff, 0x00, 0x00, 0x01, 0x0a, 0x80, 0xa7, 0x88, 0xbc,
	0x00, 0x00, 0x55, 0xd4, 0xc0, 0x72, 0x60, 0x00, 0x00, 0x00, 0x47, 0xb3,
	0x00, 0x00, 0x00, 0x05,
	0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
	0xe3, 0xd8, 0x56, 0xbb,
};

static const u8 hw_v1_ack[] = {
	0x60, 0x20, 0x00, 0x00, 0x00, 0x14, 0x1b, 0x40,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x0f, 0x00, 0x00, 0x02,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x0f, 0x00, 0x00, 0x02,
	0x11, 0x40, 0xff, 0xff, 0x00, 0x00, 0x01, 0x09, 0x00, 0xa7, 0x88, 0xc0,
	0x00, 0x00, 0x00, 0x05,
	0x25, 0xf0, 0xc0, 0x38,
};

/* Masked sample packet of IBTA vol. 1, CRC 0x9625b75a */
static const u8 ibta_sample[52] = {
	0xf0, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87,
	0xff, 0x87, 0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c,
	0x01, 0x5d, 0x40, 0x02, 0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e,
	0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c, 0xfb, 0xa4, 0x72, 0x8b, 0xc0, 0x69,
	0x0e, 0xd4, 0x00, 0x00,
};

static const u8 ibta_sample_icrc[4] = { 0x96, 0x25, 0xb7, 0x5a };

/* Bitwise CRC-32, from the definition */
static u32 crc32_bitwise(u32 crc, const u8 *data, size_t len)
{
	int bit;

	while (len--) {
		crc ^= *data++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

static u32 next_random(u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void fill_random(u8 *buf, u32 len, u32 *state)
{
	while (len--)
		*buf++ = next_random(state);
}

/* ICRC of a packet. @len counts from the IP header to the end, without ICRC. */
static u32 packet_icrc(const u8 *ip, u32 len)
{
	u32 ip_len = *ip >> 4 == 4 ? IPV4_LEN : IPV6_LEN;
	const u8 *udp = ip + ip_len;
	const u8 *bth = udp + UDP_LEN;
	u32 crc;

	if (ip_len == IPV4_LEN)
		crc = verve_icrc_start_v4((const void *)ip, (const void *)udp, bth);
	else
		crc = verve_icrc_start_v6((const void *)ip, (const void *)udp, bth);
	return verve_icrc_update(crc, bth + BTH_LEN, ip + len - bth - BTH_LEN);
}

static void expect_icrc(struct kunit *test, u32 crc, const u8 *wire)
{
	__le32 icrc = verve_icrc_end(crc);
	u8 bytes[4];
	int i;

	memcpy(bytes, &icrc, sizeof(bytes));
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ_MSG(test, bytes[i], wire[i], "byte %d", i);
}

static void icrc_v4__cnp_of_hardware(struct kunit *test)
{
	u32 len = sizeof(hw_cnp) - VERVE_ICRC_LEN;

	expect_icrc(test, packet_icrc(hw_cnp, len), hw_cnp + len);
}

static void icrc_v4__uc_send_of_hardware(struct kunit *test)
{
	u32 len = sizeof(hw_uc_send) - VERVE_ICRC_LEN;

	expect_icrc(test, packet_icrc(hw_uc_send, len), hw_uc_send + len);
}

static void icrc_v6__uc_send_with_a_flow_label(struct kunit *test)
{
	u32 len = sizeof(made_uc_send_v6) - VERVE_ICRC_LEN;

	expect_icrc(test, packet_icrc(made_uc_send_v6, len), made_uc_send_v6 + len);
}

/* The driver has no masking for RoCEv1, so mask the GRH and BTH here. */
static void check_v1(struct kunit *test, const u8 *packet, u32 len)
{
	u8 masked[GRH_LEN + BTH_LEN];
	u32 crc;

	memcpy(masked, packet, sizeof(masked));
	masked[0] |= 0x0f;
	memset(masked + 1, 0xff, 3);
	masked[7] = 0xff;
	masked[GRH_LEN + 4] = 0xff;
	crc = verve_icrc_update(AFTER_LRH, masked, sizeof(masked));
	crc = verve_icrc_update(crc, packet + sizeof(masked),
				len - sizeof(masked) - VERVE_ICRC_LEN);
	expect_icrc(test, crc, packet + len - VERVE_ICRC_LEN);
}

static void icrc_update__v1_write_of_hardware(struct kunit *test)
{
	check_v1(test, hw_v1_write, sizeof(hw_v1_write));
}

static void icrc_update__v1_ack_of_hardware(struct kunit *test)
{
	check_v1(test, hw_v1_ack, sizeof(hw_v1_ack));
}

static void icrc_update__sample_of_the_specification(struct kunit *test)
{
	u32 crc = verve_icrc_update(~0, ibta_sample, sizeof(ibta_sample));

	expect_icrc(test, crc, ibta_sample_icrc);
}

static void icrc_update__masked_lrh_is_eight_ones(struct kunit *test)
{
	static const u8 lrh[8] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	};

	KUNIT_EXPECT_EQ(test, verve_icrc_update(~0, lrh, sizeof(lrh)), AFTER_LRH);
}

static void icrc_update__any_length_at_any_address(struct kunit *test)
{
	u32 size = 4200, seed = 0x49435243, len;
	u8 *buf = kunit_kmalloc(test, size, GFP_KERNEL);
	int offset;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	fill_random(buf, size, &seed);
	for (len = 0; len < 300; len++)
		for (offset = 0; offset < 17; offset += 3)
			KUNIT_EXPECT_EQ_MSG(test, verve_icrc_update(len, buf + offset, len),
					    crc32_bitwise(len, buf + offset, len),
					    "%u at %d", len, offset);
	for (len = 300; len < size; len += 97)
		KUNIT_EXPECT_EQ_MSG(test, verve_icrc_update(~0, buf + size - len, len),
				    crc32_bitwise(~0, buf + size - len, len), "%u", len);
}

static void icrc_update__any_split_is_the_same(struct kunit *test)
{
	u32 size = 1100, seed = 0x53504c54, whole, split;
	u8 *buf = kunit_kmalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	fill_random(buf, size, &seed);
	whole = verve_icrc_update(~0, buf, size);
	for (split = 0; split <= size; split += 11) {
		u32 crc = verve_icrc_update(~0, buf, split);

		crc = verve_icrc_update(crc, buf + split, size - split);
		KUNIT_EXPECT_EQ_MSG(test, crc, whole, "split at %u", split);
	}
}

/* Return: true if a router may change this bit, so that it is masked (A17.3.3, 7.8.1). */
static bool is_variant(const u8 *ip, u32 byte, u32 bit)
{
	u32 ip_len = *ip >> 4 == 4 ? IPV4_LEN : IPV6_LEN;

	if (byte == ip_len + 6 || byte == ip_len + 7)	/* UDP checksum */
		return true;
	if (byte == ip_len + UDP_LEN + 4)		/* FECN, BECN, reserved */
		return true;
	if (ip_len == IPV4_LEN)				/* TOS, TTL, checksum */
		return byte == 1 || byte == 8 || byte == 10 || byte == 11;
	/* Traffic class and flow label: all bits of the word but the version */
	return (byte == 0 && bit < 4) || (byte >= 1 && byte <= 3) || byte == 7;
}

static void check_every_bit(struct kunit *test, u8 *packet, u32 len)
{
	u32 right = packet_icrc(packet, len), byte, bit;

	for (byte = 0; byte < len; byte++)
		for (bit = 0; bit < 8; bit++) {
			u32 icrc;
			bool same;

			if (byte == 0 && bit >= 4)	/* IP version */
				continue;
			packet[byte] ^= 1 << bit;
			icrc = packet_icrc(packet, len);
			packet[byte] ^= 1 << bit;
			same = icrc == right;
			KUNIT_EXPECT_EQ_MSG(test, same, is_variant(packet, byte, bit),
					    "byte %u bit %u", byte, bit);
		}
}

static void icrc_v4__depends_on_what_no_router_changes(struct kunit *test)
{
	u8 packet[sizeof(hw_uc_send) - VERVE_ICRC_LEN];

	memcpy(packet, hw_uc_send, sizeof(packet));
	check_every_bit(test, packet, sizeof(packet));
}

static void icrc_v6__depends_on_what_no_router_changes(struct kunit *test)
{
	u8 packet[IPV6_LEN + UDP_LEN + BTH_LEN + 16];
	u32 seed = 0x49507636;

	fill_random(packet, sizeof(packet), &seed);
	packet[0] = 0x60;
	check_every_bit(test, packet, sizeof(packet));
}

static void icrc_v6__is_the_crc_of_masked_bytes(struct kunit *test)
{
	u8 plain[IPV6_LEN + UDP_LEN + BTH_LEN + 33];
	u8 masked[8 + sizeof(plain)];
	u32 seed = 0x36763649, i, bit;

	fill_random(plain, sizeof(plain), &seed);
	plain[0] = 0x6a;
	memset(masked, 0xff, 8);
	memcpy(masked + 8, plain, sizeof(plain));
	for (i = 0; i < sizeof(plain); i++)
		for (bit = 0; bit < 8; bit++)
			if (is_variant(plain, i, bit))
				masked[8 + i] |= 1 << bit;
	KUNIT_EXPECT_EQ(test, packet_icrc(plain, sizeof(plain)),
			crc32_bitwise(~0, masked, sizeof(masked)));
}

static int icrc_suite_init(struct kunit_suite *suite)
{
	return verve_icrc_init();
}

static void icrc_suite_exit(struct kunit_suite *suite)
{
	verve_icrc_exit();
}

static struct kunit_case icrc_cases[] = {
	KUNIT_CASE(icrc_v4__cnp_of_hardware),
	KUNIT_CASE(icrc_v4__uc_send_of_hardware),
	KUNIT_CASE(icrc_v6__uc_send_with_a_flow_label),
	KUNIT_CASE(icrc_update__v1_write_of_hardware),
	KUNIT_CASE(icrc_update__v1_ack_of_hardware),
	KUNIT_CASE(icrc_update__sample_of_the_specification),
	KUNIT_CASE(icrc_update__masked_lrh_is_eight_ones),
	KUNIT_CASE(icrc_update__any_length_at_any_address),
	KUNIT_CASE(icrc_update__any_split_is_the_same),
	KUNIT_CASE(icrc_v4__depends_on_what_no_router_changes),
	KUNIT_CASE(icrc_v6__depends_on_what_no_router_changes),
	KUNIT_CASE(icrc_v6__is_the_crc_of_masked_bytes),
	{}
};

static struct kunit_suite icrc_suite = {
	.name = "verve-icrc",
	.suite_init = icrc_suite_init,
	.suite_exit = icrc_suite_exit,
	.test_cases = icrc_cases,
};

kunit_test_suite(icrc_suite);
