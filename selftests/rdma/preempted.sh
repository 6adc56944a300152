#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# With PREEMPT_RT, a thread may be preempted by another one on its CPU in the middle of
# what the driver does for it (preempted.c).
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

uname -v | grep -qw PREEMPT_RT || skip_all "not a kernel with PREEMPT_RT"

for t in one two; do
	tap_setup topo $t
	tap_add "two threads on a CPU, topology $t" c_test preempted
done
tap_run
