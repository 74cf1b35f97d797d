"""Why a config is tried: the reasons of its proposal, number by number."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from app.dashboard.summaries.known import BY_PEOPLE, Known
from app.dashboard.values import Shown, many, shown
from app.domain.study import Study
from thiessen.figures.text import short
from thiessen.search import Reasons


@dataclass(frozen=True)
class Fact:
    """A number that decided, what it means, and the trial that it is of."""

    name: str
    value: str
    says: str
    trial: int | None = None


@dataclass(frozen=True)
class Candidate:
    """A candidate that was refused before the one that became the trial."""

    config: Shown
    nearest: int | None
    estimate: str
    acceptance: str


@dataclass(frozen=True)
class Proposal:
    """Why a config is tried."""

    says: str
    facts: list[Fact] = field(default_factory=list)
    refused: list[Candidate] = field(default_factory=list)
    before: int | None = None  # finished trials that the landscape was made of; None without a landscape
    is_drawn: bool = False  # by a strategy, which replay computes again


def proposal(known: Known) -> Proposal:
    """Return why this config is tried."""
    found = known.trial
    if not found.reasons:
        return Proposal(BY_PEOPLE.get(found.origin, "Nothing is recorded."))
    reasons = Reasons.from_json(found.reasons)
    dimensions = known.progress.space.dimensions
    has_landscape = reasons.distance is not None and len(dimensions) > 1
    return Proposal(
        says=reasons.explain(),
        facts=list(_facts(reasons, known.progress.study)),
        refused=[
            Candidate(
                config=shown(dimensions, each.config),
                nearest=each.nearest_trial,
                estimate=_value(known.progress.study, each.estimate),
                acceptance=short(each.acceptance),
            )
            for each in reasons.last_refused
        ],
        before=reasons.watermark if has_landscape and reasons.watermark > 0 else None,
        is_drawn=True,
    )


def _facts(reasons: Reasons, study: Study) -> Iterator[Fact]:
    """Return the numbers that decided."""
    source = reasons.draw.replace("_", " ")
    yield Fact("Source", source, f"by {reasons.strategy}, knowing {many(reasons.watermark, 'result')}")
    if reasons.distance is not None:
        state = "which was pending" if reasons.nearest_is_pending else "finished"
        number = "of another study" if reasons.nearest_trial is None else f"trial {reasons.nearest_trial}"
        yield Fact(
            "Nearest", number, f"{state}, at distance {short(reasons.distance)}", reasons.nearest_trial
        )
        of = f"the mean of {reasons.neighbourhood} trials" if reasons.neighbourhood > 1 else "its value"
        yield Fact(
            "Estimate", _value(study, reasons.estimate), of if reasons.estimate is not None else "it diverged"
        )
        how = "chosen all the same, as no draw was kept" if reasons.forced else "the probability to keep it"
        yield Fact("Acceptance", short(reasons.acceptance), how)
    if reasons.expected_share is not None:
        share = f"{100 * reasons.expected_share:.2g} %"
        yield Fact("Expected better", share, "of the finished trials, by the surface through the best")
    yield Fact("Draws", str(reasons.refused + 1), f"{reasons.refused} of them refused")


def _value(study: Study, loss: float | None) -> str:
    return "diverged" if loss is None else short(study.spec.direction.loss(loss))
