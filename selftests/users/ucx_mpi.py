#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""MPI processes exchange messages, RDMA and atomics, and compare every result."""
from array import array

from mpi4py import MPI

# Lengths for the eager, fragmented and rendezvous protocols
SIZES = (0, 1, 64, 3000, 20000, 1 << 20)
COUNT = 50

comm = MPI.COMM_WORLD
me = comm.Get_rank()
ranks = comm.Get_size()
# Each sends to the next one, and receives from the one before.
following = (me + 1) % ranks
before = (me - 1) % ranks


def pattern(rank, size):
    return bytes((rank + i) * 7 & 0xff for i in range(256)) * (size // 256 + 1)


def messages():
    for size in SIZES:
        got = bytearray(size)
        comm.Sendrecv(pattern(me, size)[:size], following, recvbuf=got, source=before)
        assert got == pattern(before, size)[:size], f"{size} bytes"


def sums():
    for size in SIZES:
        count = size // 8 + 1
        own = array("q", (i * (me + 1) for i in range(count)))
        total = array("q", bytes(8 * count))
        comm.Allreduce([own, MPI.INT64_T], [total, MPI.INT64_T])
        factor = ranks * (ranks + 1) // 2
        assert total == array("q", (i * factor for i in range(count))), f"{count} sums"


def exchange():
    """Each rank has a block of its own for every other."""
    for size in SIZES[1:-1]:
        sent = b"".join(pattern(me + other, size)[:size] for other in range(ranks))
        got = bytearray(len(sent))
        comm.Alltoall(sent, got)
        assert got == sent, f"blocks of {size} bytes"


def remote_memory():
    size = 1 << 18
    window = MPI.Win.Allocate(size, comm=comm)
    got = bytearray(size)
    sent = pattern(me, size)[:size]  # MPI reads it until the fence.
    window.Fence()
    window.Put(sent, following)
    window.Fence()
    assert bytes(window.tomemory()) == pattern(before, size)[:size]
    window.Get(got, following)
    window.Fence()
    assert got == pattern(me, size)[:size]
    window.Free()


def atomics():
    window = MPI.Win.Allocate(8, comm=comm)
    one, old = bytearray(8), bytearray(8)
    one[0] = 1
    window.tomemory()[:] = bytes(8)
    comm.Barrier()
    window.Lock_all()
    for _ in range(COUNT):
        window.Fetch_and_op([one, MPI.INT64_T], [old, MPI.INT64_T], 0)
        window.Flush(0)
    window.Unlock_all()
    comm.Barrier()
    total = int.from_bytes(window.tomemory(), "little")
    assert me or total == ranks * COUNT, total
    window.Free()


assert ranks > 1
messages()
sums()
exchange()
remote_memory()
atomics()
if not me:
    print(f"compared, {ranks} ranks")
