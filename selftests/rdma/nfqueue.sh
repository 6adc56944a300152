#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packets that a firewall gives to a program (NFQUEUE) arrive whole when the program
# accepts them, one by one or in trains.
#
#	A [va: vta] ---- [vb: vtb] B
#
# The packets go on in a system call of the program, not in a softirq.

. "$(dirname "$0")/../lib/verve.sh"

need nft python3

modprobe -q nft_queue || skip_all "no module nft_queue"
modprobe -q nfnetlink_queue || skip_all "no module nfnetlink_queue"

MOST=32768
QUEUES=()

queue_rules() { # NETNS
	ip netns exec "$1" nft -f - <<-END
		table inet queued {
			chain input {
				type filter hook input priority 0
				udp dport 4791 queue num 0
			}
		}
	END
}

# queue NETNS packets|trains: a program accepts what comes in
queue() {
	local out=$TMP/queue-$1

	: >"$out"
	ip netns exec "$1" python3 "$HERE/nfqueue.py" "$2" >"$out" 2>&1 &
	QUEUES+=($!)
	within 5 grep -q ready "$out" && queue_rules "$1" || fail "$(<"$out")"
}

# The rules go first, so that no packet is without a program.
unqueue() {
	local pid rc=0

	a nft delete table inet queued
	b nft delete table inet queued
	for pid in "${QUEUES[@]}"; do
		kill "$pid"
		wait "$pid" || rc=1
	done
	QUEUES=()
	[ $rc = 0 ] || fail "$(cat "$TMP"/queue-*)"
}

accepted() { # NETNS
	grep -q '^[1-9][0-9]* packets$' "$TMP/queue-$1" ||
		fail "nothing was accepted: $(<"$TMP/queue-$1")"
}

# queued packets|trains COMMAND...: all packets of both ends go through a program
queued() {
	local rc

	queue "$NS_A" "$1" && queue "$NS_B" "$1" || { unqueue; return 1; }
	shift
	"$@"
	rc=$?
	unqueue && accepted "$NS_A" && accepted "$NS_B" && return $rc
}

# The first flag of an event is a b while softirqs are off, and the third an s in one.
softirqs_are_off() {
	trace_is_there || { skip "no tracepoints"; return; }
	local enable=$TRACE/events/verve/verve_arrival/enable rc

	echo >$TRACE/trace
	echo 1 >$enable
	perftest ib_write_bw -s 65536 -n 5 -u 18
	rc=$?
	echo 0 >$enable
	grep verve_arrival: $TRACE/trace >"$TMP/trace" || fail "nothing was traced" || return
	! grep -m 3 '\] [.].[.]' "$TMP/trace" && return $rc
}

tap_setup topo two 4200
for what in packets trains; do
	tap_add "$what, IPv4" queued $what c_test opcodes -s $MOST
	tap_add "$what, IPv6" queued $what c_test opcodes -6 -s $MOST
	tap_add "$what, softirqs are off" queued $what softirqs_are_off
	tap_add "$what, both ways at once" \
		queued $what perftest ib_write_bw -b -s 65536 -n 20 -u 18
done
tap_run
