#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""One rank of a training by PyTorch's DDP, over gloo. RANK, WORLD_SIZE, MASTER_ADDR and
MASTER_PORT are those of torchrun. First, collectives of many sizes are compared with the
right result. Then a small model is trained, each rank with a part of the data. At the
end, the weights of all ranks are the same to the bit, and about those that one process
gets which trains with all data.
"""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

# Elements
SIZES = (1, 3, 1000, 65537, 300000)
STEPS = 30
BATCH = 32


def allreduce(rank, ranks):
    for size in SIZES:
        data = torch.arange(size, dtype=torch.int64) * (rank + 1)
        dist.all_reduce(data)
        right = torch.arange(size, dtype=torch.int64) * (ranks * (ranks + 1) // 2)
        assert torch.equal(data, right), f"allreduce of {size}"


def others(rank, ranks):
    for size in SIZES:
        own = torch.arange(size, dtype=torch.int32) ^ rank
        everyone = [torch.empty_like(own) for _ in range(ranks)]
        dist.all_gather(everyone, own)
        for peer, data in enumerate(everyone):
            assert torch.equal(data, torch.arange(size, dtype=torch.int32) ^ peer)
        dist.broadcast(own, ranks - 1)
        assert torch.equal(own, everyone[-1]), f"broadcast of {size}"


def messages(rank, ranks):
    for size in SIZES:
        got = torch.empty(size, dtype=torch.int32)
        sent = torch.full((size,), rank, dtype=torch.int32)
        request = dist.isend(sent, (rank + 1) % ranks)
        dist.recv(got, (rank - 1) % ranks)
        request.wait()
        assert (got == (rank - 1) % ranks).all(), f"message of {size}"


def new_model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 128),
                         nn.Tanh(), nn.Linear(128, 1)).double()


def train(model, first, last):
    """Train with those items of each batch."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data = torch.Generator().manual_seed(2)
    for _ in range(STEPS):
        x = torch.randn(BATCH, 64, generator=data, dtype=torch.float64)
        loss = (model(x[first:last]).squeeze(1) - x.sum(1)[first:last]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def training(rank, ranks):
    part = BATCH // ranks
    model = DistributedDataParallel(new_model())
    train(model, rank * part, (rank + 1) * part)
    own = weights(model)
    everyone = [torch.empty_like(own) for _ in range(ranks)]
    dist.all_gather(everyone, own)
    for peer, theirs in enumerate(everyone):
        assert torch.equal(own, theirs), f"weights of ranks {rank} and {peer}"
    alone = new_model()
    assert not torch.allclose(own, weights(alone)), "nothing was trained"
    train(alone, 0, BATCH)
    assert torch.allclose(own, weights(alone), rtol=1e-9), "training by one process"


def main():
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    assert ranks == int(os.environ["WORLD_SIZE"])
    for part in (allreduce, others, messages, training):
        part(rank, ranks)
    print("compared", flush=True)
    dist.destroy_process_group()


main()
