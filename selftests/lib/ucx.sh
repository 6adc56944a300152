# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Tests of UCX's benchmark and of MPI processes that use UCX. Sourced after verve.sh. The
# test selects the transport and the device. UCX finds the rest by itself, as it does on a
# NIC.

UCX_COUNT=${QUICK:+10}
UCX_COUNT=${UCX_COUNT:-100}

# ucx_options TEST: sets UCX_OPTIONS, those of ucx_perftest on the side that measures
ucx_options() {
	local size=8

	case $1 in
	*_bw | ucp_get) size=65536 ;;
	esac
	UCX_OPTIONS=(-t "$1" -n "$UCX_COUNT" -w 5 -s "$size")
}

ucx_result() { # FILE
	grep -q "^Final:" "$1" || fail "no result: $(tail -n 3 "$1")"
}

# The command that starts MPI processes
MPIRUN=(mpirun)

# The device of a rank: the first of two for the even ones, the second for the odd ones.
# The mpirun of OpenMPI 5.0.7 crashes if its command line has a part for each (`:`).
UCX_RANK='devices=($1 $2)
	export UCX_NET_DEVICES=${devices[OMPI_COMM_WORLD_RANK % 2]}:1
	exec "${@:3}"'

# ucx_processes TRANSPORT NUMBER PROGRAM...: the output is in $TMP/mpi. All processes run
# in A, since verbs do not depend on the namespace of a program. Each device has half of
# them.
ucx_processes() {
	local tl=$1 number=$2

	shift 2
	client timeout -k 2 $((6 * LIMIT)) "${MPIRUN[@]}" -np "$number" -x UCX_TLS="$tl" \
		bash -c "$UCX_RANK" rank $DEV_C $DEV_S "$@" >"$TMP/mpi" 2>&1 ||
		fail "exit code $?; $(tail -n 20 "$TMP/mpi")"
}

# ucx_mpi TRANSPORT RANKS SCRIPT: ucx_mpi.py, where mpirun finds it
ucx_mpi() {
	local MPIRUN=("${MPIRUN[@]}" --mca pml ucx --mca osc ucx)

	ucx_processes "$1" "$2" python3 "$3" || return
	grep -q "^compared, $2 ranks" "$TMP/mpi" || fail "$(tail -n 20 "$TMP/mpi")"
}
