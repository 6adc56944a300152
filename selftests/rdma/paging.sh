#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Memory regions whose pages come on demand (paging_odp.c, paging_implicit.c, paging_advise.c), also
# where user space provides them (paging_stall.c), or does not (paging_hostage.c); regions over dma-bufs (paging_dmabuf.c); the
# corner cases of pinned ones, which may be registered anew (paging_regions.c); and
# memory that is taken away while it is written (paging_withdraw.c).
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

# maybe PROGRAM: the kernel may lack what it tests
maybe() {
	local rc=0

	c_test "$@" || rc=$?
	[ $rc = $KSFT_SKIP ] || return $rc
	skip "this kernel does not have it"
}

for t in $TOPOLOGIES; do
	tap_setup topo $t
	for program in paging_odp paging_implicit paging_advise paging_stall \
		paging_hostage paging_regions paging_withdraw paging_dmabuf; do
		tap_add "$program, topology $t" maybe $program
	done
done
tap_run
