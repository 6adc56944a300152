#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends one RoCEv2 packet with one error.

usage: counters_rubbish.py KIND FROM TO

The rest of the packet is right, including the ICRC, so that only KIND is a reason to
drop it. FROM and TO are IPv4 addresses.
"""
import socket
import struct
import sys

import icrc

SEND_ONLY, UNKNOWN, CNP = 0x04, 0x1f, 0x81
PKEY = 0xffff
# No QP has this number, because numbers of QPs begin further up.
NOBODY = 2


def bth(opcode=SEND_ONLY, version=0, pkey=PKEY, pad=0):
    """Returns the base transport header."""
    return struct.pack("!BBHII", opcode, pad << 4 | version, pkey, NOBODY, 0)


# Bytes between UDP header and ICRC
KINDS = {
    "length": bth()[:8],
    "header": bth(version=1),
    "opcode": bth(UNKNOWN),
    "pkey": bth(pkey=0x1234),
    "pad": bth(pad=3),
    "no_qp": bth(),
    "cnp": bth(CNP) + bytes(16),
    "icrc": bth(),
}


def packet(kind, source, target):
    """Returns the packet from the IP header on. The kernel adds the IP checksum."""
    data = KINDS[kind]
    length = 8 + len(data) + icrc.ICRC
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + length, 1, 0x4000, 64,
                     icrc.UDP, 0, socket.inet_aton(source),
                     socket.inet_aton(target))
    whole = ip + struct.pack("!HHHH", 0xc000, icrc.PORT, length, 0) + data
    crc = icrc.icrc(whole + bytes(icrc.ICRC), len(ip))
    if kind == "icrc":
        crc = bytes(byte ^ 1 for byte in crc)
    return whole + crc


def main(kind, source, target):
    """Sends the packet."""
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    raw.sendto(packet(kind, source, target), (target, 0))


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in KINDS:
        raise SystemExit(__doc__ + "\nKinds: " + ", ".join(KINDS))
    main(*sys.argv[1:])
