# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Many network namespaces, as of containers, each with a device on a veth to one bridge.
# Sourced after verve.sh, by netns/containers.sh and by tools/bench/containers-guest.
#
#	C1 [va: vtc1] ---- bridge ---- [va: vtcN] CN

NS_BRIDGE=verve-bridge-$$

container() { # NUMBER
	echo "verve-c$1-$$"
}

# Print TEXT once for each container, with its namespace for NS and its number for I.
each_container() { # COUNT TEXT
	local i text

	for ((i = 1; i <= $1; i++)); do
		text=${2//NS/$(container $i)}
		echo "${text//I/$i}"
	done
}

address_container() { # NUMBER
	ip -n "$(container "$1")" -batch - <<-END
		link set lo up
		link set va mtu 1500 up
		addr add 10.1.$(($1 / 250)).$(($1 % 250 + 1))/16 dev va
	END
}

# containers COUNT: create the bridge and the namespaces with their netdevs
containers() {
	local i

	ip netns add "$NS_BRIDGE" &&
	each_container "$1" "netns add NS" | ip -batch - &&
	ip -n "$NS_BRIDGE" link add bridge up type bridge &&
	each_container "$1" \
		"link add pI netns $NS_BRIDGE type veth peer name va netns NS" |
		ip -batch - &&
	each_container "$1" "link set pI master bridge up" |
		ip -n "$NS_BRIDGE" -batch - || return
	for ((i = 1; i <= $1; i++)); do
		address_container $i || return
	done
}

container_link() { # NUMBER
	link_add "$(container "$1")" "vtc$1" va
}

container_links() { # FIRST LAST
	local i

	for ((i = $1; i <= $2; i++)); do
		container_link $i || return
	done
}

# Does the initial namespace see no device of a container? Not in exclusive mode.
no_container_links() {
	! compgen -G "/sys/class/infiniband/vtc*" >/dev/null
}

# Each netdev goes with its namespace, and each device with its netdev.
end_containers() {
	local ns

	for ns in /run/netns/verve-c*-"$$" "/run/netns/$NS_BRIDGE"; do
		[ ! -e "$ns" ] || echo "netns del ${ns##*/}"
	done | ip -batch -
}

# Each container exchanges a message with the next one, by the program TALK.
neighbours_talk() { # COUNT
	local device devices

	mapfile -t devices < <(each_container "$1" vtcI)
	for device in "${devices[@]}"; do
		within 30 gid_index "$device" ipv4 >/dev/null || fail "$device: no GID" || return
	done
	timeout $((6 * LIMIT)) "$TALK" "${devices[@]}"
}

# Print the kibibytes of slabs, in which the core keeps the devices' sysfs.
slab_kib() {
	awk '/^Slab:/ { print $2 }' /proc/meminfo
}
