#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module verve_frwr, a kernel user, registers memory by fast registration.
#
#	A [va: vta]		both of its QPs on vta

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/module.sh"

find_module verve_frwr || skip_all "no module verve_frwr"
tap_setup topo one 1500
tap_add "fast registration" test_module verve_frwr
tap_add "nothing is left behind" nothing_left verve_frwr
tap_run
