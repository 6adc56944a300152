#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Forged packets to connected QPs, by a peer that knows their numbers, PSNs and keys,
# harm only the connection that they pretend to belong to, over IPv4 and IPv6. The MTU
# has room for packets that are longer than any path MTU.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/attack.sh"

tap_setup attackable 9000
tap_add "packets over IPv4" c_test packets
tap_add "packets over IPv6" c_test packets -6
tap_run
