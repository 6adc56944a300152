#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# FLUSH and ATOMIC WRITE do what they should, also where lost packets have requests and
# responses repeated.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

lossy() {
	modprobe -q sch_netem
	network netem loss 3% || { skip "no netem"; return; }
	LOSSY=1 c_test placement
}

for t in $TOPOLOGIES; do
	tap_setup topo $t
	tap_add "placement, topology $t" c_test placement
done
tap_add "placement, IPv6" c_test placement -6
tap_add "placement, 3 % of packets lost" lossy
tap_run
