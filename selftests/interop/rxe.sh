#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every opcode and path MTU works to and from rdma_rxe, with loss and without, data
# compared. The test needs an rdma_rxe with sockets in each network namespace, as Linux
# 7.2 has; make check-interop serves older ones. With loss, rdma_rxe may forget one
# message that it has sent, about once in forty runs: an ACK arrives while rdma_rxe sends
# the message again, the next ACK is lost, and the timer of rdma_rxe does not run.
#
# rdma_rxe computes the ICRC of a FLUSH over its headers twice. So FLUSH works neither to
# nor from it.
#
#	A [va: vta, verve] ---- [vb: vtb, rxe] B

. "$(dirname "$0")/../lib/verve.sh"

export PEER_RXE=1
modprobe -q rdma_rxe || skip_all "no module rdma_rxe"

link_add() { # NETNS NAME NETDEV
	local type=$LINK_TYPE

	[ "$2" = $DEV_B ] && type=rxe
	ip netns exec "$1" rdma link add "$2" type "$type" netdev "$3"
}

# swapped COMMAND...: with rdma_rxe as the client
swapped() {
	# shellcheck disable=SC2318 # all are expanded before any is set
	local NS_C=$NS_S DEV_C=$DEV_S NS_S=$NS_C DEV_S=$DEV_C

	"$@"
}

# across OPTION...: one end runs as the judge, the other as the server
across() {
	local LIMIT=$((6 * LIMIT))

	PORT=$((PORT + 1))
	pair "tcp:$PORT" rxe_opcodes -d "$DEV_S" -p $PORT "$@" -- \
		rxe_opcodes -d "$DEV_C" -p $PORT "$@" "$(address_of_server)" &&
		cat "$TMP/client" || fail "$(cat "$TMP/client" "$TMP/server")"
}

# The control connection by TCP always uses IPv4.
address_of_server() {
	[ "$NS_S" = "$NS_A" ] && echo 10.0.0.1 || echo 10.0.0.2
}

# losing COMMAND...: each end loses one packet of a hundred
losing() {
	network netem loss 1% || return
	"$@"
	local rc=$?
	fair_network
	return $rc
}

topo two >"$TMP/topo" 2>&1 ||
	skip_all "no rdma_rxe in a namespace: $(tail -n 1 "$TMP/topo")"
# On Linux 6.1 and 6.12 the link may exist, but rxe listens in the first namespace only.
ip netns exec "$NS_S" grep -q ':12B7 ' /proc/net/udp ||
	skip_all "rdma_rxe has no socket in the namespace of its netdev"
untopo

tap_setup topo two
tap_add "placement, verve to rxe" c_test placement
tap_add "placement, rxe to verve" swapped c_test placement
tap_add "every opcode, verve to rxe" across
tap_add "every opcode, rxe to verve" swapped across
if [ ! "$QUICK" ]; then
	tap_add "every opcode, verve to rxe, IPv6" across -6
	tap_add "every opcode, rxe to verve, IPv6" swapped across -6
fi
tap_add "every opcode, verve to rxe, 1 % loss" losing across -l
tap_add "every opcode, rxe to verve, 1 % loss" losing swapped across -l -r
tap_run
