#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fields of address vectors are cut to their width, so that they change nothing else of
# a header and pass no firewall, and the network sees the priority and the source port
# that a program asked for.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B
#
# For priorities, va and vb are VLANs of the wire, wa ---- wb.

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/tcpdump.sh"

need tcpdump nft

# frames NETDEV COMMAND...: capture on B's netdev meanwhile, to $TMP/frames
frames() {
	tcpdump_begin "$NS_B" -i "$1" --immediate-mode -s 256 -B 8192 \
		-U -Z root -w "$TMP/frames.pcap" || return
	shift
	"$@" >"$TMP/traffic" 2>&1
	CAPTURED_RC=$?
	tcpdump_end || return
	tcpdump -envr "$TMP/frames.pcap" >"$TMP/frames" 2>/dev/null
}

# The program's packets are IPv6, and a firewall of IPv6 drops all of them.
firewall() {
	a nft -f - <<-END || return
		table ip6 t {
			chain out {
				type filter hook output priority 0
				udp dport 4791 drop
			}
		}
	END
	frames vb timeout $((3 * SLOW)) env CASE=send LABEL=0xffffffff \
		ip netns exec "$NS_C" fields -d $DEV_C -D $DEV_S -n "$NS_C" \
		-N "$NS_S" -6
	a nft delete table ip6 t
	[ $CAPTURED_RC != 0 ] || fail "$(<"$TMP/traffic")" || return
	not grep -v -e "ICMP6" -e "ethertype ARP" -e "^[[:space:]]" "$TMP/frames"
}

# sends VARIABLE=VALUE...: send a datagram and a WRITE
sends() {
	env CASE=send ip netns exec "$NS_C" env "$@" fields -d $DEV_C -D $DEV_S \
		-n "$NS_C" -N "$NS_S"
}

# A program without capabilities cannot change its network namespace.
user_sends() {
	install -m 755 "$(command -v fields)" "$TMP/fields" && chmod 711 "$TMP" &&
	ip netns exec "$NS_C" setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps=-all env CASE=send "$@" "$TMP/fields" \
		-d $DEV_C -D $DEV_S
}

# Print the distinct PCPs of the client's packets in the capture.
pcps() {
	tcpdump -enr "$TMP/frames.pcap" \
		'vlan and src host 10.0.0.1 and udp dst port 4791' 2>/dev/null |
		sed -n 's/.*vlan 10, p \([0-7]\),.*/\1/p' | sort -u | tr '\n' ' '
}

# pcp PCP COMMAND...: all packets sent have this PCP
pcp() {
	local pcp=$1

	shift
	frames wb "$@" && [ $CAPTURED_RC = 0 ] || fail "$(<"$TMP/traffic")" ||
		return
	[ "$(pcps)" = "$pcp " ] || fail "PCP $(pcps)"
}

# Without a capability, 6 is the highest priority, as for sockets.
pcp_of_user() {
	command -v setpriv >/dev/null || { skip "no setpriv"; return; }
	pcp 7 sends SL=7 && pcp 1 user_sends SL=1 && pcp 6 user_sends SL=7
}

datagram_ports() {
	tcpdump -nr "$TMP/frames.pcap" 'src host 10.0.0.1 and udp[8] = 0x64' \
		2>/dev/null | sed -n 's/.* 10\.0\.0\.1\.\([0-9]*\) >.*/\1/p' | sort -u
}

four_times() {
	"$@" && "$@" && "$@" && "$@"
}

# Without a flow label, datagrams between different QPs have different source ports.
ports() {
	frames vb four_times sends && [ $CAPTURED_RC = 0 ] ||
		fail "$(<"$TMP/traffic")" || return
	[ "$(datagram_ports | wc -l)" -gt 1 ] || fail "$(datagram_ports)" || return
	[ "$(datagram_ports | head -n 1)" -ge 49152 ] || fail "$(datagram_ports)"
}

for t in one two; do
	tap_setup topo $t
	tap_add "fields, IPv4, topology $t" c_test fields
	tap_add "fields, IPv6, topology $t" c_test fields -6
done
tap_add "a firewall for IPv6" firewall
tap_add "source ports of datagrams" ports
tap_setup eval 'wire() { vlan_wire "$@"; }'
tap_setup eval 'PCPS="0:0 1:1 2:5 3:2 6:6 7:7"'
tap_setup topo two
tap_add "no priority" pcp 0 sends
tap_add "the traffic class's" pcp 6 sends CLASS=0x10
tap_add "the service level is the PCP" pcp 5 sends SL=5
tap_add "which goes before the traffic class's" pcp 2 sends SL=2 CLASS=0x10
tap_add "one that no priority becomes" pcp 2 sends SL=3
tap_add "that of a completion is none" pcp 6 sends SL=10 CLASS=0x10
tap_add "above 6 for some only" pcp_of_user
tap_run
