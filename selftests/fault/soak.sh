#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Everything at once in a bad network, for DURATION seconds (30; 20 if QUICK): traffic
# of all services, compared, while netdevs go down, devices come and go, and processes
# are killed. The network loses, delays, repeats, damages and reorders packets. After
# each round, the counters account for every packet that arrived.
#
#	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"
. "$(dirname "$0")/../lib/load.sh"

[ "$DURATION" ] || ! grep -q 'QEMU TCG' /proc/cpuinfo ||
	skip_all "the CPU is emulated: see make soak"

need nft tc nstat ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw

DURATION=${DURATION:-${QUICK:+20}}
DURATION=${DURATION:-30}
TRAINS=/sys/module/verve/parameters/trains
TRAINS_WAS=$(cat $TRAINS 2>/dev/null)
WEATHERS=("loss 1%" "delay 2ms reorder 20%" "duplicate 2%" "corrupt 1%"
	"delay 5ms 2ms" "loss 0.5% corrupt 0.5% duplicate 1%")
PROGRAMS=("ib_write_bw -s 65536 -q 2" "ib_read_bw -s 65536" "ib_send_bw -s 4096"
	"ib_atomic_bw" "ib_send_bw -s 1000000 -b")
ROUND=0
SUM_IN=0
SUM_ICRC=0

# ---------------------------------------------------------------- the network

# Count packets by nftables before Verve sees them. A train counts as one packet.
watch_network() {
	local end

	for end in a b; do
		$end nft -f - <<-END || return
			table ip watch {
				counter came { }
				chain in {
					type filter hook prerouting priority -300
					udp dport 4791 counter name came
				}
			}
		END
	done
}

came() { # END
	"$1" nft list counter ip watch came | sed -n 's/.*packets \([0-9]*\).*/\1/p'
}

# Packets that UDP drops itself, as their UDP length or checksum was damaged
udp_errors() { # END
	"$1" nstat -asz UdpInErrors UdpInCsumErrors | awk '
		$1 == "UdpInErrors" { print $2 }'
}

count() { # DEVICE COUNTER...: their sum
	local dev=$1 name sum=0

	shift
	for name; do
		sum=$((sum + $(<"/sys/class/infiniband/$dev/ports/1/hw_counters/$name")))
	done
	echo $sum
}

# counted DEVICE: all packets that it has received, dropped ones included
counted() {
	renew_counters "$1"
	count "$1" rcvd_pkts rx_icrc_encapsulated rx_drop_length rx_drop_header \
		rx_drop_opcode rx_drop_pkey rx_drop_no_qp
}

accounts() {
	ACCOUNT="$(came a) $(counted $DEV_A) $(udp_errors a)"
	ACCOUNT+=" $(came b) $(counted $DEV_B) $(udp_errors b)"
}

# balance BEFORE AFTER: both as written by accounts()
balance() {
	awk -v before="$1" -v after="$2" 'BEGIN {
		split(before, b)
		split(after, a)
		for (i = 1; i <= 6; i += 3) {
			came = a[i] - b[i]
			counted = a[i + 1] - b[i + 1]
			lost = a[i + 2] - b[i + 2]
			printf "came %d, counted %d, UDP dropped %d\n",
				came, counted, lost
			bad += came != counted + lost
			total += came
		}
		exit bad || !total
	}'
}

# ---------------------------------------------------------------- events

flap() {
	ip -n "$NS_A" link set va down && nap 0.05 &&
	ip -n "$NS_A" link set va up
}

another_device() {
	within 5 link_add "$NS_A" vtc vc && sleep 0.1 && link_delete vtc
}

another_address() {
	ip -n "$NS_A" addr add 10.0.7.1/24 dev va && nap 0.05 &&
	ip -n "$NS_A" addr del 10.0.7.1/24 dev va
}

another_mtu() {
	ip -n "$NS_A" link set va mtu 9000 && ip -n "$NS_A" link set va mtu 1500
}

a_death() {
	: >"$TMP/victim"
	QPS=32 timeout $((10 * SLOW)) load -d $DEV_A -D $DEV_B -n "$NS_A" -N "$NS_B" \
		>"$TMP/victim" 2>&1 &
	within 10 grep -q ready "$TMP/victim" || fail "no victim" || return
	kill -KILL $(pgrep -P $! load)
	wait $! 2>/dev/null
	return 0
}

EVENTS=(flap another_device another_address another_mtu a_death)

# ---------------------------------------------------------------- rounds

# All commands succeed, in each weather.
storms() {
	local i

	for i in "${!WEATHERS[@]}"; do
		# shellcheck disable=SC2086 # words
		network netem ${WEATHERS[i]} || fail "netem ${WEATHERS[i]}" || return
		sleep 0.5
		"${EVENTS[(ROUND + i) % ${#EVENTS[@]}]}" ||
			fail "${EVENTS[(ROUND + i) % ${#EVENTS[@]}]}" || return
		counts_on $DEV_A sent_pkts ||
			fail "${WEATHERS[i]}: nothing is sent" || return
	done
}

round() {
	local before prog rc

	echo $((ROUND % 2)) >$TRAINS
	accounts
	before=$ACCOUNT
	rc=$(hw_counter $DEV_A sent_pkts)
	prog=${PROGRAMS[ROUND % ${#PROGRAMS[@]}]}
	# shellcheck disable=SC2086 # words
	IP4=$IP4_APART perftest $prog -D 5 -u 18 >"$TMP/perftest" 2>&1 &
	prog=$!
	# perftest needs a port that is up when it begins.
	within 10 has_counted $DEV_A sent_pkts $((rc + 100)) && load_begin && storms
	rc=$?
	wait $prog || fail "perftest: $(<"$TMP/perftest")" || rc=1
	fair_network
	load_end || fail "the load ended with $?" || rc=1
	sleep 0.2
	accounts
	[ $((ROUND % 2)) = 1 ] || balance "$before" "$ACCOUNT" ||
		fail "packets that are not accounted for" || rc=1
	as_before && return $rc
}

soak() {
	local end=$((SECONDS + DURATION)) rc=0

	BEFORE=$(everything)
	watch_network || return
	while [ $rc = 0 ] && [ $SECONDS -lt $end ]; do
		round || { fail "in round $ROUND"; rc=1; }
		ROUND=$((ROUND + 1))
	done
	echo "$TRAINS_WAS" >$TRAINS
	summary
	return $rc
}

summary() {
	echo "# soak: $ROUND rounds, $DURATION s," \
		"$(($(count $DEV_A rcvd_pkts) + $(count $DEV_B rcvd_pkts))) packets" \
		"received, $(count $DEV_A rx_icrc_encapsulated) and" \
		"$(count $DEV_B rx_icrc_encapsulated) damaged," \
		"$(count $DEV_A loss_probes local_ack_timeout_err packet_seq_err)" \
		"repetitions asked for, $(count $DEV_A req_cqe_error) failed requests" \
		>"$TMP/summary"
}

no_failures() {
	[ "$(count $DEV_A retry_exceeded_err retry_rnr_exceeded_err)" = 0 ] ||
		fail "$(grep . /sys/class/infiniband/vta/ports/1/hw_counters/*)"
}

# The TCP connections of perftest are not what is tested: they have a link of their own.
IP4_APART=10.0.9.2

link_apart() {
	ip -n "$NS_A" link add ta type veth peer name tb netns "$NS_B" &&
	ip -n "$NS_A" addr add 10.0.9.1/24 dev ta &&
	ip -n "$NS_B" addr add $IP4_APART/24 dev tb &&
	ip -n "$NS_A" link set ta up && ip -n "$NS_B" link set tb up
}

set_up() {
	topo two 1500 && link_apart || return
	a sysctl -qw net.ipv6.conf.va.keep_addr_on_down=1
	ip -n "$NS_A" link add vc type dummy && ip -n "$NS_A" link set vc up
}

clean_up() {
	load_kill
	echo "$TRAINS_WAS" >$TRAINS
	[ ! -e "$TMP/summary" ] || cat "$TMP/summary"
	cleanup
}

trap clean_up EXIT

modprobe -q sch_netem
tap_setup set_up
tap_add "everything at once for $DURATION s" soak
tap_add "no request failed" no_failures
tap_add "no memory is leaked" no_leak
tap_run
