"""Gradients at a model's outputs whose mean square is the Fisher matrix of its predictions.

Sent back through the network they give rows whose mean square is the Fisher matrix in the parameters.
"""

from typing import Literal, TypeAlias

import torch
from torch import Generator, Tensor

from optimizers.curvature.products import output_gradients
from optimizers.objectives import Objective

Targets: TypeAlias = Literal["sampled", "exact", "data"]


def signals(
    objective: Objective, outputs: Tensor, targets: Tensor, kind: Targets, generator: Generator
) -> list[Tensor]:
    """Return rows of gradients of the mean loss; the expectation over targets is the sum over the list.

    "sampled": one draw of y ~ p(y | x) (sec. 6.5). "exact": the columns of S, S Sᵀ = R. "data": the targets
    of the batch, which makes the empirical Fisher matrix: no Fisher matrix at all.
    """
    if kind == "exact":
        columns = torch.eye(outputs[0].numel(), dtype=outputs.dtype, device=outputs.device)
        units = [column.expand(len(outputs), -1).reshape_as(outputs) for column in columns]
        return [objective.factor(outputs, unit) / len(outputs) for unit in units]
    if kind == "sampled":
        targets = objective.sample(outputs.to(generator.device), generator).to(outputs.device)
    return [output_gradients(objective, outputs, targets) / len(outputs)]
