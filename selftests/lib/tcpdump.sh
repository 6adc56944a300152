# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# tcpdump, one at a time: its messages are in $TMP/tcpdump, its process is $TCPDUMP.
# Sourced after verve.sh.

tcpdump_is_ready() {
	grep -q "listening on" "$TMP/tcpdump"
}

# tcpdump_begin NETNS OPTION...: capture until tcpdump_end
tcpdump_begin() {
	local ns=$1

	shift
	# Remove the output of the previous tcpdump.
	: >"$TMP/tcpdump"
	ip netns exec "$ns" tcpdump "$@" 2>"$TMP/tcpdump" &
	TCPDUMP=$!
	within 5 tcpdump_is_ready || fail "$(<"$TMP/tcpdump")" >&2
}

tcpdump_reports() {
	grep " captured, " "$TMP/tcpdump"
}

tcpdump_has_reported() { # TIMES
	[ "$(tcpdump_reports | wc -l)" -ge "$1" ]
}

# tcpdump has nothing left to read: it reports the same number of packets twice.
tcpdump_is_idle() {
	local reports

	reports=$(tcpdump_reports | wc -l)
	kill -USR1 $TCPDUMP && within 5 tcpdump_has_reported $((reports + 1)) || return
	[ "$reports" != 0 ] && [ "$(tcpdump_reports | tail -n 2 | uniq | wc -l)" = 1 ]
}

# On a busy machine tcpdump is late: what it has not read would be lost.
tcpdump_end() {
	local rc=0

	sleep 0.3
	within 10 tcpdump_is_idle || rc=1
	kill $TCPDUMP
	wait $TCPDUMP
	[ $rc = 0 ] || fail "tcpdump goes on: $(<"$TMP/tcpdump")" >&2
}

# capture NETNS NETDEV in|inout FILE COMMAND...: capture all packets meanwhile
capture() {
	local ns=$1 dev=$2 direction=$3 file=$4

	shift 4
	# The snapshot length is the size of a frame in the ring.
	tcpdump_begin "$ns" -i "$dev" --immediate-mode -s 9300 -B 32768 \
		-Q "$direction" -U -Z root -w "$file" udp port 4791 || return
	"$@" || return
	tcpdump_end || return
	grep -q "^0 packets dropped by kernel" "$TMP/tcpdump" ||
		fail "$(cat "$TMP/tcpdump")"
}
