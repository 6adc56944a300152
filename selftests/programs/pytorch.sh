#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# PyTorch trains a model by DDP, with gloo's transport for ibverbs: the collectives are
# right, and the weights of two and four ranks are equal to the bit, and about those of
# one process.
#
#	ranks 0, 2: A [va: vta] ---- [vb: vtb] B: ranks 1, 3
#
# TORCH_ROOT is a directory with Debian sid's python3-torch (tools/vm/programs).

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/root.sh"
. "$LIB/users.sh"

need_root TORCH_ROOT /usr/lib/python3/dist-packages/torch/__init__.py

LIMIT=$((10 * LIMIT))

# rank NUMBER OF [ipv4]: start it. It is told the device, the GID (without it, gloo takes
# the first one, which is link-local), and to use no other store than the one that runs in
# a thread of rank 0.
rank() {
	local ns=$NS_A dev=$DEV_A index=0

	[ $(($1 % 2)) = 0 ] || ns=$NS_B dev=$DEV_B
	[ -z "${3:-}" ] || index=$(gid_index $dev "$3") || return
	ip netns exec "$ns" timeout -k 2 $LIMIT chroot "$ROOT" env \
		GLOO_DEVICE_TRANSPORT=IBVERBS GLOO_SOCKET_IFNAME=$dev \
		TORCH_GLOO_IBV_INDEX="$index" USE_LIBUV=0 \
		MASTER_ADDR=10.0.0.1 MASTER_PORT=$PORT RANK="$1" WORLD_SIZE="$2" \
		OMP_NUM_THREADS=1 LC_ALL=C.UTF-8 \
		/usr/bin/python3 /mnt/programs/pytorch_ddp.py >"$TMP/rank$1" 2>&1 &
	RANKS[$1]=$!
}

ranks_begin() { # NUMBER [ipv4]
	local i

	PORT=$((PORT + 1))
	RANKS=()
	for ((i = 0; i < $1; i++)); do
		rank $i "$@"
	done
}

# All of them compared. The gradients of 30 steps alone are more than 10 MB, in packets of
# 1 KiB, which is all that gloo asks for.
training() { # RANKS [ipv4]
	local before i rc=0

	before=$(packets $DEV_A)
	ranks_begin "$@"
	for i in "${!RANKS[@]}"; do
		wait "${RANKS[i]}" && grep -q ^compared "$TMP/rank$i" && continue
		echo "rank $i:"
		tail -n 15 "$TMP/rank$i"
		rc=1
	done
	[ $rc = 0 ] && packets_since $DEV_A "$before" 5000 ||
		fail "exit codes: $rc; $(($(packets $DEV_A) - before)) packets"
}

tap_setup topo two 4200
tap_add "two ranks" training 2
tap_add "two ranks by their IPv4 addresses" training 2 ipv4
tap_add "four ranks" training 4
tap_run
