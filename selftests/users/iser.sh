#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# iSCSI runs over RDMA, by LIO's isert and by open-iscsi's iser: data are compared, and
# it survives reconnection and removal. Both work in the first network namespace only, so
# they share a device there.
#
#	isert [file] ---- vthost ---- iser

. "$(dirname "$0")/../lib/verve.sh"
. "$LIB/users.sh"
. "$LIB/lio.sh"
. "$LIB/isert.sh"

need unshare setsid iscsid iscsiadm fio cmp nft
need_modules iscsi_target_mod target_core_file ib_isert ib_iser sd_mod
need_configfs
! pidof iscsid >/dev/null || skip_all "an iscsid is running"

# The initiator's database is private to this process.
if [ ! "${ISER_MOUNTS:-}" ]; then
	ISER_MOUNTS=1 exec unshare -m "$0" "$@"
fi

initiator_up() {
	mount -t tmpfs iscsi /etc/iscsi && mkdir -p /run/lock/iscsi &&
	echo "InitiatorName=$IQN-initiator" >/etc/iscsi/initiatorname.iscsi &&
	cat >/etc/iscsi/iscsid.conf <<-END &&
		node.startup = manual
		node.session.timeo.replacement_timeout = 60
		node.conn[0].timeo.login_timeout = 10
		node.conn[0].timeo.noop_out_interval = 1
		node.conn[0].timeo.noop_out_timeout = 2
	END
	# iscsid kills its process group when it ends.
	setsid iscsid -f >"$TMP/iscsid" 2>&1 &
	ISCSID=$!
	within 5 iscsiadm -m node -o new -T "$IQN" -p $PORTAL,1 -I iser
}

session() {
	grep -lsx "$IQN" /sys/class/iscsi_session/*/targetname | head -n 1 |
		xargs -r dirname
}

disk() {
	disk_below "$(session)/device/"
}

gone() {
	[ ! "$(session)" ]
}

lost() {
	[ "$(cat "$(session)/state" 2>/dev/null)" = FAILED ]
}

login() {
	timeout $LIMIT iscsiadm -m node -T "$IQN" -p $PORTAL,1 -l &&
	within 10 disk && DISK=$(disk) &&
	iscsiadm -m session | grep "^iser: .* $IQN"
}

logout() {
	timeout $LIMIT iscsiadm -m node -T "$IQN" -p $PORTAL,1 -u && within 10 gone
}

cleanup_iser() {
	mend 2>/dev/null
	gone || logout
	target_down
	kill $ISCSID
	host_down
	cleanup
}

ISCSID=
trap cleanup_iser EXIT
tap_setup host_up
tap_setup target_up
tap_setup initiator_up
OBJECTS=
tap_setup eval 'OBJECTS=$(objects $HOST_DEV)'
tap_add "the initiator logs in" login
disk_tests
tap_add "link loss under I/O" interrupted cut mend lost
tap_add "the initiator logs out" logout
tap_add "nothing is left" eval 'no_object_left $HOST_DEV "$OBJECTS"'
tap_run
