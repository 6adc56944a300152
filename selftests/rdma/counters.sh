#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each counter moves for its own reason and no other: events of QPs, packets that no QP
# gets, groups, packets that the stack refuses to send. The files in counters/ have the
# same by the names of InfiniBand.
#
#	A [va: vta] ---- [vb: vtb] B

# The numbers are those of packets.
BYPASS=N

. "$(dirname "$0")/../lib/verve.sh"

TRAINS=/sys/module/verve/parameters/trains

need nft python3 ibv_rc_pingpong

# read_all DEVICE: print "NAME VALUE" of all counters, with fresh values of hw_counters
read_all() {
	local port=/sys/class/infiniband/$1/ports/1

	renew_counters "$1"
	(cd "$port" && grep -H . hw_counters/* counters/* | tr : ' ')
}

# changes DEVICE COMMAND...: write "NAME GROWTH" of all counters but those of traffic
changes() {
	local dev=$1

	shift
	read_all "$dev" >"$TMP/before"
	"$@" >"$TMP/command" 2>&1 || { cat "$TMP/command"; return 1; }
	sleep 0.2
	read_all "$dev" >"$TMP/after"
	join "$TMP/before" "$TMP/after" |
		awk '$2 != $3 { print $1, $3 - $2 }' |
		grep -vE '/((sent|rcvd|unicast_.*|port_xmit|port_rcv)_(pkts|bytes|packets|data)|rdma_(sends|recvs)) ' \
		>"$TMP/changes" || :
}

# exactly CHANGE...: compare with the output of changes()
exactly() {
	printf '%s\n' "$@" | sort >"$TMP/want"
	sort "$TMP/changes" | diff "$TMP/want" - ||
		fail "not as expected: $(<"$TMP/changes")"
}

# rubbish KIND COUNTER...: 3 such packets move only these counters, by 3
rubbish() {
	local kind=$1 name want=()

	shift
	for name; do
		want+=("$name 3")
	done
	changes $DEV_B three "$kind" && exactly "${want[@]}"
}

three() {
	local i

	for i in 1 2 3; do
		a python3 "$HERE/counters_rubbish.py" "$1" 10.0.0.1 10.0.0.2 || return
	done
}

# Drop the first packet with an opcode at one end. The packet must not be coupled with
# those that follow.
lost() { # END OPCODE "write"|"read"
	local rc was

	modprobe -q nft_numgen
	"$1" nft -f - <<-END || return
		table inet lose {
			chain in {
				type filter hook input priority 0
				udp dport 4791 @th,64,8 $2 numgen inc mod 1000000 0 drop
			}
		}
	END
	was=$(<$TRAINS)
	echo N >$TRAINS
	LOST=$3 c_test counters
	rc=$?
	echo "$was" >$TRAINS
	"$1" nft delete table inet lose
	return $rc
}

# Packets that a firewall drops in the output hook do not count as sent.
discards() {
	local n

	a nft -f - <<-END || return
		table inet block {
			chain out {
				type filter hook output priority 0
				udp dport 4791 drop
			}
		}
	END
	changes $DEV_A not pings
	a nft delete table inet block
	n=$(awk '$1 == "hw_counters/send_err" { print $2 }' "$TMP/changes")
	[ "$n" ] && grep -qx "counters/port_xmit_discards $n" "$TMP/changes" ||
		fail "$(<"$TMP/changes")"
}

# Without retries, the client fails soon.
pings() {
	PORT=$((PORT + 1))
	pair tcp:$PORT \
		ibv_rc_pingpong -d $DEV_S -g "$GID_S" -p $PORT -n 20 -- \
		ibv_rc_pingpong -d $DEV_C -g "$GID_C" -p $PORT -n 20 $IP4
}

by() { # NAME
	awk -v name="$1" '$1 == name { print $2 }' "$TMP/changes"
}

# Each datagram counts once as sent, and once as received for each QP of the group.
groups() {
	changes $DEV_A c_test multicast || return
	[ "$(by hw_counters/sent_mcast_pkts)" -gt 10 ] &&
	[ "$(by hw_counters/sent_mcast_pkts)" = \
		"$(by counters/multicast_xmit_packets)" ] ||
		fail "sent: $(<"$TMP/changes")" || return
	changes $DEV_B c_test multicast || return
	[ "$(by hw_counters/rcvd_mcast_pkts)" -gt 10 ] &&
	[ "$(by hw_counters/rcvd_mcast_pkts)" = \
		"$(by counters/multicast_rcv_packets)" ] ||
		fail "received: $(<"$TMP/changes")"
}

# Packets of the port that are not to groups count as unicast.
unicast() {
	local dev port way

	for dev in $DEV_A $DEV_B; do
		port=/sys/class/infiniband/$dev/ports/1/counters
		for way in xmit rcv; do
			[ $(($(<"$port/unicast_${way}_packets") + \
				$(<"$port/multicast_${way}_packets"))) = \
				"$(<"$port/port_${way}_packets")" ] ||
				fail "$dev $way: $(grep . "$port"/*_packets)" ||
				return
		done
	done
}

tap_setup topo two
tap_add "events, IPv4" c_test counters
tap_add "events, IPv6" c_test counters -6
tap_add "a WRITE is lost" lost b 10 write
tap_add "a response of a READ is lost" lost a 16 read
tap_add "a length that cannot be" rubbish length \
	hw_counters/rx_drop_length counters/port_rcv_errors
tap_add "a version that is not 0" rubbish header \
	hw_counters/rx_drop_header counters/port_rcv_errors
tap_add "more pad than payload" rubbish pad \
	hw_counters/rx_drop_length counters/port_rcv_errors
tap_add "an unknown opcode" rubbish opcode hw_counters/rx_drop_opcode
tap_add "another partition" rubbish pkey \
	hw_counters/rx_drop_pkey counters/port_rcv_constraint_errors
tap_add "no such QP" rubbish no_qp hw_counters/rx_drop_no_qp
tap_add "a congestion notification to no QP" rubbish cnp hw_counters/rx_drop_no_qp
tap_add "a wrong ICRC" rubbish icrc \
	hw_counters/rx_icrc_encapsulated counters/port_rcv_errors
tap_add "what is not sent" discards
tap_add "groups" groups
tap_add "groups and others" unicast
tap_run
