#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads the packets of a packet socket on a netdev after SIGTERM.

usage: transit_sniff.py NETDEV

Prints "ready" when the socket is open. Without a ring, the socket holds clones of the
packets while the stack handles them. Exits with 1 if a packet is lost or damaged.
"""
import signal
import socket
import struct
import sys

import icrc

SO_RCVBUFFORCE = 33
ROOM = 64 << 20


def length(packet):
    """Returns the length of a packet by its IP header."""
    if packet[0] >> 4 == 4:
        return struct.unpack("!H", packet[2:4])[0]
    return 40 + struct.unpack("!H", packet[4:6])[0]


def read_all(sock):
    """Returns the number of packets to port 4791; raises errors."""
    seen = 0
    while True:
        try:
            packet = sock.recv(1 << 17)
        except BlockingIOError:
            return seen
        if len(packet) < 28 or packet[9] != icrc.UDP:
            continue
        if len(packet) != length(packet):
            raise icrc.Bad(f"{len(packet)} bytes of {length(packet)}")
        seen += 1


def main(netdev):
    """Returns the exit code."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    sock.bind((netdev, 3))
    sock.setblocking(False)
    print("ready", flush=True)
    signal.sigwait({signal.SIGTERM})
    try:
        print(read_all(sock), "packets")
    except (OSError, icrc.Bad) as why:
        print(why)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(main(sys.argv[1]))
