#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# With parent=Y a device has the parent of its netdev, or a virtual one, and is gone
# before the parent goes.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

need rping

[ "$LINK_TYPE" = verve ] && modprobe -qn verve ||
	skip_all "verve.ko is not where modprobe finds it"
[ ! "$(rdma link show)" ] || skip_all "there are links"
IB=/sys/class/infiniband
# Of the test NIC, as its driver names them
NIC=va
DEV_NIC=vtn

off_by_default() {
	load_module && topo two || return
	[ ! -e "$IB/$DEV_A/device" ] || fail "there is a parent" || return
	untopo
	rmmod "$MODULE"
}

parent_is() { # DEVICE DIRECTORY
	[ "$(readlink -f "$IB/$1/device")" = "$2" ] ||
		fail "it is $(readlink -f "$IB/$1/device")"
}

virtual_parent() {
	modprobe verve parent=Y && topo two || return
	parent_is $DEV_A /sys/devices/verve &&
	pair cm rping -s -a $IP4 -C 5 -- rping -c -a $IP4 -C 5
}

# A NIC on a board goes, its netdev with it, and the device before both.
removal() {
	modprobe -qn verve_testnic || { skip "no module verve_testnic"; return; }
	modprobe verve_testnic board=1 && link_add_here $DEV_NIC $NIC &&
	parent_is $DEV_NIC /sys/devices/verve_testnic || return
	timeout $((20 * SLOW)) rmmod verve_testnic || fail "rmmod: exit code $?" || return
	[ ! -e "$IB/$DEV_NIC" ] || fail "the device outlives its parent"
}

link_add_here() { # NAME NETDEV
	rdma link add "$1" type verve netdev "$2"
}

unload() {
	untopo
	rmmod "$MODULE" && [ ! -e /sys/devices/verve ]
}

end_all() {
	[ ! -e /sys/module/verve_testnic ] || rmmod verve_testnic
	untopo 2>/dev/null
	[ ! -e /sys/devices/verve ] || rmmod "$MODULE"
	load_module
	cleanup
}

trap end_all EXIT

tap_setup eval '[ ! -e "/sys/module/$MODULE" ] || rmmod "$MODULE"'
tap_add "none by default" off_by_default
tap_add "a virtual one for virtual netdevs" virtual_parent
tap_add "the netdev's own, and it goes after the device" removal
tap_add "the module can be unloaded" unload
tap_run
