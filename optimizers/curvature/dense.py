"""Curvature matrices written out, for small networks: the truth that everything else is tested against.

P parameters make P² entries. Directions are flat (see `vectors`); all matrices are means over the batch.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.func import grad, jacrev, vmap

from optimizers.curvature.network import Network
from optimizers.curvature.products import output_gradients, pull_by_case
from optimizers.curvature.vectors import flat, flat_rows, shaped
from optimizers.errors import TooLargeError
from optimizers.objectives import Objective

LIMIT = 5000  # parameters; the matrix takes 200 MB in float64, its inverse some seconds


def check_small(model: nn.Module, optimizer: str, limit: int) -> None:
    """Raise TooLargeError, with the optimizer's name, for more trained parameters than that."""
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    if trained > limit:
        raise TooLargeError(optimizer, trained, limit)


def jacobian(network: Network) -> Tensor:
    """Return J of each case, of shape (cases, outputs, parameters)."""
    with torch.no_grad():
        outputs = network(network.params)
    basis = _basis(outputs)
    return torch.stack([flat_rows(pull_by_case(network, rows)) for rows in basis], dim=1)


def output_curvature(objective: Objective, outputs: Tensor) -> Tensor:
    """Return the objective's curvature R of each case, of shape (cases, outputs, outputs)."""
    columns = [objective.curvature(outputs, rows).flatten(start_dim=1) for rows in _basis(outputs)]
    return torch.stack(columns, dim=2)


def output_hessian(objective: Objective, outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the Hessian H_L of each case's loss in its outputs, of shape (cases, outputs, outputs)."""

    def of_case(row: Tensor, target: Tensor) -> Tensor:
        def loss(z: Tensor) -> Tensor:
            return objective.loss(z.reshape_as(row)[None], target[None])

        block: Tensor = jacrev(grad(loss))(row.reshape(-1))
        return block

    return vmap(of_case)(outputs, targets)


def gauss_newton(jacobians: Tensor, blocks: Tensor) -> Tensor:
    """Return (1/n) Σ Jᵀ B J: G for B the Hessian of the loss in the outputs, F for B its curvature R."""
    size = jacobians.shape[2]
    return jacobians.reshape(-1, size).T @ (blocks @ jacobians).reshape(-1, size) / len(jacobians)


def hessian(network: Network, objective: Objective, targets: Tensor) -> Tensor:
    """Return the Hessian of the loss."""

    def loss(vector: Tensor) -> Tensor:
        return objective.loss(network(shaped(vector, network.params)), targets)

    return jacrev(grad(loss))(flat(network.params))  # type: ignore[no-any-return]


def gradients_by_case(network: Network, objective: Objective, targets: Tensor) -> Tensor:
    """Return ∇L of each case as a row, without 1/n."""
    with torch.no_grad():
        outputs = network(network.params)
    return flat_rows(pull_by_case(network, output_gradients(objective, outputs, targets)))


def second_moment(gradients: Tensor) -> Tensor:
    """Return U = (1/n) Σ ∇L ∇Lᵀ: empirical Fisher, or, of sampled targets, an estimate of F."""
    return gradients.T @ gradients / len(gradients)


def covariance(gradients: Tensor) -> Tensor:
    """Return C = (1/n) Σ (∇L - ḡ)(∇L - ḡ)ᵀ, which is U - ḡ ḡᵀ."""
    return second_moment(gradients - gradients.mean(dim=0))


def block_diagonal(matrix: Tensor, sizes: list[int]) -> Tensor:
    """Return the matrix with zeros outside the diagonal blocks of these sizes."""
    diagonal = zip(matrix.split(sizes, dim=0), range(len(sizes)), strict=True)
    blocks: Tensor = torch.block_diag(*[rows.split(sizes, dim=1)[index] for rows, index in diagonal])
    return blocks


def sizes_by_layer(params: Mapping[str, Tensor]) -> list[int]:
    """Return how many entries of a flat vector belong to each layer, the module that owns the parameters."""
    sizes: dict[str, int] = {}
    for name, tensor in params.items():
        layer = name.rpartition(".")[0]
        sizes[layer] = sizes.get(layer, 0) + tensor.numel()
    return list(sizes.values())


def without_negative(blocks: Tensor) -> Tensor:
    """Return symmetric matrices with their negative eigenvalues set to 0."""
    values, vectors = torch.linalg.eigh(blocks)
    clipped: Tensor = (vectors * values.clamp(min=0)[..., None, :]) @ vectors.mT
    return clipped


def lifted(blocks: Tensor) -> Tensor:
    """Return symmetric matrices, each plus the multiple of I that leaves it no negative eigenvalue."""
    least: Tensor = torch.linalg.eigvalsh(blocks)[..., :1, None].clamp(max=0)
    return blocks - least * torch.eye(blocks.shape[-1]).to(blocks)


def _basis(outputs: Tensor) -> Tensor:
    """Return for each output rows that are 1 there and 0 elsewhere, one row per case."""
    eye = torch.eye(outputs[0].numel(), dtype=outputs.dtype, device=outputs.device)
    return eye.reshape(-1, 1, *outputs.shape[1:]).expand(-1, *outputs.shape)
