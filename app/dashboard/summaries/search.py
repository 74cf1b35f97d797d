"""What a search is doing, in words: from its latest proposals and its best trial alone."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from app.dashboard.values import brief, many
from app.domain.study import Progress, StudyState
from thiessen.search import Reasons
from thiessen.space import Float, Int

MOST_PROPOSALS: Final = 32  # the latest ones
EDGE: Final = 0.02  # of a range: as near as that its end is
FEW_VALUES: Final = 4  # an integer with no more is at an end by chance
DRAWS: Final[Mapping[str, tuple[str, str]]] = {  # of most of them, and each
    "initial": ("It begins", "initial draw"),
    "exploration": ("It looks around in the whole space", "uniform draw"),
    "uniform": ("It draws from the whole space", "uniform draw"),
    "local": ("It works near good trials", "local change"),
    "grid": ("It goes through a grid", "grid point"),
    "quasi_random": ("It fills the space evenly", "point"),
    "own": ("It goes by a rule of its own", "draw"),
    "remaining": ("It goes through what is left of the space", "config"),
}


@dataclass(frozen=True)
class Fact:
    """One thing that is known of a search."""

    name: str
    says: str


@dataclass(frozen=True)
class Doing:
    """What a search is doing."""

    says: str
    facts: list[Fact]
    trial: int | None  # the best


def doing(progress: Progress, latest: Sequence[Mapping[str, Any]]) -> Doing:
    """Return what a search is doing; `latest` are reasons, of the newest proposal first."""
    reasons = [Reasons.from_json(each) for each in latest if each]
    return Doing(
        says=_told(progress, reasons),
        facts=list(_facts(progress, reasons)),
        trial=None if progress.best is None else progress.best.number,
    )


def _told(progress: Progress, reasons: Sequence[Reasons]) -> str:
    ended = (
        ""
        if progress.study.standing.state is StudyState.ACTIVE
        else f"It is {progress.study.standing.state}. "
    )
    if not reasons:
        by_others = progress.study.mirrors is not None or progress.study.standing.trials
        return ended + (
            "Its trials were added, none was proposed." if by_others else "It has proposed nothing yet."
        )
    draws = Counter(DRAWS[each.draw][0] for each in reasons)
    first, count = draws.most_common(1)[0]
    of = f"{count} of the last {len(reasons)} proposals" if len(reasons) > 1 else "the one proposal so far"
    return f"{ended}{first}: so {of} came about."


def _facts(progress: Progress, reasons: Sequence[Reasons]) -> Iterator[Fact]:
    if reasons:
        draws = Counter(DRAWS[each.draw][1] for each in reasons).most_common()
        yield Fact("Latest proposals", ", ".join(many(count, draw) for draw, count in draws))
        looked = [each.refused + 1 for each in reasons]
        yield Fact("Draws for a proposal", f"{median(looked):g} (median), {max(looked)} at most")
    if progress.best is not None:
        since = progress.study.standing.trials - 1 - progress.best.number
        later = f"{many(since, 'trial')} added since" if since else "the newest"
        yield Fact("Last improvement", f"trial {progress.best.number}, {later}")
        edges = list(_edges(progress))
        yield Fact("Edges", "; ".join(edges) or "the best config touches none of the space")


def _edges(progress: Progress) -> Iterator[str]:
    """Return where the best config is at an end of a range, which may then be too narrow."""
    if progress.best is None:
        return
    for name, value in progress.best.config.items():
        dimension = progress.space.dimensions.get(name)
        if isinstance(dimension, Float) and dimension.low < dimension.high:
            place = dimension.encode(value)
        elif isinstance(dimension, Int) and dimension.high - dimension.low > FEW_VALUES * dimension.step:
            place = 0.0 if value == dimension.low else 1.0 if value == dimension.high else 0.5
        else:
            continue
        if not EDGE < place < 1 - EDGE:
            end, bound = ("lower", dimension.low) if place < 0.5 else ("upper", dimension.high)
            yield f"{name} is at its {end} end, {brief(bound)}: widen it?"
