#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# No verb reaches an object of another process or another PD, and the rdma control group
# and the memlock limit hold.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

need ibv_rc_pingpong setpriv

GROUPS_AT=$TMP/cgroup
GROUP=$GROUPS_AT/verve-$$
mkdir "$GROUPS_AT"
mount -t cgroup2 none "$GROUPS_AT" 2>/dev/null
# Lifting the limits removes them from the device's list. If only the group is removed,
# the kernel keeps them, with references to freed memory, until the device is removed.
disband() {
	echo "$DEV_A hca_handle=max hca_object=max" >"$GROUP/rdma.max"
	rmdir "$GROUP"
}

unmount() {
	[ ! -d "$GROUP" ] || disband 2>/dev/null
	umount "$GROUPS_AT" 2>/dev/null
	cleanup
}
trap unmount EXIT

quota() { # KIND NUMBER
	ip netns exec "$NS_A" timeout $LIMIT "$HERE/owners_quota" $DEV_A "$@"
}

# group LIMIT... -- KIND NUMBER: run owners_quota in a group with these limits
group() {
	local limits=() status=0

	grep -qw rdma "$GROUPS_AT/cgroup.controllers" 2>/dev/null ||
		{ skip "no rdma control group"; return; }
	while [ "$1" != -- ]; do
		limits+=("$1")
		shift
	done
	shift
	echo +rdma >"$GROUPS_AT/cgroup.subtree_control" && mkdir "$GROUP" &&
		echo "$DEV_A ${limits[*]}" >"$GROUP/rdma.max" || return
	(
		echo "$BASHPID" >"$GROUP/cgroup.procs"
		quota "$@"
	) || status=1
	within 2 uncharged || fail "left: $(cat "$GROUP/rdma.current")" || status=1
	disband
	return $status
}

# No object is charged to the group any more.
uncharged() {
	! grep -E 'hca_(handle|object)=[1-9]' "$GROUP/rdma.current"
}

has_keys() { # COMMAND...: that runs a program
	ip netns exec "$NS_A" "$@" rdma -dd resource show mr | grep -qE '[lr]key'
}

# Without CAP_NET_ADMIN, a process sees no keys and cannot change counters of others.
secret() {
	local nobody=(setpriv --reuid 65534 --clear-groups) pid status=0

	ip netns exec "$NS_A" ibv_rc_pingpong -d $DEV_A -g "$GID_C" >/dev/null &
	pid=$!
	if ! within 5 has_keys env; then
		fail "not even root is told"
	elif has_keys "${nobody[@]}"; then
		fail "anybody is told of keys"
	else
		not ip netns exec "$NS_A" "${nobody[@]}" rdma statistic qp set \
			link $DEV_A/1 auto type on 2>/dev/null
	fi || status=1
	kill $pid
	wait $pid 2>/dev/null
	return $status
}

tap_setup topo two
tap_add "objects of another process, of another PD" c_test owners
tap_add "contexts, by the control group" group hca_handle=5 -- contexts 5
tap_add "objects, by the control group" \
	group hca_handle=5 hca_object=10 -- objects 10
tap_add "memory, by RLIMIT_MEMLOCK" quota memory 16
tap_add "keys and counters, by who may see and set them" secret
tap_run
