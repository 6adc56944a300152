# SPDX-License-Identifier: GPL-2.0-only
#
# The topologies of verve.sh over the NIC in software, verve_testnic, in place of a
# veth. Sourced after verve.sh.

NICS=/sys/kernel/debug/verve_testnic

[ "$MODULE" = verve ] || skip_all "no offloads: the driver is not Verve"

# Beside verve.ko, or built by `make modules` in offload/.
load_nic() {
	local file

	modprobe -q verve_testnic "$@" && return
	for file in "$(dirname "$VERVE_KO")" "$HERE"; do
		[ -e "$file/verve_testnic.ko" ] || continue
		insmod "$file/verve_testnic.ko" "$@" && return
	done
	return 1
}

nic_is_absent() {
	[ ! -d /sys/module/verve_testnic ]
}

unload_nic() {
	nic_is_absent || rmmod verve_testnic
}

# A new pair of netdevs, between two new namespaces
wire() {
	local ns

	within 5 unload_nic && load_nic || fail "no module verve_testnic" || return
	for ns in "$NS_A" "$NS_B"; do
		ip netns add "$ns" &&
		ip -n "$ns" link set lo up &&
		ip netns exec "$ns" sysctl -qw net.ipv6.conf.default.accept_dad=0
	done
	ip link set va netns "$NS_A" && ip link set vb netns "$NS_B" &&
	ip -n "$NS_A" link set va mtu "$1" up &&
	ip -n "$NS_B" link set vb mtu "$1" up &&
	ip -n "$NS_A" addr add 10.0.0.1/24 dev va &&
	ip -n "$NS_B" addr add 10.0.0.2/24 dev vb &&
	ip -n "$NS_A" addr add fd00::1/64 dev va nodad &&
	ip -n "$NS_B" addr add fd00::2/64 dev vb nodad
}

untopo() {
	local dev ns

	for dev in $DEV_A $DEV_B; do
		link_exists $dev && timeout 10 rdma link delete $dev
	done
	unload_nic
	for ns in "$NS_A" "$NS_B"; do
		[ ! -e "/run/netns/$ns" ] || ip netns del "$ns"
	done
}

# turn NETDEV KNOB VALUE; both KNOB VALUE
turn() {
	echo "$3" >"$NICS/$1/$2"
}

both() {
	turn va "$1" "$2" && turn vb "$1" "$2"
}

knob() { # NETDEV KNOB
	cat "$NICS/$1/$2"
}

# takes_trains on|off NETDEV: whole; at B if that is vb
takes_trains() {
	local ns=$NS_A

	[ "$2" != vb ] || ns=$NS_B
	ip netns exec "$ns" ethtool -K "$2" tx-udp-segmentation "$1" \
		tx-gso-list "$1"
}

# gained DEVICE COUNTER COMMAND...: what it did to a counter, as GAINED
gained() {
	local dev=$1 name=$2 before

	shift 2
	before=$(hw_counter "$dev" "$name")
	"$@" || return
	GAINED=$(($(hw_counter "$dev" "$name") - before))
}
