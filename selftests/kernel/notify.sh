#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The driver calls the handlers of a kernel user, the module verve_notify, when the core
# allows it.
#
#	A [va: vta]		all of its QPs on vta

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/module.sh"

find_module verve_notify || skip_all "no module verve_notify"
tap_setup topo one 1500
tap_add "handlers" test_module verve_notify
tap_add "nothing is left behind" nothing_left verve_notify
tap_run
