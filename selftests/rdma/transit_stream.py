#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends RoCEv2 packets of one flow, one by one, like another machine.

usage: transit_stream.py IDS FROM TO COUNT [LENGTH...]

Each packet is right, including the ICRC, and is for a QP that does not exist. The
payload has each LENGTH in turn (256 bytes). A "c" behind a LENGTH gives the packet a UDP
checksum. The source port is random. IDS selects the IPv4 identifications: next, same, or
random without consecutive ones. Exits when all packets have left and no memory is charged
to the socket, or with 1 if that does not happen.
"""
import fcntl
import itertools
import random
import socket
import struct
import sys
import termios
import time

import icrc
import segments

# SEND Only of RC, the default partition, and a number that no QP has
BTH = struct.pack("!BBHII", 0x04, 0, 0xffff, 2, 0)
# Seconds that packets may be on their way
PATIENCE = 20


def ids(how, count):
    """Returns the identification of each packet."""
    step = {"next": (1, 2), "same": (0, 1), "random": (2, 1000)}[how]
    ident = random.randrange(0xffff)
    for _ in range(count):
        # The kernel replaces 0.
        yield ident + 1
        ident = (ident + random.randrange(*step)) % 0xffff


def with_checksum(whole, udp):
    """Returns the packet with a UDP checksum."""
    pseudo = whole[12:20] + struct.pack("!HH", icrc.UDP, len(whole) - udp)
    total = segments.folded(pseudo + whole[udp:])
    return whole[:udp + 6] + struct.pack("!H", 0xffff - total or 0xffff) + whole[udp + 8:]


def packet(ident, kind, port, source, target):
    """Returns the packet from the IP header on. The kernel adds the IP checksum."""
    data = BTH + bytes(int(kind.rstrip("c")))
    length = 8 + len(data) + icrc.ICRC
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + length, ident, 0x4000, 64,
                     icrc.UDP, 0, socket.inet_aton(source),
                     socket.inet_aton(target))
    whole = ip + struct.pack("!HHHH", port, icrc.PORT, length, 0) + data
    whole += icrc.icrc(whole + bytes(icrc.ICRC), len(ip))
    return with_checksum(whole, len(ip)) if kind.endswith("c") else whole


def unsent(sock):
    """Returns the bytes of memory charged to the socket."""
    answer = fcntl.ioctl(sock, termios.TIOCOUTQ, struct.pack("i", 0))
    return struct.unpack("i", answer)[0]


def main(how, source, target, count, kinds):
    """Returns the exit code."""
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    port = random.randrange(0xc000, 0x10000)
    packets = [packet(ident, kind, port, source, target)
               for ident, kind in zip(ids(how, count), itertools.cycle(kinds))]
    for one in packets:
        raw.sendto(one, (target, 0))
    end = time.monotonic() + PATIENCE
    while unsent(raw) and time.monotonic() < end:
        time.sleep(0.01)
    if not unsent(raw):
        return 0
    print(f"{unsent(raw)} bytes have not left")
    return 1


if __name__ == "__main__":
    if len(sys.argv) < 5 or sys.argv[1] not in ("next", "same", "random"):
        raise SystemExit(__doc__)
    sys.exit(main(*sys.argv[1:4], int(sys.argv[4]), sys.argv[5:] or ["256"]))
