#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Long messages where packets are lost (lossy.c): both ways, so that requests,
# responses and acknowledgements are.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

loss() { # PERCENT
	tc -n "$NS_A" qdisc replace dev va root netem loss "$1" &&
	tc -n "$NS_B" qdisc replace dev vb root netem loss "$1"
}

lossy() { # PERCENT
	loss "$1" && c_test lossy
}

modprobe -q sch_netem
topo two >"$TMP/topo" 2>&1 && loss 1% 2>/dev/null || skip_all "no netem"
untopo

tap_setup topo two 1500
tap_add "MTU 1500, 1 % of packets lost" lossy 1%
[ "$QUICK" ] || tap_add "MTU 1500, 0.2 % of packets lost" lossy 0.2%
tap_setup topo two 4200
tap_add "MTU 4200, 0.2 % of packets lost" lossy 0.2%
[ "$QUICK" ] || tap_add "MTU 4200, 1 % of packets lost" lossy 1%
tap_run
