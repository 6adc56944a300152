#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# GRO couples packets that arrive one by one, as from another machine's NIC, and they
# are the same packets afterwards.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/tcpdump.sh"

need tcpdump ethtool

# A veth does GRO where its peer has no TSO.
arrives_alone() {
	local ns dev

	for ns in "$NS_A va" "$NS_B vb"; do
		read -r ns dev <<<"$ns"
		ip -n "$ns" link set $dev gso_max_segs 1 &&
		ip netns exec "$ns" ethtool -K $dev tso off gro "$1" || return
	done
}

# Length of the longest packet of some WRITEs in B's stack
longest() {
	tcpdump_begin "$NS_B" -i vb --immediate-mode -n -B 8192 \
		udp port 4791 >"$TMP/packets" || return
	perftest ib_write_bw -s 65536 -n 20 >&2 || return
	tcpdump_end || return
	sed -n 's/.* UDP, length //p' "$TMP/packets" | sort -n | tail -n 1
}

coupled() {
	local length

	length=$(longest) || return
	[ "$length" -gt 9000 ] || fail "the longest has $length bytes"
}

alone() {
	local length

	length=$(longest) || return
	[ "$length" -lt 4200 ] || fail "the longest has $length bytes"
}

not_dropped() {
	local name

	for name in rx_icrc_encapsulated rx_drop_length rx_drop_header; do
		[ "$(hw_counter $DEV_S $name)" = 0 ] &&
		[ "$(hw_counter $DEV_C $name)" = 0 ] || fail "$name" || return
	done
}

# No packet of UC is repeated, and the ring of a veth has room for 256.
MOST=32768

tap_setup topo two 4200
tap_setup arrives_alone on
tap_add "packets of one poll are coupled" coupled
tap_add "opcodes, IPv4" c_test opcodes -s $MOST
tap_add "opcodes, IPv6" c_test opcodes -6 -s $MOST
tap_add "large messages" perftest ib_send_bw -s 1048576 -n 50
tap_setup arrives_alone off
tap_add "not without GRO" alone
tap_add "every packet was right" not_dropped
tap_run
