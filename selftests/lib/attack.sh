# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Two namespaces whose programs forge packets. Sourced after verve.sh.

# Forged packets must arrive, also in bursts.
BACKLOG=/proc/sys/net/core/netdev_max_backlog
BACKLOG_BEFORE=$(<$BACKLOG)

restore() {
	echo "$BACKLOG_BEFORE" >$BACKLOG
	cleanup
}

trap restore EXIT
echo 100000 >$BACKLOG

# attackable [MTU]: topology that does not drop packets with forged source addresses
attackable() {
	local ns

	topo two "$@" || return
	for ns in "$NS_A" "$NS_B"; do
		ip netns exec "$ns" sysctl -qw net.ipv4.conf.all.rp_filter=0 \
			net.ipv4.conf.va.rp_filter=0 2>/dev/null
		ip netns exec "$ns" sysctl -qw net.ipv4.conf.vb.rp_filter=0 \
			2>/dev/null
	done
	return 0
}
