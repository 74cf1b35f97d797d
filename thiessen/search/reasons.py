"""Why a config was proposed: the numbers that decided, and one sentence of them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from thiessen.space import Config

Draw = Literal["initial", "exploration", "uniform", "local", "grid", "quasi_random", "own", "remaining"]

LAST_REFUSED: Final = 3  # candidates that reasons list; the others are only counted

_OPENINGS: Final[Mapping[Draw, str]] = {
    "initial": "One of the first draws",
    "exploration": "A uniform draw",
    "uniform": "A uniform draw",
    "local": "A change of {parent}",
    "grid": "The next point of the grid",
    "quasi_random": "The next point of a sequence that fills the space evenly",
    "own": "A draw by the rule of {strategy}",
    "remaining": "One of the configs that had no trial yet",
}


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A candidate that was not kept."""

    config: Config
    nearest_trial: int | None
    estimate: float | None
    acceptance: float


@dataclass(frozen=True, kw_only=True)
class Reasons:
    """Why a config was proposed. Everything is plain JSON."""

    strategy: str
    watermark: int  # the last observation known when it was chosen
    draw: Draw  # what kind of candidate it is
    refused: int = 0  # candidates drawn and not kept before it
    last_refused: tuple[Refused, ...] = ()  # the last few of those that were judged by a loss
    forced: bool = False  # chosen at the end of the draws, because none was kept
    nearest_trial: int | None = None  # None also where that was recalled from another study
    nearest_is_pending: bool = False
    distance: float | None = None  # to that trial, in the unit cube; None when none was looked for
    estimate: float | None = None  # the loss expected here; None where the nearest trial diverged
    neighbourhood: int = 1  # trials whose mean loss the estimate is: more where several are equally near
    acceptance: float = 1.0  # the probability with which it was kept
    parent: int | None = None  # the trial whose config was changed; None also where that was recalled
    expected_share: float | None = (
        None  # of the finished trials, to be better, by the surface through the best
    )

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Reasons":
        """Read what `to_json` wrote; what an earlier version did not write is as by default."""
        known = {field.name: document[field.name] for field in fields(cls) if field.name in document}
        known.setdefault("draw", known["strategy"] if known["strategy"] in _OPENINGS else "uniform")
        known["last_refused"] = tuple(Refused(**each) for each in known.get("last_refused", ()))
        return cls(**known)

    def to_json(self) -> dict[str, Any]:
        """Return a document of its own."""
        return {**vars(self), "last_refused": [dict(vars(each)) for each in self.last_refused]}

    def explain(self) -> str:
        """Return the reasons as one sentence."""
        parent = "a trial of another study" if self.parent is None else f"trial {self.parent}"
        opening = _OPENINGS[self.draw].format(strategy=self.strategy, parent=parent)
        return f"{opening}{self._manner()}{self._nearest()}{self._expected()}{self._passed_over()}."

    def _manner(self) -> str:
        if self.draw == "remaining":
            return f", listed after {self.refused} draws that all had one"
        if self.draw == "own":
            return ""
        if self.distance is None:
            return ", kept without looking at any loss"
        if self.forced:
            chance = "below 0.0001" if self.acceptance < 0.0001 else f"of {self.acceptance:.2g}"
            how = f"by its chance {chance}" if self.acceptance else "at random"
            return f", chosen {how} among {self.refused} of which none was kept"
        return f", kept with probability {self.acceptance:.2g}"

    def _nearest(self) -> str:
        if self.distance is None:
            return ""
        state = "pending" if self.nearest_is_pending else "finished"
        number = "one of another study" if self.nearest_trial is None else f"{self.nearest_trial}"
        where = f"the nearest {state} trial, {number} (at distance {self.distance:.3g}),"
        if self.estimate is None:
            return f": {where} diverged" + ("" if self.acceptance == 0 else ", but no trial had a loss yet")
        if self.neighbourhood > 1:
            more = f"and {self.neighbourhood - 1} more nearby"
            return f": {where} {more} had a mean loss of {self.estimate:.3g}"
        verb = "was expected to have" if self.nearest_is_pending else "had"
        return f": {where} {verb} loss {self.estimate:.3g}"

    def _expected(self) -> str:
        if self.expected_share is None:
            return ""
        if 0.001 <= self.expected_share < 0.995:
            return f", and {100 * self.expected_share:.2g} % of all trials were expected to be better"
        many = "almost every" if self.expected_share > 0.5 else "hardly any"
        return f", and {many} trial was expected to be better"

    def _passed_over(self) -> str:
        if not self.refused or self.forced or self.draw == "remaining":
            return ""
        things = "point" if self.draw in {"grid", "quasi_random"} else "draw"
        many = f"{self.refused} {things}" + ("s" if self.refused > 1 else "")
        if self.distance is None:
            return f"; {many} before it had a trial already"
        return f"; {many} {'were' if self.refused > 1 else 'was'} refused before it"
