#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rdma_cm connects, and datagrams to groups arrive, where an address belongs to several
# RDMA devices: to one on a VLAN and one on the netdev below it, or to devices of two
# drivers on one netdev. rdma_cm takes the oldest of them.
#
#	siw, verve: A [va] ---- [vb] B: verve, siw
#	verve: A [va, va.10] ---- [vb, vb.10] B: verve

. "$(dirname "$0")/../lib/verve.sh"

need rping udaddy mckey

COUNT=5
GROUP=239.77.0.3
GROUP_MAC=01:00:5e:4d:00:03
VLAN_4=10.10.0
VLAN_6=fd10::

# packets: number of packets that Verve has sent in A
packets() {
	local files=(/sys/class/infiniband/{$DEV_A,vtaa}/ports/1/hw_counters/sent_pkts)

	cat "${files[@]}" 2>/dev/null | paste -sd +
}

# A VLAN on both netdevs, and no device on it
vlans() {
	local ns dev i

	for ns in "$NS_A va 1" "$NS_B vb 2"; do
		read -r ns dev i <<<"$ns"
		ip -n "$ns" link add link $dev name $dev.10 up type vlan id 10 &&
		ip -n "$ns" addr add $VLAN_4.$i/24 dev $dev.10 &&
		ip -n "$ns" addr add $VLAN_6$i/64 dev $dev.10 nodad || return
	done
}

# ping_pong SERVER-NS CLIENT-NS ADDRESS
ping_pong() {
	local NS_S=$1 NS_C=$2

	PORT=$((PORT + 1))
	pair cm rping -s -a "$3" -p $PORT -C $COUNT -S 4000 -V -- \
		rping -c -a "$3" -p $PORT -C $COUNT -S 4000 -V
}

datagrams() {
	local NS_S=$1 NS_C=$2

	pair cm udaddy -b "$3" -c 2 -C 5 -S 500 -- udaddy -s "$3" -c 2 -C 5 -S 500
}

# group RECEIVER-NS SENDER-NS ADDRESS ADDRESS
group() {
	local pid

	ip netns exec "$1" timeout $LIMIT mckey -m $GROUP -b "$3" -c 1 -C 5 -S 500 \
		>"$TMP/mckey" 2>&1 &
	pid=$!
	within 5 joined "$1" || fail "not joined" || return
	sleep $((1 + SLOW)) # it says nothing when it is ready
	ip netns exec "$2" timeout $LIMIT mckey -s -m $GROUP -b "$4" -c 1 -C 5 -S 500 \
		>"$TMP/mckey-s" 2>&1 || fail "sender: $(<"$TMP/mckey-s")" || return
	wait $pid || fail "receiver: $(<"$TMP/mckey")"
}

joined() {
	ip -n "$1" maddr | grep -qF $GROUP_MAC
}

# Programs may identify a device by its GUID.
guids_differ() {
	local twice

	twice=$(sort /sys/class/infiniband/*/node_guid | uniq -d)
	[ ! "$twice" ] || fail "twice: $twice"
}

# Both ways, so that each end listens once
everywhere() {
	guids_differ &&
	ping_pong "$NS_B" "$NS_A" 10.0.0.2 && ping_pong "$NS_A" "$NS_B" fd00::1 &&
	ping_pong "$NS_B" "$NS_A" $VLAN_4.2 && ping_pong "$NS_A" "$NS_B" $VLAN_4.1 &&
	ping_pong "$NS_B" "$NS_A" ${VLAN_6}2 && ping_pong "$NS_A" "$NS_B" ${VLAN_6}1 &&
	datagrams "$NS_B" "$NS_A" $VLAN_4.2 && datagrams "$NS_A" "$NS_B" ${VLAN_6}1 &&
	group "$NS_B" "$NS_A" $VLAN_4.2 $VLAN_4.1 &&
	group "$NS_A" "$NS_B" $VLAN_4.1 $VLAN_4.2
}

upper_link() { # NETNS DEVICE NETDEV
	link_add "$@" && within 5 gid_index "$2" ipv4 >/dev/null
}

# siw_link NETNS DEVICE NETDEV: by another name than Verve's
siw_link() {
	LINK_TYPE=siw link_add "$@"
}

# Does rping between the addresses of va and vb use Verve? used YES-OR-NO
used() {
	local before after used=no

	before=$(packets)
	ping_pong "$NS_B" "$NS_A" 10.0.0.2 || return
	ping_pong "$NS_A" "$NS_B" 10.0.0.1 || return
	after=$(packets)
	[ "$after" = "$before" ] || used=yes
	guids_differ || return
	[ $used = "$1" ] || fail "Verve used: $used, $1 expected"
}

tap_setup topo two
tap_setup vlans
tap_add "devices below the VLANs" everywhere
tap_setup upper_link "$NS_A" vtaa va.10
tap_add "one device on a VLAN, one below" everywhere
tap_setup upper_link "$NS_B" vtbb vb.10
tap_add "devices on and below the VLANs, the latter older" everywhere
tap_setup rdma link delete $DEV_A
tap_setup upper_link "$NS_A" $DEV_A va
tap_add "a device below the VLAN that is the younger one" everywhere
if modprobe -q siw; then
	tap_setup siw_link "$NS_A" siwa va
	tap_setup siw_link "$NS_B" siwb vb
	tap_add "siw, younger, on the same netdevs" used yes
	for d in $DEV_A $DEV_B vtaa vtbb; do
		tap_setup rdma link delete $d
	done
	tap_setup link_add "$NS_A" $DEV_A va
	tap_setup link_add "$NS_B" $DEV_B vb
	tap_add "siw, older, on the same netdevs" used no
fi
tap_run
