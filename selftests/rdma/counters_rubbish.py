#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends one RoCEv2 packet of a kind that no peer sends.

usage: counters_rubbish.py KIND FROM TO

Everything else about it is right, the ICRC included, so that there is one reason
only to throw it away. FROM and TO are IPv4 addresses.
"""
import socket
import struct
import sys

import icrc

SEND_ONLY, UNKNOWN, CNP = 0x04, 0x1f, 0x81
PKEY = 0xffff
# A number that is no QP's: those begin further up
NOBODY = 2


def bth(opcode=SEND_ONLY, version=0, pkey=PKEY, pad=0):
    """Returns the base transport header."""
    return struct.pack("!BBHII", opcode, pad << 4 | version, pkey, NOBODY, 0)


# What is between UDP header and ICRC
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
    """Returns it, from the IP header on; the kernel adds that one's checksum."""
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
    """Sends it."""
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    raw.sendto(packet(kind, source, target), (target, 0))


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in KINDS:
        raise SystemExit(__doc__ + "\nKinds: " + ", ".join(KINDS))
    main(*sys.argv[1:])
