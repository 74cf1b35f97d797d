"""What K-FAC is said to be exactly: blind to affine maps, conjugate gradients, a distance's curvature."""

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import torch
from torch import Generator, Tensor, nn

from experiments.experiment import Cell, Claim, Experiment, Result, Size, Table
from optimizers import KFAC, Bernoulli, squared_error
from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian, fisher
from optimizers.curvature.statistics import exact_slopes, measure
from optimizers.curvature.vectors import flat
from optimizers.solvers.cg import conjugate_gradients

UNDAMPED: Final = 1e-30
LR: Final = 0.4
WITHIN: Final = 1e-8  # float64, and inverses of factors without damping
LOOSELY: Final = 1e-5  # where nearly equal numbers are subtracted, or rounding goes through several inverses

Step = Callable[[nn.Module], None]
Maps = tuple[list[Tensor], list[Tensor]]  # Ω of the inputs and of each layer's activities, Φ of each layer


class Activities(nn.Module):
    """ā† = Ω [φ(Φ s†); 1]: all that lies between two layers of a transformed network."""

    def __init__(self, omega: Tensor, phi: Tensor | None) -> None:
        super().__init__()
        self.omega, self.phi = omega, phi

    def forward(self, sums: Tensor) -> Tensor:
        """Return the activities; of the inputs, which have no Φ, those mapped."""
        units = sums if self.phi is None else torch.tanh(sums @ self.phi.T)
        return torch.cat([units, units.new_ones(len(units), 1)], dim=1) @ self.omega.T


class Net:
    """A network of these widths as matrices [W b], and its transformed equals."""

    def __init__(self, widths: Sequence[int], cases: int, seed: int) -> None:
        self.widths, self._stream = tuple(widths), Generator().manual_seed(seed)
        self.matrices = [
            0.7 * self.normal(outputs, inputs + 1) for inputs, outputs in itertools.pairwise(widths)
        ]
        self.inputs, targets = self.normal(cases, widths[0]), self.normal(cases, widths[-1])
        self.targets = (targets > 0).double()

    def normal(self, *shape: int) -> Tensor:
        """Return draws of its stream."""
        return torch.randn(*shape, generator=self._stream, dtype=torch.float64)

    def plain(self) -> Maps:
        """Return maps that change nothing."""
        return [_one(width + 1) for width in self.widths[:-1]], [_one(width) for width in self.widths[1:]]

    def drawn(self) -> Maps:
        """Return any maps, but for the outputs, which stay."""
        omegas, phis = self.plain()
        omegas = [omega + 0.3 * self.normal(*omega.shape) for omega in omegas]
        return omegas, [*(phi + 0.3 * self.normal(*phi.shape) for phi in phis[:-1]), phis[-1]]

    def transformed(self, maps: Maps) -> nn.Sequential:
        """Return the network whose W† = Φ⁻¹ W Ω⁻¹, which computes what the plain one does, a last Φ aside."""
        omegas, phis = maps
        modules: list[nn.Module] = []
        for number, (omega, phi, matrix) in enumerate(zip(omegas, phis, self.matrices, strict=True)):
            layer = nn.Linear(matrix.shape[1], matrix.shape[0], bias=False).double()
            layer.weight.data = torch.linalg.solve(phi, matrix) @ torch.linalg.inv(omega)
            modules += [Activities(omega, phis[number - 1] if number else None), layer]
        return nn.Sequential(*modules)

    def away(self, maps: Maps, step: Step, other: Step | None = None) -> float:
        """Return how far the step in a transformed network, taken back, is from the one in the plain network.

        Beside the size of the latter, for the layer where that is most.
        """
        ours = [
            phi @ move @ omega
            for omega, phi, move in zip(*maps, _moves(self.transformed(maps), step), strict=True)
        ]
        theirs = _moves(self.transformed(self.plain()), other or step)
        return max(_apart(our, their) for our, their in zip(ours, theirs, strict=True))

    def by_kfac(self, model: nn.Module, *, inverse: str = "block_diagonal", updates: int = 1) -> None:
        """Take undamped steps."""
        optimizer = KFAC(
            model,
            Bernoulli(),
            lr=LR,
            damping=UNDAMPED,
            targets="exact",
            refresh_every=1,
            inverse=inverse,  # type: ignore[arg-type]  # one of two names
        )
        for _ in range(updates):
            optimizer.step(self.inputs, self.targets)

    def by_gradient(self, model: nn.Module, *, behind: Tensor | None = None) -> None:
        """Take one step of gradient descent; with a last Φ the outputs are those behind it."""
        weights = [layer.weight for layer in _layers(model)]
        outputs = model(self.inputs) if behind is None else model(self.inputs) @ behind.T
        slopes = torch.autograd.grad(Bernoulli().loss(outputs, self.targets), weights)
        with torch.no_grad():
            for weight, slope in zip(weights, slopes, strict=True):
                weight.sub_(LR * slope)


def run(size: Size) -> Result:
    widths, cases, draws = ((4, 3, 4, 2), 40, 5) if size == "small" else ((20, 15, 10, 15, 20), 2000, 20)
    nets = [Net(widths, cases, seed) for seed in range(draws)]
    rows = {**_invariance(nets), **_white(nets), **_one_layer(nets), **_conjugate(nets), **_heskes(nets)}
    claims = [
        Claim(
            says=said,
            holds=holds(*values),
            told=f"over {draws} networks at most {max(values):.1e}, at least {min(values):.1e}",
        )
        for said, (holds, values) in rows.items()
    ]
    table: list[list[Cell]] = [[said, min(values), max(values)] for said, (_, values) in rows.items()]
    return Result(
        claims=claims,
        tables=[
            Table(
                title="How far apart the two sides are, beside the size of one, over networks drawn anew",
                head=["statement", "least", "most"],
                rows=table,
            )
        ],
        seeds=f"0 to {draws - 1}",
        remarks=[
            (
                "Undamped means a damping of 10⁻³⁰, and targets in expectation. The block-tridiagonal "
                "inverse is the worst conditioned: without damping it divides by what one layer's gradient "
                "leaves of another's, which is near 0."
            )
        ],
    )


Judged = dict[str, tuple[Callable[..., bool], list[float]]]


def _within(*values: float) -> bool:
    return max(values) <= WITHIN


def _loosely(*values: float) -> bool:
    return max(values) <= LOOSELY


def _invariance(nets: Sequence[Net]) -> Judged:
    maps = [net.drawn() for net in nets]
    pairs = list(zip(nets, maps, strict=True))
    tridiagonal = [net.away(each, partial(net.by_kfac, inverse="block_tridiagonal")) for net, each in pairs]
    return {
        "Undamped, block-diagonal K-FAC takes the same step in a network that any affine maps transform": (
            _within,
            [net.away(each, net.by_kfac) for net, each in pairs],
        ),
        "So does the block-tridiagonal form": (
            _loosely,
            tridiagonal,
        ),
        "Gradient descent goes elsewhere": (
            lambda *values: min(values) > 0.5,
            [net.away(each, net.by_gradient) for net, each in pairs],
        ),
        "Networks of logistic and of tanh units that start as one function are one after an update": (
            _within,
            [_logistic(net, 1) for net in nets],
        ),
        "So they are after 3, but for rounding, which grows with every undamped inverse": (
            _loosely,
            [_logistic(net, 3) for net in nets],
        ),
        "Affine maps of the inputs make no difference over 3 updates": (
            _within,
            [
                net.away(([each[0][0], *net.plain()[0][1:]], net.plain()[1]), partial(net.by_kfac, updates=3))
                for net, each in pairs
            ],
        ),
    }


def _logistic(net: Net, updates: int) -> float:
    """Return how far the outputs of both networks are apart after some updates: σ(s) = ½ tanh(s/2) + ½."""
    hyperbolic, logistic = (_dense(net, kind) for kind in (nn.Tanh, nn.Sigmoid))
    with torch.no_grad():
        for number, (ours, theirs) in enumerate(zip(_layers(hyperbolic), _layers(logistic), strict=True)):
            weight, bias = theirs.weight.clone(), theirs.bias.clone()
            if number > 0:
                weight, bias = weight / 2, bias + weight.sum(dim=1) / 2
            is_last = number == len(net.widths) - 2
            ours.weight.copy_(weight if is_last else weight / 2)
            ours.bias.copy_(bias if is_last else bias / 2)
    for model in (hyperbolic, logistic):
        net.by_kfac(model, updates=updates)
    return _apart(hyperbolic(net.inputs), logistic(net.inputs))


def _dense(net: Net, activation: Callable[[], nn.Module]) -> nn.Sequential:
    modules: list[nn.Module] = []
    for matrix in net.matrices:
        layer = nn.Linear(matrix.shape[1] - 1, matrix.shape[0]).double()
        layer.weight.data, layer.bias.data = matrix[:, :-1].clone(), matrix[:, -1].clone()
        modules += [layer, activation()]
    return nn.Sequential(*modules[:-1])


def _white(nets: Sequence[Net]) -> Judged:
    found, means = [], []
    for net in nets:
        model = net.transformed(net.plain())
        omegas = [_whitening(a) for a, _ in _factors(net, model)]
        phis = [_root(g) for _, g in _factors(net, model)]
        white = (omegas, phis)
        found.append(net.away(white, partial(net.by_gradient, behind=phis[-1]), net.by_kfac))
        means.append(_largest_mean(net, white))
    return {
        "It is gradient descent in the network whose activities and gradients are white": (_within, found),
        "With the constant kept aside in whitening, those activities are centred": (_within, means),
    }


def _largest_mean(net: Net, maps: Maps) -> float:
    sums, largest = net.inputs, 0.0
    for module in net.transformed(maps):
        sums = module(sums)
        if isinstance(module, Activities):
            largest = max(largest, sums[:, :-1].mean(dim=0).abs().max().item())
    return largest


def _whitening(a: Tensor) -> Tensor:
    """Return Ω with Ω A Ωᵀ = I that keeps the constant: [[C^-½, -C^-½ m], [0, 1]]."""
    mean = a[:-1, -1]
    root, omega = _root(a[:-1, :-1] - mean.outer(mean)), _one(len(a))
    omega[:-1, :-1], omega[:-1, -1] = root, -root @ mean
    return omega


def _root(matrix: Tensor) -> Tensor:
    """Return its power of -½."""
    values, vectors = torch.linalg.eigh(matrix)
    root: Tensor = (vectors / values.sqrt()) @ vectors.T
    return root


def _one_layer(nets: Sequence[Net]) -> Judged:
    found = []
    for net in nets:
        model, targets = (
            _linear(net),
            net.normal(len(net.inputs), net.widths[-1]),
        )
        KFAC(model, squared_error(), lr=1.0, damping=UNDAMPED, targets="exact").step(net.inputs, targets)
        design = torch.cat([net.inputs, torch.ones(len(targets), 1, dtype=torch.float64)], dim=1)
        found.append(_apart(model(net.inputs), design @ torch.linalg.lstsq(design, targets).solution))
    return {
        "For one linear layer and squared error it is the exact natural gradient: one step is the best fit": (
            _within,
            found,
        )
    }


def _conjugate(nets: Sequence[Net]) -> Judged:
    return {
        "On a quadratic, with one inverse throughout, its steps with momentum are those of conjugate "
        "gradients that "
        "the inverse preconditions, over 6 updates": (
            _within,
            [_from_conjugate_gradients(net) for net in nets],
        )
    }


def _from_conjugate_gradients(net: Net) -> float:
    scales = torch.logspace(0, 1, net.widths[0], dtype=torch.float64)
    inputs, outputs = net.inputs * scales, net.widths[-1]
    targets, objective = net.normal(len(inputs), outputs), squared_error()
    model = _linear(net)
    start = flat(dict(model.named_parameters())).detach()
    slopes = torch.autograd.grad(objective.loss(model(inputs), targets), list(model.parameters()))
    gradient = torch.cat([slope.reshape(-1) for slope in slopes])
    jacobian = Jacobian(Network(model, inputs))
    optimizer = KFAC(
        model, objective, damping=1e-13, decay=0.0, refresh_every=1000, generator=Generator().manual_seed(0)
    )
    path = []
    for _ in range(6):
        optimizer.step(inputs, targets)
        path.append(flat(dict(model.named_parameters())).detach() - start)
    kept = optimizer.state_dict()["inverse"]["kept"]["weight"]
    size = outputs * net.widths[0]

    def preconditioned(vector: Tensor) -> Tensor:
        joined = torch.cat([vector[:size].reshape(outputs, -1), vector[size:, None]], dim=1)
        solved = kept["outputs"] @ joined @ kept["inputs"]
        return torch.cat([solved[:, :-1].reshape(-1), solved[:, -1]])

    product: Callable[[Tensor], Tensor] = partial(fisher, jacobian, objective)
    truth = conjugate_gradients(
        product, -gradient, precondition=preconditioned, max_iterations=6, keep=lambda number: number > 0
    )
    return max(_apart(ours, truth.iterates[number]) for number, ours in enumerate(path, start=1))


def _heskes(nets: Sequence[Net]) -> Judged:
    return {
        "The block-diagonal matrix is the Hessian of D, the change of all sums weighted by G": (
            _within,
            [_from_hessian(net) for net in nets],
        )
    }


def _from_hessian(net: Net) -> float:
    """Return the largest distance of a block from the Hessian of D = ½ Σ mean (s - s')ᵀ G (s - s')."""
    model = net.transformed(net.plain())
    factors, most, sums = iter(_factors(net, model)), 0.0, net.inputs
    for module in model:
        if isinstance(module, nn.Linear):
            (a, g), activities, matrix = next(factors), sums.detach(), module.weight.detach()

            def distance(
                columns: Tensor, activities: Tensor = activities, matrix: Tensor = matrix, g: Tensor = g
            ) -> Tensor:
                apart = activities @ (columns.reshape(matrix.T.shape).T - matrix).T
                return (apart @ g * apart).sum() / (2 * len(activities))

            hessian: Tensor = torch.autograd.functional.hessian(
                distance, torch.zeros(matrix.numel(), dtype=torch.float64)
            )
            most = max(most, _apart(hessian, torch.kron(a, g)))
        sums = module(sums)
    return most


def _linear(net: Net) -> nn.Linear:
    layer = nn.Linear(net.widths[0], net.widths[-1]).double()
    layer.weight.data, layer.bias.data = net.normal(*layer.weight.shape), net.normal(*layer.bias.shape)
    return layer


def _factors(net: Net, model: nn.Module) -> list[tuple[Tensor, Tensor]]:
    """Return Ā and G of each layer, with targets in expectation."""
    with recording(model, find_blocks(model)) as uses:
        outputs = model(net.inputs)
    slopes = exact_slopes(Bernoulli(), outputs.detach(), Generator().manual_seed(0))
    found = measure(uses, outputs, slopes).factors.values()
    return [(each.inputs.values, each.outputs.values) for each in found]


def _layers(model: nn.Module) -> list[nn.Linear]:
    return [module for module in model.modules() if isinstance(module, nn.Linear)]


def _moves(model: nn.Module, step: Step) -> list[Tensor]:
    before = [layer.weight.detach().clone() for layer in _layers(model)]
    step(model)
    return [layer.weight.detach() - start for layer, start in zip(_layers(model), before, strict=True)]


def _one(width: int) -> Tensor:
    return torch.eye(width, dtype=torch.float64)


def _apart(one: Tensor, other: Tensor) -> float:
    apart: float = ((one - other).norm() / other.norm()).item()
    return apart


EXPERIMENT: Final = Experiment(
    name="kfac-identities",
    title="K-FAC: invariances, conjugate gradients, Heskes' distance",
    rows=(220,),
    source="J. Martens, *Second-order Optimization for Neural Networks* (thesis, University of Toronto, "
    "2016), sections 6.7, 6.10 (theorem 11, corollaries 12 and 13) and 6.12",
    asks="Some of what is said of K-FAC is not a matter of degree. Are these statements true of this "
    "implementation, to the precision of its numbers?",
    reported="""- Undamped, with both inverses, K-FAC's updates of a network and of one that any invertible
  affine maps
  transform (of inputs, activities and sums) are the same function; so a network may have logistic or tanh
  units.
- It is gradient descent in the network where activities are centred and white and gradients are white.
- On a quadratic its momentum with a fixed inverse is preconditioned conjugate gradients.
- The block-diagonal matrix is the Hessian of a distance (Heskes 2000), the changes of all sums weighted by G.

These are theorems; there are no measurements.""",
    here={
        "small": "Five networks 4-3-4-2 of tanh units with yes-or-no outputs on 40 cases, their weights, "
        "cases and maps drawn anew, in float64.",
        "full": "Twenty networks 20-15-10-15-20 on 2,000 cases.",
    },
    run=run,
)
