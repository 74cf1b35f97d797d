"""What every strategy is: a pure rule from what is known to what to try next."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import ClassVar, Final, Protocol

from thiessen.numbers import Stream
from thiessen.search.landscape import Landscape
from thiessen.search.reasons import Reasons
from thiessen.space import Config, Space

MAX_DRAWS: Final = 256  # candidates looked at for one proposal, whatever the landscape
MOST_LISTED: Final = 10_000  # remaining configs to choose from when almost every draw is taken


class Exhausted(Exception):  # noqa: N818 - a state of the search, not a mistake
    """Every config of the space already has a trial."""


class StrategyError(ValueError):
    """A strategy that cannot be, or not in this space; the message names the setting and the cure."""


@dataclass(frozen=True)
class Proposal:
    """A config worth a trial, and why it was chosen."""

    config: Config
    reasons: Reasons


class Strategy(Protocol):
    """Chooses what to try next. No clock, no disk, no network, no hidden randomness.

    A strategy is a frozen dataclass; its fields are its settings.
    """

    name: ClassVar[str]
    version: ClassVar[int]  # a released version's rule is never edited; a better rule is a new version
    replayable: ClassVar[bool] = True  # whether a proposal can be recomputed from what the landscape knew
    plans: ClassVar[bool] = False  # whether it lays out the whole space, so that it cannot be open
    presets: ClassVar[Mapping[str, "Strategy"]] = MappingProxyType({})  # settings that go by a name

    def settled(self, space: Space, max_trials: int) -> "Strategy":
        """Return the strategy with all decided that it leaves to the study. Raises StrategyError."""
        del space, max_trials
        return self

    def propose(self, space: Space, landscape: Landscape, turn: int, rng: Stream) -> Proposal:
        """Return the proposal of this turn. Raises Exhausted when every config has its trial."""


def settled(strategy: Strategy, space: Space, max_trials: int) -> Strategy:
    """Return the strategy as a new study of this space has it. Raises StrategyError."""
    if space.is_open and strategy.plans:
        raise StrategyError(
            f"{strategy.name} lays its configs out over the whole space, and an open one is not known before "
            "its trials ask. Declare the space, or take biased_random or random."
        )
    return strategy.settled(space, max_trials)


def draw(space: Space, rng: Stream) -> Config:
    """Return a config uniform on the declared scales; one number a dimension, active or not."""
    return space.decode([rng.uniform() for _ in space.dimensions])


def untaken(space: Space, landscape: Landscape, rng: Stream) -> Config:
    """Return one of the configs that remain when almost all are taken. Raises Exhausted."""
    units = [rng.uniform() for _ in space.dimensions]
    free = (place for place, point in enumerate(space.points(units)) if not landscape.is_taken(point))
    remaining = list(islice(free, MOST_LISTED))  # places: the configs themselves may fill 100 MB
    if not remaining:
        raise Exhausted
    chosen = remaining[int(rng.uniform() * len(remaining))]
    return next(islice(space.points(units), chosen, None))
