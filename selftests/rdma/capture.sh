#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packets of every opcode have sane lengths, zeros in pads and reserved bits, and
# the right ICRC, and tshark finds nothing malformed. The stack hands a veth several
# packets in one skb, which a capture shows as one: so the netdevs are told to take
# single ones.
#
#	A [va: vta] ---- [vb: vtb] B
#	                  ^ tcpdump

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/tcpdump.sh"

need tcpdump python3 ethtool

OPCODES=$(printf '%02x ' {0..20} {32..43} 100 101)

# Allow trains, which the stack uncouples in front of the netdev and packet sockets.
uncoupled_trains() {
	ip -n "$NS_A" link set va gso_max_segs 64 &&
	ip -n "$NS_B" link set vb gso_max_segs 64 &&
	ip netns exec "$NS_A" ethtool -K va tx-gso-list off \
		tx-udp-segmentation off &&
	ip netns exec "$NS_B" ethtool -K vb tx-gso-list off \
		tx-udp-segmentation off
}

# traffic OPTION...: every opcode, in messages of up to three packets
traffic() {
	c_test opcodes --quick -s 3072 "$@" >"$TMP/traffic" ||
		fail "$(<"$TMP/traffic")"
}

right() {
	capture "$NS_B" vb inout "$TMP/$1.pcap" traffic ${2:-} &&
	python3 "$LIB/icrc.py" "$TMP/$1.pcap" $OPCODES
}

# tshark guesses a protocol for the payload, and may call it malformed. Only errors of
# the InfiniBand headers count.
malformed() { # FILE
	tshark -r "$1" -Y _ws.malformed -T fields -e frame.number \
		-e _ws.malformed 2>"$TMP/tshark" | grep 'Malformed Packet: IB\]'
}

well_formed() {
	command -v tshark >/dev/null || { skip "tshark is not installed"; return; }
	[ -s "$TMP/$1.pcap" ] || fail "no capture" || return
	not malformed "$TMP/$1.pcap" && tshark -r "$TMP/$1.pcap" -Y infiniband \
		2>/dev/null | grep -q RC || fail "$(cat "$TMP/tshark")"
}

# Test the checker: flip one bit of a packet.
notices() {
	python3 - "$TMP/ipv4.pcap" "$TMP/flipped.pcap" <<-'EOF'
		import sys
		data = bytearray(open(sys.argv[1], "rb").read())
		data[24 + 16 + 14 + 20 + 8 + 9] ^= 1  # the first packet's PSN
		open(sys.argv[2], "wb").write(data)
	EOF
	not python3 "$LIB/icrc.py" "$TMP/flipped.pcap"
}

# Fill the memory that later packets get with payload.
used_memory() {
	traffic >/dev/null && traffic -6 >/dev/null
}

tap_setup topo two 1500
tap_setup single_packets
tap_setup used_memory
tap_add "lengths and ICRC, IPv4" right ipv4
tap_add "a flipped bit is noticed" notices
tap_add "tshark, IPv4" well_formed ipv4
tap_add "lengths and ICRC, IPv6" right ipv6 -6
tap_add "tshark, IPv6" well_formed ipv6
tap_setup uncoupled_trains
tap_add "lengths and ICRC, IPv4, uncoupled trains" right trains4
tap_add "lengths and ICRC, IPv6, uncoupled trains" right trains6 -6
tap_run
