#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The programs of rsockets, rstream, riostream and rcopy, move right data at many sizes
# and with each of their options.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

need rstream riostream rcopy cmp

LIMIT=$((3 * LIMIT))
SIZES=(1 64 65 4096 65536 1048576)
SOME=(65 300000)
POLLHUP=16

# A program prints a line when all data were right. Its exit code may be 0 after others.
complete() { # FILE
	grep -qE '^custom .*s +[0-9.]+ +[0-9.]+$' "$1" ||
		fail "${1##*/}: no result: $(tail -n 5 "$1")"
}

# ends PROGRAM OPTION...: both compare what they receive. The server is given its address,
# because without one it listens on IPv4 alone.
ends() {
	local program=$1 address=${ADDRESS:-$IP4}

	shift
	PORT=$((PORT + 1))
	pair cm "$program" -p $PORT -T v -b "$address" "$@" -- \
		"$program" -p $PORT -T v "$@" -s "$address" || return
	complete "$TMP/client" && complete "$TMP/server"
}

# Each way, transfers of a size follow one another, and then a turn of the other end.
sizes() { # PROGRAM MODE SIZE...
	local size

	for size in "${@:3}"; do
		ends "$1" -T "$2" -S "$size" -C 20 -I 3 || return
	done
}

# By poll(). The server closes at the end, after which rstream's client takes POLLHUP,
# its exit code, for a failure, even if there is something left to read. All turns but
# this last one have been compared then.
by_poll() { # PROGRAM SIZE...
	local size

	for size in "${@:2}"; do
		sizes "$1" a "$size" >"$TMP/poll" && continue
		grep -q "^client: .*: exit code $POLLHUP$" "$TMP/poll" &&
			complete "$TMP/server" && continue
		cat "$TMP/poll"
		return 1
	done
}

at_address() { # ADDRESS OPTION...
	local ADDRESS=$1

	shift
	ends rstream -S 5000 -C 20 "$@"
}

# A buffer of less than a transfer, and of more
buffers() { # PROGRAM
	local bytes

	for bytes in 4096 65536 4194304; do
		ends "$1" -B "$bytes" -S 100000 -C 20 || return
	done
}

# The device has less room for inline data than the last of these.
inline() { # PROGRAM
	local bytes

	for bytes in 0 16 400 4000; do
		ends "$1" -i "$bytes" -S 64 -C 100 || return
	done
}

# rcopy's server goes on until it is killed, and is given no address.
copied() {
	local spid rc

	PORT=$((PORT + 1))
	rm -f "$TMP/copy"
	head -c 5000003 /dev/urandom >"$TMP/data"
	ip netns exec "$NS_S" timeout $LIMIT rcopy -p $PORT >"$TMP/server" 2>&1 &
	spid=$!
	ready cm rcopy $spid
	client timeout $LIMIT rcopy "$TMP/data" "$IP4:$TMP/copy" -p $PORT
	rc=$?
	kill $spid
	wait $spid
	[ $rc = 0 ] && cmp "$TMP/data" "$TMP/copy"
}

tap_setup topo one
for program in rstream riostream; do
	tap_add "$program, one" sizes $program b "${SOME[@]}"
done
tap_add "rcopy, one" copied
tap_setup topo two
for program in rstream riostream; do
	tap_add "$program, blocking" sizes $program b "${SIZES[@]}"
	tap_add "$program, nonblocking" sizes $program n "${SOME[@]}"
	tap_add "$program, by poll()" by_poll $program "${SOME[@]}"
	tap_add "$program, buffers of many sizes" buffers $program
	tap_add "$program, inline data of many sizes" inline $program
done
tap_add "rstream over IPv6" eval 'at_address $IP6 -f ipv6'
tap_add "rstream, its address resolved by rdma_cm" eval 'at_address $IP4 -T r'
tap_add "rstream with keepalive" eval 'at_address $IP4 -k 1'
tap_add "rcopy" copied
tap_run
