#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# GRO does no harm to RoCE packets that the host forwards, also after DNAT, nor to sockets
# that send to port 4791, and packet sockets see what was sent.
#
#	A [va] ---- [xa] X [xr] ---- [rx: vta] R [rb] ---- [vb: vtb] B
#
# Packets of A have lost their sockets when X has forwarded them, as those of another
# machine. X sends them one by one, and R waits for more of them before it goes on.

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/tcpdump.sh"

need python3 ethtool nft tcpdump taskset

NS_X=verve-x-$$
NS_R=verve-r-$$
COUNT=200
KINDS="same random"
[ "$QUICK" ] || KINDS="next $KINDS"

x() { ip netns exec "$NS_X" "$@"; }
r() { ip netns exec "$NS_R" "$@"; }

untopo() {
	local ns

	delete_links $DEV_A $DEV_B
	for ns in "$NS_A" "$NS_B" "$NS_X" "$NS_R"; do
		[ ! -e "/run/netns/$ns" ] || ip netns del "$ns"
	done
}

# between NETNS NETDEV ADDRESS NETNS NETDEV ADDRESS
between() {
	ip -n "$1" link add "$2" type veth peer name "$5" netns "$4" &&
	ip -n "$1" addr add "$3/24" dev "$2" && ip -n "$4" addr add "$6/24" dev "$5" &&
	ip -n "$1" link set "$2" up && ip -n "$4" link set "$5" up
}

routers() {
	local ns

	new_namespaces
	for ns in "$NS_X" "$NS_R"; do
		ip netns add "$ns" && ip -n "$ns" link set lo up &&
		ip netns exec "$ns" sysctl -qw net.ipv4.ip_forward=1 || return
	done
	between "$NS_A" va 10.0.1.1 "$NS_X" xa 10.0.1.2 &&
	between "$NS_X" xr 10.0.2.1 "$NS_R" rx 10.0.2.2 &&
	between "$NS_R" rb 10.0.3.1 "$NS_B" vb 10.0.3.2 &&
	ip -n "$NS_A" route add default via 10.0.1.2 &&
	ip -n "$NS_X" route add default via 10.0.2.2 &&
	ip -n "$NS_R" route add default via 10.0.2.1 &&
	ip -n "$NS_B" route add default via 10.0.3.1
}

# A veth does GRO if its peer has no TSO. R waits for packets to couple.
coupling() {
	x ethtool -K xr tso off && r ethtool -K rx gro on &&
	r sh -c 'echo 50000000 >/sys/class/net/rx/gro_flush_timeout'
}

chain() {
	routers && coupling &&
	link_add "$NS_R" $DEV_A rx && link_add "$NS_B" $DEV_B vb &&
	within 5 a ping -qc 1 -W 1 10.0.3.2 >/dev/null
}

start_over() {
	untopo
	chain
}

# Create R's device again, so that Verve's hook is before others of its priority.
renew_link() {
	link_delete $DEV_A && link_add "$NS_R" $DEV_A rx
}

# Make R a bridge, so that B is in X's subnet.
bridge() {
	ip -n "$NS_R" addr flush dev rb &&
	ip -n "$NS_R" link add br0 type bridge &&
	ip -n "$NS_R" link set rx master br0 && ip -n "$NS_R" link set rb master br0 &&
	ip -n "$NS_R" link set br0 up && ip -n "$NS_X" addr add 10.0.3.1/24 dev xr &&
	within 5 a ping -qc 1 -W 1 10.0.3.2 >/dev/null
}

bad_and_good() { # DEVICE
	local name sum=0

	renew_counters "$1"
	for name in rx_icrc_encapsulated rx_drop_length rx_drop_header rx_drop_memory; do
		sum=$((sum + $(hw_counter "$1" $name)))
	done
	echo "$sum $(hw_counter "$1" rx_drop_no_qp)"
}

has_gained() { # DEVICE BAD GOOD
	[ "$(bad_and_good "$1")" = "$2 $3" ]
}

# arrive FROM IDS DEVICE ADDRESS: all packets arrive unchanged
arrive() {
	local bad good

	read -r bad good <<<"$(bad_and_good "$3")"
	"$1" python3 "$HERE/transit_stream.py" "$2" \
		"$([ "$1" = a ] && echo 10.0.1.1 || echo 10.0.2.1)" "$4" $COUNT || return
	within 5 has_gained "$3" "$bad" $((good + COUNT)) ||
		fail "of $COUNT packets, bad and good: $(bad_and_good "$3"), before: $bad $good"
}

# All kinds of identifications, forwarded and local
all_arrive() {
	local ids

	for ids in $KINDS; do
		arrive a $ids $DEV_B 10.0.3.2 && arrive a $ids $DEV_A 10.0.2.2 ||
			fail "$ids" || return
	done
}

# sniffed COMMAND...: while a packet socket holds clones of R's packets
sniffed() {
	local pid rc

	: >"$TMP/sniff"
	ip netns exec "$NS_R" python3 "$HERE/transit_sniff.py" rx >"$TMP/sniff" 2>&1 &
	pid=$!
	within 5 grep -q ready "$TMP/sniff" || fail "$(<"$TMP/sniff")" || return
	"$@"
	rc=$?
	kill $pid
	wait $pid || fail "$(<"$TMP/sniff")" || return
	SEEN=$(sed -n 's/ packets$//p' "$TMP/sniff")
	[ "$SEEN" -gt 0 ] || fail "the sniffer has seen none" || return
	return $rc
}

# The packet socket of R sees fewer packets if GRO couples them.
coupled() {
	sniffed arrive "$@" || return
	[ "$SEEN" -le $((COUNT / 2)) ] || fail "$SEEN packets were seen"
}

alone() {
	sniffed arrive "$@" || return
	[ "$SEEN" = $COUNT ] || fail "$SEEN packets were seen"
}

# ruled RULE COMMAND...: with this rule in R's hooks input and forward
ruled() {
	local rule=$1 hook rc

	shift
	for hook in input forward; do
		r nft -f - <<-END || return
			table inet ruled {
				chain $hook {
					type filter hook $hook priority 0
					udp dport 4791 $rule counter
				}
			}
		END
	done
	"$@"
	rc=$?
	r nft delete table inet ruled
	return $rc
}

# The hook sees the first packets of a connection before conntrack confirms it.
tracked() {
	renew_link && all_arrive
}

# R gives packets for itself to B, one by one.
translated() {
	r ethtool -K rb tx-gso-list off &&
	r nft -f - <<-END
		table ip translated {
			chain prerouting {
				type filter hook prerouting priority dstnat
				udp dport 4791 ip daddr set 10.0.3.2
			}
		}
	END
}

# passed IDS LENGTH...: which lengths of A's packets for R arrive in B, with the BTH. On
# another CPU, a packet could overtake those that wait in the backlog of the first.
passed() {
	tcpdump_begin "$NS_B" -i vb -n -s 400 --immediate-mode -l \
		udp port 4791 >"$TMP/passed" &&
	a taskset -c 0 python3 "$HERE/transit_stream.py" "$1" 10.0.1.1 10.0.2.2 $COUNT "${@:2}" &&
	within 5 grep -q UDP "$TMP/passed" && tcpdump_end &&
	sed -n 's/.*UDP, length //p' "$TMP/passed"
}

# Every third packet has a UDP checksum, and GRO takes these for another flow.
in_order() {
	local lengths

	mapfile -t lengths < <(seq $((4 * COUNT)) -4 4 | sed '0~3s/$/c/')
	passed same "${lengths[@]}" >"$TMP/lengths" &&
	seq $((4 * COUNT + 16)) -4 20 | diff - "$TMP/lengths"
}

# R compares its MTU with the first packet of a train only. Short packets of a train go
# where the first one goes.
no_long_one() {
	r ip link set rb mtu 1000 && passed next 8 1400 >"$TMP/lengths" || return
	! grep -vxm 3 24 "$TMP/lengths" || return
	[ "$(wc -l <"$TMP/lengths")" -lt $((COUNT / 2)) ] || fail "GRO has not coupled packets"
}

tap_setup chain
tap_add "for the host" coupled a next $DEV_A 10.0.2.2
tap_add "for the host, one identification" coupled a same $DEV_A 10.0.2.2
tap_add "for the host, any identification" alone a random $DEV_A 10.0.2.2
tap_add "for the host, from a socket on this machine" alone x next $DEV_A 10.0.2.2
tap_add "forwarded" alone a next $DEV_B 10.0.3.2
tap_add "forwarded, any identification" alone a random $DEV_B 10.0.3.2
tap_add "forwarded, from a socket on this machine" alone x next $DEV_B 10.0.3.2
tap_add "nobody looks" all_arrive
tap_add "conntrack" ruled "ct state new" tracked
tap_add "a rule that changes packets" ruled "ip dscp set 1" all_arrive
tap_add "a rule that changes packets, and a sniffer" \
	sniffed ruled "ip dscp set 1" all_arrive
tap_setup bridge
tap_add "bridged" alone a next $DEV_B 10.0.3.2
tap_add "bridged, any identification" alone a random $DEV_B 10.0.3.2
tap_setup start_over
tap_setup translated
tap_add "no packet overtakes another" in_order
tap_add "no packet passes an MTU that it exceeds" no_long_one
tap_run
