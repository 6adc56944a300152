#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RDS runs over RDMA: each message and each RDMA arrives once, in order and whole, also
# where the device is replaced. RDS works in the first network namespace only, so both
# ends share a device there.
#
#	rds 192.168.219.1 ---- vthost ---- 192.168.219.2 rds

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/users.sh"

need nft rds
[ ! -d /sys/module/rds_rdma ] || skip_all "rds_rdma is in use"
need_modules rds_rdma
modprobe -r rds_rdma

OTHER_IP=${HOST_IP%.*}.2
COUNT=${QUICK:+60}
COUNT=${COUNT:-2000}

sockets() { # WHAT NUMBER
	timeout $((10 * LIMIT)) rds $HOST_IP $OTHER_IP "$@"
}

# The device must count packets, or the two ends have met elsewhere in the kernel.
messages() {
	local before

	before=$(packets $HOST_DEV)
	sockets messages $COUNT &&
	within 1 packets_since $HOST_DEV "$before" $((2 * COUNT))
}

is_connected() {
	rdma resource show qp link $HOST_DEV/1 | grep -q 'type RC .*state RTS'
}

# broken_off PULL PUT_BACK
broken_off() {
	local pid

	sockets steady $((3 + 3 * SLOW)) >"$TMP/rds" 2>&1 &
	pid=$!
	within 5 is_connected && sleep 1
	kill -0 $pid 2>/dev/null || { cat "$TMP/rds"; return 1; }
	$1
	within 30 not is_connected || fail "the loss goes unnoticed" || return
	$2 && wait $pid || { cat "$TMP/rds"; return 1; }
	is_connected
}

no_device() {
	timeout $LIMIT rdma link delete $HOST_DEV
}

new_device() {
	rdma link add $HOST_DEV type "$LINK_TYPE" netdev $HOST_NETDEV
}

# The device goes before RDS does. When Linux 7.2 unloads RDS, a connection whose device
# is still there may be left behind: RDS waits for one work queue, but connections shut
# down on queues of their own.
unload() {
	is_connected || fail "there is no connection" || return
	no_device && modprobe -r rds_rdma
}

cleanup_rds() {
	mend
	no_device
	modprobe -r rds_rdma
	host_down
	cleanup
} 2>/dev/null

trap cleanup_rds EXIT
tap_setup host_up
tap_setup ip addr add $OTHER_IP/24 dev $HOST_NETDEV
tap_setup modprobe rds_rdma
tap_add "messages of all sizes, compared" messages
tap_add "RDMA READ and WRITE, compared" sockets rdma $COUNT
tap_add "link loss under messages" broken_off cut mend
tap_add "the device replaced under messages" broken_off no_device new_device
tap_add "the device goes, then the module" unload
tap_run
