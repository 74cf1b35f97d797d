"""One of the two processes of test_processes.py: trains, and leaves what came of it in a folder."""

import contextlib
import copy
import pickle
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path
from unittest import mock

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from optimizers import (
    ACP,
    EKFAC,
    KFAC,
    PRONG,
    SGDQN,
    TONGA,
    VSGD,
    AdaptiveNaturalGradient,
    Almeida,
    CentredGradientDescent,
    CovarianceNaturalGradient,
    CrossEntropy,
    DiagonalNewton,
    FullAdaGrad,
    GaussNewton,
    HessianFree,
    KrylovSubspaceDescent,
    LeCunRate,
    LocalCriterion,
    MatrixMomentum,
    NaturalGradient,
    NaturalNewton,
    Newton,
    NonlinearConjugateGradients,
    OnlineLBFGS,
    OnlineNaturalGradient,
    OnlineNewtonStep,
    SilvaAlmeida,
    StochasticMetaDescent,
    TruncatedNaturalGradient,
    TrustRegion,
    UnitwiseGaussNewton,
    UpdatedBackpropagation,
)
from optimizers.curvature.centring import moments
from optimizers.divided_work import divided
from optimizers.errors import NotPositiveDefiniteError, OptimizerError
from optimizers.processes import Processes


class MostLikely:
    """Cross-entropy which "samples" the most likely class, so that processes draw what one would."""

    def __init__(self):
        known = CrossEntropy()
        self.loss, self.curvature, self.factor = known.loss, known.curvature, known.factor

    def sample(self, outputs, generator):
        del generator
        return outputs.argmax(dim=1)


def made(optimizer, objective=CrossEntropy, **usual):
    return lambda model, **more: optimizer(model, objective(), **{**usual, **more})


OPTIMIZERS = {
    "ACP": made(ACP, alpha="largest_slope", refresh_every=2),
    "AdaptiveNaturalGradient": made(AdaptiveNaturalGradient, MostLikely, decay=0.7),
    "Almeida": made(Almeida, meta_lr=0.1, momentum=0.5),
    "CentredGradientDescent": made(CentredGradientDescent, consistent_bias=True, decay=0.5),
    "CovarianceNaturalGradient": made(CovarianceNaturalGradient, centred=True),
    "CovarianceNaturalGradient, by its Gram matrix": made(
        CovarianceNaturalGradient, centred=True, solver="gram"
    ),
    "DiagonalNewton": made(DiagonalNewton, source="gauss_newton"),
    "DiagonalNewton, by recursion": made(DiagonalNewton, source="becker_lecun_hessian"),
    "EKFAC": made(EKFAC, targets="exact", refresh_every=2),
    "FullAdaGrad": made(FullAdaGrad),
    "GaussNewton": made(GaussNewton),
    "HessianFree": made(HessianFree, damping=1.0, structural=0.1, curvature_from_every=2),
    "HessianFree, by loss": made(
        HessianFree,
        damping=0.3,
        cg_steps=10,
        curvature_from_every=2,
        stop_if_worse_than="best",
        preconditioner="none",
    ),
    "HessianFree, Hessian": made(HessianFree, damping=1.0, curvature="hessian"),
    "KFAC": made(KFAC, lr=0.1, targets="exact", refresh_every=2),
    "KFAC, adaptive": made(KFAC, targets="exact", l2=1e-3, refresh_every=5),
    "KFAC, conjugate gradients": made(KFAC, targets="exact", damping=0.1, cg_steps=3),
    "KFAC, of some cases": made(KFAC, targets="exact", statistics_from_every=2, model_from_every=4),
    "KFAC, tridiagonal": made(KFAC, targets="exact", damping=0.1, inverse="block_tridiagonal"),
    "KrylovSubspaceDescent": made(KrylovSubspaceDescent, dimensions=4, searches=5),
    "LeCunRate": made(LeCunRate),
    "LocalCriterion": made(LocalCriterion),
    "MatrixMomentum": made(MatrixMomentum, curvature="fisher"),
    "MatrixMomentum, Hessian": made(MatrixMomentum, curvature="hessian"),
    "NaturalGradient": made(NaturalGradient),
    "NaturalGradient, empirical": made(NaturalGradient, kind="empirical"),
    "NaturalNewton": made(NaturalNewton, directions="hessian"),
    "NaturalNewton, diagonal": made(NaturalNewton, refresh_every=2),
    "Newton": made(Newton),
    "NonlinearConjugateGradients": made(NonlinearConjugateGradients, l2=1e-3),
    "OnlineLBFGS": made(OnlineLBFGS),
    "OnlineNaturalGradient": made(
        OnlineNaturalGradient, rank_of_inputs=3, rank_of_gradients=2, refresh_every=2
    ),
    "OnlineNewtonStep": made(OnlineNewtonStep),
    "PRONG": made(PRONG, momentum=0.5, refresh_every=2),
    "TONGA": made(TONGA, rank=3),
    "SGDQN": made(SGDQN, skip=2),
    "SGDQN, same batch": made(SGDQN, skip=2, rule="2009", batch="same"),
    "SilvaAlmeida": made(SilvaAlmeida),
    "StochasticMetaDescent": made(StochasticMetaDescent, lr=0.2),
    "TruncatedNaturalGradient": made(TruncatedNaturalGradient, damping=1.0, adapts=True),
    "TrustRegion": made(TrustRegion, curvature_from_every=2),
    "UnitwiseGaussNewton": made(UnitwiseGaussNewton),
    "VSGD": made(VSGD, source="gauss_newton"),
    "UpdatedBackpropagation": made(UpdatedBackpropagation),
}
TAKE_BATCHES = (
    AdaptiveNaturalGradient,
    CovarianceNaturalGradient,
    DiagonalNewton,
    FullAdaGrad,
    GaussNewton,
    HessianFree,
    KrylovSubspaceDescent,
    LeCunRate,
    MatrixMomentum,
    NaturalGradient,
    NaturalNewton,
    Newton,
    OnlineNewtonStep,
    TONGA,
    NonlinearConjugateGradients,
    OnlineLBFGS,
    SGDQN,
    StochasticMetaDescent,
    TruncatedNaturalGradient,
    TrustRegion,
    UnitwiseGaussNewton,
    UpdatedBackpropagation,
    VSGD,
)
USUAL = [name for name in OPTIMIZERS if name.partition(",")[0] not in {k.__name__ for k in TAKE_BATCHES}]
LISTEN = (EKFAC, KFAC, LocalCriterion)
TAKE_GRADIENTS = (Almeida, SilvaAlmeida)
KINDS = (*LISTEN, *TAKE_GRADIENTS, *TAKE_BATCHES)
UPDATES = {"KFAC, adaptive": 21}  # the 20th searches for damping; else 6
SHARES = {"uneven": [slice(0, 16), slice(16, 24)], "even": [slice(0, 12), slice(12, 24)]}


def a_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()


class OfManyParts(nn.Module):
    """Of which some processes know more than others: a table, a scale without a layer, places of an image."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(5, 4, padding_idx=0)
        self.scale = nn.Parameter(torch.ones(4))
        self.places = nn.Conv2d(1, 3, 2)
        self.head = nn.Linear(9, 3)
        self.double()

    def forward(self, inputs):
        rows = self.table((inputs.abs() * 2).long() % 5) * self.scale
        return self.head(torch.tanh(self.places(rows[:, None]))[..., 0, :].flatten(1))


class UsedBesides(nn.Module):
    """Whose weight is used without a call of its layer too, where inputs are above 0."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(4, 3).double()

    def forward(self, inputs):
        return self.layer(inputs) + inputs.clamp(min=0) @ self.layer.weight.T


def a_wide_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 3)).double()


def a_batch(seed):
    stream = torch.Generator().manual_seed(seed)
    inputs, noise = torch.randn(2, 24, 4, generator=stream, dtype=torch.float64)
    return inputs, (inputs + 0.8 * noise)[:, :3].argmax(dim=1)


def a_part(seed, rank, shares="uneven"):
    return [part[SHARES[shares][rank]] for part in a_batch(seed)]


def on_batches(name, rank):
    model = a_model()
    optimizer = OPTIMIZERS[name](model)
    for seed in range(UPDATES.get(name, 6)):
        step = optimizer.step(*a_part(seed, rank))
    return [*model.parameters(), torch.tensor(step.loss)]


def in_usual_loop(name, rank):
    model = a_model()
    wrapped, optimizer = DistributedDataParallel(model), OPTIMIZERS[name](model)
    for seed in range(6):
        inputs, targets = a_part(seed, rank, "even")
        optimizer.zero_grad()
        CrossEntropy().loss(wrapped(inputs), targets).backward()
        optimizer.step()
    return list(model.parameters())


def with_closure(rank):
    model = a_model()
    wrapped, optimizer = DistributedDataParallel(model), OPTIMIZERS["KFAC, adaptive"](model)

    def closure(seed):
        optimizer.zero_grad()
        inputs, targets = a_part(seed, rank, "even")
        loss = CrossEntropy().loss(wrapped(inputs), targets)
        loss.backward()
        return loss

    for seed in range(6):
        step = optimizer.step(partial(closure, seed))
    return [*model.parameters(), torch.tensor(step.loss)]


def of_many_parts(kind, rank):
    model = OfManyParts()
    optimizer = kind(model, CrossEntropy(), targets="data")
    for seed in range(3):
        optimizer.step(*a_part(seed, rank))
    return list(model.parameters())


def with_few_cases(kind, rank):
    model = a_wide_model()
    optimizer = kind(model, CrossEntropy(), lr=0.1, targets="exact")
    for seed in range(3):
        optimizer.step(*(part[[slice(0, 4), slice(4, 6)][rank]] for part in a_batch(seed)))
    return list(model.parameters())


def used_besides(kind, rank):
    model, (inputs, targets) = UsedBesides(), a_part(0, rank)
    kind(model, CrossEntropy(), targets="data").step(inputs.abs() * (2 * rank - 1), targets)
    return list(model.parameters())


def decompositions(kind):
    model = a_model()
    with (
        mock.patch("torch.linalg.cholesky_ex", wraps=torch.linalg.cholesky_ex) as cholesky,
        mock.patch("torch.linalg.eigh", wraps=torch.linalg.eigh) as eigh,
    ):
        kind(model, CrossEntropy(), lr=0.1).step(*a_batch(0))
    return cholesky.call_count + eigh.call_count


def after_nan(kind, rank):
    model = a_model()
    optimizer = kind(model, CrossEntropy(), targets="exact")
    for seed in range(3):
        inputs, targets = a_part(seed, rank)
        optimizer.step(inputs * torch.nan if (seed, rank) == (1, 1) else inputs, targets)
    return list(model.parameters())


def with_statistics(name, rank):
    model = a_model()
    OPTIMIZERS[name](model).step(*a_part(0, rank, "even"), statistics=a_part(7, rank)[0])
    return list(model.parameters())


def with_nan(rank, *, where):
    model = a_model()
    given = {"inputs": a_batch(0)[0], "targets": a_batch(0)[1], "statistics": a_batch(1)[0]}
    if rank == 1:
        given[where] = given[where] * torch.nan
    ACP(model, CrossEntropy()).step(**given)
    return list(model.parameters())


def alone(kind, rank, group):
    model = a_model()
    kind(model, CrossEntropy(), group=group).step(*a_batch(rank))
    return list(model.parameters())


class Noting:
    """Cross-entropy that notes what it sampled."""

    def __init__(self):
        self.known, self.sampled = CrossEntropy(), []
        self.loss, self.curvature, self.factor = self.known.loss, self.known.curvature, self.known.factor

    def sample(self, outputs, generator):
        self.sampled.append(self.known.sample(outputs, generator))
        return self.sampled[-1]


def sampled_on_one_batch(optimizer, **settings):
    objective = Noting()
    made = optimizer(a_model(), objective, **settings)
    made.step(*a_batch(0))
    return {"targets": objective.sampled, "stream": made.state_dict()["generator"]}


def divided_work():
    did = []

    def fails():
        raise NotPositiveDefiniteError(torch.eye(3))

    work = {name: lambda name=name: did.append(name) or {"name": name} for name in ("cheap", "dear")}
    costs = {"cheap": 1.0, "dear": 9.0, "fails": 2.0}
    results = divided({**work, "fails": fails}, costs, Processes(), torch.device("cpu"))
    return {"did": did, "came": [results[name]() for name in work], "failed": refused(results["fails"])}


def refused(action):
    try:
        action()
    except (OptimizerError, TypeError, ValueError) as error:
        return str(error)
    return "nothing was refused"


def gradients_of_its_own(kind, rank):
    model = a_model()
    optimizer = kind(model, CrossEntropy())
    inputs, targets = a_batch(rank)
    CrossEntropy().loss(model(inputs), targets).backward()
    optimizer.step()


def another_part(kind, rank):
    model = a_model()
    model[2 * rank].requires_grad_(False)
    kind(model, CrossEntropy()).step(*a_batch(0))


def another_bias(kind, rank):
    model = a_model()
    model[2 * rank].bias.requires_grad_(False)
    kind(model, CrossEntropy()).step(*a_batch(0))


def other_weights(kind, rank):
    model = a_model()
    with torch.no_grad():
        model[0].weight.add_(rank)
    kind(model, CrossEntropy()).step(*a_batch(0))


def without_cases(kind, rank):
    inputs, targets = a_batch(0)
    kind(a_model(), CrossEntropy()).step(inputs[: rank * 24], targets[: rank * 24])


def frozen_on_one(kind, rank):
    kind(a_model().requires_grad_(rank == 0), CrossEntropy()).step(*a_batch(0))


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
    came |= {f"in the usual loop {name}": in_usual_loop(name, rank) for name in USUAL}
    came |= {f"with statistics {name}": with_statistics(name, rank) for name in ("ACP", "PRONG")}
    came |= {f"nan in {where}": with_nan(rank, where=where) for where in ("inputs", "statistics")}
    came["with a closure"] = with_closure(rank)
    for kind in (EKFAC, KFAC):
        came[f"of many parts {kind.__name__}"] = of_many_parts(kind, rank)
        came[f"after nan {kind.__name__}"] = after_nan(kind, rank)
        came[f"with few cases {kind.__name__}"] = with_few_cases(kind, rank)
        came[f"used besides {kind.__name__}"] = used_besides(kind, rank)
        came[f"decompositions {kind.__name__}"] = decompositions(kind)
    came["largest"] = Processes().largest(torch.tensor([float(rank), 5.0 - rank]))
    came["moments"] = moments(a_batch(rank)[0], centre=True)
    came["sampled KFAC"] = sampled_on_one_batch(KFAC)
    came["sampled AdaptiveNaturalGradient"] = sampled_on_one_batch(AdaptiveNaturalGradient)
    came["sampled NaturalGradient"] = sampled_on_one_batch(NaturalGradient, kind="sampled")
    came["work"] = divided_work()
    for kind in KINDS:
        name, in_group = kind.__name__, kind(a_model(), CrossEntropy(), group=groups[rank])
        came[f"alone {name}"] = alone(kind, rank, groups[rank])
        came[f"copied {name}"] = copy.deepcopy(in_group).step(*a_batch(0)).update_norm
        came[f"pickled {name}"] = refused(partial(pickle.dumps, in_group))
        came[f"wrapped {name}"] = refused(partial(kind, DistributedDataParallel(a_model()), CrossEntropy()))
        came[f"another part {name}"] = refused(partial(another_part, kind, rank))
        came[f"another bias {name}"] = refused(partial(another_bias, kind, rank))
        came[f"other weights {name}"] = refused(partial(other_weights, kind, rank))
        came[f"no cases {name}"] = refused(partial(without_cases, kind, rank))
        came[f"frozen on one {name}"] = refused(partial(frozen_on_one, kind, rank))
    for kind in (*LISTEN, *TAKE_GRADIENTS):
        came[f"own gradients {kind.__name__}"] = refused(partial(gradients_of_its_own, kind, rank))
    compiled = torch.compile(DistributedDataParallel(a_model()), backend="eager")
    came["compiled"] = refused(lambda: KFAC(compiled, CrossEntropy()))
    torch.save(came, Path(folder) / f"{rank}.pt")
    with contextlib.suppress(RuntimeError):
        dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
