#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A UD packet to a multicast group reaches the members of the group, and the netdev
# joins the group, and leaves it however its QP ends.
#
#	one:	A [va: vta]			all on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

need mckey

# Groups of multicast.c: as /proc/net/igmp, /proc/net/igmp6 and ip name them
IGMP=01004DEF MLD=ff150000000000000000000000770001
MAC4=01:00:5e:4d:00:01 MAC6=33:33:00:77:00:01

# The filter of the netdev has the group.
filtered() { # NETNS NETDEV
	ip -n "$1" maddr show dev "$2" 2>/dev/null |
		grep -qE "link +($MAC4|$MAC6)"
}

# Without CONFIG_IP_MULTICAST, only IGMP is missing.
if [ -e /proc/net/igmp ]; then
	joined() { # NETNS NETDEV
		ip netns exec "$1" cat /proc/net/igmp /proc/net/igmp6 |
			grep -qE "$IGMP|$MLD"
	}
else
	joined() {
		filtered "$@"
	}
fi

# hold [-6]: start a process with an attached QP in B
hold() {
	not joined "$NS_S" $SCOPE_S || { fail "joined by somebody else"; return; }
	# client() would make $! another process than the program's.
	HOLD=1 ip netns exec "$NS_C" multicast -d $DEV_C -D $DEV_S \
		-n "$NS_C" -N "$NS_S" "$@" &
	HELD=$!
	within 5 joined "$NS_S" $SCOPE_S || { release; fail "not joined"; return; }
	filtered "$NS_S" $SCOPE_S || { release; fail "not in the filter"; return; }
}

release() {
	kill -9 $HELD
	wait $HELD
} 2>/dev/null

gone() {
	within 5 not joined "$NS_S" $SCOPE_S || fail "still joined" || return
	not filtered "$NS_S" $SCOPE_S || fail "still in the filter"
}

killed() {
	hold "$@" || return
	release
	gone
}

link_goes() {
	hold || return
	link_delete $DEV_S
	gone
	local rc=$?

	release
	link_add "$NS_S" $DEV_S vb || return
	within 5 gid_index $DEV_S ipv4 >/dev/null || return
	return $rc
}

netdev_goes() {
	hold || return
	ip -n "$NS_S" link del vb
	within 5 not link_exists $DEV_S
	local rc=$?

	release
	topo two || return
	return $rc
}

# rdma_cm and the attached QP both join the group, and each leaves it once.
stock() { # rdmacm-utils' mckey
	local pid rc

	ip netns exec "$NS_S" timeout $LIMIT mckey -m 239.77.0.1 -b $IP4 \
		-c 1 -C 5 -S 500 >"$TMP/mckey" 2>&1 &
	pid=$!
	within 5 joined "$NS_S" $SCOPE_S || fail "not joined" || return
	sleep $((1 + SLOW)) # it says nothing when it is ready
	client timeout $LIMIT mckey -s -m 239.77.0.1 -b 10.0.0.1 -c 1 -C 5 -S 500 ||
		fail "sender" || return
	wait $pid
	rc=$?
	[ $rc = 0 ] || fail "receiver: $rc: $(<"$TMP/mckey")" || return
	within 5 not joined "$NS_S" $SCOPE_S || fail "still joined"
}

counted() {
	local port=/sys/class/infiniband/$DEV_S/ports/1 before now

	before=$(<$port/counters/multicast_rcv_packets)
	c_test multicast >/dev/null
	now=$(<$port/counters/multicast_rcv_packets)
	[ "$now" -gt "$before" ] || fail "$before, then $now"
}

for t in $TOPOLOGIES; do
	tap_setup topo $t
	tap_add "IPv4, topology $t" c_test multicast
	tap_add "IPv6, topology $t" c_test multicast -6
	tap_add "mckey, topology $t" stock
done
tap_add "counters" counted
tap_add "IPv4: the process is killed" killed
tap_add "IPv6: the process is killed" killed -6
tap_add "the link is deleted" link_goes
tap_add "the netdev is deleted" netdev_goes
tap_run
