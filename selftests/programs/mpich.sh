#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# MPICH over UCX, in a version of its own: NetPIPE compares its messages, the tests of
# BLACS what they send and broadcast, and ScaLAPACK checks the solutions of linear
# equations.
#
#	A [va: vta] ---- [vb: vtb] B		a process on each device
#
# MPICH_ROOT is a directory with mpich, netpipe-mpich2 and scalapack-mpi-test
# (tools/vm/programs).

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/root.sh"
. "$LIB/users.sh"

need_root MPICH_ROOT /usr/bin/mpirun.mpich

TESTS=/usr/lib/x86_64-linux-gnu/scalapack/mpich-tests
LIMIT=$((10 * LIMIT))

# mpi TRANSPORT PROGRAM ARGUMENT...: in /tmp, where programs look for their input.
# Both processes run in A, since verbs do not depend on the namespace of a program.
mpi() {
	local tl=$1 before

	shift
	before=$(packets $DEV_A)
	# shellcheck disable=SC2016 # for the shell in ROOT
	a timeout -k 2 $LIMIT chroot "$ROOT" env UCX_TLS="$tl" LC_ALL=C bash -c \
		'cd /tmp && exec mpirun.mpich -launcher fork "$@"' mpi \
		-np 1 -env UCX_NET_DEVICES $DEV_A:1 "$@" : \
		-np 1 -env UCX_NET_DEVICES $DEV_B:1 "$@" >"$TMP/out" 2>&1 &&
	packets_since $DEV_A "$before" 1000 ||
		fail "exit code $?; $(tail -n 20 "$TMP/out")"
}

# passed NUMBER PATTERN: lines with the pattern, at least NUMBER of them
passed() {
	[ "$(grep -c "$2" "$TMP/out")" -ge "$1" ] && ! grep -qi 'failed!\|FAILED$' "$TMP/out" ||
		fail "$(tail -n 20 "$TMP/out")"
}

netpipe() { # TRANSPORT
	mpi "$1" NPmpich2 -i -u 70000 && passed 25 "Integrity check passed"
}

# The package's input has grids of four processes.
on_two() { # FILE
	sed 's/^[0-9]*\(.* of grids\)/2\1/; s/^.*\(NPROW\)/1 2 \1/; s/^.*\(NPCOL\)/2 1 \1/' "$1"
}

# Point to point, and broadcasts in each topology of processes
blacs() { # TRANSPORT
	local file

	cat >"$TMP/bt.dat" <<-END
		'messages and broadcasts'
		6
		'none'
		'T'
		'T'
		'F'
		'F'
		2
		'I' 'D'
		0
	END
	for file in sdrv bsbr; do
		on_two "$ROOT/usr/share/scalapack/BLACS/$file.dat" >"$TMP/$file.dat" || return
	done
	mpi "$1" $TESTS/xFbtest && passed 4 "PASSED,.* 0 FAILED\."
}

# Equations of two sizes, on a grid of one row and one of one column
equations() { # TRANSPORT
	cat >"$TMP/LU.dat" <<-END
		'LU factorization'
		'of small matrices'
		'LU.out'
		6
		2
		31 120
		31 120
		1
		8
		1
		3
		1
		2
		2
		1 2
		2 1
		1.0
		T
	END
	mpi "$1" $TESTS/xdlu && passed 4 "PASSED$"
}

tap_setup topo two 4200
for tl in rc_v ud_v; do
	tap_add "NetPIPE over $tl" netpipe $tl
	tap_add "BLACS over $tl" blacs $tl
	tap_add "ScaLAPACK over $tl" equations $tl
done
tap_run
