#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# SRP runs over rdma_cm, by LIO's srpt and by srp: data are compared, and it survives
# reconnection and removal. Both work in the first network namespace only, so they share a
# device there.
#
#	srpt [file] ---- vthost ---- srp

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/users.sh"
. "$LIB/lio.sh"

need fio cmp nft
[ ! -d /sys/module/ib_srpt ] || skip_all "ib_srpt is in use"
need_modules ib_srpt target_core_file ib_srp sd_mod
need_configfs

PORT=5555
SRPT=$LIO/srpt

target_up() {
	local gid

	# With this port name, initiators are identified by their addresses.
	read -r gid <"/sys/class/infiniband/$HOST_DEV/ports/1/gids/0" &&
	TPG=$SRPT/${gid#*:*:*:*:}/verve ACL=$TPG/acls/$HOST_IP/lun_0 &&
	mkdir -p "$SRPT" && echo $PORT >"$SRPT/discovery_auth/rdma_cm_port" &&
	backstore_up && mkdir -p "$TPG" && lun_add "$TPG" &&
	mkdir -p "$ACL" && ln -s "$TPG/lun/lun_0" "$ACL/lun" &&
	target_listen
}

target_listen() {
	echo 1 >"$TPG/enable"
}

target_deaf() {
	echo 0 >"$TPG/enable"
}

target_down() {
	target_deaf && rm "$ACL/lun" && rmdir "$ACL" "${ACL%/*}" &&
	lun_del "$TPG" && rmdir "$TPG" "${TPG%/*}" && backstore_down &&
	echo 0 >"$SRPT/discovery_auth/rdma_cm_port" && rmdir "$SRPT"
}

host() {
	grep -lsx $HOST_DEV /sys/class/scsi_host/host*/local_ib_device |
		head -n 1 | xargs -r dirname
}

remote_port() {
	local host

	host=$(host)
	echo /sys/class/srp_remote_ports/port-"${host##*/host}":1
}

disk() {
	disk_below "$(host)/device/"
}

gone() {
	[ ! "$(host)" ]
}

lost() {
	[ "$(cat "$(remote_port)/state" 2>/dev/null)" = blocked ]
}

connect() {
	local guid

	guid=$(sed 's/^0x//' /sys/module/ib_srpt/parameters/srpt_service_guid)
	timeout $LIMIT sh -c 'echo "$1" >"$2"' sh \
		"id_ext=$guid,ioc_guid=$guid,dest=$HOST_IP:$PORT" \
		/sys/class/infiniband_srp/srp-$HOST_DEV-1/add_target &&
	within 10 disk && DISK=$(disk) && set_timers
}

# Lost connections are tried again every second, and I/O waits for that.
set_timers() {
	local port

	port=$(remote_port)
	echo off >"$port/dev_loss_tmo" && echo 60 >"$port/fast_io_fail_tmo" &&
	echo 1 >"$port/reconnect_delay"
}

disconnect() {
	echo 1 >"$(remote_port)/delete" && within 10 gone
}

# The modules would attach to every RDMA device that is added later.
unload() {
	modprobe -r ib_srp && modprobe -r ib_srpt
}

cleanup_srp() {
	mend
	gone || disconnect
	target_down
	host_down
	unload
	cleanup
} 2>/dev/null

trap cleanup_srp EXIT
tap_setup host_up
tap_setup target_up
OBJECTS=
tap_setup eval 'OBJECTS=$(objects $HOST_DEV)'
tap_add "the initiator connects" connect
disk_tests
tap_add "link loss under I/O" interrupted cut mend lost
tap_add "the target gone and back under I/O" \
	interrupted target_deaf target_listen lost
tap_add "the initiator disconnects" disconnect
tap_add "nothing is left" eval 'no_object_left $HOST_DEV "$OBJECTS"'
tap_add "the device removed under I/O" eval 'connect && device_removed gone'
tap_add "target and modules go" eval 'target_down && unload'
tap_run
