#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Valkey serves its clients by RDMA alone: values are compared, the server releases the
# connections of clients that are killed under load, and the clients of a killed server
# are told.
#
#	valkey-cli, valkey-benchmark: A [va: vta] ---- [vb: vtb] B: valkey-server
#
# VALKEY is a directory with these programs and valkey-rdma.so (tools/vm/valkey).

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/users.sh"

VALKEY=${VALKEY:-}
[ "$VALKEY" ] && [ -e "$VALKEY/valkey-rdma.so" ] || skip_all "VALKEY holds no valkey-rdma.so"
need cmp ping

LIMIT=$((3 * LIMIT))
SERVER=
SIZES=(0 1 100 4096 65536 1000000)

server_begin() {
	(cd "$TMP" && exec ip netns exec "$NS_B" "$VALKEY/valkey-server" --port 0 --save "" \
		--protected-mode no --loadmodule "$VALKEY/valkey-rdma.so" \
		--rdma-bind 10.0.0.2 --rdma-port 6379 >"$TMP/server" 2>&1) &
	SERVER=$!
	# valkey-cli hangs or crashes without a server, and waits for half a minute if
	# the neighbour is unknown: its timeout for the address is of 24 days.
	a ping -qc 1 10.0.0.2 && within 20 listens_cm valkey-server && within 20 answers ||
		fail "no server: $(tail "$TMP/server")"
}

cli() {
	a timeout -k 2 $LIMIT "$VALKEY/valkey-cli" --rdma -h 10.0.0.2 "$@"
}

answers() {
	[ "$(cli ping 2>/dev/null)" = PONG ]
}

benchmark() { # OPTION...
	a timeout -k 2 $LIMIT "$VALKEY/valkey-benchmark" --rdma -h 10.0.0.2 "$@" \
		>"$TMP/benchmark" 2>&1
}

# The client adds a line feed to each value.
values() {
	local size

	for size in "${SIZES[@]}"; do
		head -c "$size" /dev/urandom >"$TMP/value"
		[ "$(cli -x set "key$size" <"$TMP/value")" = OK ] || return
		echo >>"$TMP/value"
		cli get "key$size" | cmp - "$TMP/value" || return
	done
}

many_values() {
	local i

	for i in {1..200}; do
		echo "set number$i value$((i * 7))"
	done | cli >"$TMP/set" && [ "$(grep -c '^OK' "$TMP/set")" = 200 ] || return
	for i in {1..200}; do
		echo "get number$i"
	done | cli >"$TMP/get" || return
	for i in {1..200}; do
		echo "value$((i * 7))"
	done | cmp - "$TMP/get"
}

# Of one connection: with more, the benchmark of 9.1 does not end, over any device.
measured() {
	benchmark -q -t set,get -n 300 -c 1 -d 100 &&
	[ "$(grep -aoE '(SET|GET): [0-9.]+ requests per second' "$TMP/benchmark" | wc -l)" = 2 ] ||
		fail "$(tail -c 300 "$TMP/benchmark")"
}

load_begin() {
	local before

	before=$(packets $DEV_A)
	benchmark -q -t set -n 100000000 -c 10 -d 1000 &
	LOAD=$!
	within 10 packets_since $DEV_A "$before" 1000 || fail "no load"
}

# clients NUMBER: the server knows that many, the one that asks among them
clients() {
	[ "$(cli client list | wc -l)" = "$1" ]
}

# The server's QPs and memory regions. Its PDs grow with each connection: it deallocates
# them while a QP uses them, which fails.
held() {
	rdma resource show $DEV_B | grep -oE '(qp|mr) [0-9]+' | tr '\n' ' '
}

holds() {
	[ "$(held)" = "$1" ]
}

client_killed() {
	local before

	within 10 clients 1 && before=$(held) || return
	load_begin || return
	pkill -KILL -f "^$VALKEY/valkey-benchmark"
	wait $LOAD
	within 10 clients 1 || fail "$(cli client list | wc -l) clients" || return
	within 10 holds "$before" || fail "before: $before; now: $(held)" || return
	values
}

# connections STATE: of the benchmark, as rdma_cm knows them
connections() {
	rdma resource show cm_id | grep -c "link $DEV_A/.* state $1 .*comm valkey-benchma"
}

told() {
	[ "$(connections DISCONNECT)" -gt 1 ] && [ "$(connections CONNECT)" = 0 ]
}

# The clients' rdma_cm hears of it at once. valkey-cli, which waits for an answer, ends
# then. The benchmark goes on: it listens to the events of its CQs alone.
server_killed() {
	local waiting rc=0

	load_begin || return
	a timeout -k 2 $LIMIT "$VALKEY/valkey-cli" --rdma -h 10.0.0.2 blpop nothing 0 \
		>"$TMP/cli" 2>&1 &
	waiting=$!
	within 10 clients 12 || rc=1
	kill -KILL $SERVER
	within 5 told || rc=1
	within 5 ended $waiting || rc=1
	[ $rc = 0 ] || fail "$(rdma resource show cm_id; cat "$TMP/cli")"
	pkill -KILL -f "^$VALKEY/valkey-benchmark"
	wait $LOAD $waiting
	return $rc
}

cleanup_valkey() {
	[ -z "$SERVER" ] || kill -KILL $SERVER 2>/dev/null
	cleanup
}

trap cleanup_valkey EXIT
tap_setup topo two 4200
tap_setup server_begin
tap_add "values of many sizes, compared" values
tap_add "many values, compared" many_values
tap_add "clients are killed under load" client_killed
tap_add "valkey-benchmark ends" measured
tap_add "the server is killed under load" server_killed
tap_run
