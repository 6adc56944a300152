#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Forged ICMP messages that no packet larger than MTU gets from SRC to DST.

usage: icmp.py SRC DST MTU

To SRC, from whatever address this host has. They quote a packet of RoCE, one whose
source port is RoCE's as well, and an echo request: for which the kernel believes them
depends on its version.
"""
import ipaddress
import socket
import struct
import sys

ROCE = 4791
ECHO = {4: b"\x08\0\0\0\0\1\0\1", 6: b"\x80\0\0\0\0\1\0\1"}
ICMP = {4: socket.IPPROTO_ICMP, 6: socket.IPPROTO_ICMPV6}
FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def udp(source_port):
    return socket.IPPROTO_UDP, struct.pack("!HHHH", source_port, ROCE, 1000, 0)


def quoted(src, dst, protocol, head):
    """The beginning of the packet that is said to be too long."""
    if src.version == 4:
        return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 1020, 1, 0x4000, 60, protocol,
                           0, src.packed, dst.packed) + head
    return struct.pack("!IHBB16s16s", 0x60000000, 1000, protocol, 60, src.packed,
                       dst.packed) + head


def too_long(version, mtu, quote):
    """Fragmentation needed (RFC 1191), or Packet Too Big (RFC 4443)"""
    if version == 6:  # whose checksum is the kernel's
        return struct.pack("!BBHI", 2, 0, 0, mtu) + quote
    head = struct.pack("!BBHHH", 3, 4, 0, 0, mtu)
    return head[:2] + struct.pack("!H", checksum(head + quote)) + head[4:] + quote


def main():
    src, dst = (ipaddress.ip_address(a) for a in sys.argv[1:3])
    mtu = int(sys.argv[3])
    version = src.version
    with socket.socket(FAMILY[version], socket.SOCK_RAW, ICMP[version]) as s:
        for protocol, head in (udp(0xC123), udp(ROCE), (ICMP[version], ECHO[version])):
            quote = quoted(src, dst, protocol, head)
            s.sendto(too_long(version, mtu, quote), (str(src), 0))


main()
