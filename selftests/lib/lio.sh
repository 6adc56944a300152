# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A disk that the kernel's SCSI target (LIO) serves from a file; sourced after
# users.sh, by the tests of the transports that LIO has over RDMA. They set DISK,
# the initiator's block device.

LIO=$CONFIGFS/target
BACKSTORE=$LIO/core/fileio_$((20000 + $$ % 40000))
SIZE=${QUICK:+8}	# MiB
SIZE=${SIZE:-64}

backstore_up() {
	mkdir -p "$BACKSTORE/disk" && truncate -s "${SIZE}M" "$TMP/disk" &&
	echo "fd_dev_name=$TMP/disk,fd_dev_size=$((SIZE << 20))" \
		>"$BACKSTORE/disk/control" &&
	echo "verve-$$" >"$BACKSTORE/disk/wwn/vpd_unit_serial" &&
	echo 1 >"$BACKSTORE/disk/enable"
}

backstore_down() {
	rmdir "$BACKSTORE/disk" "$BACKSTORE"
}

# lun_add TPG, lun_del TPG
lun_add() {
	mkdir "$1/lun/lun_0" && ln -s "$BACKSTORE/disk" "$1/lun/lun_0/disk"
}

lun_del() {
	rm "$1/lun/lun_0/disk"
	rmdir "$1/lun/lun_0"
}

# disk_below DIRECTORY...: print the block device of the SCSI target there
disk_below() {
	local found

	found=$(find "$@" -path '*/block/sd*' -prune -print 2>/dev/null | head -n 1)
	[ -b "/dev/${found##*/}" ] && [ "$found" ] && echo "/dev/${found##*/}"
}
