#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ceph's daemons and clients exchange all messages by RDMA (ms_type async+rdma): objects
# are read back as they were written, and a client that is killed under load leaves
# nothing behind.
#
#	monitor, clients: A [va: vta] ---- [vb: vtb] B: OSD, which keeps objects in memory
#
# CEPH_ROOT is a directory with ceph-mon, ceph-osd, ceph-common and ibverbs-providers
# (tools/vm/programs).

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/root.sh"
. "$LIB/users.sh"

need cmp
need_root CEPH_ROOT /usr/bin/ceph-mon

LIMIT=$((6 * LIMIT))
FSID=11111111-2222-3333-4444-555555555555
# With version 1 of the protocol alone, daemons ask before they know the cluster's fsid.
MONITOR="[v2:10.0.0.1:3300,v1:10.0.0.1:6789]"

# One copy of each object. By default, each program pins 4 GiB for messages.
configure() {
	mkdir -p "$TMP/mon" "$TMP/osd" && cat >"$TMP/ceph.conf" <<-END
		[global]
		fsid = $FSID
		mon_host = $MONITOR
		auth_cluster_required = none
		auth_service_required = none
		auth_client_required = none
		ms_type = async+rdma
		ms_async_rdma_device_name = $DEV_A
		ms_async_rdma_receive_buffers = 512
		ms_async_rdma_send_buffers = 128
		ms_async_rdma_receive_queue_len = 256
		ms_async_rdma_buffer_size = 65536
		ms_async_op_threads = 1
		mon_allow_pool_size_one = true
		osd_pool_default_size = 1
		osd_crush_chooseleaf_type = 0
		osd_objectstore = memstore
		memstore_device_bytes = 256Mi
		mon_data = /tmp/mon
		osd_data = /tmp/osd
		run_dir = /tmp
		log_file = /tmp/\$name.log
		err_to_stderr = true
		[osd]
		ms_async_rdma_device_name = $DEV_B
	END
}

ROOTED=(chroot "$ROOT" env LC_ALL=C CEPH_CONF=/tmp/ceph.conf)
LIMITED=(timeout -k 2 "$LIMIT" "${ROOTED[@]}")

# daemon NAMESPACE PROGRAM ARGUMENT...: it runs for all tests.
daemon() {
	ip netns exec "$1" "${ROOTED[@]}" "${@:2}" -f >>"$TMP/daemons" 2>&1 &
}

monitor_up() {
	a "${LIMITED[@]}" monmaptool --create --addv a "$MONITOR" --fsid $FSID \
		/tmp/monmap >/dev/null &&
	a "${LIMITED[@]}" ceph-mon -i a --mkfs --monmap /tmp/monmap >"$TMP/mkfs" 2>&1 ||
		fail "$(<"$TMP/mkfs")" || return
	daemon "$NS_A" ceph-mon -i a
}

ceph() {
	a "${LIMITED[@]}" ceph "$@" >"$TMP/ceph" 2>&1 ||
		fail "$(tail -n 5 "$TMP/ceph" "$TMP/daemons")"
}

rados() {
	a "${LIMITED[@]}" rados -p verve "$@"
}

monitor_answers() {
	ceph status && grep -q 'mon: 1 daemons, quorum a' "$TMP/ceph"
}

osd_is_up() {
	ceph osd stat && grep -q '1 osds: 1 up' "$TMP/ceph"
}

osd_joins() {
	b "${LIMITED[@]}" ceph-osd -i 0 --mkfs >"$TMP/mkfs" 2>&1 ||
		fail "$(<"$TMP/mkfs")" || return
	daemon "$NS_B" ceph-osd -i 0
	within 60 osd_is_up && ceph osd pool create verve 8 8
}

# Messages of three sizes: inline, of one buffer and of many
objects_compare() {
	local size

	for size in 100 60000 20000000; do
		head -c $size /dev/urandom >"$TMP/put" &&
		rados put object$size /tmp/put && rados get object$size /tmp/got &&
		cmp "$TMP/put" "$TMP/got" || return
	done
}

# The second benchmark compares what the first one wrote.
many_objects() {
	local before

	before=$(packets $DEV_A)
	rados bench 5 write -b 65536 --no-cleanup >"$TMP/bench" &&
	rados bench 5 seq >>"$TMP/bench" && rados cleanup >>"$TMP/bench" &&
	packets_since $DEV_A "$before" 1000 || fail "$(tail -n 30 "$TMP/bench")"
}

client_killed() {
	local client before held

	held=$(objects $DEV_A)
	before=$(packets $DEV_A)
	rados bench 60 write -b 65536 >"$TMP/bench" 2>&1 &
	client=$!
	within 20 packets_since $DEV_A "$before" 500 || fail "no load" || return
	pkill -KILL -f '^rados .*bench'
	wait $client
	within 30 same_objects $DEV_A "$held" ||
		fail "before: $held; now: $(objects $DEV_A)" || return
	objects_compare
}

daemons_end() {
	local pid

	for pid in $(jobs -p); do
		kill $pid && wait $pid || fail "exit code $?: $(tail "$TMP/daemons")" || return
	done
	no_object_left $DEV_A "$OBJECTS" && no_object_left $DEV_B "$OBJECTS"
}

tap_setup topo two 4200
tap_setup eval 'OBJECTS=$(objects $DEV_A)'
tap_setup configure
tap_setup monitor_up
tap_add "the monitor answers" monitor_answers
tap_add "the OSD joins" osd_joins
tap_add "objects compared" objects_compare
tap_add "many objects compared" many_objects
tap_add "a client is killed under load" client_killed
tap_add "the daemons end, and nothing is left" daemons_end
tap_run
