#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# OpenMPI 5 over UCX 1.18: two and four processes compare messages, collectives, RDMA and
# atomics, and UCX's own benchmark, which mpirun starts, does its tests over RC and UD.
#
#	A [va: vta] ---- [vb: vtb] B		half of the processes on each device
#
# OPENMPI_ROOT is a directory with openmpi-bin, python3-mpi4py and ucx-utils
# (tools/vm/programs).

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/root.sh"
. "$LIB/users.sh"
. "$LIB/ucx.sh"

need_root OPENMPI_ROOT /usr/bin/mpirun.openmpi

MPIRUN=(chroot "$ROOT" env LC_ALL=C mpirun.openmpi --allow-run-as-root
	--map-by :oversubscribe)

both_packets() {
	echo $(($(packets $DEV_A) + $(packets $DEV_B)))
}

# over_verve NUMBER COMMAND...: during the command, the devices send so many packets.
over_verve() {
	local before

	before=$(both_packets)
	"${@:2}" || return
	[ $(($(both_packets) - before)) -ge "$1" ] ||
		fail "$(($(both_packets) - before)) packets"
}

# The benchmark's processes find each other by MPI, over shared memory.
benchmark() { # TRANSPORT TEST
	ucx_options "$2"
	over_verve 100 ucx_processes "$1" 2 ucx_perftest "${UCX_OPTIONS[@]}" &&
	ucx_result "$TMP/mpi"
}

compare() { # TRANSPORT RANKS
	over_verve 1000 ucx_mpi "$1" "$2" /mnt/users/ucx_mpi.py
}

tap_setup topo two 4200
for tl in rc_v ud_v; do
	for name in tag_lat stream_bw ucp_put_bw ucp_get ucp_fadd ucp_cswap ucp_am_bw; do
		tap_add "$name over $tl" benchmark $tl "$name"
	done
	tap_add "two processes compare over $tl" compare $tl 2
	tap_add "four processes compare over $tl" compare $tl 4
done
tap_run
