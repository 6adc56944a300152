#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A NIC learns of no region and no QP before an administrator of its namespace has
# switched that on, and gives all of them back when it is switched off under traffic,
# without an effect for programs; requests from others, and wrong ones, are refused.
#
#	A [va: vta] ==== [vb: vtb] B		==== the NIC in software

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/load.sh"
. "$LIB/testnic.sh"

need setpriv unshare python3

ICRC=3 USO=4 PLACE=8 RC=16

# The hardware can do everything.
able() {
	both able $((ICRC | USO | PLACE | RC))
}

switch() { # [FEATURE on|off]...
	nic_offload va set "$@" && nic_offload vb set "$@"
}

shows() { # LINE: of A's NIC
	nic_offload va show >"$TMP/shown" && grep -qxF "  $1" "$TMP/shown"
}

# refused MESSAGE COMMAND...
refused() {
	local said message=$1

	shift
	! said=$("$@" 2>&1) && [[ $said = *"$message"* ]] || fail "$*: $said"
}

# Nothing that the NICs have ever been told or have done
traces() {
	echo "$(knob va mrs) $(knob va qps) $(knob va placed) $(knob va carried)" \
		"$(knob va offloaded) $(knob vb mrs) $(knob vb qps) $(knob vb placed)" \
		"$(knob vb carried) $(knob vb offloaded)"
}

# ---------------------------------------------------------------- on and off

stays_unknown() {
	sleep 0.5
	[ "$(traces)" = "0 0 0 0 0 0 0 0 0 0" ] || fail "the NICs know: $(traces)"
}

off_by_default() {
	able && shows "placement: off" && shows "rc-qps: off" && shows "tx-icrc: on" &&
	during_load stays_unknown && writes && stays_unknown &&
	[ "$(hw_counter $DEV_B rx_ddp_pkts) $(hw_counter $DEV_A rc_offloaded)" = "0 0" ]
}

says() { # FILE LINE
	local said

	said=$(<"/sys/class/infiniband/$DEV_A/offload/$1")
	[ "$said" = "$2" ] || fail "$1: $said"
}

says_how() {
	says ddp "off: not switched on (roce-offload set va placement on)" &&
	says rc "off: not switched on (roce-offload set va rc-qps on)" &&
	says icrc_tx "in use"
}

knows() {
	[ "$(knob va mrs)" -gt 0 ] && [ "$(knob va qps)" -gt 0 ]
}

counts_objects() {
	within 5 knows && shows "regions known: $(knob va mrs)" &&
	shows "QPs known: $(knob va qps)"
}

carried_when_on() {
	able && switch rc-qps on && within 5 says rc "in use" &&
	gained $DEV_A rc_offloaded writes && [ "$GAINED" -gt 0 ] &&
	shows "rc-qps: on" && shows "placement: off" && during_load counts_objects
}

placed_when_on() {
	able && switch rc-qps off placement on && within 5 says ddp "in use" &&
	gained $DEV_B rx_ddp_pkts perftest ib_write_bw -s 65536 -n 200 &&
	[ "$GAINED" -gt 1000 ] || fail "$GAINED packets were placed"
}

counts_refusals() {
	switch placement off && able && both fail 2 && switch placement on || return
	during_load within 5 shows "refused: 2"
	local rc=$?
	both fail 0
	return $rc
}

not_in_use() {
	switch rc-qps on && both able $ICRC &&
	shows "rc-qps: on [requested, not in use]" && says rc \
		"off: the driver of va does not offer it" && able && shows "rc-qps: on"
}

# Features without state can be switched, too.
without_state() {
	able && switch placement off rc-qps off tx-icrc off &&
	within 5 says icrc_tx "off: not switched on (roce-offload set va tx-icrc on)" &&
	used tx_icrc_offload most 0 writes && switch tx-icrc on &&
	within 5 says icrc_tx "in use" && used tx_icrc_offload least 500 writes
}

# ---------------------------------------------------------------- in mid-traffic

forgotten() {
	[ "$(knob va mrs) $(knob va qps) $(knob va offloaded) $(knob vb mrs)" = "0 0 0 0" ] &&
	[ "$(knob vb qps) $(knob vb offloaded)" = "0 0" ]
}

# switched COUNTER DEVICE FEATURE COMMAND...: the command begins a load that compares data
switched() {
	local counter=$1 dev=$2 feature=$3 i rounds=${QUICK:+10} before ways=(off on)

	shift 3
	able && switch "$feature" on || return
	before=$(hw_counter "$dev" "$counter")
	"$@" && within 5 has_counted "$dev" "$counter" "$before" || return
	for ((i = 0; i < ${rounds:-40}; i++)); do
		switch "$feature" "${ways[i % 2]}" || return
		nap 0.0$((RANDOM % 9 + 1))
	done
	switch "$feature" off && within 5 forgotten || fail "the NICs know: $(traces)" ||
		{ load_kill; return 1; }
	before=$(hw_counter "$dev" "$counter")
	goes_on $DEV_A && load_end &&
	[ "$(hw_counter "$dev" "$counter")" = "$before" ] || fail "still in use"
}

stream_begin() {
	CASE=stream traffic_begin ip netns exec "$NS_A" qp
}

order_begin() {
	CASE=order traffic_begin ip netns exec "$NS_A" place
}

nothing_is_lost() {
	[ "$(hw_counter $DEV_A rc_offload_lost) $(hw_counter $DEV_B rc_offload_lost)" = \
		"0 0" ]
}

stream_begins() {
	able && switch rc-qps on && stream_begin && within 5 is_carried
}

is_carried() {
	[ "$(knob va offloaded)" -gt 0 ]
}

# ---------------------------------------------------------------- refused

# Nothing changes at A.
changes_nothing() {
	nic_offload va show >"$TMP/before" && "$@" && nic_offload va show >"$TMP/after" &&
	diff "$TMP/before" "$TMP/after"
}

unknown_feature() {
	refused "roce-offload: Attribute failed policy validation" \
		nic_offload va set feature-9 on &&
	refused "no feature rc;" nic_offload va set rc on || return
	nic_offload va set rc on 2>/dev/null
	[ $? = 2 ] || fail "not the status of wrong arguments"
}

unregistered() {
	refused "no driver offers anything for this netdev" a roce-offload set lo tx-icrc on &&
	refused "no driver offers anything for this netdev" a roce-offload show lo
}

# Root without capabilities
powerless() {
	a setpriv --inh-caps=-all --bounding-set=-all roce-offload "$@"
}

unprivileged() {
	powerless show va >"$TMP/shown" && grep -qx "va:" "$TMP/shown" &&
	refused "Operation not permitted" powerless set va placement on
}

elsewhere() {
	[ "$(b roce-offload show | grep ':$')" = "vb:" ] || return
	refused "no netdev va in this network namespace" b roce-offload set va tx-icrc off &&
	b python3 "$HERE/optin_hostile.py" elsewhere "$(a cat /sys/class/net/va/ifindex)"
}

hostile() { # COMMAND...
	"$@" python3 "$HERE/optin_hostile.py" wrong "$(a cat /sys/class/net/va/ifindex)"
}

# ---------------------------------------------------------------- reset

# A netdev that has moved is down, so nothing is in use.
is_as_at_first() {
	shows "placement: off" && shows "rc-qps: off" && ! shows "tx-icrc: off"
}

registers_again() {
	nic_offload va set placement on rc-qps on tx-icrc off && not is_as_at_first &&
	turn va offered 0 && refused "no driver offers anything" nic_offload va show &&
	turn va offered 1 && is_as_at_first
}

moves() {
	nic_offload va set placement on tx-icrc off && not is_as_at_first &&
	ip -n "$NS_A" link set va netns "$NS_B" && ip -n "$NS_B" link set va netns "$NS_A" &&
	is_as_at_first
}

lacks() {
	refused "the device does not have this feature" \
		nic_offload va set placement on &&
	refused "the device does not have this feature" \
		nic_offload va set placement off tx-icrc off &&
	shows "tx-icrc: on" && not grep -q "placement" "$TMP/shown"
}

tap_setup topo two 1500
tap_add "off by default" off_by_default
tap_add "sysfs tells how to switch it on" says_how
tap_add "QPs of the NIC when it is switched on" carried_when_on
tap_add "placement when it is switched on" placed_when_on
tap_add "refusals of the driver are counted" counts_refusals
tap_add "switched on, but not offered" not_in_use
tap_add "features without state" without_state
tap_add "QPs are switched off and on under load" \
	switched rc_offloaded $DEV_A rc-qps stream_begin
tap_add "placement is switched off and on under load" \
	switched rx_ddp_pkts $DEV_B placement order_begin
tap_add "no QP was lost" nothing_is_lost
tap_add "an unknown feature" changes_nothing unknown_feature
tap_add "a netdev without a driver" unregistered
tap_add "a user who is no administrator" changes_nothing unprivileged
tap_add "an administrator of another namespace" changes_nothing elsewhere
tap_add "wrong requests of an administrator" changes_nothing hostile a
tap_add "wrong requests from a user namespace" changes_nothing hostile unshare -Urn
tap_add "wrong requests from another namespace" changes_nothing hostile b
tap_add "a driver that registers again begins with off" registers_again
tap_add "a netdev that moves begins with off" moves
tap_setup eval 'NIC_OPTIONS=(lacks=8)'
tap_setup topo two 1500
tap_setup able
tap_add "a feature that the device lacks" changes_nothing lacks
tap_setup topo two 1500
tap_add "the driver is unloaded" driver_goes_under stream_begins
tap_run
