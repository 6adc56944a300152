#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: optin_hostile.py wrong|elsewhere IFINDEX

Requests to switch features of a NIC that must all be refused: wrong ones, or right ones
from another network namespace than that of the netdev.
"""
import errno
import importlib.machinery
import importlib.util
import random
import shutil
import struct
import sys

ON = struct.pack("=II", 8, 8)


def load():
    """The command roce-offload as a module"""
    path = shutil.which("roce-offload")
    loader = importlib.machinery.SourceFileLoader("roce_offload", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("roce_offload", loader))
    loader.exec_module(module)
    return module


def refused(family, command, payload, flags=4):
    """The error number of a request, and its message"""
    try:
        family.ask(command, payload, flags=flags)
    except OSError as error:
        return error.errno, error.strerror
    sys.exit(f"not refused: command {command}, {payload.hex()}")


def wrong(tool, family, netdev):
    """Each is wrong in one way; the netdev may be of this namespace."""
    get, put, switches = tool.DEV_GET, tool.DEV_SET, tool.SWITCHES
    attribute = tool.attribute
    for command, payload, flags in (
            (get, b"", 4), (put, b"", 4), (put, netdev, 4),
            (put, attribute(switches, ON), 4),
            (put, netdev + attribute(switches, ON[:4]), 4),
            (put, netdev + attribute(switches, ON + ON), 4),
            (put, netdev + attribute(switches, struct.pack("=II", 8, 0)), 4),
            (put, netdev + attribute(switches, struct.pack("=II", 0, 1 << 31)), 4),
            (put, netdev + attribute(tool.ACTIVE, ON[:4]), 4),
            (put, netdev + attribute(switches, ON) + attribute(99, ON), 4),
            (put, netdev[:4] + b"\0\0\0\0" + attribute(switches, ON), 4),
            (put, netdev[:4] + b"\xff\xff\xff\xff" + attribute(switches, ON), 4),
            (put, netdev[:6] + attribute(switches, ON), 4),
            (get, netdev + attribute(switches, ON), 4), (get, netdev, tool.DUMP),
            (0, netdev, 4), (3, netdev, 4), (255, netdev, 4)):
        refused(family, command, payload, flags)
    for _ in range(3000):
        payload = random.randbytes(random.randrange(64) & ~3)
        try:
            family.ask(random.randrange(4), payload,
                       flags=random.choice((4, 4, tool.DUMP)))
        except OSError:
            pass


def elsewhere(tool, family, netdev):
    for command, payload in ((tool.DEV_GET, netdev),
                             (tool.DEV_SET, netdev + tool.attribute(tool.SWITCHES, ON))):
        error = refused(family, command, payload)
        if error != (errno.ENODEV, "no such netdev"):
            sys.exit(f"refused, but by {error}")


def main():
    case, index = sys.argv[1:]
    tool = load()
    netdev = tool.attribute(tool.IFINDEX, struct.pack("=I", int(index)))
    {"wrong": wrong, "elsewhere": elsewhere}[case](tool, tool.Family(), netdev)


main()
