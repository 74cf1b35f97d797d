import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import torch
from torch import Generator, Tensor, autograd, nn

from optimizers.admission import (
    check_batch,
    check_model_and_objective,
    check_rows,
    precision_explained,
)
from optimizers.curvature.network import Network
from optimizers.curvature.products import Curved, Jacobian, Product, fisher, hessian
from optimizers.curvature.vectors import flat, shaped
from optimizers.eager import eagerly, uncompiled
from optimizers.errors import UnsupportedModelError
from optimizers.objectives import Objective
from optimizers.passes import check_alike
from optimizers.processes import Group, Processes
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch
from optimizers.streams import retold, stream_beside, stream_of, stream_on, told
from optimizers.told import Told
from optimizers.usual_loop import needs_the_batch, parts_of


@final
@dataclass(frozen=True, kw_only=True)
class Given:
    """What an update is made from."""

    network: Network  # on the batch whose loss it lowers
    targets: Tensor
    statistics: Network  # on the inputs whose curvature counts: the same, unless others were told
    search: tuple[Network, Tensor] | None  # on what a search lowers the loss, and its targets, if told


class Whole(Told, ABC):
    """Changes all trained parameters of a model at once, as one vector, by the rule of a subclass.

    The rule may run the model on the batch again; dropout masks are the same in each pass. A batch whose loss
    or gradient is not finite changes nothing; nor does one of which the rule says None.

    Where torch.distributed has begun, all processes (or those of `group`) train together: loss, gradient and
    curvature are those of the batches of all.
    """

    # what torch would not copy
    _own: ClassVar[frozenset[str]] = frozenset({"_model", "_objective", "_processes"})

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        settings: dict[str, float],
        generator: Generator | None,
        group: Group,
    ) -> None:
        check_model_and_objective(model, objective, type(self).__name__)
        for name, value in settings.items():
            if not 0 <= value < math.inf:
                raise ValueError(f"{name} must be finite and at least 0, got {value!r}.")
        self._model, self._objective, self._processes = uncompiled(model), objective, Processes(group)
        super().__init__(model.parameters(), settings)
        self._generator = stream_beside(next(model.parameters())) if generator is None else generator

    @abstractmethod
    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        """Return what to add to the parameters, and what else the `Step` tells; None to skip the batch."""

    @needs_the_batch
    def step(self, inputs: Tensor, targets: Tensor) -> Step:  # type: ignore[override]  # a batch, no closure
        """Take one update on a batch.

        Raises UnsupportedModelError for a model in half precision, and what the rule raises.
        """
        return self._precisely(inputs, targets)

    def _precisely(
        self,
        inputs: Tensor,
        targets: Tensor,
        statistics: Tensor | None = None,
        search: tuple[Tensor, Tensor] | None = None,
    ) -> Step:
        batch = parts_of((inputs, targets), statistics=statistics, search=search)
        trained = [parameter for parameter in self._model.parameters() if parameter.requires_grad]
        check_batch(type(self).__name__, self._model, trained, batch, self._processes)
        _check_precise(self._model)
        explained = precision_explained(self._model, inputs)
        # curvature needs all digits
        with eagerly(), explained, torch.autocast(inputs.device.type, enabled=False):
            network = Network(self._model, inputs)
            other = network if statistics is None else Network(self._model, statistics)
            searched = None if search is None else (Network(self._model, search[0]), search[1])
            return self._taken(Given(network=network, targets=targets, statistics=other, search=searched))

    def _taken(self, given: Given) -> Step:
        settings, watch = self.param_groups[0], Stopwatch()
        network, targets = given.network, given.targets
        with watch.phase("gradient"):
            loss, gradient = self._gradient(network, targets, float(settings.get("l2", 0.0)))
        damping = float(settings.get("damping", 0.0))
        skipped = Step(loss=loss, damping=damping, gradient_norm=float(gradient.norm()), update_norm=0.0)
        if not (math.isfinite(loss) and gradient.isfinite().all()):
            return skipped
        taken = self._update(given, gradient, watch)
        if taken is None:
            return skipped
        update, told_besides = taken
        _add(update, network)
        return replace(skipped, update_norm=float(update.norm()), seconds=watch.seconds, **told_besides)

    def _gradient(self, network: Network, targets: Tensor, l2: float) -> tuple[float, Tensor]:
        params = {name: tensor.clone().requires_grad_() for name, tensor in network.params.items()}
        with torch.enable_grad():
            outputs = network.trained(params)
            check_rows(type(self).__name__, outputs, network.inputs)
            loss = self._objective.loss(outputs, targets)
        parts = autograd.grad(loss, list(params.values()), materialize_grads=True)
        check_alike([*params], [*self._model.parameters()], self._processes)
        gradient = torch.cat([part.reshape(-1) for part in parts])
        loss, gradient = self._of_all([loss.detach(), gradient], targets)
        return loss.item(), gradient + l2 * flat(network.params)

    def _of_all(self, means: Iterable[Tensor], targets: Tensor) -> list[Tensor]:
        """Return as means over the cases of all processes what are means over those of this one."""
        return self._processes.means(means, len(targets))

    def _fisher(self, jacobian: Jacobian, objective: Curved, *, shift: float = 0.0) -> Product:
        """Return v -> (F + shift I) v, F that of the cases of all processes."""

        def product(vector: Tensor) -> Tensor:
            [curved] = self._of_all([fisher(jacobian, objective, vector)], jacobian.outputs)
            return curved.add_(vector, alpha=shift)

        return product

    def _hessian(self, given: Given, cases: slice, *, shift: float = 0.0) -> Product:
        """Return v -> (H + shift I) v, H that of some cases of the batches of all processes."""
        targets = given.targets[cases]
        of_own = hessian(given.network, lambda outputs: self._objective.loss(outputs, targets), cases=cases)

        def product(vector: Tensor) -> Tensor:
            [curved] = self._of_all([of_own(vector)], targets)
            return curved.add_(vector, alpha=shift)

        return product

    def _own_stream(self, device: torch.device) -> Generator:
        """Return a stream whose next draws, for the cases at hand, are not those of other processes."""
        self._generator = stream_on(device, self._generator)
        return stream_of(self._processes.rank, self._processes.size, self._generator)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Raise ValueError: the rule is for the whole of the model."""
        if self.param_groups:
            raise ValueError(
                f"{type(self).__name__} trains the model it was given and knows no other parameters. "
                f"Add the layer to the model and construct a new optimizer."
            )
        super().add_param_group(param_group)

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {**super().state_dict(), "generator": self._generator.get_state()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the settings and random stream of a saved optimizer."""
        super().load_state_dict(state_dict)
        self._generator.set_state(state_dict["generator"].cpu())

    def __getstate__(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name in self._own}
        return {**super().__getstate__(), **own, "generator": told(self._generator)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        stream = state.pop("generator", None)
        super().__setstate__(state)
        if stream is not None:  # torch calls this for a state that is loaded too
            self._generator = retold(stream)


def _add(update: Tensor, network: Network) -> None:
    with torch.no_grad():
        for name, change in shaped(update, network.params).items():
            network.params[name].add_(change)  # the model's own storage
        network.keep_buffers()


def _check_precise(model: nn.Module) -> None:
    for name, parameter in model.named_parameters():
        if parameter.dtype not in {torch.float32, torch.float64}:
            raise UnsupportedModelError(
                name.rpartition(".")[0],
                f"has parameters in {parameter.dtype}, too coarse for curvature",
                "Keep the model in float32, or use an optimizer that trains layer by layer, such as ACP.",
            )
