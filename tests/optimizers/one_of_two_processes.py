"""One of the two processes of test_processes.py: trains, and leaves what came of it in a folder."""

import contextlib
import copy
import pickle
import sys
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from optimizers import (
    ACP,
    PRONG,
    CentredGradientDescent,
    CrossEntropy,
    LocalCriterion,
    OnlineNaturalGradient,
)
from optimizers.curvature.centring import moments
from optimizers.errors import OptimizerError
from optimizers.processes import Processes

OPTIMIZERS = {
    "ACP": lambda model, **more: ACP(model, CrossEntropy(), alpha="largest_slope", refresh_every=2, **more),
    "CentredGradientDescent": lambda model, **more: CentredGradientDescent(
        model, CrossEntropy(), consistent_bias=True, decay=0.5, **more
    ),
    "LocalCriterion": lambda model, **more: LocalCriterion(model, CrossEntropy(), **more),
    "OnlineNaturalGradient": lambda model, **more: OnlineNaturalGradient(
        model, CrossEntropy(), rank_of_inputs=3, rank_of_gradients=2, refresh_every=2, **more
    ),
    "PRONG": lambda model, **more: PRONG(model, CrossEntropy(), momentum=0.5, refresh_every=2, **more),
}
SHARES = {"uneven": [slice(0, 4), slice(4, 6)], "even": [slice(0, 3), slice(3, 6)]}


def a_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()


def a_batch(seed):
    stream = torch.Generator().manual_seed(seed)
    return torch.randn(6, 4, generator=stream, dtype=torch.float64), torch.randint(3, (6,), generator=stream)


def on_batches(name, rank):
    model = a_model()
    optimizer = OPTIMIZERS[name](model)
    for seed in range(4):
        step = optimizer.step(*(part[SHARES["uneven"][rank]] for part in a_batch(seed)))
    return [*model.parameters(), torch.tensor(step.loss)]


def in_usual_loop(name, rank):
    model = a_model()
    wrapped, optimizer = DistributedDataParallel(model), OPTIMIZERS[name](model)
    for seed in range(4):
        inputs, targets = (part[SHARES["even"][rank]] for part in a_batch(seed))
        optimizer.zero_grad()
        CrossEntropy().loss(wrapped(inputs), targets).backward()
        optimizer.step()
    return list(model.parameters())


def with_statistics(name, rank):
    model = a_model()
    OPTIMIZERS[name](model).step(
        *(part[SHARES["even"][rank]] for part in a_batch(0)),
        statistics=a_batch(7)[0][SHARES["uneven"][rank]],
    )
    return list(model.parameters())


def with_nan(rank, *, where):
    model = a_model()
    given = {"inputs": a_batch(0)[0], "targets": a_batch(0)[1], "statistics": a_batch(1)[0]}
    if rank == 1:
        given[where] = given[where] * torch.nan
    ACP(model, CrossEntropy()).step(**given)
    return list(model.parameters())


def alone(rank, group):
    model = a_model()
    LocalCriterion(model, CrossEntropy(), group=group).step(*a_batch(rank))
    return list(model.parameters())


def refused(action):
    try:
        action()
    except (OptimizerError, TypeError) as error:
        return str(error)
    return "nothing was refused"


def gradients_of_its_own(rank):
    model = a_model()
    optimizer = LocalCriterion(model, CrossEntropy())
    inputs, targets = a_batch(rank)
    CrossEntropy().loss(model(inputs), targets).backward()
    optimizer.step()


def another_part(rank):
    model = a_model()
    model[2 * rank].requires_grad_(False)
    LocalCriterion(model, CrossEntropy()).step(*a_batch(0))


def main(folder, rank):
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/meeting",
        rank=rank,
        world_size=2,
        timeout=timedelta(seconds=60),
    )
    groups = [dist.new_group([0]), dist.new_group([1])]
    came = {f"on batches {name}": on_batches(name, rank) for name in OPTIMIZERS}
    came |= {f"in the usual loop {name}": in_usual_loop(name, rank) for name in OPTIMIZERS}
    came |= {f"with statistics {name}": with_statistics(name, rank) for name in ("ACP", "PRONG")}
    came |= {f"nan in {where}": with_nan(rank, where=where) for where in ("inputs", "statistics")}
    came["alone"] = alone(rank, groups[rank])
    came["largest"] = Processes().largest(torch.tensor([float(rank), 5.0 - rank]))
    came["moments"] = moments(a_batch(rank)[0], centre=True)
    came["wrapped"] = refused(lambda: LocalCriterion(DistributedDataParallel(a_model()), CrossEntropy()))
    came["own gradients"] = refused(lambda: gradients_of_its_own(rank))
    came["another part"] = refused(lambda: another_part(rank))
    in_group = LocalCriterion(a_model(), CrossEntropy(), group=groups[rank])
    came["pickled"] = refused(lambda: pickle.dumps(in_group))
    came["copied"] = copy.deepcopy(in_group).step(*a_batch(0)).update_norm
    torch.save(came, Path(folder) / f"{rank}.pt")
    with contextlib.suppress(RuntimeError):
        dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
