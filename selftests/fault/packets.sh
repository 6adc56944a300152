#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Forged packets to connected QPs (packets.c), over IPv4 and IPv6. The MTU has room
# for packets that are longer than any path MTU.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

# Each of the forged packets is to arrive, in bursts also.
BACKLOG=/proc/sys/net/core/netdev_max_backlog
BACKLOG_BEFORE=$(<$BACKLOG)

restore() {
	echo "$BACKLOG_BEFORE" >$BACKLOG
	cleanup
}

trap restore EXIT
echo 100000 >$BACKLOG

# What pretends to be another host must not be thought a mistake.
attackable() {
	local ns

	topo two 9000 || return
	for ns in "$NS_A" "$NS_B"; do
		ip netns exec "$ns" sysctl -qw net.ipv4.conf.all.rp_filter=0 \
			net.ipv4.conf.va.rp_filter=0 2>/dev/null
		ip netns exec "$ns" sysctl -qw net.ipv4.conf.vb.rp_filter=0 \
			2>/dev/null
	done
	return 0
}

tap_setup attackable
tap_add "packets over IPv4" c_test packets
tap_add "packets over IPv6" c_test packets -6
tap_run
