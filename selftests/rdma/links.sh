#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rdma_cm connects over every kind of link, and data move: VLAN, bridge, bond, team,
# macvlan, ipvlan, tun, VRF, and one on the other.
#
#	A [va] ---- [vb] B
#
# Both ends have the same on top of the wire. The address is on the uppermost netdev;
# the device is on that one, or ("below") on one that is under it.

. "$(dirname "$0")/../lib/verve.sh"

need rping udaddy ibv_rc_pingpong bridge ping

NS_HA=verve-c-$$
NS_HB=verve-d-$$
COUNT=10

# Functions end_KIND NETNS WIRE END (1 or 2) create the netdevs of an end, and set
#	ON	netdev of the device
#	AT	netdev of the address

# add NETNS NAME ARGUMENTS...: create a netdev and set it up. Note if the kernel lacks
# this kind of netdev.
add() {
	local ns=$1 name=$2

	shift 2
	if ! ip -n "$ns" link add name "$name" "$@" 2>"$TMP/add"; then
		grep -q 'Unknown device type' "$TMP/add" &&
			echo "the kernel has no such netdev" >"$TMP/lacks"
		cat "$TMP/add"
		return 1
	fi
	ip -n "$ns" link set "$name" up
}

# under NETNS UPPER LOWER...: make the lower netdevs ports of the upper one
under() {
	local ns=$1 upper=$2 port

	shift 2
	for port; do
		ip -n "$ns" link set "$port" down &&
		ip -n "$ns" link set "$port" master "$upper" &&
		ip -n "$ns" link set "$port" up || return
	done
}

end_plain() {
	ON=$2 AT=$2
}

end_vlan() {
	add "$1" l7 link "$2" type vlan id 7 || return
	ON=l7 AT=l7
}

end_vlan_below() {
	end_vlan "$@" || return
	ON=$2
}

end_qinq() {
	add "$1" l5 link "$2" type vlan proto 802.1ad id 5 &&
	add "$1" l7 link l5 type vlan id 7 || return
	ON=l7 AT=l7
}

end_qinq_below() {
	end_qinq "$@" || return
	ON=$2
}

end_qinq_between() {
	end_qinq "$@" || return
	ON=l5
}

end_bridge() {
	add "$1" br0 type bridge && under "$1" br0 "$2" || return
	ON=br0 AT=br0
}

end_bridge_below() {
	end_bridge "$@" || return
	ON=$2
}

end_filtering() {
	add "$1" br0 type bridge vlan_filtering 1 && under "$1" br0 "$2" || return
	ON=br0 AT=br0
}

end_filtering_vlan() {
	end_filtering "$@" && bridge -n "$1" vlan add vid 7 dev "$2" &&
	bridge -n "$1" vlan add vid 7 dev br0 self &&
	end_vlan "$1" br0
}

end_filtering_vlan_below() {
	end_filtering_vlan "$@" || return
	ON=$2
}

# bond NETNS WIRE ARGUMENTS...: create a bond of both wires
bond() {
	local ns=$1 wire=$2

	shift 2
	add "$ns" bond0 type bond miimon 50 "$@" &&
	under "$ns" bond0 "$wire" "${wire}2" || return
	ON=bond0 AT=bond0
}

# Both ends must use the same wire.
end_bond() {
	bond "$1" "$2" mode active-backup &&
	ip -n "$1" link set bond0 type bond primary "$2"
}

end_bond_below() {
	end_bond "$@" || return
	ON=$2
}

end_lacp() {
	bond "$1" "$2" mode 802.3ad lacp_rate fast
}

end_bond_vlan() {
	end_bond "$@" && end_vlan "$1" bond0
}

end_bond_vlan_below() {
	end_bond_vlan "$@" || return
	ON=bond0
}

end_team() {
	command -v teamnl >/dev/null ||
		{ echo "teamnl is not installed" >"$TMP/lacks"; return 1; }
	add "$1" team0 type team &&
	ip netns exec "$1" teamnl team0 setoption mode roundrobin &&
	under "$1" team0 "$2" "${2}2" || return
	ON=team0 AT=team0
}

end_team_below() {
	end_team "$@" || return
	ON=$2
}

end_macvlan() {
	add "$1" mac0 link "$2" type macvlan mode bridge || return
	ON=mac0 AT=mac0
}

end_macvlan_below() {
	end_macvlan "$@" || return
	ON=$2
}

end_macvlan_vlan_below() {
	end_vlan "$@" && end_macvlan "$1" l7 || return
	ON=$2
}

# Put an ipvlan into another namespace than the netdev below. In the modes of layer 3,
# the host routes packets to the peer.
ipvlan() { # MODE NETNS WIRE END
	local host=$NS_HA peer=$((3 - $4))

	[ "$2" = "$NS_A" ] || host=$NS_HB
	ip netns add "$host" &&
	ip -n "$2" link set "$3" netns "$host" &&
	ip netns exec "$host" sysctl -qw net.ipv6.conf.all.accept_dad=0 \
		net.ipv6.conf."$3".accept_dad=0 \
		net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 &&
	ip -n "$host" link set "$3" up &&
	ip -n "$host" addr add 10.9.0.$4/24 dev "$3" &&
	ip -n "$host" addr add fd09::$4/64 dev "$3" nodad &&
	add "$host" ipv0 link "$3" type ipvlan mode "$1" &&
	ip -n "$host" link set ipv0 netns "$2" &&
	ip -n "$2" link set ipv0 up || return
	if [ "$1" != l2 ]; then
		ip -n "$host" route add 10.0.0.$peer via 10.9.0.$peer &&
		ip -n "$host" route add fd00::$peer via fd09::$peer || return
	fi
	ON=ipv0 AT=ipv0
}

end_ipvlan_l2() { ipvlan l2 "$@"; }
end_ipvlan_l3() { ipvlan l3 "$@"; }
end_ipvlan_l3s() { ipvlan l3s "$@"; }

# The host has a device too, with its own socket on port 4791.
end_ipvlan_l3s_shared() {
	ipvlan l3s "$@" &&
	if [ $3 = 1 ]; then
		link_add "$NS_HA" vth "$2"
	else
		link_add "$NS_HB" vti "$2"
	fi
}

end_tun() {
	ON=ta AT=ta
	[ $3 = 1 ] || return 0
	links_tun "$NS_A" ta "$NS_B" ta 2>"$TMP/tun" &
	TUN=$!
	within 5 ip -n "$NS_B" link show ta >"$TMP/add" 2>&1 && return
	grep -q /dev/net/tun "$TMP/tun" && echo "the kernel has no tun" >"$TMP/lacks"
	cat "$TMP/tun"
	return 1
}

# The client must give its address, because rdma_cm only uses the main table.
end_vrf() {
	add "$1" red type vrf table 10 && under "$1" red "$2" || return
	ON=$2 AT=$2
	BIND=1
}

end_vrf_vlan_below() {
	add "$1" red type vrf table 10 && end_vlan "$@" &&
	under "$1" red l7 || return
	ON=$2
	BIND=1
}

address() { # NETNS NETDEV END
	ip -n "$1" link set "$2" up &&
	ip -n "$1" addr add 10.0.0.$3/24 dev "$2" &&
	ip -n "$1" addr add fd00::$3/64 dev "$2" nodad
}

# Create a namespace for each end, and two wires between them.
lay_wires() {
	new_namespaces
	ip link add va netns "$NS_A" type veth peer name vb netns "$NS_B" &&
	ip link add va2 netns "$NS_A" type veth peer name vb2 netns "$NS_B" &&
	ip -n "$NS_A" link set va up && ip -n "$NS_A" link set va2 up &&
	ip -n "$NS_B" link set vb up && ip -n "$NS_B" link set vb2 up
}

tear() {
	local ns

	[ "$TUN" ] && kill $TUN && wait $TUN
	TUN=
	delete_links vth vti
	untopo
	for ns in "$NS_HA" "$NS_HB"; do
		[ -e "/run/netns/$ns" ] && ip netns del "$ns"
	done
	return 0
}

reaches() { # ADDRESS
	a ping -qc 1 -W 1 ${BIND:+-I "$AT_A"} "$1"
}

# Create netdevs and devices at both ends.
lay_ends() {
	BIND=
	end_$1 "$NS_A" va 1 || return
	ON_A=$ON AT_A=$AT
	end_$1 "$NS_B" vb 2 || return
	AT_B=$AT
	address "$NS_A" "$AT_A" 1 && address "$NS_B" "$AT_B" 2 &&
	link_add "$NS_A" $DEV_A "$ON_A" && link_add "$NS_B" $DEV_B "$ON" || return
	NS_C=$NS_A DEV_C=$DEV_A NS_S=$NS_B DEV_S=$DEV_B
	within 5 gid_index $DEV_A ipv4 && within 5 gid_index $DEV_A ipv6 &&
	within 5 gid_index $DEV_B ipv4 && within 5 gid_index $DEV_B ipv6 ||
		fail "GIDs are missing" || return
	within 10 reaches 10.0.0.2 && within 10 reaches fd00::2 ||
		fail "the link does not carry IP"
}

LAID=
lay() {
	tear
	rm -f "$TMP/lacks"
	LAID=
	lay_wires && lay_ends "$1" && LAID=1 && return
	[ -e "$TMP/lacks" ] && skip "$(<"$TMP/lacks")"
}

# Skip a case without a link. The case that failed to create the link gives the reason.
is_laid() {
	[ "$LAID" ] || { skip "there is no link"; return 1; }
}

ping_pong() { # SERVER'S ADDRESS [CLIENT'S ADDRESS]
	is_laid || return 0
	PORT=$((PORT + 1))
	pair cm rping -s -a "$1" -p $PORT -C $COUNT -S 4000 -V -- \
		rping -c -a "${3:-$1}" ${BIND:+-I "$2"} -p $PORT -C $COUNT -S 4000 -V
}

local_ping_pong() {
	local ll

	is_laid || return 0
	ll=$(link_local "$NS_B" "$AT_B")
	[ "$ll" ] || { skip "no link-local address"; return; }
	within 3 reaches "$ll%$AT_A" ||
		{ skip "the link does not carry link-local addresses"; return; }
	ping_pong "$ll%$AT_B" "$(link_local "$NS_A" "$AT_A")%$AT_A" "$ll%$AT_A"
}

# rdma_cm uses the first device with an address, which may be the host's.
without_cm() { # ipv4|ipv6
	is_laid || return 0
	PORT=$((PORT + 1))
	pair tcp:$PORT ibv_rc_pingpong -d $DEV_S -g "$(gid_index $DEV_S "$1")" -p $PORT -c -- \
		ibv_rc_pingpong -d $DEV_C -g "$(gid_index $DEV_C "$1")" -p $PORT -c 10.0.0.2
}

# Option -b is the address. The port of udaddy is fixed.
datagrams() {
	is_laid || return 0
	pair cm udaddy -b 10.0.0.2 -c 2 -C 5 -S 500 -- \
		udaddy ${BIND:+-b 10.0.0.1} -s 10.0.0.2 -c 2 -C 5 -S 500
}

# ---------------------------------------------------------------- namespaces

# index_of DEVICE GID: print the index of the RoCE v2 GID that ends with this
index_of() {
	local port=/sys/class/infiniband/$1/ports/1 i gid

	for i in {0..31}; do
		{ read -r gid <"$port/gids/$i"; } 2>/dev/null || return 1
		[ "${gid: -9}" = "$2" ] || continue
		echo "$i"
		return
	done
	return 1
}

# Put a macvlan on A's netdev into another namespace. The device has its address as a GID.
lend_macvlan() {
	tear
	rm -f "$TMP/lacks"
	lay_wires && address "$NS_A" va 1 && link_add "$NS_A" $DEV_A va &&
	ip netns add "$NS_HA" && add "$NS_A" mac0 link va type macvlan mode bridge &&
	ip -n "$NS_A" link set mac0 netns "$NS_HA" &&
	ip -n "$NS_HA" link set mac0 up &&
	ip -n "$NS_HA" addr add 10.5.0.1/24 dev mac0
}

# A device must not send from an address of another namespace.
foreign_gid() {
	local i

	if ! lend_macvlan; then
		[ -e "$TMP/lacks" ] && skip "$(<"$TMP/lacks")"
		return
	fi
	within 5 index_of $DEV_A 0a05:0001 >/dev/null ||
		{ skip "the core does not list it"; return; }
	i=$(index_of $DEV_A 0a05:0001)
	NS_C=$NS_A NS_S=$NS_A PORT=$((PORT + 1))
	not pair tcp:$PORT ibv_rc_pingpong -d $DEV_A -g "$i" -p $PORT -n 5 -- \
		ibv_rc_pingpong -d $DEV_A -g "$i" -p $PORT -n 5 10.0.0.1 &&
	grep -h "Failed to modify QP to RTR" "$TMP/client" "$TMP/server"
}

# ---------------------------------------------------------------- the matrix

# link KIND NAME
link() {
	tap_add "$2" lay "$1"
	if [ "$1" = ipvlan_l3s_shared ]; then
		tap_add "$2: IPv4" without_cm ipv4
		tap_add "$2: IPv6" without_cm ipv6
		return
	fi
	tap_add "$2: IPv4" ping_pong 10.0.0.2 10.0.0.1
	tap_add "$2: IPv6" ping_pong fd00::2 fd00::1
	[ "$QUICK" ] && return
	case $1 in
	# rdma_cm does not connect by link-local addresses of these.
	team_below | vrf_vlan_below) ;;
	*) tap_add "$2: link-local" local_ping_pong ;;
	esac
	tap_add "$2: datagrams" datagrams
}

cleanup_all() {
	tear 2>/dev/null
	cleanup
}
trap cleanup_all EXIT

ALL="plain vlan vlan_below qinq qinq_below qinq_between bridge bridge_below
	filtering filtering_vlan filtering_vlan_below bond bond_below lacp bond_vlan
	bond_vlan_below team team_below macvlan macvlan_below macvlan_vlan_below
	ipvlan_l2 ipvlan_l3 ipvlan_l3s ipvlan_l3s_shared tun vrf vrf_vlan_below"
# Each kind takes a minute on an emulated CPU.
[ "$QUICK" ] && ALL="vlan_below bond_vlan macvlan_below"
for kind in ${KINDS:-$ALL}; do
	link $kind "${kind//_/ }"
done
tap_add "not in the name of another namespace" foreign_gid
tap_setup tear
tap_run
