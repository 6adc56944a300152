#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Scripts written for rdma_rxe get Verve devices if Verve is loaded with rxe=Y, and only
# one of the two modules is loaded then.
#
#	A [va] ---- [vb] B

. "$(dirname "$0")/../lib/verve.sh"

need modinfo

[ "$LINK_TYPE" = verve ] && modprobe -qn verve ||
	skip_all "verve.ko is not where modprobe finds it"
CONFIG=$HERE/verve-rxe.conf
[ -e "$CONFIG" ] || CONFIG=$HERE/../../packaging/verve-rxe.conf
[ -e "$CONFIG" ] || skip_all "there is no verve-rxe.conf"
[ ! -e /sys/module/rdma_rxe ] || skip_all "rdma_rxe is loaded"
[ ! "$(rdma link show)" ] || skip_all "there are links"

# with_config COMMAND...: as if the file were in /etc/modprobe.d, for this command
with_config() {
	MODPROBE_OPTIONS="-C $TMP/modprobe.d" "$@"
}

has_rxe() {
	modinfo rdma_rxe >/dev/null 2>&1 || { skip "the kernel has no rdma_rxe"; return 1; }
}

unload() {
	modprobe -qr verve
	modprobe -qr rdma_rxe
	[ ! -e /sys/module/verve ]
}

adds_rxe() {
	ip netns exec "$NS_A" rdma link add $DEV_A type rxe netdev va
}

is_verve() {
	grep -q '^Verve ' /sys/class/infiniband/$DEV_A/node_desc
}

off_by_default() {
	modprobe verve || return
	[ "$(cat /sys/module/verve/parameters/rxe)" = N ] || fail "on" || return
	! modinfo -F alias verve | grep -w rxe || fail "verve.ko has the alias"
}

drop_in() {
	unload && with_config modprobe rdma_rxe || return
	[ ! -e /sys/module/rdma_rxe ] || fail "rdma_rxe is loaded" || return
	adds_rxe && is_verve || fail "no Verve device" || return
	link_delete $DEV_A && link_add "$NS_A" $DEV_A va && link_delete $DEV_A
}

keeps_rxe_out() {
	has_rxe || return 0
	! modprobe rdma_rxe || fail "both are loaded" || return
	[ ! -e /sys/module/rdma_rxe ] || fail "a part of rdma_rxe stays" || return
	dmesg | tail -n 5 | grep -q 'rdma_rxe is not loaded' || fail "without a word" || return
	adds_rxe && is_verve && link_delete $DEV_A
}

after_it() {
	has_rxe || return 0
	unload && modprobe rdma_rxe || return
	! modprobe verve rxe=Y || fail "both are loaded" || return
	[ ! -e /sys/module/verve ] || fail "a part of Verve stays" || return
	dmesg | tail -n 5 | grep -q 'rdma_rxe has the links' || fail "without a word" || return
	modprobe verve && rmmod verve && rmmod rdma_rxe
}

# at_once DELAY: both load, Verve so many seconds later; one of them may
at_once() {
	local delay=$1 verve

	modprobe rdma_rxe 2>/dev/null &
	sleep "$delay"
	modprobe verve rxe=Y 2>/dev/null
	verve=$?
	wait $!
	[ $? != $verve ] || fail "after $delay s both or none is loaded" || return
	modprobe -qr verve || modprobe -qr rdma_rxe
}

many_at_once() {
	local i

	has_rxe || return 0
	unload
	for i in {0..30}; do
		at_once 0.0$((i / 10))$((i % 10)) || return
	done
}

back_again() {
	unload && modprobe verve && link_add "$NS_A" $DEV_A va && is_verve
}

mkdir "$TMP/modprobe.d"
cp "$CONFIG" "$TMP/modprobe.d/"
tap_setup wire 1500
tap_setup unload
tap_add "off by default" off_by_default
tap_add "modprobe rdma_rxe, and links of type rxe, mean Verve" drop_in
tap_add "rdma_rxe is refused beside it" keeps_rxe_out
tap_add "refused beside rdma_rxe" after_it
tap_add "one of the two, if both begin to load" many_at_once
tap_add "Verve alone again" back_again
tap_run
