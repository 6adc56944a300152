# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Counts what moves in packets, and what without. Sourced after verve.sh. The test
# defines packets(), which prints the number of packets until now.

# moved COMMAND...: set MEMORY (packets that the client's device did not need) and WIRE
# (packets)
moved() {
	local loop wire

	loop=$(hw_counter $DEV_C loopback_pkts) wire=$(packets)
	"$@" || return
	MEMORY=$(($(hw_counter $DEV_C loopback_pkts) - loop))
	WIRE=$(($(packets) - wire))
	echo "$* : $MEMORY by memory, $WIRE by wire"
}
