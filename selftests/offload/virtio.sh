#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Two virtio network devices whose ICRCs a process outside of the guest computes and
# checks (contrib/virtio-net; `make check-virtio`). Skipped without such devices.
# VIRTIO_NET is the directory of their driver.
#
#	A [va: vta] ==== [vb: vtb] B

: "${QUICK=1}"
. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/offload.sh"

need tcpdump python3 ethtool

VIRTIO=/sys/bus/virtio
FEATURE=48 # VIRTIO_NET_F_ICRC
FEATURES=(tx-icrc rx-icrc tx-icrc-segmented)

# The devices: virtioN...
devices() {
	local dev

	for dev in "$VIRTIO"/devices/virtio*; do
		[ "$(cut -c $((FEATURE + 1)) "$dev/features" 2>/dev/null)" != 1 ] ||
			echo "${dev##*/}"
	done
}

load_driver() {
	local name

	for name in failover net_failover virtio_net; do
		[ -d /sys/module/$name ] || [ ! -e "$VIRTIO_NET/$name.ko" ] ||
			insmod "$VIRTIO_NET/$name.ko" || return
	done
}

[ ! "$VIRTIO_NET" ] || load_driver || exit 1
mapfile -t DEVICES < <(devices)
if [ ${#DEVICES[@]} != 2 ]; then
	[ ! "$VIRTIO_NET" ] || { echo "Bail out! devices: ${DEVICES[*]}"; exit 1; }
	skip_all "no two virtio devices that compute ICRCs"
fi

# netdev_of DEVICE: the name of its netdev, if that is in this namespace
netdev_of() {
	local dir=("$VIRTIO/devices/$1/net"/*)

	[ -e "${dir[0]}" ] && echo "${dir[0]##*/}"
}

# put DEVICE NETNS NAME: move the netdev, after an earlier namespace has given it back
put() {
	local name

	within 5 netdev_of "$1" >/dev/null && name=$(netdev_of "$1") &&
	ip link set "$name" down && ip link set "$name" netns "$2" name "$3"
}

wire() {
	new_namespaces
	put "${DEVICES[0]}" "$NS_A" va && put "${DEVICES[1]}" "$NS_B" vb &&
	address_wire "$1"
}

# ---------------------------------------------------------------- on and off

# says DEVICE FILE BEGINNING: sysfs says so of an offload
says() {
	[[ "$(<"/sys/class/infiniband/$1/offload/$2")" = "$3"* ]]
}

# switched on|off FEATURE...: at both ends
switched() {
	local how=$1 netdev feature

	shift
	for netdev in va vb; do
		for feature; do
			nic_offload $netdev set "$feature" "$how" || return
		done
	done
}

offers() {
	segments on va vb && switched on "${FEATURES[@]}" &&
	within 5 says $DEV_A segmentation_ipv4 "in use" &&
	within 5 says $DEV_B segmentation_ipv4 "in use"
}

offers_nothing() {
	segments off va vb && switched off "${FEATURES[@]}" &&
	within 5 says $DEV_A icrc_tx off: && within 5 says $DEV_B icrc_tx off:
}

# ---------------------------------------------------------------- who does it

made_by_device() {
	offers
	used tx_uso_pkts least 3500 writes
}

one_by_one() {
	offers && segments off va vb &&
	used tx_uso_pkts most 0 used tx_icrc_offload least 3500 writes
}

by_software() {
	offers_nothing &&
	used tx_uso_pkts most 0 used tx_icrc_offload most 0 writes
}

verified_by_device() {
	offers && gro off && gained $DEV_B rx_icrc_offload writes && gro on || return
	[ "$GAINED" -gt 3500 ] || fail "$GAINED packets"
}

# Software finds no fault with the packets that the device has made.
right_for_software() {
	local bad

	offers && switched off rx-icrc && within 5 says $DEV_B icrc_rx off: &&
	bad=$(hw_counter $DEV_B rx_icrc_encapsulated) &&
	gained $DEV_B rx_icrc_offload used tx_uso_pkts least 3500 writes || return
	[ "$GAINED" = 0 ] && [ "$(hw_counter $DEV_B rx_icrc_encapsulated)" = "$bad" ]
}

# ---------------------------------------------------------------- the wire

# On a busy machine a request may time out and be repeated, which changes opcodes.
thrice() {
	"$@" || "$@" || "$@"
}

# The device counts up identifications, as software does.
writes_are_equal() {
	used tx_uso_pkts least 200 is_equal "$NS_B" vb perftest ib_write_bw -s 8000 -n 64
}

sends_are_equal() {
	used tx_uso_pkts least 200 is_equal "$NS_B" vb perftest ib_send_bw -s 65536 -n 16
}

reads_are_equal() {
	gained $DEV_B tx_uso_pkts is_equal "$NS_A" va perftest ib_read_bw -s 30001 -n 16 &&
	[ "$GAINED" -ge 200 ] || fail "$GAINED packets"
}

all_opcodes() { # OPTION...
	offers && gro off && used tx_uso_pkts least 100 are_right "$NS_B" vb "$REQUESTS" "$@" &&
	are_right "$NS_A" va "$ANSWERS" "$@"
	local rc=$?
	gro on
	return $rc
}

# ---------------------------------------------------------------- in mid-traffic

# through COMMAND...: run the command again and again, while data are compared
through() {
	local i

	offers && load_begin QPS=8 || return
	for i in {1..20}; do
		"$@" || { load_kill; fail "$*: round $i"; return; }
		nap 0.0$((RANDOM % 9 + 1))
	done
	offers && goes_on $DEV_A && load_end
}

flip() {
	local how=(on off)

	nic_offload va set "${FEATURES[RANDOM % 3]}" "${how[RANDOM % 2]}" &&
	nic_offload vb set "${FEATURES[RANDOM % 3]}" "${how[RANDOM % 2]}" &&
	segments "${how[RANDOM % 2]}" va
}

a_goes_down() {
	ip -n "$NS_A" link set va down && ip -n "$NS_A" link set va up
}

# UML does not tell a device that its driver resets it, so the device would fill buffers
# that the driver has freed. Nothing arrives when the other end is down.
half_silent() {
	offers && load_begin QPS=8 && ip -n "$NS_B" link set vb down && sleep 0.2
}

# unbound DEVICE: the driver leaves the device in the middle of traffic, and comes back
unbound() {
	local driver=$VIRTIO/drivers/virtio_net

	half_silent || return
	soon tee $driver/unbind <<<"$1" >/dev/null || fail "exit code $?" || return
	within 5 not link_exists $DEV_A
	local rc=$?
	load_end >/dev/null
	[ $rc = 0 ] && tee $driver/bind <<<"$1" >/dev/null && topo two 1500 &&
	made_by_device
}

# The driver is unloaded in the middle of traffic, and loaded again.
unloaded() {
	[ "$VIRTIO_NET" ] || { skip "the driver is not this test's"; return; }
	half_silent || return
	soon rmmod virtio_net || fail "exit code $?" || return
	within 5 not link_exists $DEV_A && within 5 not link_exists $DEV_B
	local rc=$?
	load_end >/dev/null
	[ $rc = 0 ] && load_driver && topo two 1500 && made_by_device
}

tap_setup topo two 1500
tap_add "made by the device" made_by_device
tap_add "one by one where ethtool switches segmentation off" one_by_one
tap_add "by software where the features are off" by_software
tap_add "verified by the device" verified_by_device
tap_add "right for software" right_for_software
tap_add "WRITEs on the wire" thrice writes_are_equal
tap_add "SENDs on the wire" thrice sends_are_equal
tap_add "READs on the wire" thrice reads_are_equal
tap_add "WRITEs on the wire, IPv6" thrice over_ipv6 writes_are_equal
tap_add "READs on the wire, IPv6" thrice over_ipv6 reads_are_equal
tap_add "all opcodes" all_opcodes
tap_add "all opcodes, IPv6" all_opcodes -6
tap_add "features flip" through flip
tap_add "the netdev goes down" through a_goes_down
tap_add "the driver leaves under traffic" unbound "${DEVICES[0]}"
tap_add "the driver is unloaded under traffic" unloaded
tap_run
