#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packets in fragments of any size, as from a NIC with small buffers, all arrive, with
# ICRCs by the NIC and by software.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"

need ethtool

drops() {
	echo $(($(hw_counter $DEV_A rx_icrc_encapsulated) +
		$(hw_counter $DEV_B rx_icrc_encapsulated) +
		$(hw_counter $DEV_A rx_drop_length) +
		$(hw_counter $DEV_B rx_drop_length)))
}

# in_pieces BYTES ABLE: every opcode, any size
in_pieces() {
	local before pieces

	both able "$2" && both scatter "$1" || return
	before=$(drops)
	pieces=$(knob vb scattered)
	opcodes
	local rc=$?
	both scatter 0
	[ $rc = 0 ] || return $rc
	[ "$(knob vb scattered)" -gt $((pieces + 100)) ] ||
		fail "no more than $(($(knob vb scattered) - pieces)) came in pieces" ||
		return
	[ "$(drops)" = "$before" ] ||
		fail "$(($(drops) - before)) packets were dropped"
}

tap_setup topo two 4200
for size in 1 100 700 1500 3000; do
	tap_add "pieces of $size bytes" in_pieces $size 0
done
tap_add "ICRCs by the NIC" in_pieces 700 3
tap_setup gro off
for size in 100 1500; do
	tap_add "pieces of $size bytes, without GRO" in_pieces $size 0
done
tap_run
