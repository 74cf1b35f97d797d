"""What optimizers with Kronecker factors of the Fisher matrix have in common: to learn from batches."""

import inspect
import itertools
import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor, nn

from optimizers.admission import check_batch, check_model_and_objective, precision_explained
from optimizers.curvature.blocks import find_blocks
from optimizers.curvature.forms import Rows
from optimizers.curvature.matrices import norm
from optimizers.curvature.network import Network
from optimizers.curvature.statistics import Pair, RunningStatistics, Statistics, Targets, joined, summed
from optimizers.eager import eagerly, uncompiled
from optimizers.errors import NotHeardError
from optimizers.groups import Params, check_groups, check_shared
from optimizers.listening import Call, Listening
from optimizers.moved import moved
from optimizers.objectives import Objective
from optimizers.processes import Group, Processes
from optimizers.rules import RULES
from optimizers.seen import ALL, Batch, Heard, Seen
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch
from optimizers.streams import retold, stream_beside, stream_of, told
from optimizers.usual_loop import Closure, Hearing, batch_or_closure, loss_scale, parts_of, unscaled

FEWEST = 100  # cases to estimate from, where their share is not told


class KroneckerFactored(Hearing):
    """Learns the factors of a model's blocks from batches; a subclass decides what step to take by them.

    What is frozen stays, and may be unfrozen between two steps; what the loss does not depend on rests.

    `params` are parameters of the model, or groups of them with settings of their own, as torch takes them;
    None is all of them. What is not among them stays. What has one matrix belongs whole into one group.

    Where torch.distributed has begun, all processes (or those of `group`) train together: gradient, factors
    and quadratic model are those of the batches of all, and they divide the inverses among them. In the usual
    loop the gradients are those that DistributedDataParallel makes.
    """

    _step_supports_amp_scaling = True  # torch's GradScaler then tells its scale
    kept: ClassVar[tuple[str, ...]] = ("updates", "refreshed")  # own attributes that are saved
    shared: ClassVar[tuple[str, ...]] = ("refresh_every",)  # settings that no group has for itself

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        params: Params | None,
        settings: dict[str, Any],
        *,
        decay: float,
        targets: Targets,
        statistics_from_every: int | None,
        generator: Generator | None,
        group: Group,
    ) -> None:
        check_model_and_objective(model, objective, type(self).__name__)
        self._model, self._objective = uncompiled(model), objective
        self._processes = Processes(group)
        self._blocks = find_blocks(self._model)
        self._trained: set[str] = set()  # of which these are the blocks, from the first step on
        self._explained: set[str] = set()  # blocks whose gradients were compared with their rows
        self._pairs: list[Pair] = []
        self._targets = targets
        self._statistics_from_every = statistics_from_every
        self._averages = RunningStatistics(decay=decay)
        self._updates = 0
        self._refreshed: dict[str, int] = {}  # by block: at which of them its inverse was computed
        super().__init__(model.parameters() if params is None else params, settings)
        self._generator = stream_beside(next(model.parameters())) if generator is None else generator
        self._listening: Listening | None = None
        self.listen()

    def step(  # type: ignore[override]  # a batch too
        self,
        inputs: Tensor | Closure | None = None,
        targets: Tensor | None = None,
        *,
        closure: Closure | None = None,
    ) -> Step:
        """Take one update: on a batch, with a closure, or after loss.backward().

        Raises SingularFactorError when a factor cannot be inverted.
        """
        given = batch_or_closure(self, inputs, targets, closure)
        self._check_batch(parts_of(given))
        if isinstance(given, tuple):
            self.close()  # who gives batches has no use for hooks
            return self._precisely(Batch(*given))
        return self._in_usual_loop(given)

    def _in_usual_loop(self, closure: Closure | None) -> Step:
        if self._listening is None:
            raise NotHeardError(
                type(self).__name__,
                "was closed, by close() or by a step(inputs, targets)",
                "Call listen() before the forward pass, or go on giving it batches.",
            )
        try:
            with torch.enable_grad():
                loss = None if closure is None else torch.as_tensor(closure()).detach()
            inputs = self._inputs_of(self._listening.calls())
            self._check_batch({"inputs": inputs})
            return self._precisely(Heard(inputs=inputs, slopes=self._left(), loss=loss, closure=closure))
        finally:
            self._listening.forget()

    def _check_batch(self, batch: Mapping[str, object]) -> None:
        trained = self._trained_now().values()
        check_batch(type(self).__name__, self._model, trained, batch, self._processes)

    def _left(self) -> dict[str, Tensor]:
        """Return the gradients that the backward passes left; copies, for a closure makes others."""
        scale = loss_scale(self)
        return {
            name: unscaled(parameter.grad, scale).clone()
            for name, parameter in self._model.named_parameters()
            if parameter.requires_grad and parameter.grad is not None
        }

    def _inputs_of(self, calls: Sequence[Call]) -> Tensor:
        """Return those of all calls together. Raises NotHeardError where they are not one tensor each."""
        name = type(self).__name__
        if not calls:
            raise NotHeardError(
                name,
                "has heard no forward pass with a backward pass since the last step",
                "Construct it before the first pass, and call the model as a module. If one like it was "
                "compiled before without hooks, call torch.compiler.reset() first.",
            )
        given = [(*call.args, *call.kwargs.values()) for call in calls]
        if any(len(each) != 1 or not isinstance(each[0], Tensor) for each in given):
            raise NotHeardError(
                name,
                "runs the model again, and knows how to on one tensor alone",
                "Have the model take one tensor as its only argument.",
            )
        return torch.cat([inputs.detach() for (inputs,) in given])

    def _precisely(self, heard: Batch | Heard) -> Step:
        inputs, explained = heard.inputs, precision_explained(self._model, heard.inputs)
        # curvature needs all digits
        with eagerly(), explained, torch.autocast(inputs.device.type, enabled=False):
            return self._step(heard)

    def _step(self, heard: Batch | Heard) -> Step:
        self._follow_model()
        watch, damping = Stopwatch(), self._settings["damping"]
        with watch.phase("gradient"):
            seen = self._look(Network(self._model, heard.inputs), heard)
            if not seen.gradients.keys() <= self._explained and seen.is_finite():
                seen = self._with_explained_blocks(seen, heard)
            told = Step(
                loss=math.nan if seen.loss is None else seen.loss.item(),
                damping=math.nan if damping is None else damping,
                gradient_norm=norm(seen.gradients),
                update_norm=0.0,
            )
        if not (seen.gradients and seen.is_finite()):
            return told
        with watch.phase("statistics"):
            if self._wants_statistics(seen) and not self._estimate(seen):
                return told
        seen.rest_but(self._averages.kept.factors)
        with torch.no_grad():
            return self._update(seen, told, watch)

    @abstractmethod
    def _update(self, seen: Seen, told: Step, watch: Stopwatch) -> Step:
        """Change the weights, or not, and tell of it."""

    @abstractmethod
    def _is_due(self, seen: Seen) -> bool:
        """Return whether this update computes inverses anew."""

    def _wants_pairs(self) -> bool:
        return False

    def _wants_statistics(self, seen: Seen) -> bool:
        return self._averages.decay > 0 or self._is_due(seen)

    def _look(self, network: Network, told: Batch | Heard) -> Seen:
        return Seen(
            self._model,
            self._blocks,
            network,
            self._objective,
            told,
            l2=self._of_blocks("l2"),
            explained=self._explained & self._blocks.keys(),
            wants_rows=self._targets == "data",
            processes=self._processes,
        )

    def _with_explained_blocks(self, seen: Seen, told: Batch | Heard) -> Seen:
        """Look again, by blocks whose gradients are what their rows say."""
        used = {param for name in seen.gradients for param in self._blocks[name].params}
        self._blocks = seen.explained()
        self._explained |= {name for name, block in self._blocks.items() if not used.isdisjoint(block.params)}
        seen = self._look(seen.network, told)
        self._pairs = seen.pairs() if self._wants_pairs() else []
        return seen

    def _estimate(self, seen: Seen) -> bool:
        """Average the batch into the factors (sec. 6.5), or return False when its own are not finite."""
        stream = stream_of(self._processes.rank, self._processes.size, self._generator)
        rows, cases = seen.rows_at(self._targets, share(seen, self._statistics_from_every, 8), stream)
        with torch.no_grad():
            of_batch = summed(rows, pairs=self._pairs)
            if not self._averages.update(joined(of_batch, rows, cases, self._processes)):
                return False
            self._noted(seen, rows, cases)
        return True

    def _noted(self, seen: Seen, rows: Sequence[Mapping[str, Rows]], cases: int) -> None:
        """Learn more from the rows of a batch that counts, which are of so many cases."""

    def _share_of_refresh(self) -> list[str]:
        """Return the blocks whose inverses this update computes: each once in `refresh_every`, one by one.

        From the outputs down. What a block costs is the time until the next one: no update pays for all.
        """
        factors, every = self._statistics().factors, int(self._settings["refresh_every"])
        names = list(factors)[::-1]
        costs = [factors[name].inputs.cost() + factors[name].outputs.cost() for name in names]
        before = [0.0, *itertools.accumulate(costs)]
        places = {name: int(every * spent / before[-1]) for name, spent in zip(names, before, strict=False)}
        return [name for name in names if places[name] == self._updates % every]

    def _note_refreshed(self, blocks: Iterable[str], *, before: int = 0) -> None:
        """Note that inverses of blocks are of this update, or of one so many before."""
        self._refreshed = {**self._refreshed, **dict.fromkeys(blocks, self._updates - before)}

    def _ages(self, blocks: Iterable[str]) -> dict[str, int]:
        """Return how many updates before the last one each block's inverse was computed."""
        return {name: self._updates - 1 - self._refreshed[name] for name in blocks}

    def _statistics(self) -> Statistics:
        return self._averages.kept.of(self._blocks, self._pairs)

    @property
    def _settings(self) -> dict[str, Any]:
        return self.param_groups[0]

    def _follow_model(self) -> None:
        """Train what requires gradients now, and move what is kept to where the model is since."""
        check_shared(self.param_groups, self.shared, type(self).__name__)
        trained, weight = self._trained_now(), next(self._model.parameters())
        if trained.keys() != self._trained:
            self._trained, self._explained = set(trained), set()
            self._blocks = find_blocks(self._model, trained.values())
            self._check_groups()
        factors = next(iter(self._averages.kept.factors.values()), None)
        if factors is None:
            return
        kept, dtype = factors.outputs.values, torch.promote_types(weight.dtype, torch.float32)
        if (kept.device, kept.dtype) != (weight.device, dtype):
            self._load(moved(self._saved(), weight.device, dtype))

    def _saved(self) -> dict[str, Any]:
        own = {name: getattr(self, f"_{name}") for name in self.kept}
        return {**own, "averages": self._averages.state_dict()}

    def _load(self, saved: Mapping[str, Any]) -> None:
        for name in self.kept:
            setattr(self, f"_{name}", saved[name])
        self._averages.load_state_dict(saved["averages"])

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more of the model's parameters. Raises ValueError for what cannot be in a group."""
        for name in param_group.keys() & _of_constructor(type(self)) - self.defaults.keys():
            raise ValueError(f"{name} is one for all groups. Give it to {type(self).__name__} itself.")
        shared = {name: self.param_groups[0][name] for name in self.shared if self.param_groups}
        group = {**self.defaults, **shared, **param_group}
        check_settings(**{name: group[name] for name in self.defaults})
        super().add_param_group({**shared, **param_group})
        try:
            self._check_groups()
            check_shared(self.param_groups, self.shared, type(self).__name__)
        except ValueError:
            self.param_groups.pop()
            raise

    def _check_groups(self) -> None:
        own = dict(self._model.named_parameters())
        wholes = {
            " and ".join(map(repr, block.params)): [own[name] for name in block.params]
            for block in self._blocks.values()
        }
        check_groups(self.param_groups, self._model, wholes)

    def _of_blocks(self, setting: str) -> dict[str, float]:
        """Return a setting by block, that of its group."""
        own = dict(self._model.named_parameters())
        values = {p: float(group[setting]) for group in self.param_groups for p in group["params"]}
        return {name: values[own[block.params[0]]] for name, block in self._blocks.items()}

    def _trained_now(self) -> dict[str, nn.Parameter]:
        among = {p for group in self.param_groups for p in group["params"]}
        return {name: p for name, p in self._model.named_parameters() if p.requires_grad and p in among}

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {**super().state_dict(), **self._saved(), "generator": self._generator.get_state()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over factors, inverses, settings, update count and random stream of a saved optimizer."""
        if lacking := self._saved().keys() - state_dict.keys():
            name = type(self).__name__
            raise ValueError(
                f"This is no state of {name}: it has no {', '.join(sorted(lacking))}. Load what the "
                f"state_dict() of {name} returned; another optimizer's cannot be gone on with."
            )
        super().load_state_dict({key: state_dict[key] for key in ("state", "param_groups")})
        self._load(state_dict)
        self._generator.set_state(state_dict["generator"].cpu())

    def _heard_layers(self) -> Mapping[str, nn.Module]:
        return {
            name: layer
            for name, layer in self._model.named_modules()
            if type(layer) in RULES and isinstance(getattr(layer, "weight", None), nn.Parameter)
        }

    def __getstate__(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name not in {"_listening", "_generator"}}
        return {**own, "listens": self._listening is not None, "generator": told(self._generator)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        listens, stream = state.pop("listens", None), state.pop("generator", None)
        super().__setstate__(state)
        if stream is not None:  # torch calls this for a state that is loaded too
            self._listening, self._generator = None, retold(stream)
        if listens:
            self.listen()


def share(seen: Seen, every: int | None, most: int) -> slice:
    """Return one case of so many; where that is not told, of at most `most`, and so that FEWEST are left."""
    if every is None:
        every = max(1, min(most, len(seen.network.inputs) // FEWEST))
    return slice(None, None, every) if every > 1 else ALL


def _of_constructor(kind: type) -> set[str]:
    return set(inspect.signature(kind).parameters) - {"params"}


def check_settings(
    *,
    lr: float | None,
    damping: float | None,
    l2: float,
    decay: float = 0.0,
    targets: str = "sampled",
    **counts: int | None,
) -> None:
    """Raise ValueError, or TypeError, with its name for a wrong setting; None is found while training."""
    for name, number in {"lr": lr, "damping": damping, "l2": l2, "decay": decay}.items():
        if isinstance(number, str):
            raise TypeError(f"{name} is a number, got the text {number!r}. Take float({number!r}).")
    if lr is not None and not 0 <= lr < math.inf:
        raise ValueError(f"lr must be finite and at least 0, got {lr!r}. A good first try is 0.3.")
    if damping is not None and not 0 < damping < math.inf:
        raise ValueError(f"damping must be finite and above 0, got {damping!r}. A good first try is 0.1.")
    if not 0 <= l2 < math.inf:
        raise ValueError(f"l2 must be finite and at least 0, got {l2!r}.")
    if not 0 <= decay < 1:
        raise ValueError(f"decay must be at least 0 and below 1, got {decay!r}. A good first try is 0.95.")
    if targets not in {"sampled", "exact", "data"}:
        raise ValueError(f"targets are 'sampled', 'exact' or 'data', got {targets!r}.")
    for name, count in counts.items():
        if count is not None and count < 1:
            raise ValueError(f"{name} is a count and must be at least 1, got {count!r}.")
