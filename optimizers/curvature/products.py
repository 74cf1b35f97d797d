"""Products of curvature matrices with vectors, without the matrices (Pearlmutter 1994, Schraudolph 2002).

    network = Network(model, inputs)
    jacobian = Jacobian(network)
    fisher(jacobian, objective, vector)

J is the derivative of one case's outputs z with respect to the parameters. All matrices are means over the
batch. A vector is a dictionary of tensors or flat, and so is its product. Sections: Martens (2016).
"""

from collections.abc import Callable
from functools import partial
from typing import Literal, Protocol, TypeAlias, final

import torch
from torch import Tensor, nn
from torch.autograd.graph import get_gradient_edge
from torch.func import grad, jvp, vjp, vmap

from optimizers.curvature.network import Masks, Network
from optimizers.curvature.vectors import Params, Vector, alike, shaped
from optimizers.objectives import Objective

Pull = Callable[[Tensor], Params]
Product = Callable[[Tensor], Tensor]
Curvature: TypeAlias = Literal["gauss_newton", "hessian", "fisher"]
CURVATURES = ("gauss_newton", "hessian", "fisher")
WORTH_A_SEARCH = ("gauss_newton", "hessian")  # Fisher is Gauss-Newton where the link belongs to the loss
Loss = Callable[[Tensor], Tensor]  # of the outputs of the batch, as a scalar: the targets are in it


@final
class Jacobian:
    """J of every case of a network's batch, as products with J and with its transpose.

    `recorded` runs forward once for all products, and half of one backward: it pays from two of them on. The
    weights must stay as they are meanwhile, and layers with derivatives of their own need no forward one, but
    a backward one that can be differentiated.
    `rows_at_once` keeps only so many cases in memory, and runs forward again for each product.
    `cases` is the part of the batch that is meant, all of it unless told.
    """

    def __init__(
        self,
        network: Network,
        *,
        recorded: bool = False,
        rows_at_once: int | None = None,
        cases: slice = slice(None),
    ) -> None:
        self.network = network
        places = range(len(network.inputs))[cases]
        self._step = len(places) if rows_at_once is None else rows_at_once
        parts = [places[start : start + self._step] for start in range(0, len(places), self._step)]
        self._chunks = [slice(part.start, part.stop, part.step) for part in parts]
        self._outputs: Tensor | None = None
        is_kept = recorded and len(self._chunks) == 1
        self._record = _Record(network, self._chunks[0]) if is_kept else None
        self._pull: Pull | None = None  # kept where the whole batch is in memory

    @property
    def outputs(self) -> Tensor:
        """The outputs z, one row per case."""
        if self._record is not None:
            return self._record.outputs
        if self._outputs is None:
            with torch.no_grad():
                self._outputs = torch.cat([self.network(self.network.params, rows) for rows in self._chunks])
        return self._outputs

    def push(self, vector: Vector) -> Tensor:
        """Return J v, one row per case (the R-operator, sec. 4.3)."""
        direction = shaped(vector, self.network.params)
        if self._record is not None:
            return self._record.push(direction)
        pairs = [self._pushed(direction, rows) for rows in self._chunks]
        self._outputs = torch.cat([outputs for outputs, _ in pairs])
        return torch.cat([pushed for _, pushed in pairs])

    def pull(self, rows: Tensor) -> Params:
        """Return (1/n) Σ Jᵀ u, of one row u per case."""
        mean = rows / len(rows)
        if self._record is not None:
            return self._record.pull(mean)
        if len(self._chunks) == 1:
            if self._pull is None:
                self._pull = self._pulling(self._chunks[0])
            return self._pull(mean)
        total = {name: torch.zeros_like(tensor) for name, tensor in self.network.params.items()}
        for chunk, part_of_mean in zip(self._chunks, mean.split(self._step), strict=True):
            for name, part in self._pulling(chunk)(part_of_mean).items():
                total[name] += part
        return total

    def _pushed(self, direction: Params, rows: slice) -> tuple[Tensor, Tensor]:
        def outputs(params: Params) -> Tensor:
            return self.network(params, rows)

        try:
            value, pushed = jvp(outputs, (self.network.params,), (direction,))[:2]
        except NotImplementedError:  # not every function of torch has a forward derivative
            value, pull = vjp(outputs, self.network.params)[:2]
            (pushed,) = vjp(lambda rows: pull(rows)[0], torch.zeros_like(value))[1](direction)
        return value, pushed

    def _pulling(self, rows: slice) -> Pull:
        pull = vjp(lambda params: self.network(params, rows), self.network.params)[1]
        return lambda means: pull(means)[0]


@final
class _Record:
    """A forward pass, and Jᵀ u as a function of u: that is linear, so its derivative in u turned round is J.

    Both are kept as torch's graphs, which hold activations and no vector: every product is one walk through
    one of them, of as many multiplications as there are weights and cases, times two.
    """

    def __init__(self, network: Network, rows: slice) -> None:
        self._leaves = {name: tensor.detach().requires_grad_() for name, tensor in network.params.items()}
        with torch.enable_grad():
            outputs = network(self._leaves, rows)
            self._u = torch.zeros_like(outputs, requires_grad=True)
            pulled = torch.autograd.grad(
                outputs, list(self._leaves.values()), self._u, create_graph=True, materialize_grads=True
            )
        self.outputs = outputs.detach()
        self._forward = get_gradient_edge(outputs)
        self._backward = {  # edges, so that the vector itself is let go of
            name: get_gradient_edge(part)
            for name, part in zip(self._leaves, pulled, strict=True)
            if part.requires_grad
        }

    def push(self, direction: Params) -> Tensor:
        vectors = [direction[name] for name in self._backward]
        (pushed,) = torch.autograd.grad(list(self._backward.values()), self._u, vectors, retain_graph=True)
        return pushed

    def pull(self, rows: Tensor) -> Params:
        pulled = torch.autograd.grad(
            self._forward, list(self._leaves.values()), rows, retain_graph=True, materialize_grads=True
        )
        return dict(zip(self._leaves, pulled, strict=True))


class Curved(Protocol):
    """What knows the curvature of outputs, as an objective does."""

    def curvature(self, outputs: Tensor, vectors: Tensor) -> Tensor: ...


def fisher(jacobian: Jacobian, objective: Curved, vector: Vector) -> Vector:
    """Return F v = (1/n) Σ Jᵀ R J v, exactly: the expectation over targets is in R (sec. 4.4, 5.4)."""
    curved = objective.curvature(jacobian.outputs, jacobian.push(vector))
    return alike(vector, jacobian.pull(curved))


def gauss_newton(jacobian: Jacobian, loss: Loss, vector: Vector) -> Vector:
    """Return G v = (1/n) Σ Jᵀ H_L J v with H_L the Hessian of each case's loss in its outputs (sec. 4.4).

    Equal to `fisher` where the outputs are natural parameters, and where they are not, another matrix,
    which may be indefinite.
    """
    pushed = jacobian.push(vector)
    # H_L is symmetric; not every loss of torch has a forward derivative of its gradient.
    (bent,) = vjp(grad(loss), jacobian.outputs)[1](pushed)
    return alike(vector, jacobian.pull(len(bent) * bent))  # 1/n is in the mean loss already


def empirical_fisher(jacobian: Jacobian, objective: Objective, targets: Tensor, vector: Vector) -> Vector:
    """Return (1/n) Σ ∇L (∇Lᵀ v). With the data's targets the empirical Fisher, which is no Fisher matrix.

    With targets that `objective.sample` drew it is an unbiased estimate of the Fisher matrix (sec. 6.5).
    """
    slopes = output_gradients(objective, jacobian.outputs, targets)
    lengths = _dot(slopes, jacobian.push(vector))
    return alike(vector, jacobian.pull(lengths.reshape(-1, *[1] * (slopes.dim() - 1)) * slopes))


def fisher_inner(jacobian: Jacobian, objective: Objective, *vectors: Vector) -> Tensor:
    """Return the matrix of all uᵀ F v between the vectors, by forward passes alone (appendix B.3)."""
    pushed = [jacobian.push(vector) for vector in vectors]
    curved = [objective.curvature(jacobian.outputs, rows) for rows in pushed]
    return torch.stack([torch.stack([_dot(u, v).mean() for v in curved]) for u in pushed])


def hessian(network: Network, loss: Loss, *, cases: slice = slice(None)) -> Callable[[Vector], Vector]:
    """Return v -> H v, with the exact Hessian of the loss (sec. 4.3), of these cases.

    By the transposed derivative of the gradient, recorded once: it asks for no forward derivatives.
    """

    def of_params(params: Params) -> Tensor:
        return loss(network(params, cases))

    pull = vjp(grad(of_params), network.params)[1]

    def product(vector: Vector) -> Vector:
        return alike(vector, pull(shaped(vector, network.params))[0])

    return product


def product_with(curvature: Curvature, network: Network, objective: Objective, targets: Tensor) -> Product:
    """Return v -> B v on this batch, for flat v, with the curvature that has this name."""

    def loss(outputs: Tensor) -> Tensor:
        return objective.loss(outputs, targets)

    if curvature == "hessian":
        return hessian(network, loss)
    if curvature == "fisher":
        return partial(fisher, Jacobian(network), objective)
    return partial(gauss_newton, Jacobian(network), loss)


def hessian_product(model: nn.Module, loss: Loss, inputs: Tensor) -> Product:
    """Return v -> H v on this batch."""
    return hessian(Network(model, inputs), loss)


def gauss_newton_product(model: nn.Module, loss: Loss, inputs: Tensor) -> Product:
    """Return v -> G v on this batch."""
    return partial(gauss_newton, Jacobian(Network(model, inputs)), loss)


def output_gradients(objective: Objective, outputs: Tensor, targets: Tensor) -> Tensor:
    """Return ∂L/∂z of each case, without 1/n."""
    return grad(lambda z: len(z) * objective.loss(z, targets))(outputs)  # type: ignore[no-any-return]


def pull_by_case(network: Network, rows: Tensor, cases: slice = slice(None)) -> Params:
    """Return Jᵀ u of each of these cases alone, so that every tensor has one row per case."""

    def one(inputs: Tensor, masks: Masks, row: Tensor) -> Params:
        pull = vjp(lambda params: network.one(params, inputs, masks), network.params)[1]
        pulled: Params = pull(row)[0]
        return pulled

    inputs, masks = network.inputs[cases], network.masks_of(cases)
    if network.is_recurrent:  # torch's recurrent layers write in place, which vmap cannot batch
        return _stacked([one(inputs[case], _of_case(masks, case), rows[case]) for case in range(len(rows))])
    return vmap(one)(inputs, masks, rows)


def _of_case(masks: Masks, case: int) -> Masks:
    return {name: [mask[case] for mask in of_module] for name, of_module in masks.items()}


def _stacked(cases: list[Params]) -> Params:
    return {name: torch.stack([case[name] for case in cases]) for name in cases[0]}


def _dot(first: Tensor, second: Tensor) -> Tensor:
    return (first * second).flatten(start_dim=1).sum(dim=1)
