#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: training.py WHAT,... RANK RANKS DIR

train      Each rank trains its copy of a model on its part of every batch; PyTorch adds
           up their gradients. Writes DIR/weights.RANK, DIR/losses.RANK and DIR/seconds.
allreduce  Measures sums over all ranks, of vectors of any size, and checks them. Writes
           DIR/allreduce: bytes and microseconds.
compare    Compares the weights of all ranks, and those of a run on one rank in DIR/one.

The environment chooses gloo's transport, as PyTorch documents it.
"""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

INPUTS, HIDDEN, CLASSES = 256, 512, 10
STEPS = 40
BATCH = 96  # divides by 1, 2, 3, 4, 6 and 8 ranks
SIZES = [4 ** power for power in range(1, 13)]
LIMIT = 1e-4


def model():
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(INPUTS, HIDDEN), torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, CLASSES))


def samples():
    """Clusters of points around a centre for each class, the same on all ranks."""
    generator = torch.Generator().manual_seed(2)
    centres = torch.randn(CLASSES, INPUTS, generator=generator)
    while True:
        labels = torch.randint(CLASSES, (BATCH,), generator=generator)
        noise = torch.randn(BATCH, INPUTS, generator=generator)
        yield centres[labels] + 2 * noise, labels


def weights(network):
    return torch.cat([p.detach().flatten() for p in network.parameters()])


def train(rank, ranks, place):
    network = model()
    parallel = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    part = slice(rank * BATCH // ranks, (rank + 1) * BATCH // ranks)
    losses = []
    begin = time.monotonic()
    for _, (points, labels) in zip(range(STEPS), samples()):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(parallel(points[part]), labels[part])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    dist.barrier()
    seconds = time.monotonic() - begin
    torch.save(weights(network), f"{place}/weights.{rank}")
    torch.save(losses, f"{place}/losses.{rank}")
    if rank == 0:
        with open(f"{place}/seconds", "w") as file:
            print(f"{seconds:.2f}", file=file)


def repetitions(size):
    return max(3, min(50, (8 << 20) // size))


def measure(size, rank, ranks):
    """Microseconds that the sum of `size` bytes takes"""
    data = torch.full((size // 4,), rank + 1.0)
    dist.all_reduce(data)
    assert torch.all(data == ranks * (ranks + 1) / 2), f"a wrong sum of {size} bytes"
    data.zero_()
    count = repetitions(size)
    for _ in range(3):
        dist.all_reduce(data)
    dist.barrier()
    begin = time.monotonic()
    for _ in range(count):
        dist.all_reduce(data)
    return (time.monotonic() - begin) / count * 1e6


def allreduce(rank, ranks, place):
    with open(f"{place}/allreduce" if rank == 0 else "/dev/null", "w") as file:
        for size in SIZES:
            print(size, f"{measure(size, rank, ranks):.1f}", file=file, flush=True)


def compare(ranks, place):
    mine = torch.load(f"{place}/weights.0")
    for rank in range(1, ranks):
        assert torch.equal(mine, torch.load(f"{place}/weights.{rank}")), \
            f"rank {rank} has other weights"
    one = torch.load(f"{place}/one/weights.0")
    # The order of additions differs.
    difference = (mine - one).abs().max().item()
    assert difference < LIMIT, f"weights differ by {difference} from a run on one rank"
    losses = torch.load(f"{place}/losses.0")
    assert sum(losses[-5:]) < sum(losses[:5]) / 4, f"nothing was learnt: {losses}"
    print(f"{mine.numel()} weights; {ranks} ranks and one rank differ by at most "
          f"{difference:.1g}; the loss fell from {losses[0]:.2f} to {losses[-1]:.4f}")


def main(works, rank, ranks, place):
    if works == ["compare"]:
        compare(ranks, place)
        return
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    for work in works:
        {"train": train, "allreduce": allreduce}[work](rank, ranks, place)
    dist.destroy_process_group()


main(sys.argv[1].split(","), int(sys.argv[2]), int(sys.argv[3]), os.path.abspath(sys.argv[4]))
