# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by the scripts of tools/: places of files, and progress messages. Sets $top
# (the source tree) and $cache (everything slow, outside the tree).

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export HOME=${HOME:-~}
cache=${VERVE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/verve}
# shellcheck disable=SC2034 # used by those who source this
kernels="6.1 6.12 7.2"
# Load, link, rdma_cm, every opcode, removal under load
# shellcheck disable=SC2034
smoke_tests="rdma/link rdma/cm rdma/opcodes fault/removal"
export LC_ALL=C.UTF-8
# Under make, the jobserver and the variables of the outer make are not for these
# scripts.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
mkdir -p "$cache"

say()
{
	printf 'verve: %s\n' "$*" >&2
}

die()
{
	say "$*"
	exit 2
}

# once NAME: waits for and takes the lock NAME until the script ends, so that
# two runs at a time do not build the same thing.
once()
{
	mkdir -p "$cache/lock"
	exec {lock_fd}>"$cache/lock/$1"
	flock -w 3 "$lock_fd" || { say "waiting for another run ($1)"; flock "$lock_fd"; }
}

# own_logs DIR: makes a directory for logs, which two runs must not share
own_logs()
{
	mkdir -p "$1"
	exec {logs_fd}>"$1/lock"
	flock -n "$logs_fd" || die "another run has its logs in $1: give LOGS=DIR"
}

# tree_key: a name for this source tree among several
tree_key()
{
	printf %s "$top" | sha256sum | cut -c 1-8
}

# unpack_closure ROOT SUITE PACKAGE...: a new root, with the packages of the Debian suite
# and all that they need. Nothing is installed, and no package's scripts run.
unpack_closure()
{
	local root=$1 debs name

	shift
	debs=$("$top/tools/setup/archive" closure "$@")
	rm -rf "$root"
	# Directories are merged below usr/, as on an installed system.
	mkdir -p "$root"/{dev,proc,sys,run,tmp,usr/{bin,sbin,lib,lib64}}
	for name in bin sbin lib lib64; do
		ln -s "usr/$name" "$root/$name"
	done
	xargs -I DEB dpkg-deb -x DEB "$root" <<<"$debs"
}
