#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Accepts the packets of netfilter's queue 0 until SIGTERM.

usage: nfqueue.py packets|trains

Prints "ready" when the queue exists, and at the end the number of packets accepted. The
kernel cuts trains before it queues them, or not.
"""
import errno
import os
import signal
import socket
import struct
import sys

NETLINK_NETFILTER = 12
SO_RCVBUFFORCE = 33
ROOM = 64 << 20
# struct nlmsghdr and struct nfgenmsg
HEADER, FAMILY = struct.Struct("=IHHII"), struct.Struct("!BBH")
NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 1, 4, 2
SUBSYSTEM = 3 << 8
PACKET, VERDICT, CONFIG = SUBSYSTEM, SUBSYSTEM | 1, SUBSYSTEM | 2
NF_ACCEPT = 1
# Attributes of a configuration
COMMAND, PARAMETERS, LENGTH, MASK, FLAGS = 1, 2, 3, 4, 5
BIND, COPY_META, WHOLE_TRAINS = 1, 1, 4
# The most packets that wait
MOST = 65535
# Attributes of packets and verdicts
PACKET_HEADER, VERDICT_HEADER = 1, 2


def attribute(kind, data):
    """Returns an attribute, padded."""
    size = 4 + len(data)
    return struct.pack("=HH", size, kind) + data + bytes(-size % 4)


def message(kind, flags, data):
    """Returns a message to queue 0."""
    size = HEADER.size + FAMILY.size + len(data)
    return (HEADER.pack(size, kind, NLM_F_REQUEST | flags, 0, 0) +
            FAMILY.pack(socket.AF_UNSPEC, 0, 0) + data)


def configure(sock, data):
    """Sends a configuration; raises the kernel's error."""
    sock.send(message(CONFIG, NLM_F_ACK, data))
    for kind, body in messages(sock.recv(1 << 16)):
        error = -struct.unpack_from("=i", body)[0] if kind == NLMSG_ERROR else 0
        if error:
            raise OSError(error, os.strerror(error))


def messages(data):
    """Returns type and body of each message."""
    while data:
        size, kind = struct.unpack_from("=IH", data)
        yield kind, data[HEADER.size:size]
        data = data[size + -size % 4:]


def number(body):
    """Returns the number of a packet."""
    data = body[FAMILY.size:]
    while data:
        size, kind = struct.unpack_from("=HH", data)
        if kind == PACKET_HEADER:
            return struct.unpack_from("!I", data, 4)[0]
        data = data[size + -size % 4:]
    raise ValueError("a packet without a number")


def accept(sock):
    """Accepts what one read returns. Returns the number of packets."""
    numbers = [number(body) for kind, body in messages(sock.recv(1 << 16))
               if kind == PACKET]
    for one in numbers:
        verdict = struct.pack("!II", NF_ACCEPT, one)
        sock.send(message(VERDICT, 0, attribute(VERDICT_HEADER, verdict)))
    return len(numbers)


def open_queue(what):
    """Returns the socket of the queue."""
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    sock.bind((0, 0))
    configure(sock, attribute(COMMAND, struct.pack("!BBH", BIND, 0, 0)))
    flags = WHOLE_TRAINS if what == "trains" else 0
    configure(sock, attribute(PARAMETERS, struct.pack("!IB", 0, COPY_META)) +
              attribute(LENGTH, struct.pack("!I", MOST)) +
              attribute(MASK, struct.pack("!I", WHOLE_TRAINS)) +
              attribute(FLAGS, struct.pack("!I", flags)))
    return sock


def main(what):
    """Returns the exit code."""
    accepted = 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sock = open_queue(what)
        print("ready", flush=True)
        while True:
            accepted += accept(sock)
    except KeyboardInterrupt:
        print(accepted, "packets")
        return 0
    except OSError as why:
        lost = why.errno == errno.ENOBUFS
        print("packets were lost" if lost else why)
        return 1


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ("packets", "trains"):
        raise SystemExit(__doc__)
    sys.exit(main(sys.argv[1]))
