#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every operation runs at once, both ways, over many QPs, for DURATION seconds (20, or 5
# where the CPU is slow), and the counters add up. What one end sent the other received,
# nobody gave up a retry, no packet was damaged.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

need ib_send_bw ib_write_bw ib_read_bw ib_atomic_bw

DURATION=${DURATION:-${QUICK:+5}}
DURATION=${DURATION:-20}
PIDS=()
# Twelve programs that poll share the CPUs with the transport. Where the CPU is emulated
# and the kernel PREEMPT_RT, an ACK can wait longer than perftest's 8 * 67 ms.
PATIENCE=()
[ "$SLOW" = 1 ] || PATIENCE=(-u 18)

count() { # DEVICE COUNTER: its value, 0 if the driver has none of that name
	local value=0

	{ read -r value <"/sys/class/infiniband/$1/ports/1/hw_counters/$2"; } \
		2>/dev/null
	echo "$value"
}

# way SERVER-NETNS DEVICE CLIENT-NETNS DEVICE ADDRESS PROGRAM OPTION...
way() {
	local ns_s=$1 dev_s=$2 ns_c=$3 dev_c=$4 address=$5 prog=$6

	shift 6
	PORT=$((PORT + 1))
	ip netns exec "$ns_s" timeout $((DURATION + 10 * LIMIT)) $prog -F \
		-d "$dev_s" -x "$(gid_index "$dev_s" ipv4)" -p $PORT \
		-D $DURATION "$@" >"$TMP/$PORT.s" 2>&1 &
	PIDS+=($!)
	ready tcp:$PORT $prog $!
	ip netns exec "$ns_c" timeout $((DURATION + 10 * LIMIT)) $prog -F \
		-d "$dev_c" -x "$(gid_index "$dev_c" ipv4)" -p $PORT \
		-D $DURATION "$@" "$address" >"$TMP/$PORT.c" 2>&1 &
	PIDS+=($!)
}

there() { way "$NS_B" $DEV_B "$NS_A" $DEV_A 10.0.0.2 "$@"; }
back() { way "$NS_A" $DEV_A "$NS_B" $DEV_B 10.0.0.1 "$@"; }

traffic() {
	local i rc bad=0

	there ib_write_bw -s 65536 -q 4 "${PATIENCE[@]}"
	back ib_read_bw -s 65536 -q 4 "${PATIENCE[@]}"
	there ib_send_bw -s 4096 -b "${PATIENCE[@]}"
	back ib_atomic_bw -q 2 "${PATIENCE[@]}"
	there ib_send_bw -c UD -s 1024
	back ib_write_bw -c UC -s 8192
	for i in "${!PIDS[@]}"; do
		wait "${PIDS[i]}"
		rc=$?
		[ $rc = 0 ] && continue
		bad=1
		echo "program $i ended with $rc"
	done
	[ $bad = 0 ] || tail -n 3 "$TMP"/*.[sc]
	return $bad
}

# Drops of the kernel's receive backlog: packets, or trains of up to 64 packets
backlog_drops() {
	local dropped sum=0

	while read -r _ dropped _; do
		sum=$((sum + 16#$dropped))
	done </proc/net/softnet_stat
	echo $sum
}

same_sums() {
	local lost=$(($(backlog_drops) - LOST_BEFORE))

	one_sum $DEV_A $DEV_B $lost && one_sum $DEV_B $DEV_A $lost
}

# Packets to a QP whose program has ended count as sent, but not as received.
one_sum() { # FROM TO LOST
	local sent received refused late

	sent=$(count "$1" sent_pkts) received=$(count "$2" rcvd_pkts)
	refused=$(count "$1" send_err) late=$(count "$2" rx_drop_no_qp)
	echo "$1 sent $sent, $2 received $received, and $late too late;" \
		"the backlog dropped $3 times, $refused were refused"
	[ "$sent" -gt 1000 ] && [ $((received + late)) -le "$sent" ] &&
		[ $((sent - received - late + refused)) -le $((64 * $3)) ]
}

# zero COUNTER...
zero() {
	local dev name bad=0

	for dev in $DEV_A $DEV_B; do
		for name; do
			[ "$(count $dev $name)" = 0 ] && continue
			echo "$dev $name: $(count $dev $name)"
			bad=1
		done
	done
	return $bad
}

all_counters() {
	grep -H . /sys/class/infiniband/vt?/ports/1/hw_counters/* |
		sed 's/.*infiniband.//; s/ports.1.hw_counters.//'
}

no_failures() {
	zero retry_exceeded_err retry_rnr_exceeded_err \
		req_transport_retries_exceeded req_remote_access_errors \
		resp_remote_access_errors req_cqe_error resp_cqe_error ||
		{ all_counters; return 1; }
}

# Legal drops: a datagram or UC message without a receive, the rest of a UC message after
# a lost packet, and packets on their way when a program ends. Other drops mean that an
# end sends or reads rubbish.
EXPLAINED="rx_drop_no_recv rx_drop_sequence rx_drop_stale rx_drop_no_qp
	rx_drop_qp_state"
# A QP that sends on one CPU and then on another has packets in two backlogs. On a slow
# CPU, packets of one may wait for those of the other for longer than VERVE_OOO_MS.
[ "$SLOW" = 1 ] || EXPLAINED+=" rx_drop_ooo"

no_damage() {
	local file name rubbish=()

	for file in "/sys/class/infiniband/$DEV_A/ports/1/hw_counters"/*; do
		name=${file##*/}
		case " ${EXPLAINED//[[:space:]]/ } " in
		*" $name "*) continue ;;
		esac
		case $name in
		*drop* | *icrc* | *malformed*) rubbish+=("$name") ;;
		esac
	done
	zero "${rubbish[@]}" || { all_counters; return 1; }
}

LOST_BEFORE=$(backlog_drops)

tap_setup topo two 4200
tap_add "mixed traffic for $DURATION s" traffic
tap_add "what was sent was received" within 2 same_sums
tap_add "no request failed" no_failures
tap_add "no packet was damaged" no_damage
tap_run
