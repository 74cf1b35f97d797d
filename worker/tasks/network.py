"""What all tasks that train a network share: their settings, what they offer, and how they begin."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, TypeVar

import torch
from torch import nn

from optimizers.errors import TooLargeError, UnsupportedModelError
from thiessen.space import Config, Float, Int
from worker.config import Setting, checked, schema, setting, settings_of, suggested, wrong
from worker.datasets import Dataset, Part
from worker.models.layers import ACTIVATIONS
from worker.tasks.task import Context
from worker.training.driven import Objective, Surroundings
from worker.training.initialisation import INITIALISATIONS, Initialisation, initialisation
from worker.training.optimizers import OPTIMIZERS
from worker.training.plan import PRECISIONS, Plan
from worker.training.streams import Streams
from worker.training.trainer import Error, Job, Trainer

S = TypeVar("S", bound="NetworkSettings")


@dataclass(frozen=True, kw_only=True)
class NetworkSettings(Plan):
    """The settings of every task that trains a network. Its optimizer's own come on top."""

    optimizer: str = setting("nesterov", "What updates the weights.", choices=tuple(OPTIMIZERS))
    own: Mapping[str, Any] = field(default_factory=dict)  # the settings of that optimizer
    hidden: int = setting(32, "Units of a hidden layer.", low=1, high=10_000, suggested=Int(8, 128, log=True))
    depth: int = setting(1, "Hidden layers.", low=1, high=100)
    activation: str = setting("tanh", "What a hidden unit makes of its sum.", choices=tuple(ACTIVATIONS))
    initialisation: str = setting(
        "glorot", "The rule that the weights start from.", choices=tuple(INITIALISATIONS)
    )
    init_alpha: float = setting(
        0.0,
        "Of the rules balanced, glorot, he: the variance of the first weights, as a multiple. 0: its own.",
        low=0,
        high=1e6,
        suggested=Float(0.1, 100.0, log=True),
    )

    def initialise(self) -> Initialisation:
        """Return the rule that sets the first weights."""
        takes_alpha = "alpha" in signature(INITIALISATIONS[self.initialisation]).parameters
        alpha = {"alpha": self.init_alpha} if self.init_alpha and takes_alpha else {}
        return initialisation(self.initialisation, **alpha)


def settings(kind: type[S], config: Config) -> S:
    """Return the settings of a config. Raises ValueError that names a wrong one and the cure.

    A setting of another optimizer than the chosen one has no effect.
    """
    known = settings_of(kind)
    others = known_to_optimizers(known).keys() - known.keys()
    values = checked(known, config, ignored=others)
    row = OPTIMIZERS[str(values["optimizer"])]
    own = checked(row.settings, {name: config[name] for name in config if name in others}, ignored=others)
    return kind(**values, own=own)


def check_whole_batches(normalisation: str, chosen: NetworkSettings) -> None:
    """Raise ValueError where a normalisation would see batches in parts."""
    if normalisation != "none" and chosen.own.get("chunk"):
        raise wrong("chunk", chosen.own["chunk"], "a normalisation needs the whole batch at once; leave it 0")


def known_to_optimizers(known: dict[str, Setting]) -> dict[str, Setting]:
    """Return the settings of all optimizers that a task offers, by name."""
    rows = [OPTIMIZERS[name] for name in known["optimizer"].choices]
    return {name: each for row in reversed(rows) for name, each in row.settings.items()}


def schema_of(kind: type[NetworkSettings]) -> dict[str, Any]:
    """Return the JSON Schema of the configs that a task takes."""
    known = settings_of(kind)
    whole = schema(known)
    own = {name: each.schema() for name, each in known_to_optimizers(known).items()}  # defaults are a row's
    return {**whole, "properties": {**whole["properties"], **own}}


def spaces_of(kind: type[NetworkSettings]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return for each optimizer the space that is suggested."""
    known = settings_of(kind)
    return {
        name: suggested({**OPTIMIZERS[name].settings, **known}, optimizer=name)
        for name in known["optimizer"].choices
    }


def trained(
    chosen: NetworkSettings,
    model: nn.Module,
    objective: Objective,
    error: Error,
    parts: Mapping[str, Part],
    context: Context,
    *,
    prepare: Callable[[nn.Module, Part], None] = lambda _model, _part: None,
) -> float:
    """Train a model whose first weights are set; return what the trial is judged by."""
    dtype = PRECISIONS[chosen.precision]
    model = model.to(context.device, dtype)
    moved = {name: _moved(part, context.device, dtype) for name, part in parts.items() if len(part)}
    surroundings = Surroundings(
        streams=Streams(context.seed),
        updates=chosen.updates_for(len(moved["train"])),
        device=context.device,
    )
    row = OPTIMIZERS[chosen.optimizer]
    if chosen.switch == "detected" and not row.is_first_order:
        cure = f"{chosen.optimizer} leaves no gradients to be looked at; switch `at_update`"
        raise wrong("switch", chosen.switch, cure)
    try:
        optimizer = row.build(model, objective, chosen.own, surroundings)
    except (TooLargeError, UnsupportedModelError) as refusal:
        reason = str(refusal).rstrip(".")
        raise wrong("optimizer", chosen.optimizer, f"it cannot train this network. {reason}") from refusal
    job = Job(model=model, optimizer=optimizer, objective=objective, error=error, parts=moved)
    return Trainer(job, chosen, context).run(lambda: prepare(model, moved["train"]))


def parts_of(data: Dataset) -> dict[str, Part]:
    """Return the parts of a data set by name."""
    return {"train": data.train, "validation": data.validation, "test": data.test}


def _moved(part: Part, device: torch.device, dtype: torch.dtype) -> Part:
    targets = part.targets.to(device, dtype) if part.targets.is_floating_point() else part.targets.to(device)
    return Part(part.inputs.to(device, dtype), targets)
