#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: mpirun ... mpi.py FILE

Times collective operations of all ranks. Rank 0 writes FILE, a line for each: its name,
the bytes that a rank sends to each other one, and microseconds.
"""
import sys

from mpi4py import MPI

SIZES = (8, 1024, 65536, 1 << 20)
SECONDS = 0.5

comm = MPI.COMM_WORLD
ranks = comm.Get_size()


def microseconds(operation):
    """The mean over about SECONDS; all ranks repeat the operation as often."""
    count = 1
    while True:
        comm.Barrier()
        begin = MPI.Wtime()
        for _ in range(count):
            operation()
        seconds = comm.allreduce(MPI.Wtime() - begin, op=MPI.MAX)
        if seconds > SECONDS / 2:
            return seconds / count * 1e6
        count = max(count + 1, min(10 * count, int(count * SECONDS / seconds)))


def measure(file):
    for size in SIZES:
        sent, got = bytearray(size), bytearray(size)
        took = microseconds(lambda: comm.Allreduce([sent, MPI.DOUBLE], [got, MPI.DOUBLE]))
        print("allreduce", size, f"{took:.0f}", file=file)
        sent, got = bytearray(size * ranks), bytearray(size * ranks)
        took = microseconds(lambda: comm.Alltoall(sent, got))
        print("alltoall", size, f"{took:.0f}", file=file, flush=True)


with open("/dev/null" if comm.Get_rank() else sys.argv[1], "w") as results:
    measure(results)
