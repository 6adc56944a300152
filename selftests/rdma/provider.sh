#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The rdma-core and perftest of another distribution, unpacked in OTHER_ROOT, run over
# the device by chroot, since it serves every version of the rxe provider. The directory
# has the C library that they need; make check unpacks Debian sid's.
#
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

OTHER_ROOT=${OTHER_ROOT:-}
[ "$OTHER_ROOT" ] && [ -x "$OTHER_ROOT/usr/bin/ibv_rc_pingpong" ] ||
	skip_all "OTHER_ROOT holds no rdma-core"
need chroot mount

ITERATIONS=${QUICK:+20}
ITERATIONS=${ITERATIONS:-500}

# Mount /dev, /proc and /sys there. The end of the mount namespace unmounts them.
furnish() {
	local dir

	for dir in dev proc sys; do
		mount --rbind /$dir "$OTHER_ROOT/$dir" || return
	done
}

# other PROGRAM OPTION...: run both ends with pair(), in the other root
other() {
	local prog=$1

	shift
	PORT=$((PORT + 1))
	pair tcp:$PORT \
		chroot "$OTHER_ROOT" "$prog" -d $DEV_S -p $PORT "$@" -- \
		chroot "$OTHER_ROOT" "$prog" -d $DEV_C -p $PORT "$@" $IP4
}

pingpong() {
	other "ibv_$1_pingpong" -g "$GID_C" -n $ITERATIONS "${@:2}"
}

perf() {
	other "$1" -x "$GID_C" -F -n $ITERATIONS "${@:2}"
}

# Run in a private mount namespace, which ends with this process.
if [ ! "${PROVIDER_MOUNTS:-}" ]; then
	PROVIDER_MOUNTS=1 exec unshare -m "$0" "$@"
fi

tap_setup furnish
tap_setup topo two 4200
tap_add "devinfo" chroot "$OTHER_ROOT" ibv_devinfo -v
for kind in rc uc srq; do
	[ "$QUICK" ] || tap_add "$kind pingpong" pingpong $kind -c
	tap_add "$kind pingpong, events" pingpong $kind -c -e
done
tap_add "rc pingpong, new post API" pingpong rc -c -N
tap_add "ud pingpong" pingpong ud -c -s 1024
for test in send write read atomic; do
	tap_add "ib_${test}_bw" perf ib_${test}_bw
	[ "$QUICK" ] || tap_add "ib_${test}_lat" perf ib_${test}_lat
done
tap_add "ib_send_bw, UD" perf ib_send_bw -c UD -s 1024
tap_add "ib_write_bw, UC" perf ib_write_bw -c UC
if [ ! "$QUICK" ]; then
	tap_add "ib_send_bw, UC" perf ib_send_bw -c UC
	tap_add "ib_send_bw, SRQ" perf ib_send_bw --use-srq -q 4
fi
tap_add "ib_write_bw, 16 QPs, both ways" perf ib_write_bw -q 16 -b
tap_run
