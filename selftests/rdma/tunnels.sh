#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Trains arrive whole through the tunnels of a router that cuts them into packets, and no
# packet of a train passes a router whose MTU it exceeds.
#
#	A [va: vta] ---- [ra] R [rb] ---- [vb] B
#	                        [tun] ==== [tun: vtb]
#
# The driver of A has left room for the headers of its own netdev only.

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/tcpdump.sh"

need ethtool ping tcpdump

NS_R=verve-r-$$
MOST=32768
VXLAN="vxlan id 7 dstport 4789"

r() { ip netns exec "$NS_R" "$@"; }

untopo() {
	local ns

	delete_links $DEV_A $DEV_B
	for ns in "$NS_A" "$NS_B" "$NS_R"; do
		[ ! -e "/run/netns/$ns" ] || ip netns del "$ns"
	done
}

# address NETNS NETDEV NETWORK HOST
address() {
	ip -n "$1" link set "$2" up && ip -n "$1" addr add "10.0.$3.$4/24" dev "$2" &&
	ip -n "$1" addr add "fd0$3::$4/64" dev "$2" nodad
}

# between NETNS NETDEV NETNS NETDEV NETWORK
between() {
	ip -n "$1" link add "$2" mtu 9000 type veth peer name "$4" mtu 9000 netns "$3" &&
	address "$1" "$2" "$5" 1 && address "$3" "$4" "$5" 2
}

# route NETNS NETWORK HOST: everything else is behind the router
route() {
	ip -n "$1" route add default via "10.0.$2.$3" &&
	ip -n "$1" route add default via "fd0$2::$3"
}

router() {
	ip netns add "$NS_R" && ip -n "$NS_R" link set lo up &&
	r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
		net.ipv6.conf.default.accept_dad=0
}

# Only what segments a train of packets in a tunnel looks at their headroom.
chain() {
	untopo
	new_namespaces
	router && between "$NS_A" va "$NS_R" ra 1 && between "$NS_R" rb "$NS_B" vb 2 &&
	route "$NS_A" 1 2 &&
	r ethtool -K rb tx-gso-list off && b ethtool -K vb tx-gso-list off
}

# devices NETDEV-OF-B NETWORK ipv4|ipv6
devices() {
	local to=10.0.$2.2

	[ "$3" = ipv4 ] || to=fd0$2::2
	route "$NS_B" "$2" 1 && within 5 a ping -qc 1 -W 1 "$to" >/dev/null || fail "$to" ||
		return
	link_add "$NS_A" $DEV_A va && link_add "$NS_B" $DEV_B "$1" || return
	NS_C=$NS_A DEV_C=$DEV_A NS_S=$NS_B DEV_S=$DEV_B
	within 5 gid_index $DEV_C "$3" >/dev/null && within 5 gid_index $DEV_S "$3" >/dev/null
}

# tunnel OUTER KIND OPTION...: OUTER is the network of the outer addresses
tunnel() {
	local outer=$1

	shift
	ip -n "$NS_R" link add tun mtu 8900 type "$@" \
		local "${outer}1" remote "${outer}2" &&
	ip -n "$NS_B" link add tun mtu 8900 type "$@" \
		local "${outer}2" remote "${outer}1" &&
	address "$NS_R" tun 3 1 && address "$NS_B" tun 3 2
}

# through ipv4|ipv6 OUTER KIND OPTION...: all opcodes, by packets of that version
through() {
	local inner=$1

	shift
	modprobe -q "rtnl-link-$2" || { skip "no module for $2"; return; }
	chain && tunnel "$@" && devices tun 3 "$inner" || return
	[ "$inner" = ipv6 ] && set -- -6 || set --
	c_test opcodes -s $MOST "$@"
}

# The path MTU of A's QPs is 4096.
narrow() {
	chain && ip -n "$NS_R" link set rb mtu 1500 && devices vb 2 ipv4
}

none_too_long() {
	local rc

	tcpdump_begin "$NS_B" -i vb -Q in -n --immediate-mode greater 1515 \
		>"$TMP/long" || return
	c_test tunnels_short
	rc=$?
	tcpdump_end || return
	! grep -m 3 UDP "$TMP/long" && return $rc
}

tap_add "IPv4 through ipip" through ipv4 10.0.2. ipip
tap_add "IPv4 through vxlan" through ipv4 10.0.2. $VXLAN
tap_add "IPv6 through vxlan" through ipv6 10.0.2. $VXLAN
tap_add "IPv6 through ip6tnl" through ipv6 fd02:: ip6tnl mode any encaplimit none
tap_add "IPv4 through vxlan over IPv6" through ipv4 fd02:: $VXLAN
tap_setup narrow
tap_add "a short packet lets no long one pass" none_too_long
tap_run
