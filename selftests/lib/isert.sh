# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# An iSCSI target with a portal for RDMA, LIO's isert, which serves the disk of lio.sh at
# HOST_IP. Sourced after lio.sh.

IQN=iqn.2026-01.test.verve:$$
TPG=$LIO/iscsi/$IQN/tpgt_1
PORTAL=$HOST_IP:3260

target_up() {
	backstore_up && mkdir -p "$TPG" && lun_add "$TPG" &&
	echo 0 >"$TPG/attrib/authentication" &&
	echo 1 >"$TPG/attrib/generate_node_acls" &&
	echo 1 >"$TPG/attrib/cache_dynamic_acls" &&
	echo 0 >"$TPG/attrib/demo_mode_write_protect" &&
	mkdir "$TPG/np/$PORTAL" && echo 1 >"$TPG/np/$PORTAL/iser" &&
	echo 1 >"$TPG/enable"
}

target_down() {
	echo 0 >"$TPG/enable"
	rmdir "$TPG/np/$PORTAL"
	lun_del "$TPG"
	rmdir "$TPG" "${TPG%/*}"
	backstore_down
} 2>/dev/null
