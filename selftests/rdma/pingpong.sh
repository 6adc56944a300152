#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rdma-core's pingpongs check their data and end, for each transport, polling and
# sleeping, at each path MTU.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

need ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong

ITERATIONS=${QUICK:+20}
ITERATIONS=${ITERATIONS:-200}

# pingpong KIND OPTION...
pingpong() {
	local prog=ibv_$1_pingpong

	shift
	PORT=$((PORT + 1))
	pair tcp:$PORT \
		$prog -d $DEV_S -g "$GID_S" -p $PORT -n $ITERATIONS "$@" -- \
		$prog -d $DEV_C -g "$GID_C" -p $PORT -n $ITERATIONS "$@" $IP4
}

# all TOPOLOGY MTU...: with all path MTUs of the topology
all() {
	local t=$1 kind mtu

	shift
	for kind in rc uc srq; do
		tap_add "$kind, $t" pingpong $kind -c
		tap_add "$kind, $t, events" pingpong $kind -c -e
	done
	tap_add "ud, $t" pingpong ud -c -s 1024
	tap_add "ud, $t, events" pingpong ud -c -e -s 1024
	for mtu; do
		tap_add "rc, $t, path MTU $mtu" pingpong rc -c -m $mtu
		tap_add "uc, $t, path MTU $mtu" pingpong uc -c -m $mtu
		tap_add "srq, $t, path MTU $mtu" pingpong srq -c -m $mtu
	done
}

# Each program, polling or sleeping, with several path MTUs
short() {
	tap_setup topo one 1500
	tap_add "rc, one device" pingpong rc -c
	tap_add "uc, one device, events" pingpong uc -c -e
	tap_add "ud, one device" pingpong ud -c -s 1024
	tap_add "srq, one device, events" pingpong srq -c -e
	tap_setup topo two 4200
	tap_add "rc, two devices, events, path MTU 256" pingpong rc -c -e -m 256
	tap_add "rc, two devices, path MTU 4096" pingpong rc -c -m 4096
	tap_add "uc, two devices, path MTU 2048" pingpong uc -c -m 2048
	tap_add "ud, two devices, events" pingpong ud -c -e -s 1024
	tap_add "srq, two devices, path MTU 512" pingpong srq -c -m 512
}

if [ "$QUICK" ]; then
	short
else
	tap_setup topo one 1500
	all "one device"
	tap_setup topo two 4200
	all "two devices" 256 512 2048 4096
fi
tap_run
