#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NFS runs over RDMA, version 3 and 4.2 (4.1 on UML): files that a client in one namespace
# writes are complete at knfsd in the other, also after a lost link, a restarted server or
# a replaced device.
#
#	client: A [va: vta] ---- [vb: vtb] B: knfsd [tmpfs]

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/users.sh"

need nft unshare nsenter rpcbind rpc.mountd rpc.nfsd exportfs mount.nfs fio tar diff
need_modules nfsd rpcrdma nfs nfsv3 nfsv4

SIZE=${QUICK:+4}	# MiB
SIZE=${SIZE:-32}
FILES=${QUICK:+40}
FILES=${FILES:-100}

# The newest version that this kernel's client has
V4=4.1
! grep -q ' nfs42_proc_' /proc/kallsyms || V4=4.2

# Sockets and state of the daemons, and all mounts, are private to this process and end
# with it. The names of network namespaces stay in /run.
if [ ! "${NFS_MOUNTS:-}" ]; then
	NFS_MOUNTS=1 exec unshare -m "$0" "$@"
fi

# Run in a network namespace, with the mounts of this process.
on_a() { nsenter --net="/run/netns/$NS_A" "$@"; }
on_b() { nsenter --net="/run/netns/$NS_B" "$@"; }

own_places() {
	mkdir -p "$TMP"/{export,mnt,source} &&
	mount -t tmpfs run /run && mount -t tmpfs state /var/lib/nfs &&
	mkdir /var/lib/nfs/v4recovery /run/sendsigs.omit.d &&
	mount -t tmpfs -o size=$((4 * SIZE + 64))m export "$TMP/export"
}

# Shortens the grace period after a start, in which no client may open files.
server_up() {
	on_b rpcbind -f >"$TMP/rpcbind" 2>&1 &
	SERVERS="$!"
	within 5 test -S /run/rpcbind.sock || return
	on_b mount -t nfsd nfsd /proc/fs/nfsd &&
	echo 10 >/proc/fs/nfsd/nfsv4leasetime &&
	echo 10 >/proc/fs/nfsd/nfsv4gracetime &&
	: >/var/lib/nfs/etab && : >/var/lib/nfs/rmtab || return
	on_b rpc.mountd -F -p 20048 >"$TMP/mountd" 2>&1 &
	SERVERS="$SERVERS $!"
	on_b exportfs -i -o rw,no_root_squash,insecure,no_subtree_check,fsid=0 \
		"10.0.0.1:$TMP/export" && server_start
}

server_start() {
	on_b rpc.nfsd --rdma=20049 --tcp 4 &&
	grep -qx 'rdma 20049' /proc/fs/nfsd/portlist
}

server_stop() {
	on_b rpc.nfsd 0
}

server_down() {
	server_stop
	kill $SERVERS
	umount /proc/fs/nfsd
} 2>/dev/null

# Since 6.15, clients outside the first namespace treat an unreachable network as final:
# I/O fails if a connection is tried while the device goes.
patience() {
	printf '%s\n' 6.15 "$(uname -r)" | sort -CV && echo ,fatal_neterrors=none
}

attach() { # VERSION
	local options path=/ # fsid=0 is the root of v4

	options=vers=$1,rdma,port=20049$(patience)
	if [ "$1" = 3 ]; then
		options=$options,nolock,mountport=20048,mountproto=tcp
		path=$TMP/export
	fi
	on_a timeout $LIMIT mount -t nfs -o $options \
		"10.0.0.2:$path" "$TMP/mnt" &&
	grep -q " $TMP/mnt nfs.*vers=$1,.*proto=rdma" /proc/mounts ||
		fail "not by RDMA: $(grep " $TMP/mnt " /proc/mounts)"
}

detach() {
	timeout $LIMIT umount "$TMP/mnt"
}

# Mounts again, so that the client answers nothing from its cache.
reattach() {
	detach && attach "$1"
}

# Files of all sizes from nothing to some hundred KiB, links and directories.
make_tree() {
	local i dir

	for ((i = 0; i < FILES; i++)); do
		dir=$TMP/source/$((i % 7))/$((i % 3))
		mkdir -p "$dir" &&
		head -c $((i * i * i % 300000)) /dev/urandom >"$dir/$i" || return
	done
	ln -s 0/0/0 "$TMP/source/symbolic" && ln "$TMP/source/0/0/0" "$TMP/source/hard"
}

tree_compare() { # VERSION
	mkdir "$TMP/mnt/tree" &&
	tar -C "$TMP/source" -c . | timeout $((4 * LIMIT)) tar -C "$TMP/mnt/tree" -x &&
	reattach "$1" && diff -r "$TMP/source" "$TMP/mnt/tree" &&
	diff -r "$TMP/source" "$TMP/export/tree" &&
	tar -C "$TMP/mnt/tree" -c . | tar -C "$TMP/source" --compare &&
	rm -r "$TMP/mnt/tree"
}

large_file() { # VERSION
	random_file "$TMP/data" "$SIZE" && cp "$TMP/data" "$TMP/mnt/large" &&
	reattach "$1" && cmp "$TMP/data" "$TMP/mnt/large" &&
	cmp "$TMP/data" "$TMP/export/large" && rm "$TMP/mnt/large"
}

# As fsx does: random writes and reads, by mmap and through the page cache, in a file
# whose other bytes must not change.
mixed() {
	timeout $((10 * LIMIT)) fio --name=mixed --filename="$TMP/mnt/mixed" \
		--size="$((SIZE / 2))M" --rw=randrw --bsrange=512-64k \
		--verify=crc32c --verify_fatal=1 --verify_backlog=16 \
		--randrepeat=0 --output="$TMP/fio" --minimal "$@" &&
		rm "$TMP/mnt/mixed" && return
	tail -n 30 "$TMP/fio"
	return 1
}

direct() {
	fio_verify "$TMP/mnt/direct" "$SIZE" && rm "$TMP/mnt/direct"
}

# broken_off PULL PUT_BACK: I/O waits between these commands, and then goes on.
broken_off() {
	local pid status=0

	fio_verify "$TMP/mnt/plug" "$SIZE" --rate=$((SIZE / 4))m >"$TMP/out" 2>&1 &
	pid=$!
	sleep 1
	$1 || status=1
	sleep 3
	$2
	timeout $((3 * LIMIT)) tail --pid=$pid -f /dev/null || fail "it hangs" ||
		return
	wait $pid || { cat "$TMP/out"; return 1; }
	rm "$TMP/mnt/plug" && return $status
}

# Packets are dropped, the link stays up.
wire_down() {
	a nft -f - <<-END
		table inet cut {
			chain in {
				type filter hook input priority 0
				udp dport 4791 drop
			}
		}
	END
}

wire_up() {
	a nft delete table inet cut
}

# mounted COMMAND...: only if the mount point is mounted
mounted() {
	mountpoint -q "$TMP/mnt" || fail "not mounted" || return
	"$@"
}

# Cuts the wire meanwhile: svcrdma never answers a request to connect to a listener that
# is about to close, and the client then waits for minutes.
server_gone() {
	wire_down && server_stop
}

server_back() {
	server_start && wire_up
}

# told_first COMMAND...: the client's QPs fail only after the RDMA CM (since 6.11 the
# core) has announced the removal of the device. A client that sees a lost connection
# first connects again by that device, and then fails the I/O. The server may still be
# closing an older connection. The clock keeps the order of events of two CPUs.
told_first() {
	local events=$TRACE/events

	trace_is_there || { "$@"; return; }
	echo counter >$TRACE/trace_clock
	echo >$TRACE/trace
	echo 1 | tee $events/{verve/verve_qp_state,rdma_cma/cm_remove_one}/enable \
		$events/rpcrdma/rpcrdma_client_remove_one/enable >/dev/null
	"$@"
	echo 0 >$events/enable
	awk -v dev="dev=$DEV_A" '/ (cm|rpcrdma_client)_remove_one: / { told = 1 }
		/ verve_qp_state: .* -> ERR/ && index($0, dev " ") { seen = told; exit }
		END { exit !seen }' $TRACE/trace ||
		fail "not told first: $(grep -v "^#" $TRACE/trace | head -n 30)"
} 2>/dev/null

no_device() {
	told_first soon rdma link delete $DEV_A
}

new_device() {
	link_add "$NS_A" $DEV_A va
}

cleanup_nfs() {
	[ ! -e $TRACE/trace_clock ] || echo local >$TRACE/trace_clock
	umount -f -l "$TMP/mnt" 2>/dev/null
	server_down
	umount "$TMP/export"
	cleanup
}

SERVERS=
trap cleanup_nfs EXIT
tap_setup own_places
tap_setup topo two 4200
tap_setup server_up
tap_setup make_tree
BEFORE_A='' BEFORE_B=''
tap_setup eval 'BEFORE_A=$(objects $DEV_A) BEFORE_B=$(objects $DEV_B)'
# basic VERSION, thorough VERSION: tests of a mounted file system
basic() {
	tap_add "v$1: a tree by tar, compared" mounted tree_compare $1
	tap_add "v$1: link loss under I/O" mounted broken_off wire_down wire_up
}

thorough() {
	basic "$1"
	tap_add "v$1: a large file compared" mounted large_file $1
	tap_add "v$1: fio verify, direct" mounted direct
	tap_add "v$1: fio verify, reads and writes mixed" mounted mixed
	tap_add "v$1: fio verify, mmap" mounted mixed --ioengine=mmap
	[ "$QUICK" ] || tap_add "v$1: server restarted under I/O" \
		mounted broken_off server_gone server_back
	tap_add "v$1: device replaced under I/O" \
		mounted broken_off no_device new_device
}

for version in 3 $V4; do
	tap_add "v$version: mount" attach $version
	if [ "$QUICK" ] && [ $version = 3 ]; then
		basic 3
	else
		thorough $version
	fi
	tap_add "v$version: unmount" detach
	tap_add "v$version: nothing is left at the client" \
		eval 'no_object_left $DEV_A "$BEFORE_A"'
done
tap_setup server_stop
tap_run
