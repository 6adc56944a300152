# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by scripts that deal with kernels of other architectures than this machine's.

# arch_of SERIES: Debian's name of the architecture of 7.2, 7.2-arm64-16k, 7.2-s390x
arch_of()
{
	case $1 in
	*-arm64*) echo arm64 ;;
	*-s390x*) echo s390x ;;
	*) echo amd64 ;;
	esac
}

# arch_triplet ARCH: what its compiler, linker and libraries are named by
arch_triplet()
{
	case $1 in
	arm64) echo aarch64-linux-gnu ;;
	s390x) echo s390x-linux-gnu ;;
	amd64) echo x86_64-linux-gnu ;;
	esac
}

# arch_linux ARCH: Linux' name of it
arch_linux()
{
	case $1 in
	s390x) echo s390 ;;
	amd64) echo x86 ;;
	*) echo "$1" ;;
	esac
}
