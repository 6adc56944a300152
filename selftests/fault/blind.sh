#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packets that a peer did not send, from somebody who knows its address and a QPN
# (blind.c), over IPv4 and IPv6.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/attack.sh"

tap_setup attackable
tap_add "blind packets over IPv4" c_test blind
tap_add "blind packets over IPv6" c_test blind -6
tap_run
