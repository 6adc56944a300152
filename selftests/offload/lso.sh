#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A NIC cuts messages into the packets that software would send, and no message is lost,
# doubled or changed when the NIC stops offering that under traffic. Where the NIC does
# not cut a message, software does.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software
#	                  ^ tcpdump

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"
KIND=lso
CAN=4
LEAST=3900
. "$LIB/segmented.sh"

need tcpdump python3 ethtool tc nft

BOTH=$((ICRC | CAN))

offers() {
	both able $BOTH
}

offers_nothing() {
	both able 0
}

made_by_nic() {
	local messages

	offers
	messages=$(knob va messages)
	gained $DEV_A "$SKBS" \
		used "$PKTS" least $LEAST writes || return
	messages=$(($(knob va messages) - messages))
	# 500 messages of 8 packets
	[ $messages -ge 490 ] && [ $messages -le 700 ] || fail "$messages messages"
}

flip() {
	turn va able $((RANDOM % 8)) && turn vb able $((RANDOM % 8))
}

ethtool_flips() {
	takes_trains "$([ $((RANDOM % 2)) = 0 ] && echo on || echo off)" va
}

ALL=$((BOTH | RX))

tap_setup topo two 1500
wire_tests
software_tests
tap_add "made by the NIC" made_by_nic
tap_add "by software where the NIC offers nothing" not_offered 0
tap_add "by software where it makes ICRCs only" not_offered $ICRC
tap_add "by software where it makes no ICRCs" not_offered $CAN
tap_add "what the NIC refuses, software does" refused
tap_add "none where trains are off" one_by_one
tap_add "the driver was asked nothing unusual" driver_is_content
trust_tests messages
tap_add "what is in use is shown" is_shown lso lso
tap_add "captured where they are sent" captured_here
tap_add "memory on demand" works paging_odp
tap_add "memory that is absent" works paging_stall
tap_add "keys are invalidated" works windows
way_tests
tap_setup topo two 9000
tap_add "packets of 4 KiB" large_mtu
tap_add "packets of 4 KiB on the wire" sends_are_equal nic_makes
tap_setup topo two 1500
tap_add "packets through a bond" through_bond active-backup
tap_setup topo two 1500
tap_add "packets through a bond that broadcasts" through_bond broadcast
tap_setup topo two 1500
tap_add "features flip" under_load $ALL flip
tap_add "the NIC is reset" under_load $ALL reset_both
tap_add "the driver withdraws" under_load $ALL withdraw_both
tap_add "the NIC fails" under_load $ALL fails
tap_add "trains or not" under_load $ALL ethtool_flips
tap_add "the netdev goes down" under_load $ALL a_goes_down
tap_setup bad_network
tap_add "features flip in a bad network" under_load $ALL flip
unload_tests
tap_run
