#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packets from a host that knows the peer's address and the QPN, but no PSN, have no
# effect when they are far from it, and end no connection when they are near, over IPv4
# and IPv6.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/attack.sh"

tap_setup attackable
tap_add "blind packets over IPv4" c_test blind
tap_add "blind packets over IPv6" c_test blind -6
tap_run
