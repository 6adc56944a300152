# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Programs of another distribution, unpacked in a directory with all libraries that they
# need. They run by chroot. Sourced after verve.sh.

# need_root VARIABLE FILE: the variable names a directory that has the file, or all tests
# are skipped. The script begins again in a mount namespace of its own, where the
# directory, ROOT, has the devices, /proc and /sys, the directories of the tests in /mnt,
# and TMP as /tmp. The mounts end with the script.
need_root() {
	ROOT=${!1:-}
	[ "$ROOT" ] && [ -e "$ROOT$2" ] || skip_all "$1 holds no ${2##*/}"
	need chroot mount unshare
	if [ "${VERVE_IN_ROOT:-}" != $$ ]; then
		rm -rf "$TMP"
		VERVE_IN_ROOT=$$ exec unshare -m "$0"
	fi
	furnish || skip_all "$ROOT cannot be furnished"
}

furnish() {
	local dir

	for dir in dev proc sys; do
		mount --rbind /$dir "$ROOT/$dir" || return
	done
	mkdir -p "$ROOT/mnt" && mount --bind "$HERE/.." "$ROOT/mnt" &&
	mount --bind "$TMP" "$ROOT/tmp"
}

in_root() { # COMMAND...
	chroot "$ROOT" "$@"
}
