#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every opcode of RC, UC and UD moves the right bytes, at all sizes and path MTUs, and a
# send queue keeps its order: within one device and between two, over IPv4 and IPv6.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B
#
# HUGE=1 adds messages of 1 GiB (4 GiB of memory).

. "$(dirname "$0")/../lib/verve.sh"

tap_setup topo one 1500
tap_add "opcodes, one device, MTU 1500" c_test opcodes
tap_add "opcodes, one device, IPv6" c_test opcodes -6 -s 10000
tap_add "queue, one device" c_test opcodes_queue
tap_setup topo two 4200
tap_add "opcodes, two devices, MTU 4200" c_test opcodes ${HUGE:+--huge}
tap_add "opcodes, two devices, IPv6" c_test opcodes -6
tap_add "queue, two devices" c_test opcodes_queue
tap_run
