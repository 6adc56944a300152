#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A QP that a NIC runs may return to software at any moment without an effect for
# programs: each message arrives once, in order, and whole.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"
STATEFUL=Y

need ethtool

ICRC=3 RC=16

carried() {
	both able $((ICRC | RC))
}

# ---------------------------------------------------------------- NIC or software

# by_nic_once PROGRAM OPTION...: the NIC sends nearly all packets of PROGRAM
by_nic_once() {
	local frames software

	frames=$(knob va carried)
	software=$(hw_counter $DEV_A sent_pkts)
	gained $DEV_A rc_offloaded perftest "$@" || return
	frames=$(($(knob va carried) - frames))
	software=$(($(hw_counter $DEV_A sent_pkts) - software))
	[ "$GAINED" -gt 0 ] && [ $frames -gt 400 ] &&
		[ $software -lt $((frames / 2)) ] ||
		fail "offloaded $GAINED times, $frames frames, software's $software"
}

# A QP that returned, which a NIC on a slow CPU may cause, is not offloaded again for some
# time. Then software sends many of its packets, which does not happen each time.
by_nic() { # PROGRAM OPTION...
	local i

	carried
	for i in 1 2 3; do
		by_nic_once "$@" && return
	done
	return 1
}

not_offered() {
	both able $ICRC
	gained $DEV_A rc_offloaded writes && [ "$GAINED" = 0 ]
}

# The server's QPs have an SRQ, the client's have not.
srq() {
	carried
	gained $DEV_B rc_offloaded perftest ib_send_bw --use-srq -q 4 -s 8192 -n 500 &&
	[ "$GAINED" = 0 ]
}

# A NIC without receives has a peer wait, and gets those that are posted.
few_receives() { # NUMBER
	local status

	carried && turn vb offered 0 && turn vb recvs "$1" && turn vb offered 1 &&
	by_nic ib_send_bw -s 8192 -n 1000
	status=$?
	settle && turn vb offered 0 && turn vb recvs 8 && turn vb offered 1 || return
	return $status
}

# B's NIC sends one at least of two long responses from a dma-buf. Software sends both,
# and the NIC a few ACKs, if the NIC does not know the region.
dmabufs() {
	local rc=0 frames

	carried
	frames=$(knob vb carried)
	c_test paging_dmabuf || rc=$?
	if [ $rc = "$KSFT_SKIP" ]; then
		skip "this kernel has no dma-bufs"
		return
	fi
	frames=$(($(knob vb carried) - frames))
	[ $rc = 0 ] && [ $frames -gt 200 ] || fail "exit code $rc, $frames frames"
}

says_so() {
	local file=/sys/class/infiniband/$DEV_A/offload/rc

	carried && [ "$(<$file)" = "in use" ] && both able $ICRC &&
	[ "$(<$file)" = "off: the driver of va does not offer it" ]
}

# General tests, which do not depend on a NIC
all_of() {
	carried && gained $DEV_A rc_offloaded c_test "$@" || return
	[ "$GAINED" -gt 0 ] || fail "nothing was offloaded"
}

of_this() { # CASE
	carried && CASE=$1 c_test qp
}

lossy() { # CASE
	LOSSY=1 of_this "$@"
}

# ---------------------------------------------------------------- in mid-traffic

stream_begin() { # OPTION...
	CASE=stream traffic_begin ip netns exec "$NS_A" qp "$@"
}

was_carried() { # OFFLOADED FRAMES: what A's counters were before
	[ "$(hw_counter $DEV_A rc_offloaded)" -gt "$1" ] &&
	[ "$(knob va carried)" -gt $(($2 + 20)) ]
}

# through COMMAND...: runs it again and again, while data are compared; OPTIONS: of the
# load
through() {
	local i rounds=${QUICK:+10} lent frames

	settle
	lent=$(hw_counter $DEV_A rc_offloaded)
	frames=$(knob va carried)
	stream_begin $OPTIONS || return
	for ((i = 0; i < ${rounds:-40}; i++)); do
		"$@" "$i" || { load_kill; fail "$*: round $i"; return; }
		nap 0.0$((RANDOM % 9 + 1))
		ended "$LOAD" && break
	done
	settle
	within 5 was_carried "$lent" "$frames"
	load_end || return
	lent=$(($(hw_counter $DEV_A rc_offloaded) - lent))
	frames=$(($(knob va carried) - frames))
	echo "offloaded $lent times, $frames frames"
	[ $lent -gt 0 ] && [ $frames -gt 20 ]
}

settle() {
	carried && both offered 1 && both fail 0 && both astray 0
}

all_kinds() {
	ALL=1 through "$@"
}

modified() {
	MODIFY=1 through "$@"
}

through_ipv6() {
	OPTIONS=-6 through "$@"
}

to_software() {
	turn vb able $ICRC
}

from_software() {
	turn vb able $((ICRC | RC)) && turn va able $((($1 % 2) * RC | ICRC))
}

gives_back() {
	turn va give_back 1 && turn vb give_back $((RANDOM % 2))
}

flip() {
	turn vb able $((RANDOM % 2 * RC + ICRC))
	[ $((RANDOM % 3)) != 0 ] || turn va able $((RANDOM % 2 * RC + ICRC))
}

reset() {
	turn vb reset 1 && turn va reset 1
}

# It comes back with more or fewer receives.
withdraw() {
	turn vb recvs $((1 + RANDOM % 8)) && turn vb offered $(($1 % 2))
}

goes_down() {
	[ $(($1 % 5)) = 0 ] || return 0
	b sysctl -qw net.ipv6.conf.vb.keep_addr_on_down=1 &&
	ip -n "$NS_B" link set vb down && ip -n "$NS_B" link set vb up
}

# Routes become invalid and are looked up again.
rerouted() {
	ip -n "$NS_A" route flush cache
	ip -n "$NS_A" route add 10.9.9.0/24 via 10.0.0.2 &&
	ip -n "$NS_A" route del 10.9.9.0/24
}

# The peer's Ethernet address changes.
moves() {
	local mac

	printf -v mac "02:00:00:00:00:%02x" "$1"
	ip -n "$NS_B" link set vb address "$mac" &&
	ip -n "$NS_A" neigh replace 10.0.0.2 lladdr "$mac" dev va &&
	ip -n "$NS_A" neigh replace fd00::2 lladdr "$mac" dev va
}

# Frames for an offloaded QP reach software.
astray() {
	both astray $((RANDOM % 4))
}

fails() {
	both fail $((RANDOM % 4)) && reset
}

places_too() {
	both able $((ICRC | 8 + RANDOM % 2 * RC))
}

anything() {
	case $((RANDOM % 7)) in
	0) flip ;;
	1) reset ;;
	2) withdraw "$1" ;;
	3) gives_back ;;
	4) fails ;;
	5) places_too ;;
	6) both astray $((RANDOM % 2 * 7)) ;;
	esac
}

killed() {
	settle && stream_begin && sleep 0.3 && load_kill
	wait "$LOAD" 2>/dev/null
	LOAD=
	within 5 nothing_is_known
}

nothing_is_known() {
	local nic

	for nic in va vb; do
		[ "$(knob $nic offloaded) $(knob $nic mrs) $(knob $nic qps)" = "0 0 0" ] ||
			fail "$nic still knows $(knob $nic offloaded)" \
			     "$(knob $nic mrs) $(knob $nic qps)" || return
	done
}

nothing_is_lost() {
	[ "$(hw_counter $DEV_A rc_offload_lost) $(hw_counter $DEV_B rc_offload_lost)" = \
		"0 0" ]
}

link_goes() {
	settle && stream_begin && sleep 0.2 &&
	soon rdma link delete $DEV_B || fail "exit code $?" || return
	load_end >/dev/null
	link_add "$NS_B" $DEV_B vb && within 5 gid_index $DEV_B ipv4 >/dev/null &&
	within 5 gid_index $DEV_B ipv6 >/dev/null
}

stream_begins() {
	carried && stream_begin && sleep 0.2
}

tap_setup topo two 1500
tap_add "WRITEs by the NIC" by_nic ib_write_bw -s 65536 -n 200
tap_add "SENDs by the NIC" by_nic ib_send_bw -s 8192 -n 1000
tap_add "READs by the NIC" by_nic ib_read_bw -s 8192 -n 1000
tap_add "WRITEs by the NIC, both ways" by_nic ib_write_bw -b -s 8192 -n 1000
tap_add "SENDs by the NIC, rdma_cm" by_nic ib_send_bw -R -s 8192 -n 1000
tap_add "SENDs to a NIC with one receive" few_receives 1
tap_add "SENDs to a NIC with three receives" few_receives 3
tap_add "software runs QPs with an SRQ" srq
tap_add "not where it does not offer it" not_offered
tap_add "sysfs" says_so
tap_add "all opcodes" all_of opcodes
tap_add "all opcodes, IPv6" all_of opcodes -6
tap_add "errors" all_of errors
tap_add "the Error state" all_of errors_flush
tap_add "retries" all_of errors_retry
tap_add "states" all_of errors_states
tap_add "queues" all_of opcodes_queue
tap_add "shared receive queues" all_of queues_srq
tap_add "receives that a NIC holds" all_of qp_recvs
tap_add "dma-bufs" dmabufs
tap_add "completion queues" all_of queues_cq
tap_add "keys and rights that go" of_this gone
tap_add "all is compared" through true
tap_add "over IPv6" through_ipv6 true
tap_add "the peer is in software" through to_software
tap_add "on and off, the peer is not" through from_software
tap_add "what is not carried, too" all_kinds true
tap_add "QPs are changed and drained" modified true
tap_add "routes change" through rerouted
tap_add "the peer's address changes" through moves
tap_add "the NIC gives QPs back" through gives_back
tap_add "the feature comes and goes" through flip
tap_add "the NIC is reset" through reset
tap_add "the driver withdraws" through withdraw
tap_add "the netdev goes down" through goes_down
tap_add "calls of the driver fail" through fails
tap_add "packets miss the NIC" through astray
tap_add "payload is placed in between" through places_too
tap_setup bad_network
tap_add "a bad network" through true
tap_add "a bad network, over IPv6" through_ipv6 gives_back
tap_add "all of that in a bad network" all_kinds anything
tap_add "QPs are changed, in a bad network" modified anything
tap_add "keys and rights that go, in a bad network" lossy gone
tap_setup good_network
tap_add "no QP was lost" nothing_is_lost
tap_add "a peer that does not answer" of_this silent
tap_add "a NIC that does not tell how far it is" of_this dead
tap_add "the program is killed" killed
tap_add "the link is deleted" link_goes
tap_add "the driver is unloaded" driver_goes_under stream_begins
tap_setup topo two 1500
tap_add "the transport is unloaded" \
	transport_goes_under nothing_is_known stream_begins
tap_run
