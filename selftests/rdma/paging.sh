#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Memory regions may be on demand, implicit, advised, over dma-bufs or registered anew;
# their memory may come late or never from user space, for others too, or be taken away
# while a peer writes it.
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
