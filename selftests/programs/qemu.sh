#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# QEMU's tools use a disk at an iser:// address, by libiscsi, an initiator in user space:
# an image that qemu-img writes is read back, and is in the target's file.
#
#	isert [file] ---- vthost ---- qemu-img, qemu-io
#
# QEMU_ROOT is a directory with qemu-utils, qemu-block-extra and ibverbs-providers
# (tools/vm/programs).

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/users.sh"
. "$LIB/lio.sh"
. "$LIB/isert.sh"
. "$LIB/root.sh"

need cmp nft
need_root QEMU_ROOT /usr/bin/qemu-img
need_modules iscsi_target_mod target_core_file ib_isert
need_configfs

URL=iser://$PORTAL/$IQN/0
LIMIT=$((3 * LIMIT))
TOOL=(timeout -k 2 "$LIMIT" chroot "$ROOT")

is_right_size() {
	"${TOOL[@]}" qemu-img info "$URL" >"$TMP/info" && cat "$TMP/info" &&
	grep -q "($((SIZE << 20)) bytes)" "$TMP/info"
}

# A file of the target's size, which has room for it
image_compare() {
	random_file "$TMP/image" "$SIZE" &&
	"${TOOL[@]}" qemu-img convert -n -f raw -O raw /tmp/image "$URL" &&
	cmp "$TMP/image" "$TMP/disk" &&
	"${TOOL[@]}" qemu-img convert -f raw -O raw "$URL" /tmp/back &&
	cmp "$TMP/image" "$TMP/back" &&
	"${TOOL[@]}" qemu-img compare -f raw -F raw /tmp/image "$URL"
}

# qemu-io compares what it reads with the pattern, but its exit code is 0 in any case.
io() {
	"${TOOL[@]}" qemu-io -f raw "$@" "$URL" >"$TMP/io" 2>&1 && cat "$TMP/io" &&
	! grep -qiE 'failed|error' "$TMP/io"
}

patterns() {
	io -c "write -P 0xa5 512 1024" -c "write -P 0x5a 1M 3M" \
		-c "aio_write -P 0x11 8M 64k" -c "aio_write -P 0x22 9M 64k" -c aio_flush \
		-c "read -P 0xa5 512 1024" -c "read -P 0x5a 1M 3M" \
		-c "read -P 0x11 8M 64k" -c "read -P 0x22 9M 64k" || return
	cmp -n 1024 -i $((9 << 20)):0 "$TMP/disk" <(head -c 1024 /dev/zero | tr '\0' '\042')
}

# It does compare.
wrong_pattern() {
	not io -c "write -P 0xa5 0 512" -c "read -P 0xa6 0 512"
}

# A client that is killed in the middle leaves nothing behind, and the disk serves others.
killed() {
	local client before

	before=$(packets $HOST_DEV)
	"${TOOL[@]}" qemu-img bench -w -f raw -c 1000000 -s 65536 "$URL" >"$TMP/bench" 2>&1 &
	client=$!
	within 10 packets_since $HOST_DEV "$before" 1000 ||
		fail "no I/O: $(<"$TMP/bench")" || return
	pkill -KILL -P $client
	wait $client
	no_object_left $HOST_DEV "$OBJECTS" && image_compare
}

cleanup_iser() {
	target_down
	host_down
	cleanup
}

trap cleanup_iser EXIT
OBJECTS=
tap_setup host_up
tap_setup target_up
tap_setup eval 'OBJECTS=$(objects $HOST_DEV)'
tap_add "the size of the disk" is_right_size
tap_add "images compared" image_compare
tap_add "patterns compared" patterns
tap_add "a wrong pattern is noticed" wrong_pattern
tap_add "a client is killed in the middle of I/O" killed
tap_add "nothing is left" eval 'no_object_left $HOST_DEV "$OBJECTS"'
tap_run
