#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Counters of ports and QPs, resources in detail and tracepoints show the traffic; where
# its size is known, so are the figures.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

need ibv_rc_pingpong

PORT_A=/sys/class/infiniband/$DEV_A/ports/1
SIZE=4096
ITERS=200

# pings [OPTION...]: SIZE * ITERS bytes each way
pings() {
	PORT=$((PORT + 1))
	pair tcp:$PORT \
		ibv_rc_pingpong -d $DEV_S -g $GID_S -p $PORT -s $SIZE -n $ITERS "$@" -- \
		ibv_rc_pingpong -d $DEV_C -g $GID_C -p $PORT -s $SIZE -n $ITERS "$@" $IP4
}

# hold: start two ends that exchange messages until release()
hold() {
	PORT=$((PORT + 1))
	# server() and client() would make $! another process than the program's.
	ip netns exec "$NS_S" ibv_rc_pingpong -d $DEV_S -g $GID_S \
		-p $PORT -s $SIZE -n 1000000000 >/dev/null 2>&1 &
	HELD_S=$!
	within 5 listens_tcp $HELD_S $PORT || return
	ip netns exec "$NS_C" ibv_rc_pingpong -d $DEV_C -g $GID_C \
		-p $PORT -s $SIZE -n 1000000000 $IP4 >/dev/null 2>&1 &
	HELD_C=$!
	within 5 qp_in RTS
}

# release [SIGNAL]: end both ends and wait until their QPs are gone
release() {
	kill -${1:-TERM} $HELD_C $HELD_S
	wait $HELD_C $HELD_S
	within 5 not qp_in .
} 2>/dev/null

# qp_in STATE: the client's QP is in this state
qp_in() {
	rdma resource show qp link $DEV_C/1 type RC 2>/dev/null |
		grep -q "state ${1/./} *"
}

# lqpn: print the number of the client's QP
lqpn() {
	rdma resource show qp link $DEV_C/1 type RC |
		sed -n '1s/.* lqpn \([0-9]*\) .*/\1/p'
}

counter() { # NAME: of the device of end A
	cat "$PORT_A/$1"
}

every_file() {
	local file

	for file in "$PORT_A"/hw_counters/* "$PORT_A"/counters/*; do
		grep -qxE '[0-9]+' "$file" ||
			{ fail "$file: $(cat "$file" 2>&1)"; return; }
	done
	[ -e "$PORT_A/counters/port_xmit_data" ] || fail "no counters/"
}

# moved NAME BEFORE LEAST MOST: the counter has grown by LEAST to MOST
moved() {
	local now

	now=$(counter "$1")
	[ $((now - $2)) -ge "$3" ] && [ $((now - $2)) -le "$4" ] ||
		fail "$1: $2, then $now: not $3 to $4 more"
}

# In each direction: ITERS messages of SIZE bytes in packets of 1024 bytes, 16 bytes of
# BTH and ICRC in each, and at most one ACK of 20 bytes for each message.
pings_counted() {
	local words=$((SIZE * ITERS / 4)) packets=$((SIZE * ITERS / 1024))
	local least=$((words + packets * 4)) most tx rx txp rxp

	most=$((least + ITERS * 5 + 1000))
	tx=$(counter counters/port_xmit_data)
	rx=$(counter counters/port_rcv_data)
	txp=$(counter counters/port_xmit_packets)
	rxp=$(counter counters/port_rcv_packets)
	pings || return
	moved counters/port_xmit_data $tx $least $most &&
	moved counters/port_rcv_data $rx $least $most &&
	moved counters/port_xmit_packets $txp $packets $((packets + ITERS + 50)) &&
	moved counters/port_rcv_packets $rxp $packets $((packets + ITERS + 50)) &&
	[ "$(counter counters/unicast_xmit_packets)" = \
		"$(counter counters/port_xmit_packets)" ] ||
		fail "unicast_xmit_packets differs"
}

# Retries of both ends, by timers and by NAKs, and probes
retries() {
	local dev name

	for dev in $DEV_A $DEV_B; do
		for name in local_ack_timeout_err completer_retry_err loss_probes; do
			hw_counter $dev $name
		done
	done
}

# The numbers are known only if nothing was sent again, as on a slow machine.
port_counters() {
	local i before

	for i in {1..5}; do
		before=$(retries)
		pings_counted && return
		[ "$(retries)" != "$before" ] || return
	done
	fail "packets were sent again each time"
}

# The same numbers in hw_counters, in bytes
hw_counters_agree() {
	local words bytes

	renew_counters $DEV_A
	words=$(counter counters/port_xmit_data)
	bytes=$(counter hw_counters/sent_bytes)
	[ $((bytes / 4)) = "$words" ] || fail "$bytes bytes, $words words"
}

link_downed() {
	local before

	before=$(counter counters/link_downed)
	ip -n "$NS_A" link set va down
	ip -n "$NS_A" link set va up
	[ "$(counter counters/link_downed)" = $((before + 1)) ] ||
		fail "link_downed: $before, then $(counter counters/link_downed)"
	# Taking the netdev down has removed the IPv6 address.
	ip -n "$NS_A" addr add fd00::1/64 dev va nodad 2>/dev/null
	within 5 gid_index $DEV_A ipv4 >/dev/null
}

# qp_stat NAME: print the value in the only QP counter, or nothing
qp_stat() {
	rdma statistic qp show link $DEV_C/1 |
		sed -n "s/.* $1 \([0-9]*\).*/\1/p" | head -n 1
}

qp_counted() {
	[ "$(qp_stat sent_pkts)" -gt 100 ] 2>/dev/null
}

no_qp_stat() {
	[ ! "$(rdma statistic qp show link $DEV_C/1)" ]
}

# The counters of the port include those of bound QPs, and keep them.
sum_is_kept() {
	local port=$1 apart=$2 now

	now=$(counter hw_counters/sent_pkts)
	[ "$now" -ge $((port + apart)) ] ||
		fail "the port had $port before, the QP $apart, the port now $now"
}

stat_auto() {
	local before apart

	before=$(counter hw_counters/sent_pkts)
	rdma statistic qp set link $DEV_C/1 auto type on || return
	rdma statistic qp mode link $DEV_C/1 | grep -q 'auto type on' ||
		{ fail "mode: $(rdma statistic qp mode link $DEV_C/1)"; return; }
	hold || return
	within 5 qp_counted || { release; fail "no counter moved"; return; }
	apart=$(qp_stat sent_pkts)
	sum_is_kept "$before" "$apart" || { release; return 1; }
	release && within 5 no_qp_stat || fail "a counter stays" || return
	sum_is_kept "$before" "$apart" || return
	rdma statistic qp set link $DEV_C/1 auto off
}

port_counts() { # BEFORE
	[ "$(counter hw_counters/sent_pkts)" -gt $(($1 + 100)) ]
}

# A counter counts from its binding to its unbinding.
stat_manual() {
	local qpn cntn before apart

	hold || return
	qpn=$(lqpn)
	before=$(counter hw_counters/sent_pkts)
	rdma statistic qp bind link $DEV_C/1 lqpn "$qpn" ||
		{ release; return 1; }
	within 5 qp_counted || { release; fail "no counter moved"; return; }
	apart=$(qp_stat sent_pkts)
	cntn=$(rdma statistic qp show link $DEV_C/1 |
		sed -n 's/.* cntn \([0-9]*\) .*/\1/p' | head -n 1)
	rdma statistic qp show link $DEV_C/1 | grep -q "$qpn" ||
		{ release; fail "the counter does not name its QP"; return; }
	sum_is_kept "$before" "$apart" || { release; return 1; }
	not rdma statistic qp bind link $DEV_C/1 lqpn "$qpn" ||
		{ release; fail "bound twice"; return; }
	rdma statistic qp unbind link $DEV_C/1 cntn "$cntn" lqpn "$qpn" ||
		{ release; return 1; }
	no_qp_stat || { release; fail "a counter stays"; return; }
	sum_is_kept "$before" "$apart" || { release; return 1; }
	before=$(counter hw_counters/sent_pkts)
	within 5 port_counts "$before" ||
		{ release; fail "it counts nowhere any more"; return; }
	release
}

# The process is killed while its QP is bound.
stat_killed() {
	hold || return
	rdma statistic qp bind link $DEV_C/1 lqpn "$(lqpn)" ||
		{ release; return 1; }
	release KILL && within 5 no_qp_stat || fail "a counter stays"
}

# look TYPE: dump all of the client's objects of processes to $TMP/objects
look() {
	local filter="dev $DEV_C"

	[ "$1" = qp ] && filter="link $DEV_C/1"
	rdma -dd resource show "$1" $filter | grep -v 'comm \[' >"$TMP/objects"
}

# detail NAME: print a detail of the first object in the dump
detail() {
	tr '\n' ' ' <"$TMP/objects" | sed "s/[ \t]drv_$1 /\n&/" |
		sed -n "2s/[ \t]drv_$1 \([^ ]*\).*/\1/p"
}

# details TYPE NAME...: dump objects, and find all of these details
details() {
	local name

	look "$1"
	shift
	for name; do
		[ "$(detail $name)" ] && continue
		fail "no $name: $(<"$TMP/objects")"
		return
	done
}

wrong() {
	fail "$1: $(<"$TMP/objects")"
}

qp_details() {
	local psn una size

	details qp mtu refs sq_size sq_head sq_next sq_tail rq_size \
		req_psn req_una req_max_psn resp_epsn resp_msn || return
	[ "$(detail mtu)" = 1024 ] || wrong mtu || return
	psn=$(detail req_psn) una=$(detail req_una)
	[ $(((psn - una) & 0xffffff)) -le 256 ] || wrong window || return
	size=$(detail sq_size)
	[ $(($(detail sq_head) - $(detail sq_tail))) -le "$size" ] &&
	[ "$size" -ge 1 ] && [ "$size" -le 32767 ] || wrong sq_size
}

# The details of regions contain no kernel addresses.
mr_details() {
	details mr kind access valid refs iova block_size blocks || return
	[ "$(detail kind)" = user ] && [ "$(detail valid)" = 1 ] &&
	[ "$(detail blocks)" -ge 1 ] || wrong mr || return
	not grep -iE '0x?ffff[0-9a-f]{12}' "$TMP/objects"
}

cq_details() {
	details cq size producer consumer armed overrun || return
	[ "$(detail overrun)" = 0 ] || wrong overrun
}

object_details() {
	local rc

	hold && qp_details && mr_details && cq_details &&
	look pd && grep -q pdn "$TMP/objects"
	rc=$?
	release || fail "does not go" || return
	return $rc
}

srq_details() {
	local rc pid

	grep -q fill_res_srq_raw_entry /proc/kallsyms ||
		{ skip "this kernel does not ask for them"; return; }
	PORT=$((PORT + 1))
	ip netns exec "$NS_C" ibv_srq_pingpong -d $DEV_C -g $GID_C -p $PORT \
		>/dev/null 2>&1 &
	pid=$!
	within 5 listens_tcp $pid $PORT &&
	details srq size max_sge producer consumer limit &&
	[ "$(detail size)" = 511 ] # 500 are asked for
	rc=$?
	kill $pid
	wait $pid 2>/dev/null
	return $rc
}

# Dump objects while they are created and destroyed.
look_at_dying() {
	local i pid

	(while :; do
		rdma -dd resource show qp
		rdma -dd resource show cq
		rdma -dd resource show mr
		rdma statistic qp show
	done) >/dev/null 2>&1 &
	pid=$!
	for ((i = QUICK ? 2 : 5; i; i--)); do
		pings -r 50 || break
	done
	kill $pid
	wait $pid 2>/dev/null
	[ $i = 0 ]
}

traced() { # EVENT PATTERN
	grep -E " $1: .*$2" "$TMP/trace" >/dev/null ||
		fail "no $1 with $2: $(head -n 30 "$TMP/trace")"
}

# trace COMMAND...: write the events of all tracepoints to $TMP/trace
trace() {
	echo >$TRACE/trace
	echo 1 >$TRACE/events/verve/enable
	"$@"
	echo 0 >$TRACE/events/verve/enable
	cat $TRACE/trace >"$TMP/trace"
}

# Without packets, a message arrives as a whole.
trace_pings() {
	trace_is_there || { skip "no tracepoints in this kernel"; return; }
	bypass N
	ITERS=20 trace pings || return
	bypass "${BYPASS:-N}"
	traced verve_qp_state "dev=$DEV_C qpn=0x[0-9a-f]{6} RESET -> INIT" &&
	traced verve_qp_state "RTR -> RTS" &&
	traced verve_burst "qpn=0x[0-9a-f]{6} dqpn=0x[0-9a-f]{6} opcode=RC_SEND_FIRST psn=0x[0-9a-f]{6} packets=4 length=4096" &&
	traced verve_arrival "qpn=0x[0-9a-f]{6} opcode=RC_SEND_LAST .* ackreq" &&
	traced verve_arrival "opcode=RC_ACK"
}

trace_losses() {
	trace_is_there || { skip "no tracepoints in this kernel"; return; }
	trace c_test errors_flush | grep '^not ok'
	traced verve_nak_sent "nak=REMOTE_ACCESS syndrome=0x62" &&
	traced verve_nak_received "nak=RNR syndrome=0x2[0-9a-f]" &&
	traced verve_rewind "una=0x[0-9a-f]{6} psn=0x[0-9a-f]{6} retries=" &&
	traced verve_qp_state "RTS -> ERR"
}

# Disabled tracepoints write nothing.
trace_off() {
	trace_is_there || { skip "no tracepoints in this kernel"; return; }
	echo >$TRACE/trace
	pings || return
	not grep verve_ $TRACE/trace
}

tap_setup topo two
tap_add "every counter can be read" every_file
tap_add "counters/ move by the bytes of a transfer" port_counters
tap_add "hw_counters/ agree with counters/" hw_counters_agree
tap_add "counters/link_downed" link_downed
tap_add "QP counters, by type" stat_auto
tap_add "QP counters, bound by hand" stat_manual
tap_add "QP counters of a process that is killed" stat_killed
tap_add "counters/ have what QPs counted apart" hw_counters_agree
tap_add "details of QPs, MRs, CQs, PDs" object_details
tap_add "details of SRQs" srq_details
tap_add "looking at objects that are being destroyed" look_at_dying
tap_add "tracepoints: a pingpong" trace_pings
tap_add "tracepoints: NAKs, retries" trace_losses
tap_add "tracepoints: off" trace_off
tap_run
