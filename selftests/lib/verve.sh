# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Functions of all tests: TAP, topologies, pairs of programs, and a clean exit. Each
# test sources this file. Needs bash, iproute2 and rdma-core's tools.
#
# Variables from outside:
#	LINK_TYPE=verve		type of `rdma link add`
#	VERVE_KO=FILE		the module, if modprobe does not find it
#	SLOW=N			allow N times the time (10 where the CPU is emulated)
#	QUICK=1			fewer cases (the default where the CPU is emulated)
#	TIMES=1			print when each step begins
#	DURATION=SECONDS	of tests that run for a time
#	BYPASS=Y		no packets between namespaces where Verve needs none

LIB=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
HERE=$(dirname "$(readlink -f "$0")")
PATH=$HERE:$PATH
# For programs in Python in any directory
export PYTHONPATH=$LIB

KSFT_SKIP=4
LINK_TYPE=${LINK_TYPE:-verve}
VERVE_KO=${VERVE_KO:-$LIB/../../drivers/infiniband/sw/verve/verve.ko}

# An emulated CPU is 10 to 30 times slower: allow it more time. That of arm64 does not
# tell, but QEMU's board does.
if grep -qsaE 'QEMU TCG|linux,dummy-virt|QEMU Guest|^Manufacturer: *QEMU' \
	/proc/cpuinfo /proc/device-tree/compatible /proc/sysinfo; then
	SLOW=${SLOW:-10}
	QUICK=${QUICK:-1}
fi
export SLOW=${SLOW:-1}
QUICK=${QUICK:-}
# For cases that depend little on the topology
TOPOLOGIES=${QUICK:+two}
TOPOLOGIES=${TOPOLOGIES:-one two}
LIMIT=$((20 * SLOW))	# seconds that one pair of programs may take

skip_all() {
	echo "1..0 # SKIP $*"
	exit $KSFT_SKIP
}

[ "$(id -u)" = 0 ] || skip_all "needs root"

# need COMMAND...
need() {
	local cmd

	for cmd; do
		command -v "$cmd" >/dev/null || skip_all "$cmd is not installed"
	done
}

need ip rdma modprobe timeout

TMP=$(mktemp -d /tmp/verve-test.XXXXXX) || exit 1

# ---------------------------------------------------------------- TAP

TAP_NAMES=()
TAP_COMMANDS=()

# tap_add NAME COMMAND...: add a test, whose result is its exit code (or skip)
tap_add() {
	TAP_NAMES+=("$1")
	shift
	TAP_COMMANDS+=("$(printf '%q ' "$@")")
}

# tap_setup COMMAND...: add a set-up for later tests, which is no test
tap_setup() {
	tap_add "" "$@"
}

# skip REASON: `skip "no tshark"; return` in a test
skip() {
	echo "$*" >"$TMP/skip"
}

# fail REASON: `fail "..."; return` or `... || fail "..."` in a test
fail() {
	echo "$*"
	return 1
}

# The kernel's log has no warnings and errors since the test began. Races that KCSAN
# reports are left to the caller: most are of other parts of the kernel. A log that has
# lost its beginning since, and with it the mark, counts as a whole.
log_is_clean() {
	! dmesg | tac | sed "/$LOG_MARK/q" | tac | sed '/BUG: KCSAN/d' | grep -E -A30 \
		'WARNING:|BUG:|Oops|INFO: task|INFO: rcu|unregister_netdevice: waiting|refcount_t|list_(add|del) corruption|scheduling while atomic|general protection|UBSAN'
}

# Run all tests and set-ups in order, and exit.
tap_run() {
	local i rc n=0 failed=0 skipped=0 total=1

	tap_add "kernel log" log_is_clean
	for i in "${TAP_NAMES[@]}"; do
		[ "$i" ] && total=$((total + 1))
	done
	echo "TAP version 13"
	echo "1..$((total - 1))"
	LOG_MARK="verve selftest $$ $HERE"
	LOG_MARK=${LOG_MARK//\//.}
	echo "$LOG_MARK" >/dev/kmsg
	for i in "${!TAP_NAMES[@]}"; do
		rm -f "$TMP/skip"
		[ "$TIMES" ] && echo "# $EPOCHREALTIME ${TAP_COMMANDS[i]}"
		eval "${TAP_COMMANDS[i]}" >"$TMP/out" 2>&1 </dev/null
		rc=$?
		if [ ! "${TAP_NAMES[i]}" ]; then
			[ $rc = 0 ] && continue
			sed 's/^/# /' "$TMP/out"
			echo "Bail out! ${TAP_COMMANDS[i]}: exit code $rc"
			exit 1
		fi
		n=$((n + 1))
		if [ -e "$TMP/skip" ]; then
			skipped=$((skipped + 1))
			echo "ok $n ${TAP_NAMES[i]} # SKIP $(<"$TMP/skip")"
			continue
		fi
		if [ $rc != 0 ] || grep -q '^TAP version' "$TMP/out"; then
			sed 's/^/# /' "$TMP/out"
		fi
		if [ $rc = 0 ]; then
			echo "ok $n ${TAP_NAMES[i]}"
		else
			failed=$((failed + 1))
			echo "not ok $n ${TAP_NAMES[i]}"
		fi
	done
	echo "# Totals: pass:$((n - failed - skipped)) fail:$failed skip:$skipped"
	[ $failed = 0 ]
	exit
}

# Verve's tracepoints exist, below $TRACE/events.
TRACE=/sys/kernel/tracing
trace_is_there() {
	[ -d $TRACE/events ] || mount -t tracefs tracefs $TRACE 2>/dev/null
	[ -d $TRACE/events/verve ]
}

# A pipe that never has data
exec {NEVER}<> <(:)

# nap SECONDS: sleep without a process, whose start takes longer on some machines
nap() {
	read -rt "$1" -u "$NEVER"
	return 0
}

# within SECONDS COMMAND...: repeat the command until it succeeds, at most so long. A
# step in which the machine stood still counts as a second.
within() {
	local left=$(($1 * SLOW * 1000000)) at=${EPOCHREALTIME/[.,]/} now

	shift
	until "$@"; do
		now=${EPOCHREALTIME/[.,]/}
		left=$((left - (now - at < 2000000 ? now - at : 1000000)))
		at=$now
		[ $left -gt 0 ] || return 1
		nap 0.05
	done
}

not() {
	! "$@"
}

# soon PROGRAM...: ends it if it takes long
soon() {
	timeout $((10 * SLOW)) "$@"
}

# ended PID: bash reaps a child at once, and keeps its exit code for wait.
ended() {
	! kill -0 "$1" 2>/dev/null
}

# ---------------------------------------------------------------- module

module_name() {
	case $LINK_TYPE in
	rxe | siw) echo rdma_rxe | sed "s/rxe/$LINK_TYPE/;s/rdma_siw/siw/" ;;
	*) echo "$LINK_TYPE" ;;
	esac
}

MODULE=$(module_name)

# bypass Y|N: may Verve leave out packets between two devices of this machine?
BYPASS_PARAMETER=/sys/module/verve/parameters/bypass
bypass() {
	[ ! -w $BYPASS_PARAMETER ] || echo "$1" >$BYPASS_PARAMETER
}

insert_module() {
	modprobe -qa ib_uverbs rdma_ucm
	[ -d "/sys/module/$MODULE" ] && return
	modprobe -q "$MODULE" && return
	[ -e "$VERVE_KO" ] || return
	# shellcheck disable=SC2046 # a list of modules
	modprobe -qa $(modinfo -F depends "$VERVE_KO" | tr , ' ')
	insmod "$VERVE_KO"
}

# Most tests are about packets. The end of the test restores the parameter.
BYPASS_WAS=
load_module() {
	insert_module || return
	[ "$BYPASS_WAS" ] || [ ! -r $BYPASS_PARAMETER ] ||
		BYPASS_WAS=$(<$BYPASS_PARAMETER)
	bypass "${BYPASS:-N}"
}

load_module || skip_all "no module $MODULE"

# ---------------------------------------------------------------- topologies
#
# Two namespaces joined by a veth. The client is always in A; the server is
# behind the same device (topology one) or behind B's (topology two).
#
#	NS_A: va 10.0.0.1, fd00::1 ---- vb 10.0.0.2, fd00::2 :NS_B

NS_A=verve-a-$$
NS_B=verve-b-$$
DEV_A=vta
DEV_B=vtb

a() { ip netns exec "$NS_A" "$@"; }
b() { ip netns exec "$NS_B" "$@"; }

# A test may replace this.
link_add() { # NETNS NAME NETDEV
	ip netns exec "$1" rdma link add "$2" type "$LINK_TYPE" netdev "$3"
}

link_exists() { # NAME
	rdma link show "$1/1" 2>/dev/null | grep -q "^link $1/1 "
}

link_delete() {
	rdma link delete "$1"
}

# delete_links NAME...: those that exist
delete_links() {
	local dev

	for dev; do
		link_exists "$dev" && soon rdma link delete "$dev"
	done
}

# Create two empty namespaces.
new_namespaces() {
	local ns

	for ns in "$NS_A" "$NS_B"; do
		ip netns add "$ns"
		ip -n "$ns" link set lo up
		# Do not wait for duplicate address detection.
		ip netns exec "$ns" sysctl -qw net.ipv6.conf.default.accept_dad=0
	done
}

# address_wire MTU: set up the netdevs va and vb and their addresses
address_wire() {
	ip -n "$NS_A" link set va mtu "$1" up &&
	ip -n "$NS_B" link set vb mtu "$1" up &&
	ip -n "$NS_A" addr add 10.0.0.1/24 dev va &&
	ip -n "$NS_B" addr add 10.0.0.2/24 dev vb &&
	ip -n "$NS_A" addr add fd00::1/64 dev va nodad &&
	ip -n "$NS_B" addr add fd00::2/64 dev vb nodad
}

# wire MTU: create the namespaces and a veth between them.
# A test may replace this.
wire() {
	new_namespaces
	# The indices must differ. siw, for one, takes equal ones for one netdev.
	ip link add va index 101 netns "$NS_A" type veth \
		peer name vb index 102 netns "$NS_B" &&
	address_wire "$1"
}

# vlan_wire MTU: like wire, but va and vb are VLANs of wa ---- wb. PCPS maps priorities
# of the stack to PCPs, in iproute2's form: "0:0 6:5".
PCPS=
vlan_wire() {
	new_namespaces
	ip link add wa netns "$NS_A" type veth peer name wb netns "$NS_B" &&
	ip -n "$NS_A" link set wa up && ip -n "$NS_B" link set wb up &&
	ip -n "$NS_A" link add link wa name va type vlan id 10 \
		egress-qos-map $PCPS &&
	ip -n "$NS_B" link add link wb name vb type vlan id 10 \
		egress-qos-map $PCPS &&
	address_wire "$1"
}

link_local() { # NETNS NETDEV
	ip -n "$1" -6 -o addr show dev "$2" scope link |
		sed 's/.*inet6 \([^/]*\).*/\1/'
}

# topo one|two [MTU]: replace the present topology by this one
topo() {
	untopo
	wire "${2:-1500}" && link_add "$NS_A" $DEV_A va || return
	NS_C=$NS_A DEV_C=$DEV_A
	case $1 in
	one)
		NS_S=$NS_A DEV_S=$DEV_A IP4=10.0.0.1 IP6=fd00::1
		LL=$(link_local "$NS_A" va) SCOPE_S=va
		;;
	two)
		link_add "$NS_B" $DEV_B vb || return
		NS_S=$NS_B DEV_S=$DEV_B IP4=10.0.0.2 IP6=fd00::2
		LL=$(link_local "$NS_B" vb) SCOPE_S=vb
		;;
	esac
	within 5 gid_index $DEV_C ipv4 >/dev/null &&
	within 5 gid_index $DEV_C ipv6 >/dev/null &&
	within 5 gid_index $DEV_S ipv4 >/dev/null &&
	within 5 gid_index $DEV_S ipv6 >/dev/null || return
	GID_C=$(gid_index $DEV_C ipv4) GID_S=$(gid_index $DEV_S ipv4)
}

# A test may replace this.
untopo() {
	local ns

	delete_links $DEV_A $DEV_B
	for ns in "$NS_A" "$NS_B"; do
		[ -e "/run/netns/$ns" ] || continue
		ip -n "$ns" link del va 2>/dev/null
		ip netns del "$ns"
	done
}

# network QDISC OPTION...: set the qdisc of both netdevs
network() {
	tc -n "$NS_A" qdisc replace dev va root "$@" &&
	tc -n "$NS_B" qdisc replace dev vb root "$@"
}

# Allow no trains: tc, netfilter and a capture then get each packet by itself.
single_packets() {
	ip -n "$NS_A" link set va gso_max_segs 1 &&
	ip -n "$NS_B" link set vb gso_max_segs 1
}

# Remove the qdiscs of both netdevs.
fair_network() {
	tc -n "$NS_A" qdisc del dev va root 2>/dev/null
	tc -n "$NS_B" qdisc del dev vb root 2>/dev/null
	return 0
}

# Prefix of an end's programs, such as `taskset -c 1`
CLIENT_WITH=()
SERVER_WITH=()

client() { ip netns exec "$NS_C" "${CLIENT_WITH[@]}" "$@"; }
server() { ip netns exec "$NS_S" "${SERVER_WITH[@]}" "$@"; }

# gid_index DEVICE ipv4|ipv6|local: print the index of the first RoCE v2 GID of a family
gid_index() {
	local port=/sys/class/infiniband/$1/ports/1 i gid type

	for i in {0..31}; do
		{ read -r gid <"$port/gids/$i"; } 2>/dev/null || return 1
		case $gid in
		0000:0000:0000:0000:0000:0000:0000:0000) continue ;;
		0000:0000:0000:0000:0000:ffff:*) [ "$2" = ipv4 ] ;;
		fe80:*) [ "$2" = local ] ;;
		*) [ "$2" = ipv6 ] ;;
		esac || continue
		{ read -r type <"$port/gid_attrs/types/$i"; } 2>/dev/null
		[ "$type" = "RoCE v2" ] || continue
		echo "$i"
		return
	done
	return 1
}

# ---------------------------------------------------------------- programs

PORT=20000

listens_tcp() { # PID PORT
	local hex

	printf -v hex %04X "$2"
	grep -q ":$hex 0\{8,32\}:0000 0A" \
		"/proc/$1/net/tcp" "/proc/$1/net/tcp6" 2>/dev/null
}

listens_cm() { # PROGRAM
	rdma resource show cm_id 2>/dev/null |
		grep -q "state LISTEN .*comm ${1:0:15}"
}

# ready tcp:PORT|cm PROGRAM PID: wait until the server listens
ready() {
	within 5 ready_or_dead "$@"
}

ready_or_dead() {
	kill -0 "$3" 2>/dev/null || return 0
	case $1 in
	cm) listens_cm "$2" ;;
	tcp:*) listens_tcp "$3" "${1#tcp:}" ;;
	esac
}

# Has rping succeeded, and then found its event channel closed? Before rdma-core 61, its
# thread for events may look at the channel once more, and ends the program with 255.
closed_early() { # EXIT-CODE PROGRAM OUTPUT
	[ "$1" = 255 ] && [ "$2" = rping ] &&
		grep -q "^rdma_get_cm_event: Bad file descriptor" "$3" &&
		! grep -qvE -e "^(client|server) DISCONNECT EVENT\.\.\." \
			-e "^wait for RDMA_READ_ADV state 10" \
			-e "^rdma_get_cm_event: Bad file descriptor" "$3"
}

# pair READY SERVER... -- CLIENT...: run both ends, which must exit with 0
pair() {
	local how=$1 server=() spid rc src

	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	# server() would make $! another process than the program's.
	ip netns exec "$NS_S" "${SERVER_WITH[@]}" timeout -k 2 $LIMIT \
		"${server[@]}" >"$TMP/server" 2>&1 &
	spid=$!
	ready "$how" "${server[0]}" $spid
	client timeout -k 2 $LIMIT "$@" >"$TMP/client" 2>&1
	rc=$?
	closed_early $rc "$1" "$TMP/client" && rc=0
	if [ $rc != 0 ]; then # the server may wait for ever
		sleep 0.2
		kill $spid 2>/dev/null
	fi
	wait $spid
	src=$?
	closed_early $src "${server[0]}" "$TMP/server" && src=0
	[ $rc = 0 ] && [ $src = 0 ] && return
	# Into a file, errors come before the first lines of other output.
	echo "server: ${server[*]}: exit code $src"
	tail -n 40 "$TMP/server"
	echo "client: $*: exit code $rc"
	tail -n 40 "$TMP/client"
	return 1
}

# perftest PROGRAM OPTION...: run both ends, of which the client prints a result
perftest() {
	local prog=$1 how

	shift
	PORT=$((PORT + 1))
	how=tcp:$PORT
	case " $* " in
	*" -R "*) how=cm ;;
	esac
	pair $how "$prog" -d $DEV_S -x "$GID_S" -p $PORT -F "$@" -- \
		"$prog" -d $DEV_C -x "$GID_C" -p $PORT -F "$@" $IP4 || return
	# On a busy machine, perftest does not trust the clock and prints inf.
	grep -qE '^ *[0-9]+ +[0-9]+ +([0-9.]+|inf)' "$TMP/client" ||
		fail "no result: $(tail -n 3 "$TMP/client")"
}

# c_test PROGRAM OPTION...: run a C program over the topology, and check that the
# program leaves no objects behind
c_test() {
	local prog=$1 before rc

	shift
	[ "$QUICK" ] && set -- --quick "$@"
	before=$(both_resources)
	client timeout -k 2 $((4 * LIMIT)) "$prog" \
		-d $DEV_C -D $DEV_S -n "$NS_C" -N "$NS_S" "$@"
	rc=$?
	[ $rc = 0 ] || [ $rc = $KSFT_SKIP ] || tell_counters
	within 2 has_resources "$before" ||
		fail "objects before: $before; now: $(both_resources)" || return
	return $rc
}

# Make the core read the counters again. The core caches them, and even without a
# lifespan reads them at most once in a tick, which may be 10 ms.
renew_counters() { # DEVICE
	echo 0 >"/sys/class/infiniband/$1/ports/1/hw_counters/lifespan" &&
	nap 0.011
}

hw_counter() { # DEVICE NAME
	local value

	renew_counters "$1"
	read -r value <"/sys/class/infiniband/$1/ports/1/hw_counters/$2" && echo "$value"
}

# Print the counters of both ends that are not 0.
tell_counters() {
	local dev

	for dev in $(printf '%s\n' "$DEV_C" "$DEV_S" | sort -u); do
		renew_counters "$dev" 2>/dev/null || continue
		echo "counters of $dev: $(
			cd "/sys/class/infiniband/$dev/ports/1/hw_counters" &&
			grep -Hvx 0 -- * | paste -sd ' ')"
	done
}

# has_counted DEVICE COUNTER NUMBER: the counter is above NUMBER
has_counted() {
	[ "$(hw_counter "$1" "$2")" -gt "$3" ]
}

# Print the number of objects of each kind on the devices of both ends.
both_resources() {
	rdma resource show | sed -n "s/^[0-9]*: \($DEV_C\|$DEV_S\): //p"
}

has_resources() {
	[ "$(both_resources)" = "$1" ]
}

# ---------------------------------------------------------------- exit

cleanup() {
	local pids

	trap - EXIT
	pids=$(jobs -p)
	[ "$pids" ] && kill $pids 2>/dev/null
	bypass "${BYPASS_WAS:-Y}"
	untopo 2>/dev/null
	rm -rf "$TMP"
}

trap cleanup EXIT
trap 'exit 1' INT TERM HUP
