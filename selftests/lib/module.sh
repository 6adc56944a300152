# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Tests that are modules: sourced after verve.sh.

# find_module NAME: look beside verve.ko and beside the script (`make modules`)
find_module() {
	local file

	TEST_KO=
	modprobe -qn "$1" && return
	for file in "$(dirname "$VERVE_KO")" "$HERE"; do
		[ -e "$file/$1.ko" ] && TEST_KO=$file/$1.ko
	done
	[ "$TEST_KO" ]
}

load_test() {
	if [ "$TEST_KO" ]; then
		insmod "$TEST_KO" "${@:2}"
	else
		modprobe "$@"
	fi
}

# test_module NAME: load a module, which runs its tests, and check its TAP output
test_module() {
	local mark="$1 $$ $EPOCHREALTIME"

	echo "$mark" >/dev/kmsg
	load_test "$1" device=$DEV_C gid_index="$GID_C" || return
	rmmod "$1"
	dmesg | sed "1,/$mark/d" | sed -n "s/.*$1: //p" >"$TMP/tap"
	cat "$TMP/tap"
	grep -q '^1\.\.' "$TMP/tap" && ! grep -q '^not ok' "$TMP/tap"
}

objects() {
	rdma resource show | sed -n "s/.*: $DEV_C: //p"
}

# nothing_left NAME: the test module leaves no objects behind
nothing_left() {
	local before after

	before=$(objects)
	test_module "$1" >/dev/null || return
	after=$(objects)
	[ "$before" = "$after" ] || fail "before: $before, after: $after"
}
