from typing import Any, Literal, final

import torch
from torch import Generator, Tensor, nn

from optimizers.curvature.network import Network
from optimizers.curvature.products import product_with
from optimizers.curvature.vectors import Params, flat, shaped
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.running_average import Running, averaged
from optimizers.solvers.power_iteration import largest_eigenvalue
from optimizers.stopwatch import Stopwatch
from optimizers.streams import stream_on
from optimizers.whole import Given, Whole


@final
class LeCunRate(Whole):
    """Gradient descent with the rate that the largest curvature allows, δ = -(lr / λ) ∇h (LeCun et al. 1993).

    λ is a running average of the largest eigenvalue of the batch's curvature, Gauss-Newton or Hessian. It is
    found by `iterations` steps of v ← Bv / ‖Bv‖, from the direction that the batch before had led to. For lr
    below 2 no quadratic diverges. A batch without any curvature changes nothing.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=1.0, low=0.1, high=1.9, log=True),
        Hyperparameter(name="iterations", kind="int", default=20, low=1, high=40, log=True),
    )
    _own = Whole._own | {"_of", "_iterations", "_running", "_direction"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 1.0,
        iterations: int = 20,
        decay: float = 0.95,
        curvature: Literal["gauss_newton", "hessian"] = "gauss_newton",
        generator: Generator | None = None,
        group: Group = None,
    ) -> None:
        if iterations < 1:
            raise ValueError(f"iterations counts products and must be at least 1, got {iterations!r}.")
        if not 0 <= decay < 1:
            raise ValueError(f"decay must be from 0 to below 1, got {decay!r}. Try 0.95.")
        if curvature not in {"gauss_newton", "hessian"}:
            raise ValueError(f"curvature is 'gauss_newton' or 'hessian', got {curvature!r}.")
        super().__init__(model, objective, {"lr": lr, "decay": decay}, generator, group)
        self._of: Literal["gauss_newton", "hessian"] = curvature
        self._iterations = iterations
        self._running: Running = {}  # λ, by the one name there is
        self._direction: Params = {}

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        network, targets = given.network, given.targets
        settings = self.param_groups[0]
        with watch.phase("curvature"):
            size, direction = self._largest(network, targets)
        newest = {"largest": gradient.new_tensor(size)}
        running = averaged(self._running, newest, float(settings["decay"]))
        largest = float(running["largest"][0])
        if not 0 < largest < float("inf") or size == 0:
            return None
        self._running, self._direction = running, shaped(direction, network.params)
        return -float(settings["lr"]) / largest * gradient, {"iterations": self._iterations}

    def _largest(self, network: Network, targets: Tensor) -> tuple[float, Tensor]:
        product = product_with(self._of, network, self._objective, targets)

        def of_all(vector: Tensor) -> Tensor:
            return self._of_all([product(vector)], targets)[0]

        [start] = self._processes.means([self._start(network)], 1)  # one for all, also if drawn
        return largest_eigenvalue(of_all, start, iterations=self._iterations)

    def _start(self, network: Network) -> Tensor:
        """Return the direction before, and a random one where it does not know the parameters of now."""
        self._generator = stream_on(network.inputs.device, self._generator)
        known = self._direction
        return flat(
            {
                name: known[name].to(p) if name in known else self._normal(p)
                for name, p in network.params.items()
            }
        )

    def _normal(self, like: Tensor) -> Tensor:
        return torch.randn(like.shape, generator=self._generator, dtype=like.dtype, device=like.device)

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {**super().state_dict(), "running": dict(self._running), "direction": dict(self._direction)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over settings, rate, direction and random stream of a saved optimizer."""
        super().load_state_dict(state_dict)
        self._running, self._direction = dict(state_dict["running"]), dict(state_dict["direction"])
