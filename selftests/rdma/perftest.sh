#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# perftest's matrix runs: bandwidth and latency of every operation that a transport has,
# all sizes, many QPs, events, both directions, SRQs, rdma_cm, inline data.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B
#
# Nothing is measured here; the numbers of iterations are small.

. "$(dirname "$0")/../lib/verve.sh"

need ib_send_bw ib_send_lat ib_write_bw ib_write_lat ib_read_bw ib_read_lat \
	ib_atomic_bw ib_atomic_lat

N=${QUICK:+20}
N=${N:-200}

# t NAME-OF-TOPOLOGY PROGRAM OPTION...
t() {
	local where=$1 prog=$2

	shift 2
	tap_add "$prog $*, $where" perftest "$prog" "$@"
}

# All operations of each transport service, without options
matrix() {
	local op kind

	for kind in bw lat; do
		for op in send write read atomic; do
			t "$1" ib_${op}_$kind -n $N
		done
		t "$1" ib_send_$kind -c UC -n $N
		t "$1" ib_write_$kind -c UC -n $N
		t "$1" ib_send_$kind -c UD -n $N -s 1024
	done
	t "$1" ib_atomic_bw -A CMP_AND_SWAP -n $N
}

# Each option with an operation that it affects
options() {
	local op

	for op in send write read; do
		t "$1" ib_${op}_bw -a -n 5
		t "$1" ib_${op}_bw -q 16 -n $N
		t "$1" ib_${op}_bw -b -n $N
		t "$1" ib_${op}_bw -R -n $N
	done
	t "$1" ib_send_lat -a -n 5
	t "$1" ib_write_lat -a -n 5
	t "$1" ib_read_lat -a -n 5
	t "$1" ib_send_bw -e -n $N
	t "$1" ib_send_lat -e -n $N
	t "$1" ib_send_bw -e -c UD -s 1024 -n $N
	t "$1" ib_send_bw --use-srq -q 4 -n $N
	t "$1" ib_send_lat --use-srq -n $N
	t "$1" ib_send_bw -I 64 -s 64 -n $N
	t "$1" ib_send_lat -I 64 -s 64 -n $N
	t "$1" ib_write_lat -I 64 -s 64 -n $N
	t "$1" ib_write_bw -l 8 -n $N -s 64
	t "$1" ib_atomic_bw -q 16 -n $N
	t "$1" ib_atomic_bw -b -n $N
	t "$1" ib_send_bw -b -q 16 -e -n $N
	t "$1" ib_send_bw -c UD -R -s 1024 -n $N
	t "$1" ib_write_bw -m 256 -n $N
}

# For slow machines: each program, option and transport service once
short_one() {
	t "$1" ib_send_bw -n $N -c UC
	t "$1" ib_send_lat -n $N -e
	t "$1" ib_write_lat -n $N -I 64 -s 64
	t "$1" ib_read_bw -n $N -b
	t "$1" ib_atomic_lat -n $N
	t "$1" ib_send_bw -n $N --use-srq -q 4
}

short_two() {
	t "$1" ib_send_bw -n $N -q 16 -e
	t "$1" ib_send_lat -n $N -c UD -s 1024
	t "$1" ib_write_bw -n 5 -a
	t "$1" ib_write_bw -n $N -c UC
	t "$1" ib_read_lat -n $N
	t "$1" ib_read_bw -n $N -R
	t "$1" ib_atomic_bw -n $N
	t "$1" ib_write_bw -n $N -b
}

if [ "$QUICK" ]; then
	tap_setup topo one 1500
	short_one "one, 1500"
	tap_setup topo two 4200
	short_two "two, 4200"
else
	for mtu in 1500 4200; do
		for where in one two; do
			tap_setup topo $where $mtu
			matrix "$where, $mtu"
			options "$where, $mtu"
		done
	done
fi
tap_run
