# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Functions of all tests of offloads, whatever the NIC is. Sourced after verve.sh.

. "$LIB/tcpdump.sh"

# In the source tree; where the tests are installed, it is beside them.
PATH=$PATH:$LIB/../../packaging

# at_nic NETDEV COMMAND...: run a command in the NIC's namespace
at_nic() {
	local ns=$NS_A

	[ "$1" != vb ] || ns=$NS_B
	shift
	ip netns exec "$ns" "$@"
}

# nic_offload NETDEV show|set [FEATURE on|off]...
nic_offload() {
	local netdev=$1 command=$2

	shift 2
	at_nic "$netdev" roce-offload "$command" "$netdev" "$@"
}

nic_features() { # NETDEV FEATURE on|off...
	at_nic "$1" ethtool -K "$@"
}

gro() { # on|off
	nic_features va gro "$1" && nic_features vb gro "$1"
}

TRAINS=/sys/module/verve/parameters/trains

has_trains() {
	[ "$(cat $TRAINS 2>/dev/null)" != N ]
}

# with_trains COMMAND...: a test that is skipped without them
with_trains() {
	has_trains || { skip "trains=N"; return; }
	"$@"
}

# takes_trains on|off NETDEV: set whether the netdev takes whole trains
takes_trains() {
	nic_features "$2" tx-udp-segmentation "$1" tx-gso-list "$1"
}

# segments on|off NETDEV...: the netdevs segment UDP, or do not, but take no trains. The
# change of features resets all trials.
segments() {
	local how=$1 netdev

	shift
	for netdev; do
		nic_features "$netdev" tx-gso-list off tx-udp-segmentation off || return
		[ "$how" = off ] || nic_features "$netdev" tx-udp-segmentation on || return
	done
}

# ---------------------------------------------------------------- counters

# gained DEVICE COUNTER COMMAND...: set GAINED to the growth of a counter
gained() {
	local dev=$1 name=$2 before

	shift 2
	before=$(hw_counter "$dev" "$name")
	"$@" || return
	GAINED=$(($(hw_counter "$dev" "$name") - before))
}

# used COUNTER most|least N COMMAND...: check the growth of A's counter
used() {
	local name=$1 how=$2 n=$3

	shift 3
	gained $DEV_A "$name" "$@" || return
	case $how in
	least) [ $GAINED -ge "$n" ] ;;
	most) [ $GAINED -le "$n" ] ;;
	esac || fail "$name: $GAINED, not at $how $n"
}

# ---------------------------------------------------------------- the wire

# All opcodes, for icrc.py
REQUESTS=$(printf '%02x ' {0..12} 19 20 {32..43} 100 101)
ANSWERS=$(printf '%02x ' {13..18})

opcodes() {
	c_test opcodes --quick -s 3072 "$@" >"$TMP/traffic" ||
		fail "$(cat "$TMP/traffic")"
}

# are_right NETNS NETDEV OPCODES OPTION...: check received packets by icrc.py
are_right() {
	local ns=$1 dev=$2 wanted=$3

	shift 3
	capture "$ns" "$dev" in "$TMP/wire.pcap" opcodes "$@" || return
	python3 "$LIB/icrc.py" "$TMP/wire.pcap" $wanted >"$TMP/icrc" ||
		fail "$(cat "$TMP/icrc")"
}

# An option of segments.py
ANY_IDS=

# what_is_sent LISTING NETNS NETDEV COMMAND...: captures and checks packets received there
what_is_sent() {
	local listing=$1 ns=$2 netdev=$3

	shift 3
	capture "$ns" "$netdev" in "$TMP/wire.pcap" "$@" &&
	python3 "$LIB/segments.py" $ANY_IDS "$TMP/wire.pcap" "$listing" \
		>"$TMP/segments" || fail "$(cat "$TMP/segments")"
}

# is_equal NETNS NETDEV COMMAND...: the packets that arrive there are the same as without
# the NIC. The test defines offers() and offers_nothing().
is_equal() {
	gro off && offers_nothing && what_is_sent "$TMP/software" "$@" &&
	offers && what_is_sent "$TMP/messages" "$@" &&
	gro on || return
	diff "$TMP/software" "$TMP/messages" >"$TMP/diff" ||
		fail "$(head -n 20 "$TMP/diff")"
}

# ---------------------------------------------------------------- traffic

# over_ipv6 COMMAND...: run it with the IPv6 GIDs
over_ipv6() {
	local GID_C GID_S

	GID_C=$(gid_index $DEV_C ipv6) GID_S=$(gid_index $DEV_S ipv6)
	"$@"
}

writes() {
	perftest ib_write_bw -s 8192 -n 500
}
