#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages of 1 MiB arrive whole over a network that loses, delays, repeats, damages and
# reorders packets, or has no room for them; each result says how fast. Both ways
# suffer: requests, responses and acknowledgements.
#
#	A [va: vta] ---- [vb: vtb] B

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

# A window fills the queue for 170 ms, longer than the local ACK timeout of 67 ms. Most
# packets are sent once nevertheless. The qdisc would lose a train as a whole.
in_long_queue() {
	local sent

	single_packets && network "$@" || return
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
if command -v ib_send_bw >/dev/null; then
	tap_setup topo two 1500
	tap_add "a long queue, and 0.5 % lost" in_long_queue \
		netem rate 12mbit limit 1000 loss 0.5%
fi
tap_run
