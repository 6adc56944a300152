#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The log names a NIC with RoCE of its own that keeps UDP port 4791 to itself, once, and
# no other device. It names none where a packet has arrived, or where there is no such
# RDMA device.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"

need ibv_rc_pingpong tc

# Drops packets before the kernel sees them, as the NIC would.
keeps_packets() {
	local ns dev

	for ns in "$NS_A va" "$NS_B vb"; do
		read -r ns dev <<<"$ns"
		tc -n "$ns" qdisc add dev $dev clsact &&
		tc -n "$ns" filter add dev $dev ingress protocol ip flower \
			ip_proto udp dst_port 4791 action drop || return
	done
}

pingpong() {
	PORT=$((PORT + 1))
	pair tcp:$PORT ibv_rc_pingpong -d $DEV_S -g "$GID_S" -p $PORT -n 20 -- \
		ibv_rc_pingpong -d $DEV_C -g "$GID_C" -p $PORT -n 20 $IP4
}

# Counts the messages of A's device; B's device logs its own.
named() {
	dmesg | sed "1,/$LOG_MARK/d" |
		grep -c "$DEV_A: nothing has arrived: testroce0 of the same NIC"
}

is_named() {
	[ "$(named)" = 1 ]
}

nothing_arrives() {
	keeps_packets && not pingpong || fail "packets arrive"
}

names_it() {
	nothing_arrives && within 10 is_named || fail "it is not named"
}

# After this time, a second search would have logged its message.
names_it_once() {
	not pingpong && sleep 5 && is_named || fail "named $(named) times"
}

# names_nobody WITH COUNT COMMAND...: the log has no new message
names_nobody() {
	local before

	before=$(named)
	"$@" && sleep 5 || return
	[ "$(named)" = "$before" ] || fail "it names somebody"
}

heard_before() {
	pingpong && nothing_arrives
}


NIC_OPTIONS=(hw_roce=1)
tap_setup topo two
tap_add "a NIC that keeps all packets: its device is named" names_it
tap_add "but once" names_it_once
tap_setup topo two
tap_add "where something has arrived: not named" names_nobody heard_before
tap_setup eval 'NIC_OPTIONS=()'
tap_setup topo two
tap_add "without a device of its own: nobody is named" names_nobody nothing_arrives
tap_setup untopo
tap_run
