#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages of 1 MiB arrive whole over a network that loses, delays, repeats, damages and
# reorders packets, or has no room for them; each result says how fast. Both ways
# suffer: requests, responses and acknowledgements.
#
#	A [va: vta] ---- [vb: vtb] B
#	bridged: A [va: vta] ---- [ra] a bridge of B [rb] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

# in_network [-t TIMEOUT] QDISC OPTION...
in_network() {
	local timeout=()

	[ "$1" != -t ] || { timeout=(-t "$2"); shift 2; }
	network "$@" && c_test lossy "${timeout[@]}"
}

# over TITLE [-t TIMEOUT] QDISC OPTION...
over() {
	local title=$1

	shift
	tap_add "MTU $MTU, $title" in_network "$@"
}

# rarely ...: skip with QUICK
rarely() {
	[ "$QUICK" ] || over "$@"
}

# The qdisc of a netdev that sends trains loses a whole train at once. A bridge gets each
# packet by itself.
bridge_wire() {
	new_namespaces
	# The bridge must not answer for vb, which is in the same namespace.
	b sysctl -qw net.ipv4.conf.all.arp_ignore=1 &&
	ip link add va index 101 netns "$NS_A" type veth peer name ra netns "$NS_B" &&
	ip -n "$NS_B" link add vb index 102 type veth peer name rb &&
	ip -n "$NS_B" link add br0 type bridge &&
	ip -n "$NS_B" link set br0 up &&
	ip -n "$NS_B" link set ra mtu "$1" master br0 up &&
	ip -n "$NS_B" link set rb mtu "$1" master br0 up &&
	a ethtool -K va tx-udp-segmentation off tx-gso-list off &&
	b ethtool -K vb tx-udp-segmentation off tx-gso-list off &&
	address_wire "$1"
}

bridged() {
	wire() { bridge_wire "$@"; }
	topo two 1500
}

# A window fills the queue for 170 ms, longer than the local ACK timeout of 67 ms. Most
# packets are sent once nevertheless.
in_long_queue() {
	local port sent

	for port in ra rb; do
		tc -n "$NS_B" qdisc replace dev $port root "$@" || return
	done
	sent=$(hw_counter $DEV_C sent_pkts)
	perftest ib_send_bw -e -s 65536 -t 8 -r 16 -n 100 || return
	sent=$(($(hw_counter $DEV_C sent_pkts) - sent))
	[ $sent -le 8000 ] || fail "$sent packets were sent, 6400 needed"
}

modprobe -qa sch_netem sch_tbf
topo two >"$TMP/topo" 2>&1 && network netem loss 1% 2>/dev/null || skip_all "no netem"
untopo

MTU=1500
tap_setup topo two $MTU
rarely "0.1 % lost" netem loss 0.1%
over "1 % lost" netem loss 1%
rarely "5 % lost" netem loss 5%
# A slow CPU may need as long for an answer as a local ACK timeout of 4 ms.
over "20 % lost" -t 14 netem loss 20%
rarely "in bursts" -t 14 netem loss gemodel 1% 20%
rarely "delayed" netem delay 5ms limit 10000
over "delayed by more or less" netem delay 2ms 1ms limit 10000
rarely "in another order" netem delay 1ms reorder 75% 50% limit 10000
rarely "repeated" netem duplicate 10%
rarely "damaged" netem corrupt 2%
# A piece of a READ takes 14 ms, and a whole window 56 ms.
over "five megabytes a second" -t 12 netem rate 40mbit
rarely "a queue of 8 packets" netem rate 200mbit limit 8
rarely "a queue of 16 KiB" tbf rate 200mbit burst 10k limit 16k
over "all of it" netem delay 1ms 500us reorder 20% loss 2% duplicate 1% corrupt 1% \
	rate 400mbit limit 100
MTU=4200
tap_setup topo two $MTU
over "0.2 % lost" netem loss 0.2%
rarely "5 % lost" netem loss 5%
rarely "a queue of 4 packets" netem rate 400mbit limit 4
if command -v ethtool >/dev/null && command -v ib_send_bw >/dev/null; then
	tap_setup bridged
	tap_add "a long queue, and 0.5 % lost" in_long_queue \
		netem rate 12mbit limit 1000 loss 0.5%
fi
tap_run
