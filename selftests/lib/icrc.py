#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks lengths, pad, reserved bits and ICRC of each RoCEv2 packet in a pcap file.

usage: icrc.py FILE [OPCODE...]

Exits with 1 if a packet is wrong, if there is no packet, or if one of the opcodes of
the BTH (hexadecimal) does not occur. The script shares no code with the driver. The
CRC is zlib's, and the masks are those of the InfiniBand specification, annex A17.
"""
import struct
import sys
import zlib
from collections import Counter

PORT = 4791
UDP = 17
BTH = 12
ICRC = 4

# Bytes of extended headers of each operation, and whether payload may follow
DETH, RETH, AETH, ATOMIC_ETH, ATOMIC_ACK, IMM, IETH = 8, 16, 4, 28, 8, 4, 4
RC = {0x00: 0, 0x01: 0, 0x02: 0, 0x03: IMM, 0x04: 0, 0x05: IMM,
      0x06: RETH, 0x07: 0, 0x08: 0, 0x09: IMM, 0x0a: RETH, 0x0b: RETH + IMM,
      0x0c: RETH, 0x0d: AETH, 0x0e: 0, 0x0f: AETH, 0x10: AETH, 0x11: AETH,
      0x12: AETH + ATOMIC_ACK, 0x13: ATOMIC_ETH, 0x14: ATOMIC_ETH,
      0x16: IETH, 0x17: IETH}
NO_PAYLOAD = {0x0c, 0x11, 0x12, 0x13, 0x14, 0x81}
HEADERS = dict(RC)
HEADERS.update({0x20 + op: RC[op] for op in range(0x0c)})
HEADERS.update({0x64: DETH, 0x65: DETH + IMM, 0x81: 16})


class Bad(Exception):
    """An error in a packet."""


def frames(path):
    """Yields the captured bytes of each frame, and its length."""
    with open(path, "rb") as file:
        head = file.read(24)
        magic = head[:4]
        if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1"):
            order = "<"
        elif magic in (b"\xa1\xb2\xc3\xd4", b"\xa1\xb2\x3c\x4d"):
            order = ">"
        else:
            raise SystemExit(f"{path}: not a pcap file")
        if struct.unpack(order + "I", head[20:24])[0] & 0xffff != 1:
            raise SystemExit(f"{path}: not of Ethernet frames")
        while len(record := file.read(16)) == 16:
            _, _, kept, length = struct.unpack(order + "IIII", record)
            data = file.read(kept)
            if len(data) < kept:
                return
            yield data, length


def network(frame):
    """Returns the IP packet without Ethernet trailer, or None."""
    kind, start = struct.unpack("!H", frame[12:14])[0], 14
    while kind in (0x8100, 0x88a8):
        kind = struct.unpack("!H", frame[start + 2:start + 4])[0]
        start += 4
    if kind == 0x0800:
        length = struct.unpack("!H", frame[start + 2:start + 4])[0]
    elif kind == 0x86dd:
        length = 40 + struct.unpack("!H", frame[start + 4:start + 6])[0]
    else:
        return None
    packet = frame[start:start + length]
    if len(packet) < length:
        raise Bad(f"IP says {length} bytes, there are {len(packet)}")
    return packet


def transport(packet):
    """Returns the offset of the UDP header, or None if the packet is not RoCEv2."""
    if packet[0] >> 4 == 4:
        start, proto = (packet[0] & 15) * 4, packet[9]
    else:
        start, proto = 40, packet[6]
    if proto != UDP or len(packet) < start + 8:
        return None
    port, length = struct.unpack("!HH", packet[start + 2:start + 6])
    if port != PORT:
        return None
    if length != len(packet) - start:
        raise Bad(f"UDP says {length} bytes, IP {len(packet) - start}")
    return start


def icrc(packet, udp):
    """Returns the CRC of the packet with the variant fields masked."""
    masked = bytearray(packet[:-ICRC])
    if packet[0] >> 4 == 4:
        masked[1] = masked[8] = 0xff            # TOS, TTL
        masked[10:12] = b"\xff\xff"             # checksum
    else:
        masked[0] |= 0x0f                       # traffic class,
        masked[1:4] = b"\xff\xff\xff"           # flow label
        masked[7] = 0xff                        # hop limit
    masked[udp + 6:udp + 8] = b"\xff\xff"       # checksum
    masked[udp + 8 + 4] = 0xff                  # FECN, BECN, reserved
    crc = zlib.crc32(b"\xff" * 8 + masked)      # the LRH there is not
    return struct.pack("<I", crc)


def reserved(bth):
    """Yields the pad and the reserved bytes of a packet, from the BTH on."""
    opcode, pad = bth[0], bth[1] >> 4 & 3
    yield "pad", bth[-ICRC - pad:-ICRC]
    yield "reserved bits of the BTH", bytes([bth[4] & 0x3f, bth[8] & 0x7f])
    if opcode in (0x64, 0x65):
        yield "reserved byte of the DETH", bth[BTH + 4:BTH + 5]
    if opcode == 0x81:
        yield "reserved bytes of the CNP", bth[BTH:BTH + 16]


def check(packet, udp):
    """Returns the opcode of a right packet; raises an error for others."""
    bth = udp + 8
    if len(packet) < bth + BTH + ICRC:
        raise Bad(f"{len(packet)} bytes hold no BTH")
    opcode, flags = packet[bth], packet[bth + 1]
    if opcode not in HEADERS:
        raise Bad(f"opcode {opcode:#x}")
    pad, version = flags >> 4 & 3, flags & 15
    payload = len(packet) - bth - BTH - HEADERS[opcode] - ICRC
    if version:
        raise Bad(f"header version {version}")
    if payload % 4:
        raise Bad(f"{payload} bytes of payload and pad")
    if pad > payload or (opcode in NO_PAYLOAD and payload):
        raise Bad(f"opcode {opcode:#x}: {payload} bytes, {pad} of them pad")
    for name, data in reserved(packet[bth:]):
        if any(data):
            raise Bad(f"opcode {opcode:#x}: {name}: {data.hex()}")
    if icrc(packet, udp) != packet[-ICRC:]:
        raise Bad(f"opcode {opcode:#x}: ICRC {packet[-ICRC:].hex()}, "
                  f"not {icrc(packet, udp).hex()}")
    return opcode


def main(path, *wanted):
    """Returns the exit code."""
    seen, bad = Counter(), 0
    for number, (frame, length) in enumerate(frames(path), 1):
        try:
            if len(frame) < length:
                raise Bad(f"captured {len(frame)} of {length} bytes")
            packet = network(frame)
            udp = transport(packet) if packet else None
            if udp is not None:
                seen[check(packet, udp)] += 1
        except Bad as why:
            bad += 1
            if bad <= 10:
                print(f"frame {number}: {why}")
    missing = [op for op in wanted if int(op, 16) not in seen]
    print(f"{sum(seen.values())} good packets, {bad} bad, opcodes:",
          *(f"{op:02x}:{seen[op]}" for op in sorted(seen)))
    if missing:
        print("opcodes that do not occur:", *missing)
    return 1 if bad or missing or not seen else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(main(*sys.argv[1:]))
