#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# QPs of two devices move data without packets where a pair of veths or lo joins them,
# until something can see, change, delay or drop packets. Both ways may take turns while
# data move.
#
#	two:	A [va: vta] ---- [vb: vtb] B
#	lo:	A [va: vta] 10.0.0.1, 10.0.0.5

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/tcpdump.sh"
. "$LIB/moved.sh"

need nft tc tcpdump ib_write_bw ib_read_bw ib_send_bw

[ -w /sys/module/verve/parameters/bypass ] ||
	skip_all "no such parameter: the driver is not Verve"

# Netdev of the client's packets
NETDEV=va

# The programs exchange addresses by TCP, and the neighbours must become known.
FEW=100

# Packets that NETDEV has sent and received
packets() {
	local rx tx

	read -r rx tx <<<"$(client cat \
		"/sys/class/net/$NETDEV"/statistics/{rx,tx}_packets | paste -sd ' ')"
	echo $((rx + tx))
}

writes() {
	moved perftest ib_write_bw -n 200 "$@"
}

by_memory() {
	bypass Y
	"$@" && [ "$MEMORY" -gt 100 ] && [ "$WIRE" -lt $FEW ]
}

by_wire() {
	"$@" && [ "$MEMORY" = 0 ] && [ "$WIRE" -gt 100 ]
}

parameter_off() {
	bypass N
	by_wire writes
}

opcodes() {
	by_memory moved c_test opcodes_queue
}

# Failures without packets: wrong keys, no receive, retries
failures() {
	bypass Y
	moved c_test "$1" && [ "$MEMORY" -gt 20 ]
}

other_types() {
	bypass Y
	by_wire writes -c UC &&
	by_wire moved perftest ib_send_bw -c UD -s 1024 -n 200
}

# ipv6 COMMAND...: run it with the IPv6 GIDs. The programs' sockets use IPv4.
ipv6() {
	local old_s=$GID_S old_c=$GID_C rc

	GID_S=$(gid_index $DEV_S ipv6) GID_C=$(gid_index $DEV_C ipv6)
	"$@"
	rc=$?
	GID_S=$old_s GID_C=$old_c
	return $rc
}

# noticed BEGIN END: with BEGIN there are packets, and none any more after END.
noticed() {
	bypass Y
	eval "$1" || fail "$1" || return
	by_wire writes || { eval "$2"; return 1; }
	eval "$2" || fail "$2" || return
	by_memory writes
}

table() { # FAMILY HOOK...
	echo "add table $1 t; add chain $1 t c { type filter $2 priority 0; }"
}

filtered() { # FAMILY HOOK
	noticed "client nft '$(table "$1" "hook $2")'" \
		"client nft delete table $1 t" || return
	[ "$QUICK" ] || noticed "server nft '$(table "$1" "hook $2")'" \
		"server nft delete table $1 t"
}

at_netdev() { # HOOK
	noticed "client nft '$(table netdev "hook $1 device va")'" \
		"client nft delete table netdev t"
}

qdiscs() {
	noticed "tc -n $NS_A qdisc add dev va root netem delay 100us" \
		"tc -n $NS_A qdisc del dev va root" &&
	noticed "tc -n $NS_B qdisc add dev vb root pfifo" \
		"tc -n $NS_B qdisc del dev vb root"
}

tc_filters() {
	tc -n "$NS_B" qdisc add dev vb clsact &&
	tc -n "$NS_B" filter add dev vb egress matchall action pass ||
		{ tc -n "$NS_B" qdisc del dev vb clsact; skip "no filter"; return; }
	noticed "tc -n $NS_B filter add dev vb ingress matchall action pass" \
		"tc -n $NS_B qdisc del dev vb clsact"
}

# sniff NETNS NETDEV: capture until stop_sniffing
sniff() {
	tcpdump_begin "$1" -ni "$2" -w "$TMP/packets" udp port 4791
}

stop_sniffing() {
	tcpdump_end && [ "$(tcpdump -nr "$TMP/packets" 2>/dev/null | wc -l)" -gt 10 ]
}

captures_see() {
	noticed "sniff $NS_A va" stop_sniffing &&
	noticed "sniff $NS_B any" stop_sniffing
}

xdp() {
	client bypass_xdp va true || { skip "no XDP"; return; }
	noticed "ip netns exec $NS_A bypass_xdp va sleep 1000 &
		XDP=\$!; within 5 has_xdp" \
		"kill \$XDP; wait \$XDP; true"
}

has_xdp() {
	ip -n "$NS_A" link show va | grep -q xdp
}

policies() {
	ip -n "$NS_B" xfrm policy add dir in src 192.0.2.1 dst 192.0.2.2 2>/dev/null ||
		{ skip "no IPsec"; return; }
	ip -n "$NS_B" xfrm policy flush
	noticed "ip -n $NS_B xfrm policy add dir in src 192.0.2.1 dst 192.0.2.2" \
		"ip -n $NS_B xfrm policy flush"
}

# A strict filter asks the routing table, which names another netdev than a flow may.
strict_filter() {
	noticed "server sysctl -qw net.ipv4.conf.vb.rp_filter=1" \
		"server sysctl -qw net.ipv4.conf.vb.rp_filter=0"
}

# lost_by NETNS ADDRESS NETDEV: packets to a wrong MAC address get lost, and nothing is
# moved by memory.
lost_by() {
	local rc memory

	bypass Y
	memory=$(hw_counter $DEV_C loopback_pkts)
	ip -n "$1" neigh replace "$2" dev "$3" lladdr 02:00:00:00:00:77 nud permanent
	not ipv6 perftest ib_write_bw -n 5 &&
	grep -q "Failed status 12" "$TMP/client" &&
	[ "$(hw_counter $DEV_C loopback_pkts)" = "$memory" ]
	rc=$?
	ip -n "$1" neigh del "$2" dev "$3"
	return $rc
}

wrong_neighbours() {
	lost_by "$NS_A" fd00::2 va && lost_by "$NS_B" fd00::1 vb &&
		by_memory ipv6 writes
}

# A netdev that is the port of a bridge is not the end of the way.
bridged() {
	noticed "ip -n $NS_B link add bypass0 type bridge;
		ip -n $NS_B link set bypass0 up;
		ip -n $NS_B addr add 10.0.0.2/24 dev bypass0;
		ip -n $NS_B link set vb master bypass0;
		within 5 settled" \
		"ip -n $NS_B link set vb nomaster;
		ip -n $NS_B link del bypass0;
		within 5 settled"
}

settled() {
	client ping -qc 1 -W 1 10.0.0.2 >/dev/null
}

# While data move, rules and queues come and go. No request may fail, and the
# data must arrive.
come_and_go() {
	while :; do
		client nft "$(table inet 'hook input')"
		nap 0.03
		client nft delete table inet t
		nap 0.03
		tc -n "$NS_B" qdisc add dev vb root netem delay 200us
		nap 0.03
		tc -n "$NS_B" qdisc del dev vb root
		nap 0.03
	done
}

# taking_turns PACKETS COMMAND...: until so many packets have gone either way
taking_turns() {
	local rc turner memory=0 wire=0 i most=$1

	shift
	bypass Y
	come_and_go >/dev/null 2>&1 &
	turner=$!
	for i in {1..10}; do
		moved "$@"
		rc=$?
		[ $rc = 0 ] || break
		memory=$((memory + MEMORY)) wire=$((wire + WIRE))
		[ $memory -lt "$most" ] || [ $wire -lt "$most" ] || break
	done
	kill $turner
	wait $turner 2>/dev/null
	client nft delete table inet t 2>/dev/null
	fair_network
	[ $rc = 0 ] && [ $memory -ge "$most" ] && [ $wire -ge "$most" ]
}

# The other end goes away while data move.
removed() {
	local pid rc

	bypass Y
	PORT=$((PORT + 1))
	server timeout $LIMIT ib_write_bw -d $DEV_S -x "$GID_S" -p $PORT -F -D 60 -b \
		>"$TMP/server" 2>&1 &
	ready tcp:$PORT ib_write_bw $!
	client timeout $LIMIT ib_write_bw -d $DEV_C -x "$GID_C" -p $PORT -F -D 60 -b \
		$IP4 >"$TMP/client" 2>&1 &
	pid=$!
	within 5 has_counted $DEV_C loopback_pkts 10000 || fail "no traffic" || return
	timeout $LIMIT "$@"
	rc=$?
	within 20 ended $pid || rc=1
	kill $pid 2>/dev/null
	not wait $pid || fail "the client has no error" || rc=1
	wait
	topo two 4200 && [ $rc = 0 ] && by_memory writes
}

# gid_of ADDRESS: print the index of a GID whose last half is this
gid_of() {
	grep -l ":ffff:$1\$" /sys/class/infiniband/$DEV_A/ports/1/gids/* |
		sed 's/.*\///' | tail -n 1
}

has_gid() {
	GID_S=$(gid_of "$1")
	[ "$GID_S" ]
} 2>/dev/null

# Two addresses of one device. (The core connects no two devices of one namespace.)
topo_lo() {
	topo one 4200 && ip -n "$NS_A" addr add 10.0.0.5/24 dev va &&
	within 5 has_gid 0a00:0005 && IP4=10.0.0.5 NETDEV=lo
}

N=${QUICK:+200}
N=${N:-2000}

tap_setup topo two 4200
tap_add "no packets between two namespaces" by_memory writes
tap_add "the parameter asks for packets" parameter_off
tap_add "every operation" opcodes
tap_add "IPv6" by_memory ipv6 writes
tap_add "errors" failures errors
[ "$QUICK" ] || tap_add "retries" failures errors_retry
tap_add "packets of UC and UD" other_types
tap_add "packets for netfilter, input" filtered inet input
tap_add "packets for netfilter, output" filtered ip output
tap_add "packets for netfilter, prerouting" filtered inet prerouting
tap_add "packets for netfilter, postrouting" filtered ip postrouting
tap_add "packets for netfilter, ingress" at_netdev ingress
tap_add "packets for netfilter, egress" at_netdev egress
tap_add "packets for queueing disciplines" qdiscs
tap_add "packets for filters of tc" tc_filters
tap_add "packets for tcpdump, which sees them" captures_see
tap_add "packets for XDP" xdp
tap_add "packets for IPsec policies" policies
tap_add "packets for a strict reverse path filter" strict_filter
tap_add "packets to wrong neighbours" wrong_neighbours
tap_add "packets through a bridge" bridged
tap_add "WRITEs, taking turns" taking_turns 1000 perftest ib_write_bw -n $N -q 4 -b
tap_add "READs, taking turns" taking_turns 1000 perftest ib_read_bw -n $N -b
tap_add "every operation, taking turns" taking_turns 100 c_test opcodes_queue
tap_add "the other device is removed" removed rdma link delete $DEV_B
tap_add "the other netdev is removed" removed ip -n "$NS_B" link del vb
tap_setup topo_lo
tap_add "no packets between two addresses of a device" by_memory writes
tap_add "packets on lo for tcpdump" noticed "sniff $NS_A lo" stop_sniffing
tap_run
