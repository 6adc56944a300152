# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Functions of the tests of kernel RDMA users. Sourced after verve.sh.
#
# Most of these users (NVMe, iSER, 9p, RDS) work in the first network namespace
# only. Both of their ends use one device there, on a veth:
#
#	first namespace: [vhosta: vthost] 192.168.219.1 ---- [vhostb]

HOST_DEV=vthost
HOST_NETDEV=vhosta
HOST_IP=192.168.219.1
CONFIGFS=/sys/kernel/config

# need_modules MODULE...: load modules, or skip all tests
need_modules() {
	local module

	for module; do
		modprobe -q "$module" || skip_all "no module $module"
	done
}

need_configfs() {
	mountpoint -q $CONFIGFS || mount -t configfs config $CONFIGFS ||
		skip_all "no configfs"
}

host_up() {
	ip link add $HOST_NETDEV mtu 4200 type veth peer name vhostb mtu 4200 &&
	ip link set vhostb up && ip link set $HOST_NETDEV up &&
	ip addr add $HOST_IP/24 dev $HOST_NETDEV &&
	rdma link add $HOST_DEV type "$LINK_TYPE" netdev $HOST_NETDEV &&
	within 5 gid_index $HOST_DEV ipv4 >/dev/null
}

# Interrupt the connection. The ends are on one device and need no packets. While its
# port is down, they send packets by lo, which stays up, so drop these, too.
cut() {
	ip link set $HOST_NETDEV down
	nft -f - <<-END
		table inet $HOST_DEV {
			chain in {
				type filter hook input priority 0
				udp dport 4791 drop
			}
		}
	END
}

mend() {
	nft delete table inet $HOST_DEV
	ip link set $HOST_NETDEV up
}

host_down() {
	nft delete table inet $HOST_DEV
	delete_links $HOST_DEV
	ip link del $HOST_NETDEV
} 2>/dev/null

# objects DEVICE: print the number of objects of each kind, without CQs. (Kernel users
# share CQs of a pool, which lives as long as the device.)
objects() {
	rdma resource show "$1" | sed "s/^.*$1: //; s/ cq [0-9]*//"
}

# same_objects DEVICE COUNTS: no objects were left behind
same_objects() {
	[ "$(objects "$1")" = "$2" ]
}

no_object_left() { # DEVICE COUNTS
	within 10 same_objects "$1" "$2" ||
		fail "before: $2; now: $(objects "$1")"
}

# random_file FILE MEBIBYTES
random_file() {
	dd if=/dev/urandom of="$1" bs=1M count="$2" status=none
}

# fio_verify FILENAME MEBIBYTES OPTION...: random writes in blocks of many sizes, which
# are read back to compare checksums
fio_verify() {
	local file=$1 size=$2

	shift 2
	fio --name=verify --filename="$file" --size="${size}M" --rw=randwrite \
		--bsrange=512-256k --verify=crc32c --verify_fatal=1 --do_verify=1 \
		--iodepth=16 --ioengine=libaio --direct=1 --randrepeat=0 \
		--output="$TMP/fio" --minimal "$@" && return
	tail -n 30 "$TMP/fio"
	return 1
}

# Tests of a disk of SIZE MiB, which a target serves from the file $TMP/disk. DISK is
# the initiator's block device.
size_is_right() {
	[ "$(blockdev --getsize64 "$DISK")" = $((SIZE << 20)) ]
}

# Data written to the disk are read back, and are in the target's file.
byte_compare() {
	random_file "$TMP/data" "$SIZE" &&
	dd if="$TMP/data" of="$DISK" bs=1M oflag=direct conv=fsync status=none ||
		return
	dd if="$DISK" bs=256k iflag=direct status=none | cmp - "$TMP/data" &&
	cmp "$TMP/disk" "$TMP/data"
}

# Many unaligned buffers at a time, which must be registered in pieces.
small_blocks() {
	fio_verify "$DISK" $((SIZE / 4)) --bsrange=512-16k --iodepth=64
}

disk_tests() {
	tap_add "the size of the disk" size_is_right
	tap_add "data compared byte by byte" byte_compare
	tap_add "fio verify, blocks of 512 B to 256 KiB" \
		eval 'fio_verify $DISK $SIZE'
	tap_add "fio verify, small blocks, 64 at a time" small_blocks
}

packets() { # DEVICE
	hw_counter "$1" sent_pkts
}

# packets_since DEVICE BEFORE NUMBER: the device has sent at least NUMBER packets since
packets_since() {
	[ $(($(packets "$1") - $2)) -ge "$3" ]
}

# Start fio_verify on the disk for some seconds, as the process FIO, with FIO_OPTIONS,
# and wait until I/O is under way. fio creates no file if the disk is gone.
FIO_OPTIONS=
fio_begin() {
	local before

	before=$(packets $HOST_DEV)
	# shellcheck disable=SC2086 # several options
	fio_verify "$DISK" "$SIZE" --rate=$((SIZE / 4))m --allow_file_create=0 \
		$FIO_OPTIONS >"$TMP/fio.out" 2>&1 &
	FIO=$!
	within 10 packets_since $HOST_DEV "$before" $((SIZE * 8)) ||
		fail "no I/O: $(<"$TMP/fio.out")"
}

fio_ended() {
	timeout $((3 * LIMIT)) tail --pid=$FIO -f /dev/null || fail "fio hangs"
}

# interrupted PULL PUT_BACK NOTICED...: interrupt the connection during I/O until the
# loss is noticed. I/O waits, and succeeds afterwards.
interrupted() {
	local pull=$1 put_back=$2

	shift 2
	fio_begin || return
	$pull
	within 30 "$@" || fail "the loss goes unnoticed" || return
	$put_back
	fio_ended || return
	wait $FIO || { cat "$TMP/fio.out"; return 1; }
	byte_compare
}

# device_removed GONE...: remove the device of a connection in use. The connection ends,
# and I/O gets errors.
device_removed() {
	local rc

	fio_begin || return
	timeout $LIMIT rdma link delete $HOST_DEV
	rc=$?
	within 30 "$@" || fail "the connection outlives its device" || return
	fio_ended || return
	not wait $FIO || fail "no error reached fio" || return
	[ $rc = 0 ] || fail "the link cannot be deleted: $rc"
}
