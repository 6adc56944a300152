#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A NIC that segments UDP computes the ICRCs of the packets that it makes, whatever their
# IPv4 identifications are. No message is lost, doubled or changed when the NIC stops
# offering that under traffic. Where the NIC does not segment a packet, software does.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software
#	                  ^ tcpdump

# lso.sh tests at length what both kinds of segmentation have in common.
: "${QUICK=1}"
. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"
STATEFUL=Y
KIND=uso
CAN=32
# Where a round of the engine ends, single packets are sent.
LEAST=3500
. "$LIB/segmented.sh"

need tcpdump python3 ethtool tc nft

BOTH=$((ICRC | CAN))

uso_topo() {
	topo "$@" && segments on va vb
}

in_bad_network() {
	segments on va vb && bad_network
}

offers() {
	segments on va vb && both able $BOTH
}

# Without ICRCs, USO would be tried.
offers_nothing() {
	both able 0 && segments off va vb
}

made_by_nic() {
	local skbs

	offers
	skbs=$(knob va segmented)
	used "$PKTS" least $LEAST used "$SKBS" least 900 writes || return
	skbs=$(($(knob va segmented) - skbs))
	# 500 messages of 8 packets. The first, with a RETH, is longer than the others.
	[ $skbs -ge 900 ] && [ $skbs -le 1400 ] || fail "$skbs packets came whole"
}

# The NIC computes each ICRC after it has assigned the identification.
any_identifications() { # KNOB
	local ANY_IDS=--any-ids

	both ids "$1"
	writes_are_equal nic_makes
	local rc=$?
	both ids 0
	return $rc
}

# Packets of several short messages are made of one.
many_messages() {
	offers
	gained $DEV_A "$SKBS" used "$PKTS" least 1500 \
		perftest ib_write_bw -s 1024 -n 2000 -l 20 || return
	[ "$GAINED" -le 500 ] || fail "$GAINED skbs"
}

switched_off() {
	offers && segments off va vb &&
	used "$PKTS" most 0 used tx_icrc_offload least $LEAST writes
}

flip() {
	turn va able $((RANDOM % 64)) && turn vb able $((RANDOM % 64))
}

ethtool_flips() {
	segments "$([ $((RANDOM % 2)) = 0 ] && echo on || echo off)" va vb
}

ALL=$((BOTH | RX))

tap_setup uso_topo two 1500
wire_tests
tap_add "on the wire, constant identifications" any_identifications 1
tap_add "on the wire, random identifications" any_identifications 2
software_tests
tap_add "made by the NIC" made_by_nic
tap_add "several messages in one" many_messages
tap_add "none where ethtool switches it off" switched_off
tap_add "by software where the NIC makes ICRCs only" not_offered $ICRC
tap_add "what the NIC refuses, software does" refused
tap_add "none where trains are off" one_by_one
tap_add "the driver was asked nothing unusual" driver_is_content
trust_tests packets
tap_add "what is in use is shown" is_shown segmentation_ipv4 segmented_by_nic
tap_add "captured where they are sent" captured_here
tap_add "memory on demand" works paging_odp
tap_add "memory that is absent" works paging_stall
way_tests
tap_setup topo two 9000
tap_add "packets of 4 KiB" large_mtu
tap_add "packets of 4 KiB on the wire" sends_are_equal nic_makes
tap_setup topo two 4180
tap_add "packets that fill the MTU" large_mtu
tap_setup topo two 1500
tap_add "packets through a bond" through_bond active-backup
tap_setup uso_topo two 1500
tap_add "features flip" under_load $ALL flip
tap_add "the NIC is reset" under_load $ALL reset_both
tap_add "the driver withdraws" under_load $ALL withdraw_both
tap_add "the NIC fails" under_load $ALL fails
tap_add "the netdev goes down" under_load $ALL a_goes_down
tap_add "segmentation is switched" under_load $ALL ethtool_flips
tap_setup in_bad_network
tap_add "features flip in a bad network" under_load $ALL flip
unload_tests
tap_run
