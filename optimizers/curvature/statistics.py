"""Kronecker factors of every block of a model, from one forward and one backward pass.

    with constant_statistics(model), recording(model, blocks) as uses:
        outputs = model(inputs)
    slopes = sampled_slopes(objective, outputs.detach(), generator)
    statistics = measure(uses, outputs, slopes)

What is sent back through the network is ∂L/∂z of each *case*, of targets sampled from the prediction, over
the root of the number n of cases. So G = (1/n) Σ g gᵀ is a plain sum, whatever loss the slopes come from.

A layer may use its weights at many positions of a case. `expand` takes every position for a row of its own
(A the mean over all rows, G the sum over the positions of a case); `reduce` takes a case for one row, the
mean of its h and the sum of its g. Each is exact for deep linear networks in its own setting: a loss on every
position, or on their mean (Eschenhagen et al. 2023). A lookup is always expanded.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar, final

import torch
from torch import Generator, Tensor, autograd
from torch.autograd.graph import GradientEdge, Node, get_gradient_edge

from optimizers.curvature.blocks import Block, Uses, diagonal_block
from optimizers.curvature.factor import Factor, Factors, second_moment
from optimizers.curvature.forms import Rows, Whole
from optimizers.curvature.products import output_gradients
from optimizers.divided_work import divided
from optimizers.errors import UnsupportedModelError
from optimizers.objectives import Objective
from optimizers.processes import ALONE, Processes

Pair: TypeAlias = tuple[str, str]  # of blocks
Sharing: TypeAlias = Literal["expand", "reduce"]
Targets: TypeAlias = Literal["sampled", "exact", "data"]
Result = TypeVar("Result")

LIMIT = 8192  # entries of h or g from which on a factor is kept as its diagonal


def slopes_at(
    kind: Targets, objective: Objective, outputs: Tensor, targets: Tensor | None, generator: Generator
) -> list[Tensor]:
    """Return ∂L/∂z of each case, whose squares add to the Fisher matrix of the prediction.

    At the "data"'s targets they add to the empirical one: no Fisher matrix at all.
    """
    if kind == "exact":
        return exact_slopes(objective, outputs, generator)
    if kind == "sampled":
        return sampled_slopes(objective, outputs, generator)
    if targets is None:
        raise TypeError("The data's targets are not known in the usual loop. Give step the batch.")
    return [output_gradients(objective, outputs, targets)]


def sampled_slopes(
    objective: Objective, outputs: Tensor, generator: Generator, *, draws: int = 1
) -> list[Tensor]:
    """Return ∂L/∂z of each case at targets sampled from the prediction, such that their squares add to F."""
    slopes = []
    for _ in range(draws):
        targets = objective.sample(outputs.to(generator.device), generator).to(outputs.device)
        slopes.append(output_gradients(objective, outputs, targets) / math.sqrt(draws))
    return slopes


def exact_slopes(objective: Objective, outputs: Tensor, generator: Generator) -> list[Tensor]:
    """Return the columns of S, R = S Sᵀ, one backward pass each: with them G has no noise of sampling.

    Each case has a random sign, of which no square knows; it keeps the diagonal blocks unbiased, which take
    the cases together.
    """
    shape = (len(outputs), *[1] * (outputs.dim() - 1))
    chances = torch.full(shape, 0.5, device=generator.device)
    slopes = []
    for number in range(outputs[0].numel()):
        column = torch.zeros_like(outputs).flatten(start_dim=1)
        column[:, number] = 1.0
        signs = 2 * torch.bernoulli(chances, generator=generator).to(outputs) - 1
        slopes.append(signs * objective.factor(outputs, column.reshape_as(outputs)))
    return slopes


@final
@dataclass(frozen=True, kw_only=True)
class Statistics:
    """What one batch says of the curvature: F ~ A ⊗ G of blocks, and the same between neighbours."""

    factors: Mapping[str, Factors]
    crosses: Mapping[Pair, Factors]  # mean h hᵀ and g gᵀ of i's rows with j's

    def of(self, blocks: Collection[str], pairs: Collection[Pair]) -> "Statistics":
        """Return those of some blocks and pairs alone."""
        return Statistics(
            factors={name: each for name, each in self.factors.items() if name in blocks},
            crosses={pair: each for pair, each in self.crosses.items() if pair in pairs},
        )

    def divided(
        self, work: Mapping[str, Callable[[], Result]], processes: Processes
    ) -> Mapping[str, Callable[[], Result]]:
        """Return work on the factors by block, divided among processes by what each block costs."""
        costs = {name: sum(side.cost() for side in _sides(self.factors[name])) for name in work}
        return divided(work, costs, processes, next(iter(self.factors.values())).inputs.values.device)

    def typical_curvature(self) -> float:
        """Return the geometric mean over parameters of the mean diagonal of their block; 1 where all is 0."""
        curved = [(means[means > 0], entries) for means, entries in self._diagonals()]
        count = sum(entries * len(means) for means, entries in curved)
        logarithms = sum(entries * float(means.log().sum()) for means, entries in curved)
        return math.exp(logarithms / count) if count else 1.0

    def mean_curvature(self) -> float:
        """Return the mean over parameters of the diagonal; 1 where all is 0."""
        count = sum(entries * len(means) for means, entries in self._diagonals())
        return sum(entries * float(means.sum()) for means, entries in self._diagonals()) / count or 1.0

    def _diagonals(self) -> Iterator[tuple[Tensor, int]]:
        """Yield the mean diagonal of each block, or of each group in it, and of how many parameters."""
        for factors in self.factors.values():
            means = (factors.inputs.size("trace") * factors.outputs.size("trace")).double().flatten()
            yield means, factors.inputs.values.shape[-1] * factors.outputs.values.shape[-1]


def measure(
    uses: Uses,
    outputs: Tensor,
    slopes: Sequence[Tensor],
    *,
    sharing: Sharing = "expand",
    limit: int = LIMIT,
    pairs: Sequence[Pair] = (),
    retain_graph: bool = False,
) -> Statistics:
    """Return A and G of all blocks that the outputs depend on; the squares of several slopes are added.

    The slopes are of cases, without 1/n: those of a mean loss would make G too small by n². Of the pairs,
    those get crosses whose rows are at the same positions and whose factors are matrices without groups.
    Raises UnsupportedModelError where positions cannot be told from cases, to reduce them.
    """
    rows = [
        rows_of(uses, outputs, of_cases, retain_graph=retain_graph or number < len(slopes))
        for number, of_cases in enumerate(slopes, start=1)
    ]
    if sharing == "reduce":
        rows = [
            {name: reduced(name, each, len(outputs)) for name, each in of_slope.items()} for of_slope in rows
        ]
    return summed(rows, limit=limit, pairs=pairs)


def summed(
    rows: Sequence[Mapping[str, Rows]], *, limit: int = LIMIT, pairs: Sequence[Pair] = ()
) -> Statistics:
    """Return what `measure` does, of the rows that each slope gave."""
    factors: dict[str, Factors] = {}
    crosses: dict[Pair, Factors] = {}
    for of_slope in rows:
        for name, each in of_slope.items():
            known = factors.get(name)
            factors[name] = factors_of(each, limit=limit) if known is None else _more(known, _g(each, limit))
        for i, j in pairs:
            if (i, j) in crosses:
                crosses[i, j] = _more(crosses[i, j], _cross_g(of_slope[i], of_slope[j]))
            elif _are_crossed(of_slope, factors, i, j):
                crosses[i, j] = Factors(
                    _cross_a(of_slope[i], of_slope[j]), _cross_g(of_slope[i], of_slope[j])
                )
    return Statistics(factors=factors, crosses=crosses)


def joined(
    statistics: Statistics, rows: Sequence[Mapping[str, Rows]], cases: int, processes: Processes
) -> Statistics:
    """Return what the batches of all processes say together: A as means over rows, G over cases."""
    if processes.size == 1:
        return statistics
    told: dict[Any, Factors] = {**statistics.factors, **statistics.crosses}
    counts = {name: each.count() for of_slope in rows for name, each in of_slope.items()}
    values = [side.values for each in told.values() for side in _sides(each)]
    weights = [weight for key in told for weight in (counts[_first(key)], cases)]
    means = iter(processes.means(values, weights))
    return _divided(
        {
            key: Factors(*(replace(side, values=next(means)) for side in _sides(each)))
            for key, each in told.items()
        }
    )


def rows_of(uses: Uses, outputs: Tensor, slopes: Tensor, *, retain_graph: bool = False) -> dict[str, Rows]:
    """Return h and g / √n of every block that the outputs depend on, at the positions of all its uses.

    Where the uses are of different numbers of cases, every position stands for a case.
    """
    alone = {
        name: uses.parameters[name] for name, block in uses.blocks.items() if isinstance(block.form, Whole)
    }
    edges = _edges(uses)
    sent = (slopes / math.sqrt(len(outputs))).to(outputs.dtype)
    found = _grad(outputs, [*edges, *alone.values()], sent, retain_graph=retain_graph)
    rows = _rows(uses, found[: len(edges)])
    for name, slope in zip(alone, found[len(edges) :], strict=True):
        if slope is not None:
            rows[name] = uses.blocks[name].form.rows(None, slope, slope)
    return rows


def backward(
    uses: Uses, loss: Tensor, *, retain_graph: bool = False
) -> tuple[dict[str, Tensor], dict[str, Rows]]:
    """Return the gradient of the loss by parameter, and h and g of the uses, whose products Σ g hᵀ they are.

    Parameters that the loss does not depend on are absent; so are the rows of blocks without a form.
    """
    names, edges = list(uses.parameters), _edges(uses)
    sources = [*edges, *(uses.parameters[name] for name in names)]
    found = _grad(loss, sources, None, retain_graph=retain_graph)
    of_parameters = zip(names, found[len(edges) :], strict=True)
    gradients = {name: slope for name, slope in of_parameters if slope is not None}
    return gradients, _rows(uses, found[: len(edges)])


def _edges(uses: Uses) -> list[Any]:
    return [use.edge for calls in uses.calls.values() for use in calls]


def _grad(
    outputs: Tensor, sources: Sequence[Any], sent: Tensor | None, *, retain_graph: bool
) -> Sequence[Tensor | None]:
    if not (sources and outputs.requires_grad):
        return [None] * len(sources)
    return autograd.grad(outputs, sources, sent, retain_graph=retain_graph, allow_unused=True)


def _rows(uses: Uses, slopes: Sequence[Tensor | None]) -> dict[str, Rows]:
    """Return the rows of all uses of each block, from the gradients at their outputs."""
    calls = [(name, use) for name, of_block in uses.calls.items() for use in of_block]
    rows: dict[str, list[Rows]] = {}
    for (name, use), slope in zip(calls, slopes, strict=True):
        if slope is not None:
            rows.setdefault(name, []).append(uses.blocks[name].form.rows(use.layer, use.inputs, slope))
    return {name: _joined(of_block) for name, of_block in rows.items()}


def reduced(name: str, rows: Rows, cases: int) -> Rows:
    """Return one row for each case, the mean of h and the sum of g; lookups as they are.

    Raises UnsupportedModelError, with the block's name, where the first dimension cannot be that of cases.
    """
    number, positions = rows.outputs.shape[:2]
    if not rows.inputs.is_floating_point() or positions == 1:
        return rows
    if cases % number:  # a multiple is right, where each position of a case has outputs of its own
        raise UnsupportedModelError(
            name,
            f"has a first dimension of {number} in its inputs for {cases} cases, and cannot reduce positions",
            "Let cases come first (batch_first), or take sharing='expand'.",
        )
    h, g = rows.inputs.mean(dim=1, keepdim=True), rows.outputs.sum(dim=1, keepdim=True)
    return replace(rows, inputs=h, outputs=g)


def factors_of(rows: Rows, *, limit: int = LIMIT) -> Factors:
    """Return A, the mean square of h over all rows, and G, the sum of that of g / √n."""
    if not rows.inputs.is_floating_point():
        counts = torch.bincount(rows.inputs[rows.inputs >= 0], minlength=rows.width).to(rows.outputs.dtype)
        a = Factor(values=counts / counts.sum().clamp(min=1), diagonal=True)
    else:
        a = second_moment(rows.inputs, limit=limit, scale=1 / rows.inputs.shape[:2].numel())
    return Factors(a, _g(rows, limit))


def _g(rows: Rows, limit: int) -> Factor:
    return second_moment(rows.outputs, limit=0 if rows.diagonal else limit)


def _more(old: Factors, g: Factor) -> Factors:
    """Return them with another slope's part of G; A is the same for all slopes."""
    return replace(old, outputs=replace(g, values=old.outputs.values + g.values))


def neighbours(uses: Uses) -> list[Pair]:
    """Return the pairs (i, j) of blocks where j is fed by i alone, and i feeds j alone, each used once.

    As the graph of the forward pass has it, whatever the order in which layers were made. A block that is
    used twice is nobody's neighbour: what lies between the others and it is another matter for each use.
    """
    known = _makers(uses)
    fed_by = {
        name: set().union(*(_nearest(use.origin, known) for use in calls))
        for name, calls in uses.calls.items()
    }
    feeds: dict[str, set[str]] = {}
    for name, sources in fed_by.items():
        for source in sources:
            feeds.setdefault(source, set()).add(name)
    once = {name for name, calls in uses.calls.items() if len(calls) == 1}
    return [
        (source, name)
        for name, sources in fed_by.items()
        for source in sources
        if sources == {source} and feeds[source] == {name} and {source, name} <= once
    ]


def last(uses: Uses, outputs: Tensor) -> set[str]:
    """Return the blocks that feed the outputs through nothing but what is in no block."""
    return _nearest(get_gradient_edge(outputs) if outputs.requires_grad else None, _makers(uses))


def explained(uses: Uses, outputs: Tensor, processes: Processes = ALONE) -> dict[str, Block]:
    """Return the blocks, those replaced by diagonal ones whose gradient the recorded uses do not make up.

    So it is where a weight is also used without a call of its layer. It takes one backward pass, and keeps
    the graph.
    """
    numbers = torch.arange(outputs.numel(), device=outputs.device).cos()
    slopes = numbers.reshape(outputs.shape).to(outputs.dtype)
    gradients, rows = backward(uses, (outputs * slopes).sum(), retain_graph=True)
    zeros = {name: torch.zeros_like(parameter) for name, parameter in uses.parameters.items()}

    unexplained: set[str] = set()
    known = {name: block for name, block in uses.blocks.items() if not isinstance(block.form, Whole)}
    truths = {name: block.matrix(zeros | gradients) for name, block in known.items()}
    for name, (error, size) in _errors(truths, rows, processes).items():
        if error > _tolerance(outputs) * size:  # of what is not finite nothing is said
            unexplained.update(known[name].params)
    kept = {name: block for name, block in uses.blocks.items() if unexplained.isdisjoint(block.params)}
    return kept | {name: diagonal_block(name) for name in zeros if name in unexplained}


def _errors(
    truths: Mapping[str, Tensor], rows: Mapping[str, Rows], processes: Processes
) -> dict[str, tuple[float, float]]:
    """Return how far gradients by rows are from the true ones, and how long these are, of all processes."""
    if not truths:
        return {}
    lengths = []
    for name, truth in truths.items():
        ours = rows[name].gradient() if name in rows else torch.zeros_like(truth)
        lengths.append(torch.stack([(ours - truth).norm(), truth.norm()]).double())
    totals = processes.total(torch.stack(lengths).square()).sqrt()
    return {name: (error, size) for name, (error, size) in zip(truths, totals.tolist(), strict=True)}


@final
class RunningStatistics:
    """Averages over batches, of every factor: S ← ε S + (1 - ε) S of the batch, ε = min(1 - 1/k, decay).

    k counts the batches that told of the factor, so that the first one is taken as it is; with a decay of 0
    the last one is. A factor of another size than before begins anew. What is kept moves to where the
    batches are.
    """

    def __init__(self, *, decay: float = 0.95) -> None:
        self.decay = decay
        self.kept = Statistics(factors={}, crosses={})
        self._counts: dict[Any, int] = {}

    def update(self, batch: Statistics) -> bool:
        """Take over what a batch says; nothing, and return False, if any of it is not finite.

        The averages are written into the tensors of the batch.
        """
        if not all(factors.isfinite() for factors in batch.factors.values()):
            return False
        told: dict[Any, Factors] = {**batch.factors, **batch.crosses}
        kept: dict[Any, Factors] = {**self.kept.factors, **self.kept.crosses}
        for key, new in told.items():
            if key in kept and not _are_alike(kept[key], new):
                del kept[key]
            self._counts[key] = self._counts[key] + 1 if key in kept else 1
            past = min(1 - 1 / self._counts[key], self.decay)
            kept[key] = _mixed(kept[key], new, past) if key in kept else new
        self.kept = _divided(kept)
        return True

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs, as tensors and numbers."""
        kept: dict[Any, Factors] = {**self.kept.factors, **self.kept.crosses}
        return {
            "counts": dict(self._counts),
            "factors": {key: factors.state_dict() for key, factors in kept.items()},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what another returned."""
        self._counts = dict(state["counts"])
        self.kept = _divided(
            {key: Factors.from_state_dict(factors) for key, factors in state["factors"].items()}
        )


def _first(key: str | Pair) -> str:
    return key if isinstance(key, str) else key[0]


def _sides(factors: Factors) -> tuple[Factor, Factor]:
    return factors.inputs, factors.outputs


def _divided(factors: Mapping[Any, Factors]) -> Statistics:
    return Statistics(
        factors={key: each for key, each in factors.items() if isinstance(key, str)},
        crosses={key: each for key, each in factors.items() if not isinstance(key, str)},
    )


def _are_alike(one: Factors, other: Factors) -> bool:
    sides = zip(_sides(one), _sides(other), strict=True)
    return all(a.values.shape == b.values.shape and a.diagonal == b.diagonal for a, b in sides)


def _mixed(old: Factors, new: Factors, past: float) -> Factors:
    for a, b in zip(_sides(old), _sides(new), strict=True):
        b.values.lerp_(a.values.to(b.values), past)  # fresh memory for large matrices costs more than the sum
    return new


def _joined(calls: Sequence[Rows]) -> Rows:
    """Return the rows of all calls, the positions of one after those of another."""
    if len(calls) == 1:
        return calls[0]
    parts = [(rows.inputs, rows.outputs) for rows in calls]
    dim = 1
    if len({len(rows.outputs) for rows in calls}) > 1:
        dim, parts = 0, [(_apart(h), _apart(g)) for h, g in parts]
    h, g = (torch.cat(side, dim=dim) for side in zip(*parts, strict=True))
    return replace(calls[0], inputs=h, outputs=g)


def _apart(rows: Tensor) -> Tensor:
    return rows.flatten(end_dim=1)[:, None]


def _are_crossed(rows: Mapping[str, Rows], factors: Mapping[str, Factors], i: str, j: str) -> bool:
    if i not in rows or j not in rows or rows[i].outputs.shape[:-1] != rows[j].outputs.shape[:-1]:
        return False
    return factors[i].are_plain() and factors[j].are_plain()


def _cross_a(first: Rows, second: Rows) -> Factor:
    h, k = first.inputs.flatten(end_dim=1), second.inputs.flatten(end_dim=1)
    return Factor(values=h.T @ k / len(h))


def _cross_g(first: Rows, second: Rows) -> Factor:
    return Factor(values=first.outputs.flatten(end_dim=1).T @ second.outputs.flatten(end_dim=1))


def _makers(uses: Uses) -> dict[Node, str]:
    return {use.edge.node: name for name, calls in uses.calls.items() for use in calls}


def _nearest(origin: GradientEdge | None, known: Mapping[Node, str]) -> set[str]:
    """Return the blocks whose outputs the inputs depend on through nothing but what is in no block."""
    found: set[str] = set()
    ahead, met = [origin.node] if origin is not None else [], set()
    while ahead:
        node = ahead.pop()
        if node in known:
            found.add(known[node])
        elif node not in met:
            met.add(node)
            ahead += [each for each, _ in node.next_functions if each is not None]
    return found


def _tolerance(outputs: Tensor) -> float:
    return float(min(4 * torch.finfo(outputs.dtype).eps ** 0.5, 0.1))
