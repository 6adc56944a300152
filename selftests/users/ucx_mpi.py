#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Two MPI processes exchange messages, RDMA and atomics, and compare every result."""
from mpi4py import MPI

# Lengths for the eager, fragmented and rendezvous protocols
SIZES = (0, 1, 64, 3000, 20000, 1 << 20)
COUNT = 50

comm = MPI.COMM_WORLD
me = comm.Get_rank()
peer = 1 - me


def pattern(rank, size):
    return bytes((rank + i) * 7 & 0xff for i in range(256)) * (size // 256 + 1)


def messages():
    for size in SIZES:
        got = bytearray(size)
        comm.Sendrecv(pattern(me, size)[:size], peer, recvbuf=got, source=peer)
        assert got == pattern(peer, size)[:size], f"{size} bytes"


def remote_memory():
    size = 1 << 18
    window = MPI.Win.Allocate(size, comm=comm)
    got = bytearray(size)
    window.Fence()
    window.Put(pattern(me, size)[:size], peer)
    window.Fence()
    assert bytes(window.tomemory()) == pattern(peer, size)[:size]
    window.Get(got, peer)
    window.Fence()
    assert got == pattern(me, size)[:size]
    window.Free()


def atomics():
    window = MPI.Win.Allocate(8, comm=comm)
    one, before = bytearray(8), bytearray(8)
    one[0] = 1
    window.tomemory()[:] = bytes(8)
    comm.Barrier()
    window.Lock_all()
    for _ in range(COUNT):
        window.Fetch_and_op([one, MPI.INT64_T], [before, MPI.INT64_T], 0)
        window.Flush(0)
    window.Unlock_all()
    comm.Barrier()
    total = int.from_bytes(window.tomemory(), "little")
    assert me or total == 2 * COUNT, total
    window.Free()


assert comm.Get_size() == 2
messages()
remote_memory()
atomics()
if not me:
    print("compared")
