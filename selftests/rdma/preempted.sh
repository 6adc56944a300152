#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# On a kernel with PREEMPT_RT, a thread may preempt another one of its CPU in the middle
# of the driver, and the data of both are right.
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
