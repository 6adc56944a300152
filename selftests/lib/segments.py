#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks packets that a NIC has segmented, in a pcap file.

usage: segments.py [--any-ids] FILE [LISTING]

Checks each packet like icrc.py; the fields that the ICRC does not cover, which are
checksums, TOS and TTL; and IPv4 identifications, which count up in each flow, unless
--any-ids allows any. Prints the number of packets with a UDP checksum, and their
opcodes. Writes to LISTING the place in the flow, opcode, flags and lengths of each packet
with data, for a comparison with another capture.
"""
import struct
import sys
from collections import Counter

import icrc

# Opcodes of RC, and of UC with 0x20 added: SEND, RDMA WRITE, READ responses
DATA = set(range(0x0c)) | set(range(0x0d, 0x11)) | {0x16, 0x17}
# RDMA WRITE First and Only, which have the length of the message
RETH = {0x06, 0x0a, 0x0b}


def folded(data):
    """Returns the one's complement sum of 16-bit words."""
    data = bytes(data) + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def check_sums(packet, udp):
    """Returns true if the packet has a UDP checksum."""
    v4 = packet[0] >> 4 == 4
    if v4 and folded(packet[:udp]) != 0xffff:
        raise icrc.Bad("IPv4 header checksum")
    if packet[udp + 6:udp + 8] == b"\0\0":
        return False
    addresses = packet[12:20] if v4 else packet[8:40]
    pseudo = addresses + struct.pack("!HH", icrc.UDP, len(packet) - udp)
    if folded(pseudo + packet[udp:]) != 0xffff:
        raise icrc.Bad("UDP checksum")
    return True


class Flow:
    """Packets from one UDP port."""

    def __init__(self, any_ids):
        self.any_ids = any_ids
        self.next_id = None
        self.masked = None
        self.first = None
        self.places = {}

    def take(self, packet, udp):
        """Adds a packet."""
        v4 = packet[0] >> 4 == 4
        if v4 and not self.any_ids:
            number = struct.unpack("!H", packet[4:6])[0]
            if self.next_id not in (None, number):
                raise icrc.Bad(f"identification {number}, "
                               f"not {self.next_id}")
            self.next_id = (number + 1) & 0xffff
        masked = (packet[1], packet[8]) if v4 else (packet[:4], packet[7])
        if self.masked not in (None, masked):
            raise icrc.Bad(f"{masked}, not {self.masked}")
        self.masked = masked
        self.list(packet, udp + 8)

    def list(self, packet, bth):
        """Lists packets with data. Others depend on timing."""
        opcode = packet[bth]
        if opcode & ~0x20 not in DATA:
            return
        psn = struct.unpack("!I", packet[bth + 8:bth + 12])[0] & 0xffffff
        if self.first is None:
            self.first = psn
        place = (psn - self.first) & 0xffffff
        message = packet[bth + 24:bth + 28].hex() if opcode & 0x1f in RETH else ""
        self.places[place] = \
            f"{place} {opcode:02x} {packet[bth + 1]:02x} {len(packet)} {message}"


def main(path, listing=None, any_ids=False):
    """Returns the exit code."""
    flows, summed, good, bad = {}, Counter(), 0, 0
    for number, (frame, _) in enumerate(icrc.frames(path), 1):
        try:
            packet = icrc.network(frame)
            udp = icrc.transport(packet) if packet else None
            if udp is None:
                continue
            icrc.check(packet, udp)
            summed[packet[udp + 8]] += check_sums(packet, udp)
            sport = packet[udp:udp + 2]
            flows.setdefault(sport, Flow(any_ids)).take(packet, udp)
            good += 1
        except icrc.Bad as why:
            bad += 1
            if bad <= 10:
                print(f"frame {number}: {why}")
    print(f"{good} good packets, {bad} bad, "
          f"{sum(summed.values())} with a checksum")
    for opcode in sorted(summed):
        print(f"{opcode:02x}: {summed[opcode]} with a checksum")
    if listing:
        with open(listing, "w", encoding="ascii") as file:
            for flow in flows.values():
                for place in sorted(flow.places):
                    print(flow.places[place], file=file)
    return 1 if bad or not good else 0


if __name__ == "__main__":
    ANY_IDS = "--any-ids" in sys.argv
    ARGUMENTS = [word for word in sys.argv[1:] if word != "--any-ids"]
    if len(ARGUMENTS) not in (1, 2):
        raise SystemExit(__doc__)
    sys.exit(main(*ARGUMENTS, any_ids=ANY_IDS))
