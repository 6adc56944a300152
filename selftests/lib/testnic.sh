# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The topologies of verve.sh over verve_testnic, a NIC in software, instead of a veth.
# Sourced after verve.sh and load.sh. Skips all tests without the module.

. "$LIB/offload.sh"

NICS=/sys/kernel/debug/verve_testnic

[ "$MODULE" = verve ] || skip_all "no offloads: the driver is not Verve"

# The module beside verve.ko or in testnic/ (`make modules`), for insmod
nic_file() {
	local dir

	for dir in "$(dirname "$VERVE_KO")" "$LIB/../testnic"; do
		[ -e "$dir/verve_testnic.ko" ] || continue
		echo "$dir/verve_testnic.ko"
		return
	done
	return 1
}

load_nic() {
	local file

	modprobe -q verve_testnic "$@" && return
	file=$(nic_file) && insmod "$file" "$@"
}

nic_is_absent() {
	[ ! -d /sys/module/verve_testnic ]
}

unload_nic() {
	nic_is_absent || rmmod verve_testnic
}

# Parameters of the module
NIC_OPTIONS=()
# Are the features on that an administrator has to switch on?
STATEFUL=

switch_on() { # NETDEV
	[ ! "$STATEFUL" ] || nic_offload "$1" set placement on rc-qps on
}

# Create a pair of netdevs in two new namespaces.
wire() {
	within 5 unload_nic && load_nic "${NIC_OPTIONS[@]}" || fail "no module verve_testnic" || return
	new_namespaces
	ip link set va netns "$NS_A" && ip link set vb netns "$NS_B" && address_wire "$1" &&
	switch_on va && switch_on vb
}

untopo() {
	local ns

	delete_links $DEV_A $DEV_B
	unload_nic
	for ns in "$NS_A" "$NS_B"; do
		[ ! -e "/run/netns/$ns" ] || ip netns del "$ns"
	done
}

# turn NETDEV KNOB VALUE; both KNOB VALUE
turn() {
	echo "$3" >"$NICS/$1/$2" || return
	# A driver that registers begins with all switches as they were at first.
	[ "$2 $3" != "offered 1" ] || switch_on "$1"
}

both() {
	turn va "$1" "$2" && turn vb "$1" "$2"
}

knob() { # NETDEV KNOB
	local value

	read -r value <"$NICS/$1/$2" && echo "$value"
}

# The NIC got no packet with work that it had not offered or that was done already.
driver_is_content() {
	local nic

	for nic in va vb; do
		[ "$(knob $nic unable) $(knob $nic dirty)" = "0 0" ] ||
			fail "$nic: $(knob $nic unable) $(knob $nic dirty)" ||
			return
	done
}

# ---------------------------------------------------------------- traffic

# on_top NAME: move addresses to netdevs of that name, in 10.1.0.0/24
on_top() {
	local name=$1

	ip -n "$NS_A" addr add 10.1.0.1/24 dev "$name" &&
	ip -n "$NS_B" addr add 10.1.0.2/24 dev "$name" &&
	ip -n "$NS_A" link set "$name" up && ip -n "$NS_B" link set "$name" up &&
	within 5 gid_of $DEV_A 0a01:0001 && within 5 gid_of $DEV_B 0a01:0002
}

vlan_on_top() {
	ip -n "$NS_A" link add link va name v7 type vlan id 7 &&
	ip -n "$NS_B" link add link vb name v7 type vlan id 7 &&
	on_top v7
}

# bond_on_top MODE: each end's NIC is the only slave of a bond.
bond_on_top() {
	local ns dev

	for ns in "$NS_A va" "$NS_B vb"; do
		read -r ns dev <<<"$ns"
		ip -n "$ns" link add b7 type bond mode "$1" miimon 100 &&
		ip -n "$ns" link set $dev down &&
		ip -n "$ns" link set $dev master b7 &&
		ip -n "$ns" link set b7 up || return
	done
	on_top b7
}

gid_of() { # DEVICE END: index of the GID that ends so
	local port=/sys/class/infiniband/$1/ports/1 i gid type

	for i in {0..31}; do
		{ read -r gid <"$port/gids/$i"; } 2>/dev/null || return 1
		{ read -r type <"$port/gid_attrs/types/$i"; } 2>/dev/null
		[ "${gid: -9}" = "$2" ] && [ "$type" = "RoCE v2" ] || continue
		echo "$i"
		return
	done
	return 1
}

# QPs use the addresses of the upper netdevs, and programs connect by the lower ones.
writes_on_top() {
	local GID_C GID_S IP4=10.1.0.2

	GID_C=$(gid_of $DEV_A 0a01:0001) GID_S=$(gid_of $DEV_B 0a01:0002)
	writes
}

# Create another path from A to B: a veth, xa and xb.
second_wire() {
	ip -n "$NS_A" link add xa type veth peer name xb netns "$NS_B" &&
	ip -n "$NS_A" link set xa up && ip -n "$NS_B" link set xb up &&
	ip netns exec "$NS_B" sysctl -qw net.ipv4.conf.all.rp_filter=0 \
		net.ipv4.conf.xb.rp_filter=0 net.ipv4.conf.xb.accept_local=1 &&
	ip -n "$NS_B" link set xb address \
		"$(ip netns exec "$NS_B" cat /sys/class/net/vb/address)"
}

# redirect [mirror]: redirect packets of A's netdev to the second wire, or copy them
redirect() {
	second_wire &&
	ip netns exec "$NS_A" tc qdisc add dev va clsact &&
	ip netns exec "$NS_A" tc filter add dev va egress protocol ip flower \
		ip_proto udp dst_port 4791 \
		action mirred egress "${1:-redirect}" dev xa
}

unredirect() {
	ip netns exec "$NS_A" tc qdisc del dev va clsact
	ip -n "$NS_A" link del xa
}

# ---------------------------------------------------------------- in mid-traffic

# meanwhile ABLE COMMAND...: run the command many times during a load that compares data.
# ABLE is the knob of the NICs' features at the beginning and at the end.
meanwhile() {
	local able=$1 i rounds=${QUICK:+10}

	shift
	both able "$able"
	load_begin QPS=8 || return
	for ((i = 0; i < ${rounds:-100}; i++)); do
		"$@" "$i" || { load_kill; fail "$*: round $i"; return; }
		nap 0.0$((RANDOM % 9 + 1))
	done
	both able "$able"
	goes_on $DEV_A && load_end
}

reset_both() {
	turn va reset 1 && turn vb reset 1
}

# qps_say ITEM VALUE: one QP of A has this value
qps_say() {
	rdma -dd resource show qp link $DEV_A/1 | grep -q "drv_$1 $2"
}

# withdraw_both ROUND: withdraw the features in even rounds and offer them in odd ones
withdraw_both() {
	both offered $(($1 % 2))
}

a_goes_down() { # ROUND
	[ $(($1 % 5)) = 0 ] || return 0
	ip -n "$NS_A" link set va down && ip -n "$NS_A" link set va up
}

registry_stays() {
	[ -d /sys/module/roce_offload ]
}

bad_network() {
	both lose 40 && both reorder 23
}

good_network() {
	both lose 0 && both reorder 0
}

# driver_goes_under COMMAND...: unload the NIC's driver during a load, which the command
# begins. Its netdevs and the devices on them go without delay.
driver_goes_under() {
	"$@" || return
	soon rmmod verve_testnic || fail "exit code $?" || return
	within 5 not link_exists $DEV_A && within 5 not link_exists $DEV_B
	local rc=$?
	load_end >/dev/null
	return $rc
}

# transport_goes_under CHECK COMMAND...: unload and load Verve during a load, which the
# command begins. The NIC's driver stays, and CHECK succeeds meanwhile.
transport_goes_under() {
	local check=$1

	shift
	"$@" || return
	link_delete $DEV_A && link_delete $DEV_B &&
	within 5 rmmod verve && "$check" && load_module
	local rc=$?
	load_end >/dev/null
	return $rc
}

nic_cleanup() {
	load_kill
	cleanup
}

trap nic_cleanup EXIT
need roce-offload
modprobe -qn verve_testnic || nic_file >/dev/null || skip_all "no module verve_testnic"
