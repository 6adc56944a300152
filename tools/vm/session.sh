# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by the runners (qemu, uml), after lib.sh. A session is one run of a
# job in a guest: a temporary directory that host and guest share.
#
# Environment of the runners:
#   MODULE=FILE     a verve.ko that modprobe finds in the guest
#   OUT=DIR         a directory the guest sees, writable, as /out
#   DMESG=FILE      keeps the guest's kernel log
#   TIMEOUT=600     seconds until a guest counts as hung
#   CPUS=2 MEM=4G
#   KARGS=          more arguments for the guest's kernel
#   ALLOW_WARN=     not empty: a WARN in the guest is no panic
#   WIRE=DIR/a:DIR/b  a NIC whose wire ends in that datagram socket, and at its other
#                   end in the second one, another guest's or a switch's
#   WIRE_MTU=4200   the largest MTU of that NIC

# session_begin JOB ARGS...: sets $session, $out and the guest's commands
session_begin()
{
	local tmp=${TMPDIR:-/tmp}

	[ -f "$1" ] || die "no such job: $1"
	# A guest mounts its own there.
	case $(readlink -f "$tmp")/ in
	/dev/* | /run/* | /var/tmp/*) tmp=/tmp ;;
	esac
	session=$(mktemp -d "$tmp/verve-vm.XXXXXX")
	trap 'session_cleanup' EXIT
	trap 'exit 130' INT TERM
	out=$(readlink -f "${OUT:-$session/out}")
	mkdir -p "$out"
	cp "$top/tools/vm/init-guest" "$session/"
	job=$(readlink -f "$1")
	shift
	arguments=("$@")
	: "${TIMEOUT:=600}" "${CPUS:=2}" "${MEM:=4G}" "${KARGS:=}"
}

# wire_mac SOCKET: the MAC address of the NIC whose wire ends there
wire_mac()
{
	printf %s "${1##*/}" | sha256sum | sed -E 's/(..)(..)(..).*/52:54:00:\1:\2:\3/'
}

# A guest that is stopped in the middle of its job may ignore the first signal. A second
# one for this process must not end the clean-up.
session_cleanup()
{
	local pids turn

	trap '' INT TERM
	mapfile -t pids < <(jobs -rp)
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || :
	for turn in {1..10}; do
		[ "$(jobs -rp)" ] || break
		sleep 0.1
	done
	mapfile -t pids < <(jobs -rp)
	[ ${#pids[@]} = 0 ] || kill -9 "${pids[@]}" 2>/dev/null || :
	rm -rf "$session"
}

# session_modules ROOT RELEASE: the modules below ROOT, with $MODULE added as depmod
# would add it; prints the directory.
session_modules()
{
	local from=$1/lib/modules/$2 to=$session/modules/lib/modules/$2 file

	[ -n "${MODULE:-}" ] || { echo "$from"; return; }
	[ -e "$MODULE" ] || die "there is no $MODULE"
	mkdir -p "$to/updates"
	ln -s "$from/kernel" "$to/kernel"
	cp "$from"/modules.{order,builtin,builtin.modinfo} "$to/"
	for file in "$MODULE" "${MODULE%/*}"/{verve_*,roce_offload}.ko; do
		[ ! -e "$file" ] || "${STRIP:-strip}" -g -o "$to/updates/${file##*/}" "$file"
	done
	depmod -b "$session/modules" "$2"
	echo "$to"
}

# session_share NAME TTY MODULES: passes the guest its commands
session_share()
{
	local VERVE_GUEST=$1 VERVE_TTY=$2 VERVE_MODULES=$3 VERVE_CWD=$PWD
	local VERVE_JOB=$job VERVE_ARGS=("${arguments[@]}") VERVE_MHZ
	local VERVE_PANIC_ON_WARN=1

	[ -z "${ALLOW_WARN:-}" ] || VERVE_PANIC_ON_WARN=
	# A UML guest's time stamp counter is the host's.
	VERVE_MHZ=$(awk '/^bogomips/ { printf "%.3f", $3 / 2; exit }' /proc/cpuinfo)
	{
		export -p | grep -E '^declare -x [A-Za-z_0-9]+=' |
			grep -vE '^declare -x (PWD|OLDPWD|SHLVL|TERM|PATH|TMPDIR)='
		declare -p VERVE_TTY VERVE_MODULES VERVE_CWD VERVE_JOB \
			VERVE_ARGS VERVE_MHZ VERVE_PANIC_ON_WARN
		echo "export VERVE_GUEST=$VERVE_GUEST"
		echo 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
	} >"$session/environment"
}

# session_wait PID HANG: waits for the guest; when time is up, calls HANG to get
# backtraces out of it.
session_wait()
{
	local pid=$1 hang=$2 until=$((SECONDS + TIMEOUT))

	while kill -0 "$pid" 2>/dev/null; do
		if [ "$SECONDS" -ge "$until" ]; then
			say "no end after $TIMEOUT s: asking the guest for backtraces"
			"$hang" || :
			kill "$pid" 2>/dev/null || :
			sleep 1
			kill -9 "$pid" 2>/dev/null || :
			hung=1
			break
		fi
		sleep 0.2
	done
	wait "$pid" 2>/dev/null || :
}

# Exits with the exit code of the guest's job; 124 for a hung guest, 125 for a dead one.
session_end()
{
	[ -z "${DMESG:-}" ] || cp "$session/dmesg" "$DMESG" 2>/dev/null ||
		cp "$session/console" "$DMESG"
	# A guest may hang when its job has ended, too.
	if [ -n "${hung:-}" ]; then
		say "the guest hung; the end of its console:"
		tail -n 400 "$session/console" >&2
		exit 124
	fi
	[ ! -s "$session/status" ] || exit "$(cat "$session/status")"
	say "the guest died; the end of its console:"
	tail -n 80 "$session/console" >&2
	exit 125
}
