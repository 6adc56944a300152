#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rdma_cm connects over the device's GSI: the programs of rdmacm-utils run, over IPv4,
# IPv6 and link-local addresses.
#
#	one:	A [va: vta]			both ends on vta
#	two:	A [va: vta] ---- [vb: vtb] B

. "$(dirname "$0")/../lib/verve.sh"

need rping ucmatose udaddy rdma_server rdma_client rstream

COUNT=${QUICK:+5}
COUNT=${COUNT:-50}

# address ipv4|ipv6|local client|server: address of the server for use at that end
address() {
	case $1 in
	ipv4) echo $IP4 ;;
	ipv6) echo $IP6 ;;
	local)
		case $2 in
		client) echo "$LL%va" ;;
		server) echo "$LL%$SCOPE_S" ;;
		esac
		;;
	esac
}

ping_pong() {
	PORT=$((PORT + 1))
	pair cm rping -s -a "$(address $1 server)" -p $PORT -C $COUNT -S 4000 -V -- \
		rping -c -a "$(address $1 client)" -p $PORT -C $COUNT -S 4000 -V
}

connections() {
	PORT=$((PORT + 1))
	pair cm ucmatose -b "$(address $1 server)" -p $PORT -c 10 -C $COUNT -S 2000 -- \
		ucmatose -s "$(address $1 client)" -p $PORT -c 10 -C $COUNT -S 2000
}

# Option -p of udaddy is the port space. Its port is fixed.
datagrams() {
	pair cm udaddy -b "$(address $1 server)" -c 4 -C 5 -S 500 -- \
		udaddy -s "$(address $1 client)" -c 4 -C 5 -S 500
}

stream() {
	PORT=$((PORT + 1))
	pair cm rstream -b "$(address $1 server)" -p $PORT -S 16384 -I 10 \
		-C $COUNT -T v -- \
		rstream -s "$(address $1 client)" -p $PORT -S 16384 -I 10 \
		-C $COUNT -T v
}

endpoints() {
	PORT=$((PORT + 1))
	pair cm rdma_server -s "$(address $1 server)" -p $PORT -- \
		rdma_client -s "$(address $1 client)" -p $PORT
}

# flush SERVER CLIENT: one stays, the other one disconnects or dies
flush() {
	PORT=$((PORT + 1))
	pair cm cm_flush server $IP4 $PORT $1 -- cm_flush client $IP4 $PORT $2
}

# A connection without a listener is refused at once.
refused() {
	local start=$SECONDS

	client timeout $LIMIT rping -c -a $IP4 -p 19999 -C 1 && return 1
	[ $((SECONDS - start)) -lt $((5 * SLOW)) ] ||
		fail "refused only after $((SECONDS - start)) s"
}

# programs TOPOLOGY FAMILY
programs() {
	tap_add "rping, $1, $2" ping_pong $2
	tap_add "ucmatose, $1, $2" connections $2
	tap_add "udaddy, $1, $2" datagrams $2
	tap_add "rstream, $1, $2" stream $2
	tap_add "rdma_server, $1, $2" endpoints $2
}

for t in one two; do
	tap_setup topo $t
	if [ "$QUICK" ] && [ $t = one ]; then
		tap_add "rping, one, ipv4" ping_pong ipv4
		tap_add "udaddy, one, ipv6" datagrams ipv6
	elif [ "$QUICK" ]; then
		programs two ipv4
		tap_add "ucmatose, two, ipv6" connections ipv6
		tap_add "rping, two, local" ping_pong local
	else
		for family in ipv4 ipv6 local; do
			programs $t $family
		done
	fi
	tap_add "no listener, $t" refused
	for way in disconnect die; do
		tap_add "requests are flushed: client $way, $t" flush stay $way
		tap_add "requests are flushed: server $way, $t" flush $way stay
	done
done
tap_run
