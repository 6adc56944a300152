#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Namespaces are isolated, in shared and in exclusive mode: traffic between two, the same
# addresses twice, a netdev that moves, a namespace that ends, QPs that outlive theirs.
#
#	A [va: vta] ---- [vb: vtb] B
#	C [vc: vtc] ---- [vd: vtd] D	the same addresses once more

. "$(dirname "$0")/../lib/verve.sh"

need ibv_rc_pingpong

NS_CC=verve-c-$$
NS_DD=verve-d-$$

pingpong() {
	PORT=$((PORT + 1))
	pair tcp:$PORT ibv_rc_pingpong -d $DEV_S -g "$GID_S" -p $PORT -c -n 50 -- \
		ibv_rc_pingpong -d $DEV_C -g "$GID_C" -p $PORT -c -n 50 $IP4
}

in_mode() {
	rdma system show | grep -q "netns $1"
}

# Runs COMMAND with C and D in place of A and B.
second() {
	local NS_A=$NS_CC NS_B=$NS_DD DEV_A=vtc DEV_B=vtd
	local NS_C=$NS_CC NS_S=$NS_DD DEV_C=vtc DEV_S=vtd GID_C GID_S

	"$@"
}

twin_traffic() {
	wire 1500 && link_add "$NS_A" $DEV_A va && link_add "$NS_B" $DEV_B vb &&
	within 5 gid_index $DEV_A ipv4 && within 5 gid_index $DEV_B ipv4 || return
	GID_C=$(gid_index $DEV_A ipv4) GID_S=$(gid_index $DEV_B ipv4)
	pingpong
}

same_addresses() {
	second twin_traffic && pingpong
}

absent() {
	! link_exists "$1"
}

other_still_works() {
	link_exists vtc && link_exists vtd ||
		fail "the other namespaces' devices are gone too" || return
}

namespace_ends() {
	ip netns del "$NS_A"
	within 5 absent $DEV_A || fail "$DEV_A outlives its namespace" || return
	within 5 absent $DEV_B || fail "$DEV_B outlives its netdev" || return
	other_still_works
}

is_held() { # PID
	grep -qx held "$TMP/held" || ended "$1"
}

removed() {
	[ ! -e "/sys/class/infiniband/$1" ]
}

netdev_absent() { # NETNS NETDEV
	! ip -n "$1" link show "$2" >/dev/null 2>&1
}

# The end of A is over when its netdevs are gone, with their peers, and the kernel's
# worker has nothing to do. A worker with work is named after its queue, with a +.
has_ended() {
	netdev_absent "$NS_B" vb && ! grep -qs '+netns$' /proc/[0-9]*/comm
}

# Start a process outside that has QPs with routes in the namespaces, and holds the
# removal of the devices off until it is killed. Sets HOLDER.
hold() { # OPTION...
	local rc

	: >"$TMP/held"
	"$HERE/netns_outlived" -d $DEV_A -D $DEV_B "$@" >"$TMP/held" 2>&1 &
	HOLDER=$!
	within 10 is_held $HOLDER || fail "the removal is not held off" || return
	! ended $HOLDER && return
	wait $HOLDER
	rc=$?
	[ $rc != $KSFT_SKIP ] || { skip "no registration waits here"; return; }
	fail "exit code $rc: $(<"$TMP/held")"
}

outlived_by() { # OPTION...
	hold "$@" || return
	# Skipped
	! ended $HOLDER || return 0
	ip netns del "$NS_A"
	within 10 has_ended || fail "the namespace stays" || return
	not removed $DEV_A || fail "the removal was not held off" || return
	kill $HOLDER
	wait $HOLDER
	within 10 removed $DEV_A && within 10 removed $DEV_B
}

outlived() {
	topo two && outlived_by "$@"
}

has_learned() { # ADDRESS MTU
	a ip route get "$1" | grep -qw "mtu $2"
}

# The kernel counts IPv6 routes with a path MTU of their own in the namespace, until they
# are released. It does not count others, and frees struct net itself much later.
outlived_learned() {
	command -v python3 >/dev/null || { skip "no python3"; return; }
	topo two && b python3 "$LIB/icmp.py" fd00::1 fd00::2 1280 &&
		within 5 has_learned fd00::2 1280 && outlived_by -6
}

# When a netdev leaves the namespace, the RDMA core removes its device.
netdev_moves() {
	ip -n "$NS_CC" link set va netns "$NS_DD"
	within 5 absent vtc || fail "vtc outlives its netdev's departure" || return
	link_exists vtd || fail "vtd is gone too"
}

drop_twins() {
	second untopo
	untopo
	rm -f "$TMP/exclusive"
}

no_namespaces() {
	[ ! -e "/run/netns/$NS_A" ] && [ ! -e "/run/netns/$NS_CC" ]
}

# The mode can change only while the first namespace is the only one.
exclusive() {
	in_mode exclusive || within 3 rdma system set netns exclusive 2>/dev/null
}

back_to_shared() {
	[ "$WAS_SHARED" ] || return 0
	within 10 rdma system set netns shared 2>/dev/null
}

# Does the namespace see the device?
sees() { # NETNS DEVICE
	ip netns exec "$1" rdma dev show "$2" 2>/dev/null | grep -q "$2"
}

# A new device belongs to the namespace it was added in, or is moved there.
own() { # NETNS DEVICE
	sees "$1" "$2" || rdma dev set "$2" netns "$1"
}

gid_inside() { # NETNS DEVICE
	ip netns exec "$1" bash -c \
		"$(declare -f gid_index); gid_index $2 ipv4"
}

exclusive_devices() {
	in_mode exclusive || { skip "the mode cannot be changed now"; return; }
	wire 1500 && link_add "$NS_A" $DEV_A va && own "$NS_A" $DEV_A &&
	link_add "$NS_B" $DEV_B vb && own "$NS_B" $DEV_B || return
	sees "$NS_A" $DEV_A || fail "A does not see its own" || return
	sees "$NS_B" $DEV_B || fail "B does not see its own" || return
	not sees "$NS_A" $DEV_B || fail "A sees the device of B" || return
	not link_exists $DEV_A || fail "the first namespace sees that of A"
}

exclusive_traffic() {
	in_mode exclusive || { skip "the mode cannot be changed now"; return; }
	within 5 gid_inside "$NS_A" $DEV_A && within 5 gid_inside "$NS_B" $DEV_B ||
		return
	NS_C=$NS_A DEV_C=$DEV_A NS_S=$NS_B DEV_S=$DEV_B IP4=10.0.0.2
	GID_C=$(gid_inside "$NS_A" $DEV_A) GID_S=$(gid_inside "$NS_B" $DEV_B)
	pingpong
}

# A moved device keeps its netdev, and its former users are disconnected.
exclusive_move() {
	in_mode exclusive || { skip "the mode cannot be changed now"; return; }
	a rdma dev set $DEV_A netns "$NS_B" || return
	within 5 sees "$NS_B" $DEV_A || fail "B does not see it" || return
	not sees "$NS_A" $DEV_A || fail "A still sees it" || return
	b rdma dev set $DEV_A netns "$NS_A" && within 5 sees "$NS_A" $DEV_A
}

exclusive_exit() {
	in_mode exclusive || { skip "the mode cannot be changed now"; return; }
	ip netns del "$NS_A"
	ip netns del "$NS_B"
	within 5 absent $DEV_A && within 5 absent $DEV_B ||
		fail "devices outlive their namespaces: $(rdma dev)"
}

cleanup_all() {
	second untopo 2>/dev/null
	untopo 2>/dev/null
	back_to_shared
	cleanup
}

WAS_SHARED=
in_mode shared && WAS_SHARED=1
trap cleanup_all EXIT

tap_setup topo two 1500
tap_add "traffic between namespaces" pingpong
tap_add "the same addresses in two more" same_addresses
tap_add "the namespace ends" namespace_ends
tap_add "the netdev moves to another namespace" netdev_moves
tap_setup drop_twins
tap_add "connected QPs outlive their namespaces, IPv4" outlived
tap_add "connected QPs outlive their namespaces, IPv6" outlived -6
tap_add "connected QPs outlive their namespaces, learned path MTU" outlived_learned
tap_setup untopo
tap_setup eval 'exclusive || :'
tap_add "exclusive mode: each sees its own" exclusive_devices
tap_add "exclusive mode: traffic" exclusive_traffic
tap_add "exclusive mode: a device moves" exclusive_move
tap_add "exclusive mode: the namespaces end" exclusive_exit
tap_run
