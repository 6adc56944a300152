# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by the scripts of the cluster: numbers with units, as tc takes them.

# bits RATE: 1gbit, 200mbit, or bits in a second
bits()
{
	case $1 in
	*gbit) echo "$((${1%gbit} * 1000000000))" ;;
	*mbit) echo "$((${1%mbit} * 1000000))" ;;
	*) echo "$1" ;;
	esac
}

# microseconds TIME: 2ms, 100us, or microseconds
microseconds()
{
	case $1 in
	*ms) echo "$((${1%ms} * 1000))" ;;
	*) echo "${1%us}" ;;
	esac
}

# fraction PART: 0.1%, or a fraction
fraction()
{
	case $1 in
	*%) awk -v percent="${1%\%}" 'BEGIN { print percent / 100 }' ;;
	*) echo "$1" ;;
	esac
}
