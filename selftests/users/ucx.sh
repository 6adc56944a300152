#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# UCX moves messages, streams, RDMA and atomics over RC and UD, for its own benchmark and
# for two and four MPI processes, over IPv4 and IPv6 GIDs.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/ucx.sh"

need ucx_perftest

MPIRUN=(mpirun --allow-run-as-root --oversubscribe --mca plm isolated)

# UCX takes an IPv4 GID where there is one. The two processes find each other by TCP over
# IPv4 in any case, by addresses of other netdevs.
no_ipv4() {
	local ns dev own other via

	for ns in "$NS_A va 10.0.0.1 10.0.0.2 fd00::2" \
		"$NS_B vb 10.0.0.2 10.0.0.1 fd00::1"; do
		read -r ns dev own other via <<<"$ns"
		ip -n "$ns" -4 addr flush dev $dev &&
		ip -n "$ns" addr add $own/32 dev lo &&
		ip -n "$ns" route add $other/32 via inet6 $via dev $dev src $own ||
			return
	done
	within 5 not gid_index $DEV_C ipv4 && within 5 not gid_index $DEV_S ipv4
}

# ucx TRANSPORT TEST
ucx() {
	PORT=$((PORT + 1))
	ucx_options "$2"
	UCX_TLS=$1 pair tcp:$PORT \
		env UCX_NET_DEVICES="$DEV_S:1" ucx_perftest -p $PORT -- \
		env UCX_NET_DEVICES="$DEV_C:1" ucx_perftest "$IP4" -p $PORT \
		"${UCX_OPTIONS[@]}" &&
	ucx_result "$TMP/client"
}

has_mpi() {
	command -v mpirun >/dev/null && python3 -c 'import mpi4py' 2>/dev/null
}

mpi_or_skip() {
	has_mpi || { skip "no OpenMPI, or no mpi4py"; return; }
	ucx_mpi "$@" "$HERE/ucx_mpi.py"
}

# matrix WHERE TEST...: by both transports
matrix() {
	local where=$1 tl name

	shift
	for tl in rc_v ud_v; do
		for name; do
			tap_add "$name over $tl, $where" ucx $tl "$name"
		done
		tap_add "two MPI processes over $tl, $where" mpi_or_skip $tl 2
		[ "$QUICK" ] ||
			tap_add "four MPI processes over $tl, $where" mpi_or_skip $tl 4
	done
}

# both_families TOPOLOGY TEST...
both_families() {
	local t=$1

	shift
	tap_setup topo $t
	matrix "IPv4, $t" "$@"
	tap_setup no_ipv4
	matrix "IPv6, $t" "$@"
}

SOME="tag_lat tag_bw ucp_put_bw ucp_get ucp_am_lat ucp_fadd"
ALL="$SOME tag_sync_lat tag_sync_bw stream_lat stream_bw ucp_put_lat ucp_add ucp_swap
	ucp_cswap ucp_am_bw"
if [ "$QUICK" ]; then
	tap_setup topo two
	matrix "IPv4, two" tag_bw ucp_fadd
	tap_setup no_ipv4
	matrix "IPv6, two" tag_lat ucp_get
else
	both_families one $SOME
	both_families two $ALL
fi
tap_run
