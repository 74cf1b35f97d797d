"""The trials of a study from what a journal, or a program, has of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from thiessen.columns import Columns
from thiessen.figures.trials import MOST_UNFINISHED, Curve, Proposed, Trials, Unfinished
from thiessen.search.history import BROKEN
from thiessen.space import Config, Space

Direction = Literal["minimize", "maximize"]


class Ended(Protocol):
    """What came of a trial."""

    @property
    def number(self) -> int: ...

    @property
    def state(self) -> str: ...

    @property
    def config(self) -> Config: ...

    @property
    def loss(self) -> float | None: ...


def of_results(study: str, space: Space, direction: Direction, results: Iterable[Ended]) -> Trials:
    """Return the trials that have ended, as finished in this order."""
    ended = list(results)
    return Trials(
        study=study,
        space=space,
        direction=direction,
        **_columns(space, [(each.number, each.state, each.config, each.loss, None) for each in ended]),
    )


def of_journal(
    study: str,
    space: Space,
    direction: Direction,
    entries: Sequence[Mapping[str, Any]],
    *,
    neighbours: int,
    metric: str | None,
    running: Collection[int],
) -> Trials:
    """Return the trials of a journal's lines; what has not ended is queued, or among the `running`."""
    trials = [entry["trial"] for entry in entries if "trial" in entry]
    latest: dict[int, Mapping[str, Any]] = {}
    for entry in entries:
        if "observation" in entry:
            latest.pop(entry["observation"]["trial"], None)  # so that it takes the last place
            latest[entry["observation"]["trial"]] = entry
    ended = [
        (number, seen["outcome"], trials[number]["config"], seen["loss"], seen.get("cause"))
        for number, seen in ((number, entry["observation"]) for number, entry in latest.items())
    ]
    return Trials(
        study=study,
        space=space,
        direction=direction,
        neighbours=neighbours,
        metric=metric,
        unfinished=[
            Unfinished(
                number=each["number"],
                state="running" if each["number"] in running else "queued",
                config=each["config"],
            )
            for each in trials
            if each["number"] not in latest
        ][:MOST_UNFINISHED],
        latest=[_proposed(each) for each in trials if each["origin"] == "proposed"],
        curves={number: _curve(entry.get("curve", ())) for number, entry in latest.items()},
        **_columns(space, ended),
    )


def _proposed(trial: Mapping[str, Any]) -> Proposed:
    return proposed(trial["number"], trial["config"], trial["reasons"])


def proposed(number: int, config: Config, reasons: Mapping[str, Any]) -> Proposed:
    """Return a proposal with the candidates that its stored reasons list."""
    refused = [each["config"] for each in reasons.get("last_refused", ())]
    return Proposed(number=number, config=config, refused=refused)


def _curve(points: Iterable[Sequence[Any]]) -> Curve:
    return [(step, {name: float(each) for name, each in metrics.items()}) for step, metrics in points]


def _columns(
    space: Space, ended: Sequence[tuple[int, str, Config, float | None, str | None]]
) -> dict[str, Any]:
    """Return the columns of trials: number, state, config, loss and cause of each."""
    table = Columns(space).table([config for _, _, config, _, _ in ended])
    return {
        "numbers": np.array([number for number, *_ in ended], np.int64),
        "states": np.array([state for _, state, *_ in ended], dtype="U9"),
        "losses": np.array([np.nan if loss is None else loss for *_, loss, _ in ended], float),
        "codes": table.codes.T,
        "known_points": table.points,
        "is_broken": np.array(
            [state == "failed" and cause in BROKEN for _, state, _, _, cause in ended], bool
        ),
    }
