#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Removal never waits for users: under load, the link, its netdev, its namespace or the
# module goes within a second. The programs end by themselves, with errors, and leave no
# object behind.
#
#	A [va: vta] ---- [vb: vtb] B
#	 programs: H	uses both devices, and is in neither namespace
#
# Each way of removal is tested with polling and with sleeping programs. What a program
# has posted to its QPs is flushed, all of it, although they are gone at once.

. "$(dirname "$0")/../lib/verve.sh"

need ib_send_bw ib_write_bw

NS_H=verve-h-$$

# Milliseconds that a removal may take, seconds of traffic without one, and seconds until
# the programs notice. On an emulated CPU, traffic starves the shell, so a removal has to
# end long before the traffic only.
REMOVAL_MS=$((SLOW == 1 ? 1000 : 60000))
TRAFFIC=90
NOTICE=5

# With 64 KiB a message, an emulated CPU is still in softirq with the packets of one poll
# when the next tick is due, and the end of the tick begins the next softirq: no task runs
# there while the traffic goes on.
LOAD=
[ $SLOW = 1 ] || LOAD="-s 4096 -t 16"

PIDS=()

h() { ip netns exec "$NS_H" "$@"; }

# run FILE PROGRAM OPTION...: in the background; adds it to PIDS
run() {
	local file=$1

	shift
	ip netns exec "$NS_H" timeout $((TRAFFIC + 10)) "$@" >"$file" 2>&1 &
	PIDS+=($!)
}

# one_way SERVER-DEVICE CLIENT-DEVICE PROGRAM OPTION...
one_way() {
	local dev_s=$1 dev_c=$2 prog=$3 gid_s gid_c

	shift 3
	PORT=$((PORT + 1))
	gid_s=$(gid_index "$dev_s" ipv4) gid_c=$(gid_index "$dev_c" ipv4)
	run "$TMP/run.$PORT.s" $prog -d "$dev_s" -x "$gid_s" -p $PORT -F "$@"
	ready tcp:$PORT $prog $!
	run "$TMP/run.$PORT.c" $prog -d "$dev_c" -x "$gid_c" -p $PORT -F "$@" \
		127.0.0.1
}

# Both devices send requests, not responses only: no server waits for its client.
moves() {
	local dev

	for dev; do
		within 10 has_counted "$dev" rdma_sends 100 || return
	done
}

# A receiver that only polls learns of the removal by a flushed receive. If it had none
# posted then, it would post the next ones to a queue that is not read any more. So its
# queue is long.
RECEIVES="-r 8192"

# start poll|sleep: traffic both ways, far longer than the test. At A's device, one
# program only receives and one sends. Behind B's device, each program sends or keeps a
# TCP connection, as one that only receives could not detect the end of A's.
start() {
	PIDS=()
	rm -f "$TMP"/run.*
	case $1 in
	poll)
		one_way $DEV_A $DEV_B ib_send_bw -D $TRAFFIC $RECEIVES $LOAD
		one_way $DEV_B $DEV_A ib_write_bw -D $TRAFFIC $LOAD
		;;
	sleep)
		one_way $DEV_A $DEV_B ib_send_bw -e -N -n 20000000 $RECEIVES $LOAD
		one_way $DEV_B $DEV_A ib_send_bw -e -b -N -n 20000000 $LOAD
		;;
	esac
	moves $DEV_A $DEV_B && return
	tail -n 2 "$TMP"/run.*
	finish >/dev/null
	fail "no traffic"
}

all_ended() {
	local pid

	for pid in "${PIDS[@]}"; do
		kill -0 "$pid" 2>/dev/null && return 1
	done
	return 0
}

# Kills programs that have not ended, and names them.
finish() {
	local pid

	for pid in "${PIDS[@]}"; do
		kill -0 "$pid" 2>/dev/null || continue
		echo "still running: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
		kill "$pid"
	done
	within 2 all_ended || kill -KILL "${PIDS[@]}" 2>/dev/null
	wait "${PIDS[@]}" 2>/dev/null
	PIDS=()
}

# All programs end by themselves, and none with exit code 0.
programs_end() {
	local pid rc bad=0

	within $NOTICE all_ended || { finish; return 1; }
	for pid in "${PIDS[@]}"; do
		wait "$pid"
		rc=$?
		[ $rc != 0 ] || { echo "a program ended with code 0"; bad=1; }
		[ $rc -lt 124 ] || { echo "a program ended with $rc"; bad=1; }
	done
	return $bad
}

absent() {
	local dev

	for dev; do
		! link_exists "$dev" || return
		[ ! -e "/sys/class/infiniband/$dev" ] || return
	done
}

unused() {
	[ "$(cat "/sys/module/$MODULE/refcnt")" = 0 ]
}

no_resources() { # DEVICE
	! rdma resource show qp link "$1" 2>/dev/null | grep -q 'comm ib_'
}

# removed MODE DEVICES COMMAND...: COMMAND removes the devices at once
removed() {
	local mode=$1 devices=$2 from took bad=0

	shift 2
	start "$mode" || return
	from=${EPOCHREALTIME/[.,]/}
	timeout -k 1 $TRAFFIC "$@" || { echo "$*: exit code $?"; bad=1; }
	within 10 absent $devices || { echo "still there: $devices"; bad=1; }
	took=$(((${EPOCHREALTIME/[.,]/} - from) / 1000))
	[ $took -le $REMOVAL_MS ] || { echo "it took $took ms"; bad=1; }
	programs_end || bad=1
	return $bad
}

remove_link() {
	removed "$1" $DEV_A rdma link delete $DEV_A &&
	{ within 5 no_resources $DEV_B || fail "$(rdma resource)"; } &&
	rdma link delete $DEV_B &&
	{ within 5 unused || fail "the module is in use"; }
}

# The removal of one veth removes its peer.
remove_netdev() {
	removed "$1" "$DEV_A $DEV_B" ip -n "$NS_A" link del va &&
	{ within 5 unused || fail "the module is in use"; }
}

# No process is in A, so the namespace ends with its name.
remove_namespace() {
	removed "$1" "$DEV_A $DEV_B" ip netns del "$NS_A" &&
	{ within 5 unused || fail "the module is in use"; }
}

# rmmod removes the module at once, or fails as the module is in use. In that case it
# succeeds as soon as both links are gone.
unload() {
	rmmod $MODULE 2>/dev/null && return
	soon rdma link delete $DEV_A &&
	soon rdma link delete $DEV_B &&
	within 5 unused && rmmod $MODULE
}

remove_module() {
	local from took bad=0

	start "$1" || return
	from=${EPOCHREALTIME/[.,]/}
	unload || { echo "the module stays"; bad=1; }
	took=$(((${EPOCHREALTIME/[.,]/} - from) / 1000))
	[ $took -le $((2 * REMOVAL_MS)) ] || { echo "it took $took ms"; bad=1; }
	programs_end || bad=1
	[ ! -d "/sys/module/$MODULE" ] || bad=1
	load_module || bad=1
	return $bad
}

has_posted() { # PROCESS
	grep -q posted "$TMP/flush" || ended "$1"
}

flushed() {
	local pid

	: >"$TMP/flush"
	timeout $TRAFFIC "$HERE/removal_flush" -d $DEV_A -D $DEV_B >"$TMP/flush" 2>&1 &
	pid=$!
	within 30 has_posted $pid && rdma link delete $DEV_A
	wait $pid || fail "exit code $?: $(<"$TMP/flush")"
}

start_over() {
	ip netns del "$NS_H" 2>/dev/null
	topo two 1500 && ip netns add "$NS_H" && ip -n "$NS_H" link set lo up
}

cleanup_all() {
	[ ${#PIDS[@]} = 0 ] || kill -KILL "${PIDS[@]}" 2>/dev/null
	ip netns del "$NS_H" 2>/dev/null
	cleanup
}

trap cleanup_all EXIT

for mode in poll sleep; do
	for what in link netdev namespace module; do
		tap_setup start_over
		tap_add "$what, programs $mode" remove_$what $mode
	done
done
tap_setup start_over
tap_add "all requests and receives are flushed" flushed
tap_run
