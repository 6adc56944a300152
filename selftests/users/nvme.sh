#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NVMe over Fabrics runs between the kernel's target and initiator: data are compared,
# and it survives reconnection and removal. Both work in the first network namespace only,
# so they share a device there.
#
#	nvmet [loop device] ---- vthost ---- nvme

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/users.sh"

need nvme losetup fio cmp nft
need_modules nvmet-rdma nvme-rdma loop
need_configfs

NQN=nqn.2026-01.test.verve:$$
HOSTNQN=nqn.2026-01.test.verve:host-$$
HOSTID=00000000-0000-4000-8000-$(printf %012d $$)
NVMET=$CONFIGFS/nvmet
PORT_DIR=$NVMET/ports/$((20000 + $$ % 40000))
SUBSYSTEM=$NVMET/subsystems/$NQN
SIZE=${QUICK:+8}	# MiB
SIZE=${SIZE:-64}

target_up() {
	truncate -s "${SIZE}M" "$TMP/disk" &&
	LOOP=$(losetup -f --show "$TMP/disk") &&
	mkdir "$SUBSYSTEM" && echo 1 >"$SUBSYSTEM/attr_allow_any_host" &&
	mkdir "$SUBSYSTEM/namespaces/1" &&
	echo "$LOOP" >"$SUBSYSTEM/namespaces/1/device_path" &&
	echo 1 >"$SUBSYSTEM/namespaces/1/enable" &&
	mkdir "$PORT_DIR" && echo rdma >"$PORT_DIR/addr_trtype" &&
	echo ipv4 >"$PORT_DIR/addr_adrfam" &&
	echo $HOST_IP >"$PORT_DIR/addr_traddr" &&
	echo 4420 >"$PORT_DIR/addr_trsvcid" && target_listen
}

target_listen() {
	ln -s "$SUBSYSTEM" "$PORT_DIR/subsystems/$NQN"
}

target_deaf() {
	rm "$PORT_DIR/subsystems/$NQN"
}

target_down() {
	target_deaf
	rmdir "$PORT_DIR"
	echo 0 >"$SUBSYSTEM/namespaces/1/enable"
	rmdir "$SUBSYSTEM/namespaces/1" "$SUBSYSTEM"
	losetup -d "$LOOP"
} 2>/dev/null

# The controller and the disk of the test's subsystem
controller() {
	grep -lsx "$NQN" /sys/class/nvme/nvme*/subsysnqn | head -n 1 |
		xargs -r dirname
}

disk() {
	local file

	for file in /sys/block/nvme*/device/subsysnqn; do
		grep -qsx "$NQN" "$file" || continue
		file=${file#/sys/block/}
		case ${file%%/*} in
		*c*n*) continue ;; # one path of several
		esac
		[ -b "/dev/${file%%/*}" ] && echo "/dev/${file%%/*}" && return
	done
	return 1
}

in_state() {
	[ "$(cat "$(controller)/state" 2>/dev/null)" = "$1" ]
}

connect() { # OPTION...
	nvme connect -t rdma -a $HOST_IP -s 4420 -n "$NQN" -i 2 \
		--hostnqn="$HOSTNQN" --hostid="$HOSTID" \
		--reconnect-delay=1 --keep-alive-tmo=$((5 + SLOW)) "$@" &&
	within 10 disk >/dev/null && DISK=$(disk) && within 10 in_state live
}

gone() {
	[ ! "$(controller)" ]
}

disconnect() {
	timeout $LIMIT nvme disconnect -n "$NQN" >/dev/null && within 10 gone
}

lost() {
	[ "$(controller)" ] && not in_state live
}

# Timeouts of the block layer for the disk and for each path to it, in seconds
io_timeout() {
	local file found=

	for file in /sys/block/nvme*/queue/io_timeout; do
		grep -qsx "$NQN" "${file%queue/*}device/subsysnqn" || continue
		echo "${1}000" >"$file" && found=1
	done
	[ "$found" ]
}

io_timeouts() {
	dmesg | sed "1,/$LOG_MARK/d" | grep -c 'nvme.* QID [1-9][0-9]* timeout'
}

# The I/O timeout detects the loss: it is shorter than all retries of the QP, and much
# shorter than the keep-alive interval.
timed_out() {
	local before

	connect --ctrl-loss-tmo=60 --keep-alive-tmo=120 && io_timeout 2 || return
	before=$(io_timeouts)
	interrupted cut mend lost || return
	[ "$(io_timeouts)" -gt "$before" ] || fail "no I/O timed out" || return
	disconnect
}

LOOPBACK=/sys/module/verve/parameters/loopback
LOOPBACK_WAS=$(cat $LOOPBACK 2>/dev/null)

# Drop the READ requests of the target. The initiator sends none, and is not disturbed.
cut_reads() {
	echo N >$LOOPBACK
	nft -f - <<-END
		table inet $HOST_DEV {
			chain in {
				type filter hook input priority 0
				udp dport 4791 @th,64,8 0x0c drop
			}
		}
	END
}

mend_reads() {
	nft delete table inet $HOST_DEV
	echo "$LOOPBACK_WAS" >$LOOPBACK
}

# Long blocks need more pages than a READ has segments. When the retries of a READ end,
# the target must learn of it: otherwise it never closes the connection, and the
# commands wait for the I/O timeout.
reads_failed() {
	local FIO_OPTIONS="--bsrange=256k-256k" errors timeouts rc

	[ "$LINK_TYPE" = verve ] || { skip "a rule for packets on lo"; return; }
	connect --ctrl-loss-tmo=60 --keep-alive-tmo=120 && io_timeout 30 || return
	timeouts=$(io_timeouts)
	errors=$(hw_counter $HOST_DEV retry_exceeded_err)
	interrupted cut_reads mend_reads \
		has_counted $HOST_DEV retry_exceeded_err "$errors"
	rc=$?
	[ $rc = 0 ] || { mend_reads 2>/dev/null; return $rc; }
	[ "$(io_timeouts)" = "$timeouts" ] || fail "I/O timed out" || return
	disconnect
}

# The device does not return: the controller is removed, and I/O gets errors.
given_up() {
	connect --ctrl-loss-tmo=2 || return
	target_deaf
	within 30 gone || fail "still there: $(cat "$(controller)/state")" || return
	not dd if="$DISK" of=/dev/null bs=4k count=1 iflag=direct status=none &&
	target_listen
}

cleanup_nvme() {
	mend 2>/dev/null
	[ ! "$(controller)" ] || disconnect
	target_down
	host_down
	cleanup
}

trap cleanup_nvme EXIT
tap_setup host_up
tap_setup target_up
OBJECTS=
tap_setup eval 'OBJECTS=$(objects $HOST_DEV)'
tap_add "the initiator connects" connect --ctrl-loss-tmo=60
disk_tests
tap_add "link loss under I/O" interrupted cut mend lost
tap_add "the target gone and back under I/O" \
	interrupted target_deaf target_listen lost
tap_add "the initiator disconnects" disconnect
tap_add "nothing is left" eval 'no_object_left $HOST_DEV "$OBJECTS"'
tap_add "I/O times out" timed_out
tap_add "READs of the target fail" reads_failed
tap_add "the target gone for good" given_up
tap_add "nothing is left again" eval 'no_object_left $HOST_DEV "$OBJECTS"'
tap_add "the device removed under I/O" \
	eval 'connect --ctrl-loss-tmo=5 && device_removed gone'
tap_run
