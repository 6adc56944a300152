#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# libfabric's provider for verbs moves right data by connected endpoints and by
# datagrams, over IPv4 and IPv6: fi_pingpong compares each message of each size.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

need fi_pingpong

LIMIT=$((3 * LIMIT))
COUNT=${QUICK:+5}
COUNT=${COUNT:-50}

# pingpong SIZES DOMAIN ADDRESS OPTION...: the control connection, by TCP, is to the
# address. The domain is a device, with this suffix. So many sizes fit into a message: six
# for connected endpoints, and for datagrams those up to 1 KiB.
pingpong() {
	local sizes=$1 domain=$2 address=$3 lines

	shift 3
	PORT=$((PORT + 1))
	pair tcp:$PORT \
		fi_pingpong -c -p verbs -d "$DEV_S$domain" -I $COUNT -B $PORT "$@" -- \
		fi_pingpong -c -p verbs -d "$DEV_C$domain" -I $COUNT -P $PORT "$@" "$address" ||
		return
	lines=$(grep -cE "^[0-9]+[km]? +$COUNT +=$COUNT " "$TMP/client")
	[ "$lines" = "$sizes" ] ||
		fail "$lines sizes, not $sizes: $(tail -n 7 "$TMP/client")"
}

for t in one two; do
	tap_setup topo $t
	tap_add "connected, IPv4, $t" eval 'pingpong 6 "" $IP4 -e msg'
	tap_add "connected, IPv6, $t" eval 'pingpong 6 "" $IP6 -e msg -6'
	tap_add "datagrams, IPv4, $t" eval 'pingpong 3 -dgram $IP4 -e dgram'
	tap_add "datagrams, IPv6, $t" eval 'pingpong 3 -dgram $IP6 -e dgram -6'
done
tap_run
