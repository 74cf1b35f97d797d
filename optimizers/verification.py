"""Harnesses that tell what is wrong with an objective, a rule, or the derivatives of a model.

They run in float64, on small things: a few cases, a few units, parameters neither tiny nor saturating, since
both hide errors.
"""

import math
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.autograd import grad as grad_of
from torch.func import grad, vmap

from optimizers.curvature.blocks import Block, Uses, find_blocks, recording
from optimizers.curvature.dense import output_curvature
from optimizers.curvature.forms import Whole
from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian, output_gradients
from optimizers.curvature.statistics import rows_of
from optimizers.curvature.vectors import Params
from optimizers.errors import UnsoundError
from optimizers.objectives import Objective
from optimizers.rules import RULES, Rule

STEP = 1e-5  # of central differences: their error is then about 1e-10
CLOSE = 1e-6
DRAWS = 4000
DEVIATIONS = 5.0  # of the mean of as many draws: one false alarm in a million entries


def verify_objective(objective: Objective, outputs: Tensor) -> None:
    """Raise UnsoundError, with every contradiction found, unless the four methods agree on these outputs."""
    if outputs.dtype != torch.float64:
        raise ValueError(f"Finite differences need float64 outputs, got {outputs.dtype}.")
    problems = [
        *_of_loss(objective, outputs),
        *_of_factor(objective, outputs),
        *_of_samples(objective, outputs),
    ]
    if problems:
        raise UnsoundError(type(objective).__name__, problems)


def verify_derivatives(model: nn.Module, inputs: Tensor) -> None:
    """Raise UnsoundError unless J is the derivative of the model's outputs, and Jᵀ its transpose.

    For layers with derivatives of their own, written as torch.autograd.Function.
    """
    network = Network(model, inputs)
    jacobian, stream = Jacobian(network), Generator().manual_seed(0)
    direction = {name: _normal(tensor, stream) for name, tensor in network.params.items()}
    pushed, rows = jacobian.push(direction), _normal(jacobian.outputs, stream)
    pulled = jacobian.pull(rows)

    problems = []
    differences = (network(_moved(network, direction, STEP)) - network(_moved(network, direction, -STEP))) / (
        2 * STEP
    )
    if _differ(pushed, differences):
        problems.append(
            "J v is not the derivative of the outputs along v: look at the forward derivative (jvp)"
        )
    there, back = (rows * pushed).sum() / len(rows), sum((direction[n] * pulled[n]).sum() for n in pulled)
    if _differ(there, torch.as_tensor(back)):
        problems.append("Jᵀ is not the transpose of J: look at the backward derivative (backward, vjp)")
    if problems:
        raise UnsoundError(type(model).__name__, problems)


def verify_rule(layer: nn.Module, rule: Rule, *inputs: Any) -> None:
    """Raise UnsoundError, with every contradiction found, unless the rule tells all of this layer.

    The layer is called with the inputs, of at least two cases, the first dimension of its first output. What
    is verified is that each case's gradient of every block is Σ g hᵀ of the case's rows.
    """
    layer, rules = deepcopy(layer), {**RULES, type(layer): rule}  # buffers of the copy may move
    blocks = find_blocks(layer, rules=rules)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        alone = _first_output(layer(*inputs))
        torch.manual_seed(0)
        with torch.enable_grad(), recording(layer, blocks, rules=rules) as uses:
            outputs = _first_output(layer(*inputs))
    if outputs.dtype != torch.float64:
        raise ValueError(f"Rounding hides errors; give a layer and inputs in float64, not {outputs.dtype}.")

    problems = [
        f"parameter {name!r} is in none of its forms, and so would have a diagonal block"
        for name, block in blocks.items()
        if isinstance(block.form, Whole)
    ]
    if outputs.shape != alone.shape or _differ(outputs, alone):
        problems.append("its forward does not return what the layer returns")
    for block in blocks.values():
        if not isinstance(block.form, Whole):
            problems += _of_block(block, uses, outputs)
    if problems:
        raise UnsoundError(f"The rule of {type(layer).__name__}", problems)


def _of_block(block: Block, uses: Uses, outputs: Tensor) -> Iterator[str]:
    parameters = {name: uses.parameters[name] for name in block.params}
    there = {name: _normal(tensor, Generator().manual_seed(2)) for name, tensor in parameters.items()}
    back = {name: tensor.clone() for name, tensor in there.items()}
    block.put(block.matrix(there), back)
    if any(_differ(back[name], there[name]) for name in there):
        yield f"put does not undo matrix, of block {block.name!r}"
    if block.name not in uses.calls:
        yield f"no use of block {block.name!r} was told"
        return
    slopes = _normal(outputs, Generator().manual_seed(3))
    for case in range(len(outputs)):
        of_case = torch.zeros_like(slopes)
        of_case[case] = slopes[case]
        found = grad_of(outputs, list(parameters.values()), of_case, retain_graph=True)
        truth = block.matrix(dict(zip(parameters, found, strict=True)))
        rows = rows_of(uses, outputs, of_case, retain_graph=True)[block.name]
        ours = math.sqrt(len(outputs)) * rows.gradient()
        if ours.shape != truth.shape:
            yield f"g hᵀ of block {block.name!r} is {tuple(ours.shape)}, V is {tuple(truth.shape)}"
            return
        if _differ(ours, truth):
            ratio = float((ours * truth).sum() / truth.square().sum())
            yield (
                f"Σ g hᵀ of block {block.name!r} is not the gradient of case {case}, "
                f"but about {ratio:.2g} times as much"
            )
            return


def _first_output(outputs: Any) -> Tensor:
    first: Tensor = outputs if isinstance(outputs, Tensor) else outputs[0]
    return first


def _of_loss(objective: Objective, outputs: Tensor) -> Iterator[str]:
    targets = objective.sample(outputs, Generator().manual_seed(0))
    loss = objective.loss(outputs, targets)
    by_case = [objective.loss(*case) for case in zip(outputs.split(1), targets.split(1), strict=True)]
    if _differ(loss, torch.stack(by_case).mean()):
        yield "loss is not the mean of the losses of its cases (each summed over the outputs)"

    direction = _normal(outputs, Generator().manual_seed(1))
    ahead, behind = (objective.loss(outputs + step * direction, targets) for step in (STEP, -STEP))
    slope = (grad(objective.loss)(outputs, targets) * direction).sum()
    if _differ(slope, (ahead - behind) / (2 * STEP)):
        yield "the gradient of loss is not what finite differences give"


def _of_factor(objective: Objective, outputs: Tensor) -> Iterator[str]:
    curvature = output_curvature(objective, outputs)
    factor = output_curvature(_Factored(objective), outputs)
    if _differ(factor @ factor.mT, curvature):
        yield "factor is no factor of curvature: S Sᵀ differs from it"


def _of_samples(objective: Objective, outputs: Tensor) -> Iterator[str]:
    for number, row in enumerate(outputs):
        many = row.expand(DRAWS, *row.shape)
        targets = objective.sample(many, Generator().manual_seed(number))
        scores = output_gradients(objective, many, targets).flatten(start_dim=1)
        if _far(scores, torch.zeros_like(scores[0])):
            yield f"case {number}: the gradient at sampled targets is not 0 on average: see sample, loss"
        curvature = output_curvature(objective, row[None])[0]
        squares = vmap(torch.outer)(scores, scores)
        if _far(squares, curvature):
            ratio = float((curvature * squares.mean(dim=0)).sum() / squares.mean(dim=0).square().sum())
            yield (
                f"case {number}: curvature is not the mean square of the gradients at sampled targets, "
                f"but about {ratio:.2g} times as much"
            )


class _Factored:
    """An objective whose curvature is another's factor, to write it out by the same function."""

    def __init__(self, objective: Objective) -> None:
        self.loss, self.sample, self.factor = objective.loss, objective.sample, objective.factor
        self.curvature = objective.factor


def _moved(network: Network, direction: Params, step: float) -> Params:
    return {name: tensor + step * direction[name] for name, tensor in network.params.items()}


def _normal(like: Tensor, stream: Generator) -> Tensor:
    return torch.randn(like.shape, generator=stream, dtype=like.dtype)


def _differ(ours: Tensor, truth: Tensor) -> bool:
    return bool((ours - truth).norm() > CLOSE * (1 + truth.norm()))


def _far(draws: Tensor, expected: Tensor) -> bool:
    standard_error = draws.std(dim=0) / len(draws) ** 0.5
    return bool(((draws.mean(dim=0) - expected).abs() > DEVIATIONS * standard_error + 1e-9).any())
