#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The memory of queues and of page faults is charged to the control group of the process
# that causes it.

. "$(dirname "$0")/../lib/verve.sh"

GROUPS_AT=$TMP/cgroup
mkdir "$GROUPS_AT"
mount -t cgroup2 none "$GROUPS_AT" 2>/dev/null || skip_all "no cgroup2"
unmount() {
	rmdir "$GROUPS_AT/verve-$$" 2>/dev/null
	umount "$GROUPS_AT"
	cleanup
}
trap unmount EXIT
grep -qw memory "$GROUPS_AT/cgroup.controllers" ||
	skip_all "no memory controller"

charged() {
	local group=$GROUPS_AT/verve-$$

	echo +memory >"$GROUPS_AT/cgroup.subtree_control" &&
	mkdir "$group" || return
	(
		echo "$BASHPID" >"$group/cgroup.procs"
		exec ip netns exec "$NS_A" nsenter --mount=/proc/$$/ns/mnt \
			"$HERE/charge" $DEV_A "$group/memory.current"
	)
}

tap_setup topo one
tap_add "queues are charged to their control group" charged
tap_run
