#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Links, netdevs, addresses, namespaces and processes come and go under load, and each
# allocation fails once. Each of these happens ROUNDS times (1000; 10 if QUICK). The
# data of the load are right, no step takes longer than 5 s, and the state of the machine
# at the end is that at the beginning.
#
#	A [va: vta] ---- [vb: vtb] B
#	  [vc]				dummies, on which devices come and go

. "$(dirname "$0")/../lib/verve.sh"
. "$(dirname "$0")/../lib/load.sh"

need ib_send_bw

ROUNDS=${ROUNDS:-${QUICK:+10}}
ROUNDS=${ROUNDS:-1000}
BOUND_MS=$((5000 * SLOW))
NS_X=verve-x-$$
SLOWEST=0

# ---------------------------------------------------------------- storms

# timed COMMAND...: within the limit of a step
timed() {
	local from=${EPOCHREALTIME/[.,]/} took rc

	"$@"
	rc=$?
	took=$(((${EPOCHREALTIME/[.,]/} - from) / 1000))
	[ $took -le $SLOWEST ] || SLOWEST=$took
	[ $rc = 0 ] || fail "$*: exit code $rc" || return
	[ $took -le $BOUND_MS ] || fail "$*: took $took ms"
}

# rounds COUNT COMMAND...
rounds() {
	local count=$1 i

	shift
	for ((i = 0; i < count; i++)); do
		"$@" $i || fail "in round $i" || return
	done
	echo "$count rounds, the slowest step took $SLOWEST ms"
}

# storm COMMAND...: runs it ROUNDS times, and the load goes on
storm() {
	local rc

	SLOWEST=0
	BEFORE=$(everything)
	load_begin || return
	rounds "$ROUNDS" round "$@"
	rc=$?
	load_end || fail "the load ended with $?" || rc=1
	as_before && return $rc
}

round() {
	"$@" && is_answered $DEV_A
}

gone() { # DEVICE
	! link_exists "$1" && [ ! -e "/sys/class/infiniband/$1" ]
}

is_gone() {
	within 5 gone "$1" || fail "$1 is still there"
}

# ---------------------------------------------------------------- devices

links() {
	timed link_add "$NS_A" vtc vc && timed link_delete vtc && is_gone vtc
}

# Each round has its own load, which ends with an error, and new objects.
loses() { # DEVICE COMMAND...
	local dev=$1

	shift
	load_begin && timed "$@" && is_gone "$dev" || return
	within 5 ended "$LOAD" || fail "the load does not notice" || return
	wait "$LOAD"
	[ $? = 3 ] || fail "the load ended so: $(<"$TMP/load")" || return
	LOAD=
}

ready_again() {
	within 5 gid_index $DEV_A ipv6 >/dev/null &&
	within 5 gid_index $DEV_B ipv6 >/dev/null || fail "no GID"
}

deletion() {
	loses $DEV_A link_delete $DEV_A &&
	timed link_add "$NS_A" $DEV_A va && ready_again
}

# The steps after it need the devices, even if this one was slow.
unloading() {
	local rc=0

	loses $DEV_A rmmod "$MODULE" || rc=1
	load_module &&
	timed link_add "$NS_A" $DEV_A va &&
	timed link_add "$NS_B" $DEV_B vb && ready_again && return $rc
}

# breaks COMMAND...: a tenth of ROUNDS, since each round has its own load
breaks() {
	SLOWEST=0
	BEFORE=$(everything)
	rounds $(((ROUNDS + 9) / 10)) "$@" && as_before
}

renaming() {
	timed rdma dev set vta name vtx && timed rdma dev set vtx name vta ||
		return
	[ "$LIVE" ] || return 0
	timed ip -n "$NS_A" link set va name vx &&
	timed ip -n "$NS_A" link set vx name va
}

# ---------------------------------------------------------------- netdevs

up_and_down() {
	timed ip -n "$NS_A" link set va down && timed ip -n "$NS_A" link set va up
}

# The peer's netdev is down for longer than the first retry takes.
absence() {
	timed ip -n "$NS_B" link set vb down && sleep 0.1 &&
	timed ip -n "$NS_B" link set vb up
}

mtus() { # ROUND
	local sizes=(9000 4200 1400 2200)

	timed ip -n "$NS_A" link set va mtu "${sizes[$1 % 4]}" &&
	timed ip -n "$NS_A" link set va mtu 1500
}

addresses() { # ROUND
	local v4=10.0.1.$(($1 % 250 + 1)) v6=fd00::1:$(($1 % 1000))

	timed ip -n "$NS_A" addr add $v4/24 dev va &&
	timed ip -n "$NS_A" addr add $v6/64 dev va nodad &&
	timed ip -n "$NS_A" addr del $v4/24 dev va &&
	timed ip -n "$NS_A" addr del $v6/64 dev va
}

# ---------------------------------------------------------------- namespaces

# A netdev that moves loses its device. The core may keep the name for a moment.
moving() {
	timed within 5 link_add "$NS_A" vtc vc 2>/dev/null &&
	timed ip -n "$NS_A" link set vc netns "$NS_B" && is_gone vtc &&
	timed within 5 link_add "$NS_B" vtc vc 2>/dev/null &&
	timed ip -n "$NS_B" link set vc netns "$NS_A" && is_gone vtc
}

exit_of_netns() {
	ip netns add "$NS_X" && ip -n "$NS_X" link add vd type dummy &&
	ip -n "$NS_X" link set vd up && ip -n "$NS_X" addr add 10.9.0.1/24 dev vd &&
	timed within 5 link_add "$NS_X" vtd vd 2>/dev/null && timed ip netns del "$NS_X" && is_gone vtd
}

# ---------------------------------------------------------------- processes

killing() {
	load_begin QPS=64 || return
	kill -KILL "$LOAD"
	timed within 5 ended "$LOAD"
	wait "$LOAD" 2>/dev/null
	LOAD=
	as_before
}

forks() {
	BEFORE=$(everything)
	load_begin FORKS=1 || return
	rounds $(((ROUNDS + 9) / 10)) round true
	load_end || fail "the load ended with $?" || return
	as_before
}

# suspended ROUND: stops the server, so that receives soon run out
suspended() {
	kill -STOP "$SERVER"
	nap 0.05
	timed kill -CONT "$SERVER" && is_answered $DEV_A
}

suspension() {
	local client rc

	SLOWEST=0
	BEFORE=$(everything)
	PORT=$((PORT + 1))
	ip netns exec "$NS_B" ib_send_bw -d $DEV_B -x "$(gid_index $DEV_B ipv4)" \
		-p $PORT -F -n 100000000 >"$TMP/server" 2>&1 &
	SERVER=$!
	ready tcp:$PORT ib_send_bw $SERVER
	ip netns exec "$NS_A" ib_send_bw -d $DEV_A -x "$(gid_index $DEV_A ipv4)" \
		-p $PORT -F -n 100000000 10.0.0.2 >"$TMP/client" 2>&1 &
	client=$!
	is_answered $DEV_A && rounds "$ROUNDS" suspended
	rc=$?
	kill "$SERVER" $client
	wait "$SERVER" $client 2>/dev/null
	as_before && return $rc
}

# ---------------------------------------------------------------- CPUs, memory

CPU=/sys/devices/system/cpu/cpu1/online

hotplug() {
	timed dd if=<(echo 0) of=$CPU status=none &&
	timed dd if=<(echo 1) of=$CPU status=none
}

hotplugs() {
	[ -w $CPU ] || { skip "no CPU can be taken away here"; return; }
	storm hotplug
}

FAILSLAB=/sys/kernel/debug/failslab
FAILPAGE=/sys/kernel/debug/fail_page_alloc

# Each kind of allocation fails, also those that may sleep, only by /proc/.../fail-nth.
let_fail() {
	local dir

	for dir in $FAILSLAB $FAILPAGE; do
		[ -d $dir ] || continue
		echo 0 >$dir/verbose
		echo N >$dir/ignore-gfp-wait
		[ ! -e $dir/min-order ] || echo 0 >$dir/min-order
	done
}

shortage() {
	[ -d $FAILSLAB ] || { skip "the kernel has no failslab"; return; }
	let_fail
	BEFORE=$(everything)
	ip netns exec "$NS_A" env NETDEV=vc timeout -k 2 $((30 * LIMIT)) storms_nth \
		${QUICK:+--quick} -d $DEV_A -D $DEV_B -n "$NS_A" -N "$NS_B" ||
		fail "storms_nth: exit code $?" || return
	as_before
}

# ---------------------------------------------------------------- all of it

set_up() {
	topo two 1500 || return
	# The netdev keeps its addresses, and so its GIDs, while it is down.
	a sysctl -qw net.ipv6.conf.va.keep_addr_on_down=1
	b sysctl -qw net.ipv6.conf.vb.keep_addr_on_down=1
	ip -n "$NS_A" link add vc type dummy && ip -n "$NS_A" link set vc up
	LIVE=
	ip -n "$NS_A" link set vc name vx 2>/dev/null &&
		ip -n "$NS_A" link set vx name vc && LIVE=1
	return 0
}

clean_up() {
	load_kill
	ip netns del "$NS_X" 2>/dev/null
	cleanup
}

trap clean_up EXIT

tap_setup set_up
tap_add "links come and go" storm links
tap_add "links are deleted under load" breaks deletion
tap_add "the module is unloaded under load" breaks unloading
tap_add "devices and netdevs are renamed" storm renaming
tap_add "the netdev goes down and up" storm up_and_down
tap_add "the peer's netdev is down for a while" storm absence
tap_add "MTUs" storm mtus
tap_add "addresses come and go" storm addresses
tap_add "netdevs move between namespaces" storm moving
tap_add "namespaces come and go" storm exit_of_netns
tap_add "processes with many QPs are killed" breaks killing
tap_add "processes with registered memory fork" forks
tap_add "a peer's process is suspended" suspension
tap_add "CPUs come and go" hotplugs
tap_add "each allocation fails once" shortage
tap_add "no memory is leaked" no_leak
tap_run
