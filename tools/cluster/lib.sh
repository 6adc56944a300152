# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by node, for the jobs: results, meetings of the nodes, the wires, and commands
# on other nodes. Sets $NODE (this node's number), $NODES (how many there are).

# An emulated CPU is 10 to 30 times slower.
SLOW=1
! grep -qs 'QEMU TCG' /proc/cpuinfo || SLOW=10
DEVICE=verve0

# ok NAME, not_ok NAME [REASON], check NAME COMMAND...: results in TAP
ok()
{
	echo "ok - $JOB: $1"
}

not_ok()
{
	echo "not ok - $JOB: $1${2:+ # $2}"
}

check()
{
	local name=$1 output

	shift
	if output=$("$@" 2>&1); then
		ok "$name"
	else
		note "${output//$'\n'/$'\n# '}"
		not_ok "$name"
	fi
}

# note TEXT: progress or a line of a table, which is no result
note()
{
	printf '# %s\n' "$*"
}

# table: the lines of the standard input in columns, the first of them left-aligned
table()
{
	column -t -s '|' -R 2,3,4,5,6,7,8,9 | sed 's/^/# /'
}

# size BYTES: in the largest unit
size()
{
	if [ "$1" -ge 1048576 ]; then
		echo "$(($1 / 1048576)) MiB"
	elif [ "$1" -ge 1024 ]; then
		echo "$(($1 / 1024)) KiB"
	else
		echo "$1 B"
	fi
}

first()
{
	[ "$NODE" = 1 ]
}

address()
{
	echo "10.9.0.$1"
}

# within SECONDS COMMAND...: repeats the command until it succeeds, at most so long
within()
{
	local until=$((SECONDS + $1 * SLOW))

	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.1
	done
}

# meet PLACE: waits until all nodes are there. A node whose job has failed will not come.
meet()
{
	local other

	mkdir -p /out/meetings
	: >"/out/meetings/$1.$NODE"
	for ((other = 1; other <= NODES; other++)); do
		until [ -e "/out/meetings/$1.$other" ]; do
			[ ! -e /out/failed ] || exit 1
			sleep 0.1
		done
	done
}

# wires SETTING=VALUE...: the switch's settings, apart from those of the command line
wires()
{
	echo "$(cat /out/wires/given) $*" >/out/wires/settings.new
	mv /out/wires/settings.new /out/wires/settings
	sleep 0.3
}

# on NODE COMMAND...: runs a command on another node
on()
{
	local node=$1

	shift
	dbclient -y -y -q -i /out/ssh/key "root@$(address "$node")" "$@" 2>/dev/null
}

# gid_index: of the device's IPv4 address
gid_index()
{
	grep -lE ':ffff:0a09:' "/sys/class/infiniband/$DEVICE/ports/1/gids"/* |
		head -n 1 | sed 's/.*\///'
}
