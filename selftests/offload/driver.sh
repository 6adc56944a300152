#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A NIC's driver may be too busy for a packet, reset its device, take its time, and
# change what it offers at any moment. Nothing else waits for it. A packet that is changed
# on its way to the driver is not sent.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"
STATEFUL=Y

need nft ethtool

TX=1 RX=2 USO=4 RC=16

grown() { # KNOB NUMBER: at A, beyond that
	[ "$(knob va "$1")" -gt "$2" ]
}

# ---------------------------------------------------------------- busy

# A packet is chosen for A's NIC while its driver is busy. When the driver takes packets
# again, the NIC has lost the ability that the packet needs.
loses_meanwhile() { # ABLE
	local away

	away=$(knob va turned_away)
	turn va full 1 && within 5 grown turned_away "$away" &&
	turn va able 0 && turn va full 0 && nap 0.02 && turn va able "$1"
}

# is_lost_meanwhile ABLE KNOB: the counter KNOB counts such packets. Other packets may
# wait as well.
is_lost_meanwhile() {
	local i before bad

	both able "$1"
	before=$(knob va "$2") bad=$(hw_counter $DEV_B rx_icrc_encapsulated)
	load_begin QPS=8 || return
	for ((i = 0; i < 100; i++)); do
		grown "$2" $((before + 2)) && break
		loses_meanwhile "$1" || { load_kill; fail "round $i"; return; }
	done
	goes_on $DEV_A && load_end || return
	[ $i -lt 100 ] || fail "$2: $(($(knob va "$2") - before))" || return
	bad=$(($(hw_counter $DEV_B rx_icrc_encapsulated) - bad))
	[ $bad = 0 ] || fail "$bad packets came without ICRC"
}

# Under traffic, for less time than peers need to give up
is_busy() {
	turn va full 1 && turn va able $((RANDOM % 8)) && turn vb full 1 &&
	nap 0.0$((RANDOM % 3)) && turn vb full 0 && turn va full 0 &&
	turn va able $((RANDOM % 8))
}

# ---------------------------------------------------------------- slow

registers() { # DEVICE NETNS
	CASE=region timeout $LIMIT ip netns exec "$2" qp -d "$1" -n "$2"
}

# Another device registers regions, and RTNL is free, also to set A's netdev down.
others_go_on() {
	registers $DEV_B "$NS_B" &&
	timeout $LIMIT ip -n "$NS_B" link set vb mtu 1400 &&
	timeout $LIMIT ip -n "$NS_A" link set va down &&
	timeout $LIMIT ip -n "$NS_A" link set va up
}

# A call of A's driver does not return for a while.
takes_its_time() {
	local pid rc

	both able $((TX | RX | RC)) && turn va hold 1 || return
	registers $DEV_A "$NS_A" >"$TMP/held" 2>&1 &
	pid=$!
	within 10 grown held 0 && others_go_on && grown held 0
	rc=$?
	turn va hold 0
	wait $pid || fail "$(<"$TMP/held")" || return
	return $rc
}

# ---------------------------------------------------------------- restless

knows() { # at A; then what it offers is used, too
	[ "$(knob va mrs)" -gt 0 ] && [ "$(knob va qps)" -gt 0 ] && in_use
}

in_use() {
	[ "$(<"/sys/class/infiniband/$DEV_A/offload/icrc_tx")" = "in use" ]
}

knows_nothing() {
	[ "$(knob va offloaded) $(knob va mrs) $(knob va qps)" = "0 0 0" ]
}

# A's driver announces all features once more while its netdev is set down. The load is
# idle, so no packet is lost.
is_restless() {
	local rc

	both able $((TX | RX | RC)) && turn va restless 1 || return
	CASE=idle traffic_begin ip netns exec "$NS_A" qp || return
	within 5 knows && ip -n "$NS_A" link set va down &&
	within 5 knows_nothing && not in_use
	rc=$?
	ip -n "$NS_A" link set va up && within 5 knows || rc=$?
	turn va restless 0
	load_end && return $rc
}

# ---------------------------------------------------------------- changed

seen() { # NETNS: packets that its rule has
	ip netns exec "$1" nft list chain ip ports packets |
		sed -n 's/.*counter packets \([0-9]*\).*/\1/p'
}

has_seen() {
	[ "$(seen "$1")" -gt "$2" ]
}

# port_rule NETNS HOOK RULE
port_rule() {
	ip netns exec "$1" nft -f - <<-EOF
	table ip ports {
		chain packets {
			type filter hook $2 priority 0
			$3
		}
	}
	EOF
}

# A firewall rule changes the port of a train's first packet only. No packet of the train
# leaves without ICRC.
port_changes() {
	local came

	both able $TX && takes_trains on va && turn va refuse 1000000000 &&
	port_rule "$NS_B" prerouting "udp dport 4792 counter" &&
	load_begin QPS=8 || return
	port_rule "$NS_A" output "meta length > 3000 udp dport 4791 \
		numgen inc mod 20 == 0 counter udp dport set 4792" &&
	within 5 has_seen "$NS_A" 20
	local rc=$?
	ip netns exec "$NS_A" nft delete table ip ports
	goes_on $DEV_A && load_end || rc=$?
	came=$(seen "$NS_B")
	ip netns exec "$NS_B" nft delete table ip ports
	turn va refuse 0
	[ $rc = 0 ] && [ "$came" = 0 ] || fail "$rc, $came packets came"
}

tap_setup topo two 1500
tap_add "too busy, and then not able to compute ICRCs" is_lost_meanwhile $TX helped
tap_setup segments on va vb
tap_add "too busy, and then not able to make packets" \
	with_trains is_lost_meanwhile $((TX | USO)) given_up
tap_add "too busy now and then" meanwhile $((TX | RX | USO)) is_busy
tap_add "the driver was asked nothing unusual" driver_is_content
tap_add "a port that changes on the way" with_trains port_changes
tap_add "nobody else waits for a driver" takes_its_time
tap_setup topo two 1500
tap_add "what the driver says while the netdev goes down" is_restless
tap_run
