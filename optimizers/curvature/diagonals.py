"""Diagonals of curvature matrices, exact and estimated (Martens 2016, sec. 3.4.4 and 4.9.2-4.9.4).

All are means over the batch, in the form of the parameters. S is the objective's factor, S Sᵀ = R, so that
what is called the diagonal of G here is that of Jᵀ R J: Gauss-Newton and Fisher alike.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

import torch
from torch import Generator, Tensor, nn
from torch.func import jvp

from optimizers.curvature.network import Network
from optimizers.curvature.products import output_gradients, pull_by_case
from optimizers.curvature.vectors import Params
from optimizers.errors import UnsupportedModelError
from optimizers.objectives import Objective

Source: TypeAlias = Literal[
    "chapelle_erhan", "gauss_newton", "empirical_fisher", "becker_lecun", "becker_lecun_hessian"
]
SOURCES = ("chapelle_erhan", "gauss_newton", "empirical_fisher", "becker_lecun", "becker_lecun_hessian")
ELEMENTWISE = (nn.Identity, nn.Tanh, nn.Sigmoid, nn.ReLU, nn.Softplus, nn.SiLU, nn.ELU)
AT_ONCE = 2**24  # numbers: gradients of cases in memory
ANY_LAYERS = "Take source='chapelle_erhan', which knows any layers."
OTHER_DIAGONALS = "Take the exact diagonal, or that of chapelle_erhan, which know any layer."


def diagonal(
    source: Source,
    model: nn.Module,
    network: Network,
    objective: Objective,
    targets: Tensor,
    stream: Callable[[torch.device], Generator],
) -> Params:
    """Return the diagonal that has this name; signs, where there are any, are drawn from the stream."""
    if source == "gauss_newton":
        return gauss_newton(network, objective)
    if source == "empirical_fisher":
        return empirical_fisher(network, objective, targets)
    if source == "chapelle_erhan":
        outputs = _outputs(network)
        return chapelle_erhan(network, objective, random_signs(outputs, stream(outputs.device)))
    sequence = check_sequence(model, ANY_LAYERS)
    of: Literal["gn", "hessian"] = "gn" if source == "becker_lecun" else "hessian"
    found = becker_lecun(sequence, objective, network.inputs, targets, of=of)
    return {name: found[name] for name in network.params}


def check_source(source: Source, model: nn.Module) -> None:
    """Raise ValueError for no such name, UnsupportedModelError for one that does not know the model."""
    if source not in SOURCES:
        raise ValueError(f"source is one of {', '.join(SOURCES)}; got {source!r}.")
    if source in {"becker_lecun", "becker_lecun_hessian"}:
        check_sequence(model, ANY_LAYERS)


def of_linear_layer(gradients: Tensor, inputs: Tensor) -> Tensor:
    """Return (1/n) (g ⊙ g)ᵀ (ā ⊙ ā): the mean squares of a linear layer's gradients of cases.

    One row per case; g without 1/n. For the bias, let the inputs have a column of ones.
    """
    return gradients.square().T @ inputs.square() / len(inputs)


def empirical_fisher(network: Network, objective: Objective, targets: Tensor) -> Params:
    """Return the mean squares of the gradients of cases, for any layers."""
    return _mean_squares(network, output_gradients(objective, _outputs(network), targets))


def gauss_newton(network: Network, objective: Objective) -> Params:
    """Return the diagonal of G exactly, by one backward pass for each output: the columns of S."""
    outputs = _outputs(network)
    total = {name: torch.zeros_like(tensor) for name, tensor in network.params.items()}
    for number in range(outputs[0].numel()):
        column = torch.zeros_like(outputs).flatten(start_dim=1)
        column[:, number] = 1.0
        for name, part in _mean_squares(
            network, objective.factor(outputs, column.reshape_as(outputs))
        ).items():
            total[name] += part
    return total


def random_signs(outputs: Tensor, generator: Generator) -> Tensor:
    """Return 1 or -1 for each output: of all v with E[v vᵀ] = I those whose squares vary least."""
    chances = torch.full_like(outputs, 0.5)
    return 2 * torch.bernoulli(chances, generator=generator) - 1


def chapelle_erhan(network: Network, objective: Objective, signs: Tensor) -> Params:
    """Return the mean of (Jᵀ S v)², an unbiased estimate of the diagonal of G by one backward pass."""
    return _mean_squares(network, objective.factor(_outputs(network), signs))


def curvature_propagation(network: Network, objective: Objective, signs: Tensor) -> Params:
    """Return Jᵀ S v of each case: the mean of their outer products estimates all of G without bias."""
    return pull_by_case(network, objective.factor(_outputs(network), signs))


def becker_lecun(
    model: nn.Sequential,
    objective: Objective,
    inputs: Tensor,
    targets: Tensor,
    *,
    of: Literal["gn", "hessian"],
) -> Params:
    """Return the diagonal by Becker & LeCun's recursion, biased: what is off the diagonal is dropped.

    q of the outputs is the diagonal of R; q(s) is φ'(s)² q(a), for the Hessian plus φ''(s) ∂L/∂a, and
    q(a of the layer below) = (W²)ᵀ q(s). "gn" is never negative. Raises UnsupportedModelError unless the
    model is a sequence of linear layers and element-wise functions.
    """
    by_layer = backpropagated(model, objective, inputs, targets, of=of)
    diagonal: Params = {}
    for name, (q, below) in by_layer.items():
        diagonal[f"{name}.weight"] = q.T @ below.square() / len(below)
        diagonal[f"{name}.bias"] = q.mean(dim=0)
    return {name: diagonal[name] for name, _ in model.named_parameters()}


def backpropagated(
    model: nn.Sequential,
    objective: Objective,
    inputs: Tensor,
    targets: Tensor,
    *,
    of: Literal["gn", "hessian"],
) -> dict[str, tuple[Tensor, Tensor]]:
    """Return by linear layer the q of its sums, as that recursion has it, and its inputs: a row a case."""
    values, modules = [inputs], _parts(check_sequence(model, OTHER_DIAGONALS))
    if inputs.dim() != 2:
        problem = (
            f"gets inputs {tuple(inputs.shape)}, and Becker and LeCun's recursion knows one row for a case"
        )
        raise UnsupportedModelError("", problem, f"Give it inputs of (cases, features). {OTHER_DIAGONALS}")
    for _, module in modules:
        values.append(module(values[-1].clone()).detach())  # it may work in place

    slope = output_gradients(objective, values[-1], targets)  # ∂L/∂ of what the module at hand gives
    q = _diagonal_of_curvature(objective, values[-1])
    found = {}
    for (name, module), below in reversed(list(zip(modules, values[:-1], strict=True))):
        if isinstance(module, nn.Linear):
            found[name] = (q, below)
            weight = module.weight.detach()
            q, slope = q @ weight.square(), slope @ weight
        else:
            first, second = _derivatives(module, below)
            q = first.square() * q + (second * slope if of == "hessian" else 0.0)
            slope = first * slope
    return found


def check_sequence(model: nn.Module, remedy: str) -> nn.Sequential:
    """Return the model if the recursion is defined for it. Raises UnsupportedModelError with the remedy."""
    if not isinstance(model, nn.Sequential):
        problem = (
            f"is a {type(model).__name__}, but the curvature at the sums is sent down here from layer to "
            f"layer, by Becker and LeCun's recursion, which is known for an nn.Sequential of nn.Linear and "
            f"element-wise functions"
        )
        raise UnsupportedModelError("", problem, remedy)
    seen: set[nn.Parameter] = set()
    for name, module in _parts(model):
        if type(module) not in {nn.Linear, *ELEMENTWISE}:
            problem = f"is a {type(module).__name__}, through which the recursion is not defined"
            raise UnsupportedModelError(name, problem, remedy)
        if not seen.isdisjoint(module.parameters()):
            raise UnsupportedModelError(name, "shares a parameter with a layer before it", remedy)
        seen.update(module.parameters())
    return model


def _parts(model: nn.Sequential) -> list[tuple[str, nn.Module]]:
    """Return the layers in their order, one that stands in two places twice."""
    return list(model._modules.items())  # noqa: SLF001  # named_children() names it once


def _outputs(network: Network) -> Tensor:
    with torch.no_grad():
        return network(network.params)


def _mean_squares(network: Network, rows: Tensor) -> Params:
    """Return the mean squares of the gradients of cases, of these gradients of the outputs."""
    if network.inputs.dim() == 2 and _is_known(network.model):
        return _of_sequence(network, rows)
    return _case_by_case(network, rows)


def _is_known(model: nn.Module) -> bool:
    try:
        check_sequence(model, ANY_LAYERS)
    except UnsupportedModelError:
        return False
    return True


def _of_sequence(network: Network, rows: Tensor) -> Params:
    """Return them by one backward pass: of linear layers they are products, and no case is told apart."""
    value, below, sums = network.inputs, dict[str, Tensor](), dict[str, Tensor]()
    with torch.enable_grad():
        for name, module in _parts(check_sequence(network.model, ANY_LAYERS)):
            if isinstance(module, nn.Linear):
                below[name] = value.detach()
                sums[name] = value = module(value).requires_grad_()  # also where its weights are frozen
            else:
                value = module(value.clone())  # it may work in place
    gradients = torch.autograd.grad(value, list(sums.values()), rows)
    found: Params = {}
    for (name, inputs), gradient in zip(below.items(), gradients, strict=True):
        found[f"{name}.weight"] = of_linear_layer(gradient, inputs)
        found[f"{name}.bias"] = gradient.square().mean(dim=0)
    return {name: found[name] for name in network.params}


def _case_by_case(network: Network, rows: Tensor) -> Params:
    """Return them for any layers, of some cases at a time: each has a gradient of its own in memory."""
    size = sum(tensor.numel() for tensor in network.params.values())
    step = max(AT_ONCE // size, 1)
    total = {name: torch.zeros_like(tensor) for name, tensor in network.params.items()}
    for start in range(0, len(rows), step):
        cases = slice(start, min(start + step, len(rows)))
        for name, gradients in pull_by_case(network, rows[cases], cases).items():
            total[name] += gradients.square().sum(dim=0)
    return {name: tensor / len(rows) for name, tensor in total.items()}


def _diagonal_of_curvature(objective: Objective, outputs: Tensor) -> Tensor:
    columns = []
    for number in range(outputs.shape[1]):
        column = torch.zeros_like(outputs)
        column[:, number] = 1.0
        columns.append(objective.curvature(outputs, column)[:, number])
    return torch.stack(columns, dim=1)


def _derivatives(module: nn.Module, inputs: Tensor) -> tuple[Tensor, Tensor]:
    """Return φ'(s) and φ''(s)."""
    ones = torch.ones_like(inputs)

    def value(rows: Tensor) -> Tensor:
        outputs: Tensor = module(rows.clone())  # it may work in place
        return outputs

    def first(rows: Tensor) -> Tensor:
        slope: Tensor = jvp(value, (rows,), (ones,))[1]
        return slope

    slope, bend = jvp(first, (inputs,), (ones,))[:2]
    return slope, bend
