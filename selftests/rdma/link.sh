#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A link is added, refused and deleted, and the device's state, MTU, GIDs and name
# follow its netdev, to its end.
#
#	A [va: vta] ---- [vb] B
#
# vb is the wire's other end only: taking it down takes va's carrier away.

. "$(dirname "$0")/../lib/verve.sh"

need ibv_devinfo
shopt -s extglob

SYS=/sys/class/infiniband/$DEV_A
IB_PORT=$SYS/ports/1

gone() {
	! link_exists "$1" && [ ! -e "/sys/class/infiniband/$1" ]
}

add_and_delete() {
	local i

	for i in 1 2 3 4 5; do
		link_add "$NS_A" $DEV_A va || return
		link_exists $DEV_A || fail "not there after being added" || return
		link_delete $DEV_A || return
		gone $DEV_A || fail "there after being deleted" || return
	done
}

# refused TEXT COMMAND...: the command fails with this text
refused() {
	local text=$1

	shift
	"$@" && { fail "not refused: $*"; return; }
	"$@" 2>&1 | grep -i "$text" || fail "it does not say: $text"
}

# A second device is refused, and the first one stays.
duplicates() {
	link_add "$NS_A" $DEV_A va || return
	refused "exists" link_add "$NS_A" $DEV_A va &&
	refused "exists" link_add "$NS_A" $DEV_B va &&
	link_exists $DEV_A && gone $DEV_B
}

name_taken() {
	not link_add "$NS_B" $DEV_A vb && link_exists $DEV_A
}

nonsense() {
	not link_add "$NS_A" $DEV_B nothere &&
	not link_add "$NS_B" $DEV_B va && # the netdev of another namespace
	not link_delete $DEV_B && gone $DEV_B
}

declare -A INFO

# Read the lines "name: value" of ibv_devinfo -v, the first of each name.
read_info() {
	local name value

	INFO=()
	while IFS=: read -r name value; do
		name=${name//[[:space:]]/}
		[ "$name" ] && INFO[$name]=${INFO[$name]:-${value##*([[:space:]])}}
	done < <(client ibv_devinfo -v -d $DEV_A)
	[ ${#INFO[@]} -gt 30 ] || fail "ibv_devinfo says nothing"
}

# is FIELD PATTERN
is() {
	local value=${INFO[$1]}

	# shellcheck disable=SC2053 # a pattern
	[[ $value == $2 ]] || fail "$1 is '$value', not $2"
}

at_least() {
	local value=${INFO[$1]}

	[ "$((value))" -ge "$2" ] || [ "$((value))" -lt 0 ] || # 2^63 and more
		fail "$1 is '$value', less than $2"
}

believable() {
	read_info && is transport "InfiniBand (0)" && is phys_port_cnt 1 &&
	is link_layer Ethernet && is state "PORT_ACTIVE (4)" &&
	is max_mtu "4096 (5)" && is active_mtu "1024 (3)" &&
	is phys_state "LINK_UP (5)" && is sm_lid 0 && is port_lid 0 &&
	not is node_guid "0000:0000:0000:0000" &&
	not is active_width "invalid*" && not is active_speed "invalid*" &&
	at_least max_qp 1000 && at_least max_qp_wr 1024 &&
	at_least max_sge 2 && at_least max_cq 1000 && at_least max_cqe 4096 &&
	at_least max_mr 1000 && at_least max_mr_size $((1 << 30)) &&
	at_least max_pd 100 && at_least max_qp_rd_atom 16 &&
	at_least max_qp_init_rd_atom 16 && at_least max_ah 100 &&
	at_least max_srq 100 && at_least max_srq_wr 1024 &&
	at_least max_pkeys 1 && at_least max_msg_sz $((1 << 30)) &&
	at_least gid_tbl_len 14 && is "GID[0]" "fe80:*RoCE v2"
}

state_is() {
	grep -q ": $1" $IB_PORT/state
}

state_follows() {
	ip -n "$NS_A" link set va down
	within 2 state_is DOWN || fail "ACTIVE with va down" || return
	ip -n "$NS_A" link set va up
	within 2 state_is ACTIVE || fail "not ACTIVE with va up"
}

carrier_follows() {
	ip -n "$NS_B" link set vb down
	within 2 state_is DOWN || fail "ACTIVE without a carrier" || return
	ip -n "$NS_B" link set vb up
	within 2 state_is ACTIVE || fail "not ACTIVE with a carrier"
}

mtu_is() {
	client ibv_devinfo -d $DEV_A | grep -q "active_mtu:.*[^0-9]$1 ("
}

mtu_follows() {
	local pair

	for pair in 4200:4096 9000:4096 2300:2048 600:512 1500:1024; do
		ip -n "$NS_A" link set va mtu ${pair%:*} || return
		within 2 mtu_is ${pair#*:} ||
			fail "MTU ${pair%:*} does not give ${pair#*:}" || return
	done
}

has_gid() {
	grep -qsx "$1" $IB_PORT/gids/{0..31}
}

gids_follow() {
	local v4=0000:0000:0000:0000:0000:ffff:0a01:0203
	local v6=fd00:0000:0000:0077:0000:0000:0000:0009

	within 5 has_gid 'fe80:.*' || fail "no link-local GID" || return
	within 5 gid_index $DEV_A ipv4 || return
	ip -n "$NS_A" addr add 10.1.2.3/24 dev va
	within 5 has_gid $v4 || fail "no GID of the new IPv4 address" || return
	ip -n "$NS_A" addr add fd00:0:0:77::9/64 dev va nodad
	within 5 has_gid $v6 || fail "no GID of the new IPv6 address" || return
	ip -n "$NS_A" addr del 10.1.2.3/24 dev va
	within 5 not has_gid $v4 || fail "the IPv4 GID stays" || return
	ip -n "$NS_A" addr del fd00:0:0:77::9/64 dev va
	within 5 not has_gid $v6 || fail "the IPv6 GID stays"
}

netdev_is() {
	a rdma link show $DEV_A/1 | grep -q "netdev $1 "
}

rename_follows() {
	netdev_is va || fail "the netdev is not va" || return
	ip -n "$NS_A" link set va down
	ip -n "$NS_A" link set va name renamed
	ip -n "$NS_A" link set renamed up
	within 2 netdev_is renamed || fail "the old name stays" || return
	[ "$(cat $SYS/parent)" = renamed ] ||
		fail "parent is $(cat $SYS/parent)" || return
	ip -n "$NS_A" link set renamed down
	ip -n "$NS_A" link set renamed name va
	ip -n "$NS_A" link set va up
	within 2 state_is ACTIVE
}

netdev_deleted() {
	ip -n "$NS_A" link del va
	within 2 gone $DEV_A || fail "the device outlives its netdev"
}

# kind NAME [ip link arguments]: add a link on a netdev of that kind
kind() {
	local name=$1

	shift
	if [ $# != 0 ]; then
		ip -n "$NS_A" link add name $name "$@" 2>/dev/null ||
			{ skip "the kernel has no such netdev"; return; }
		ip -n "$NS_A" addr add 10.9.0.1/24 dev $name
	fi
	ip -n "$NS_A" link set $name up
	link_add "$NS_A" $DEV_A $name && within 5 link_exists $DEV_A &&
	within 5 gid_index $DEV_A ipv4
}

kind_gone() {
	rdma link delete $DEV_A
	ip -n "$NS_A" link del "$1"
	:
}

wire_anew() {
	untopo
	wire 1500
}

has_links() {
	rdma link show | grep -q '^link'
}

no_link_left() {
	! has_links || fail "$(rdma link show)"
}

# Adding a link loads the module, by the alias rdma-link-TYPE.
autoload() {
	modprobe -qn "rdma-link-$LINK_TYPE" ||
		{ skip "modprobe does not know rdma-link-$LINK_TYPE"; return; }
	rmmod $MODULE || return
	link_add "$NS_A" $DEV_A va && link_exists $DEV_A
}

tap_setup wire 1500
tap_add "added and deleted, again and again" add_and_delete
tap_add "a second link on a netdev is refused" duplicates
tap_add "a name that is taken is refused" name_taken
tap_add "nonsense is refused" nonsense
tap_setup within 5 gid_index $DEV_A ipv4
tap_setup eval 'NS_C=$NS_A'
tap_add "ibv_devinfo is believable" believable
tap_add "port state follows the netdev" state_follows
tap_add "port state follows the carrier" carrier_follows
tap_add "active MTU follows the netdev" mtu_follows
tap_add "GIDs follow the addresses" gids_follow
tap_add "the netdev is renamed" rename_follows
tap_add "the netdev is deleted" netdev_deleted
tap_setup wire_anew
tap_add "on lo" kind lo
tap_setup kind_gone nothing
tap_add "on a dummy netdev" kind dum type dummy
tap_setup kind_gone dum
tap_add "on a bridge" kind bri type bridge
tap_setup kind_gone bri
tap_add "on a VLAN" kind vlan link va type vlan id 7
tap_setup kind_gone vlan
tap_add "on a macvlan" kind mac link va type macvlan
tap_setup kind_gone mac
tap_setup wire_anew
tap_add "loaded by its alias" autoload
tap_add "link deleted with its namespace's wire" untopo
tap_add "no link is left" within 5 no_link_left
tap_run
