#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fifty containers with a device each, on one bridge, in shared mode: neighbours exchange
# messages, the memory for each device is bounded, and all devices go with their
# namespaces. A full GID table refuses further addresses, and says so.
#
#	C1 [va: vtc1] ---- bridge ---- [va: vtc50] C50

. "$(dirname "$0")/../lib/verve.sh"
. "$HERE/../lib/containers.sh"

TALK=containers_talk
COUNT=${COUNT:-${QUICK:+20}}
COUNT=${COUNT:-50}
# Kibibytes of a copy of a device's sysfs, and of the device. The core's own receive
# buffers for management datagrams take 256 of the latter.
COPY_KIB=24
DEVICE_KIB=512
# GIDs of a device whose netdev is in another namespace than the initial one
GIDS=14

rdma system show | grep -q 'netns shared' || skip_all "needs shared mode"

# Do the kernel's checks make its objects larger?
debugs() {
	grep -qE ' (kasan_report|lock_acquire|kmemleak_alloc)$' /proc/kallsyms
}

links() {
	local before room

	before=$(slab_kib)
	container_links 1 "$COUNT" || return
	debugs && return
	room=$((COUNT * COUNT * COPY_KIB + COUNT * DEVICE_KIB))
	echo "$(($(slab_kib) - before)) KiB of slabs for $COUNT devices, at most $room"
	[ $(($(slab_kib) - before)) -le $room ]
}

gone() {
	end_containers
	within 60 no_container_links || fail "left: $(ls /sys/class/infiniband)"
}

gids() { # DEVICE
	grep -hv '^0000:0000:0000:0000:0000:0000:0000:0000$' \
		"/sys/class/infiniband/$1/ports/1/gids/"* | sort
}

gids_are() { # NUMBER
	[ "$(gids $DEV_A | wc -l)" = "$1" ]
}

# The log may have lost its beginning: look for an address of this test.
refused() {
	dmesg | grep -q 'unable to add gid .*:ffff:0a09:'
}

more_addresses() { # add|del
	local i

	for ((i = 1; i <= 2 * GIDS; i++)); do
		echo "addr $1 10.9.0.$i/32 dev va"
	done | ip -n "$NS_A" -batch -
}

# The addresses beyond the table have no GID, which the kernel's log says, and the
# others go on. Those that leave make room.
full_table() {
	topo two || return
	more_addresses add
	within 5 gids_are $GIDS || fail "GIDs: $(gids $DEV_A)" || return
	within 5 refused || fail "the log says nothing" || return
	pair cm rping -s -a $IP4 -C 5 -- rping -c -a $IP4 -C 5 || return
	more_addresses del
	ip -n "$NS_A" addr add 10.9.1.1/32 dev va
	within 5 has_gid 10.9.1.1 || fail "no room for a new address"
}

has_gid() { # IPV4
	local hex

	# shellcheck disable=SC2046,SC2183 # four numbers
	printf -v hex '%02x%02x:%02x%02x' $(tr . ' ' <<<"$1")
	gids $DEV_A | grep -q ":ffff:$hex\$"
}

end_all() {
	end_containers 2>/dev/null
	cleanup
}

need rping
trap end_all EXIT

tap_setup containers "$COUNT"
tap_add "$COUNT devices in as many namespaces" links
tap_add "neighbours exchange messages" neighbours_talk "$COUNT"
tap_add "all devices go with their namespaces" gone
tap_add "a full GID table" full_table
tap_run
