#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A marked packet is answered by a CNP, and the sender slows down for a while, unless
# either end is configured not to.
#
#	A [va: vta] ---- [vb: vtb] B
#	 netem marks      netem marks
#
# For priorities, va and vb are VLANs of wa ---- wb.

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/tcpdump.sh"

need tcpdump python3

PERCENT=${QUICK:+5}
PERCENT=${PERCENT:-2}
KILLS=${QUICK:+1 2}
KILLS=${KILLS:-1 2 3 4 5 6 7 8}

modprobe -q sch_netem
topo two >"$TMP/topo" 2>&1 && a tc qdisc replace dev va root netem loss 1% ecn \
	2>/dev/null || skip_all "no netem that marks"
untopo

marks() { # END DEV
	"$1" tc qdisc replace dev "$2" root netem loss "$PERCENT%" ecn
}

no_marks() {
	a tc qdisc del dev va root
	b tc qdisc del dev vb root
} 2>/dev/null

parameter() { # DEVICE NAME VALUE
	echo "$3" >"/sys/class/infiniband/$1/ports/1/cc_params/$2"
}

# moved DEVICE COUNTER: set MOVED to the growth since the last call
declare -A LAST
moved() {
	local now

	now=$(hw_counter "$1" "$2")
	MOVED=$((now - ${LAST[$1 $2]:-0}))
	LAST[$1 $2]=$now
}

# Enough packets for a few marks
traffic() { # PROGRAM
	perftest "$1" -s 16384 -n 200
}

# notified MARKED SENDER PROGRAM: the sender handles each CNP that marks cause
notified() {
	local marked sent

	moved "$1" np_ecn_marked_roce_packets
	moved "$1" np_cnp_sent
	moved "$2" rp_cnp_handled
	traffic "$3" || return
	moved "$1" np_ecn_marked_roce_packets
	marked=$MOVED
	moved "$1" np_cnp_sent
	sent=$MOVED
	moved "$2" rp_cnp_handled
	[ $marked -gt 0 ] && [ $sent -gt 0 ] && [ $sent -le $marked ] &&
		[ $MOVED = $sent ] ||
		fail "$marked marks, $sent CNPs, $MOVED of them handled"
}

requests() {
	marks a va && notified $DEV_B $DEV_A ib_write_bw
}

responses() {
	no_marks
	marks b vb && notified $DEV_A $DEV_B ib_read_bw
}

# Rate limit of a QP whose packets are marked
rate() {
	rdma -dd resource show qp link $DEV_A/1 |
		sed -n 's/.*rate_kbit \([1-9][0-9]*\).*/\1/p' | head -n 1
}

is_held() {
	RATE=$(rate)
	[ "$RATE" ]
}

held() {
	local pid rc=0

	no_marks
	marks a va || return
	perftest ib_write_bw -s 16384 -D $((3 + 2 * SLOW)) >"$TMP/traffic" &
	pid=$!
	# On a slow machine perftest takes seconds to start.
	within 20 is_held || rc=1
	wait $pid || fail "$(<"$TMP/traffic")" || return
	[ $rc = 0 ] && [ "$RATE" -lt 25000000 ] || fail "rate '$RATE'"
}

on_the_wire() {
	tcpdump_begin "$NS_A" -i va --immediate-mode -s 9300 -B 8192 -U -Z root \
		-w "$TMP/cnp.pcap" 'udp port 4791 and udp[8] = 0x81' &&
	notified $DEV_B $DEV_A ib_write_bw && tcpdump_end || return
	python3 "$LIB/icrc.py" "$TMP/cnp.pcap" 81 || return
	tcpdump -nvr "$TMP/cnp.pcap" 2>/dev/null >"$TMP/cnps"
	grep -q 'tos 0xc0' "$TMP/cnps" && ! grep -o 'tos 0x[0-9a-f]*' "$TMP/cnps" |
		grep -v 0xc0 || fail "$(head -n 4 "$TMP/cnps")"
}

cnp_pcps() {
	sed -n 's/.*vlan 10, p \([0-7]\),.*/\1/p' "$TMP/cnps" | sort -u | tr '\n' ' '
}

# On a VLAN, CNPs have the PCP of np_cnp_prio.
priority() {
	no_marks
	marks a va && parameter $DEV_B np_cnp_prio 3 || return
	tcpdump_begin "$NS_A" -i wa --immediate-mode -s 256 -B 8192 -len \
		'vlan and udp port 4791 and udp[8] = 0x81' >"$TMP/cnps" &&
	traffic ib_write_bw && tcpdump_end || return
	[ "$(cnp_pcps)" = "3 " ] || fail "PCP $(cnp_pcps): $(head -n 3 "$TMP/cnps")"
}

# marks_without DEVICE PARAMETER: set MOVED to B's marks while the parameter is 0
marks_without() {
	local rc=0

	parameter "$1" "$2" 0
	moved $DEV_B np_ecn_marked_roce_packets
	traffic ib_write_bw || rc=1
	parameter "$1" "$2" 1
	moved $DEV_B np_ecn_marked_roce_packets
	return $rc
}

# With np_enable 0, packets are still marked, and no CNP is sent.
not_told() {
	moved $DEV_B np_cnp_sent
	marks_without $DEV_B np_enable && [ $MOVED -gt 0 ] ||
		fail "$MOVED marks" || return
	moved $DEV_B np_cnp_sent
	[ $MOVED = 0 ] || fail "$MOVED CNPs"
}

# With rp_enable 0, packets must not be marked.
not_heeded() {
	marks_without $DEV_A rp_enable && [ $MOVED = 0 ] || fail "$MOVED marks"
}

# Each parameter takes its own value again, and refuses others without a change.
parameters() {
	local dir=/sys/class/infiniband/$DEV_A/ports/1/cc_params name value n=0

	for name in "$dir"/*; do
		value=$(<"$name") && echo "$value" >"$name" &&
		not parameter $DEV_A "${name##*/}" 4294967295 2>/dev/null &&
		not parameter $DEV_A "${name##*/}" -1 2>/dev/null &&
		not parameter $DEV_A "${name##*/}" x 2>/dev/null &&
		[ "$(<"$name")" = "$value" ] || fail "$name" || return
		n=$((n + 1))
	done
	[ $n = 20 ] || fail "$n of them" || return
	not parameter $DEV_A rp_min_rate 0 2>/dev/null
}

# Both ends are killed while B's responses are held back.
killed_once() {
	local before server client rc=0

	PORT=$((PORT + 1))
	before=$(hw_counter $DEV_B rp_cnp_handled)
	ip netns exec "$NS_S" ib_read_bw -d $DEV_S -x "$GID_S" -p $PORT -F \
		-q 8 -s 65536 -D 60 >"$TMP/server" 2>&1 &
	server=$!
	ready tcp:$PORT ib_read_bw $server
	ip netns exec "$NS_C" ib_read_bw -d $DEV_C -x "$GID_C" -p $PORT -F \
		-q 8 -s 65536 -D 60 $IP4 >"$TMP/client" 2>&1 &
	client=$!
	within 10 has_counted $DEV_B rp_cnp_handled $((before + 8)) || rc=1
	kill -9 $server $client
	wait $server $client 2>/dev/null
	[ $rc = 0 ] || fail "$(<"$TMP/server")" "$(<"$TMP/client")"
}

# killed RATE: with this minimum in Mb/s; 8000 allows more in a burst than in a round
killed() {
	local i rc=0

	no_marks
	marks b vb && parameter $DEV_B rp_min_rate "$1" || return
	for i in $KILLS; do
		killed_once || rc=1
	done
	parameter $DEV_B rp_min_rate 1
	return $rc
}

tap_setup topo two
tap_add "parameters" parameters
tap_add "requests are marked" requests
tap_add "a QP is held back" held
tap_add "CNPs as they are on the wire" on_the_wire
tap_add "np_enable 0" not_told
tap_add "rp_enable 0" not_heeded
tap_add "responses are marked" responses
tap_add "data between marks" c_test opcodes
tap_add "processes are killed while they are held back" killed 1
tap_add "and while they are held back a little" killed 8000
tap_setup eval 'wire() { vlan_wire "$@"; }'
tap_setup eval 'PCPS="0:0 2:3 6:6"'
tap_setup topo two
tap_add "priority of CNPs" priority
tap_run
