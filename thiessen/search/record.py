"""The record of a study: as one JSON document, all that it takes to compute its proposals again."""

import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

from thiessen.search import STRATEGIES
from thiessen.search.history import Duplicates, HistoryError, Observed, Outcome
from thiessen.search.replay import Given, Mismatch, Proposed, replay
from thiessen.search.settings import Register, strategy_from_json, strategy_to_json
from thiessen.search.strategy import Strategy
from thiessen.space import LARGEST_FLOAT, LARGEST_INT, OPEN, AskedFor, Config, Scalar, Space

FORMAT: Final = 1  # of the document; raised when an older reader would misread it

Origin = Literal["proposed", "enqueued", "imported", "memoised"]


@dataclass(frozen=True, kw_only=True)
class Record:
    """A study with its trials, from number 0 on, and its observations, from 1 on."""

    space: Space
    strategy: Strategy
    seed: int
    duplicates: Duplicates
    failures_repel: bool
    trials: Sequence[Proposed | Given]
    observations: Sequence[Observed]

    @classmethod
    def from_json(cls, document: Any, known: Register = STRATEGIES) -> "Record":
        """Read what `to_json` returned; what else is there is passed over. Raises HistoryError."""
        _read(document, "the document", "format", f"{FORMAT} here", _only(FORMAT))
        study = _read(document, "the document", "study", "an object", _is_object)
        space, strategy = _space(study), _strategy(study, known)
        numbered = _read(document, "the document", "trials", "a list", _is_list)
        told = _read(document, "the document", "observations", "a list", _is_list)
        return cls(
            space=space,
            strategy=strategy,
            seed=_read(study, "the study", "seed", "a whole number from 0 on", _up_to(LARGEST_INT)),
            duplicates=_read(study, "the study", "duplicates", *_one_of(Duplicates)),
            failures_repel=_read(study, "the study", "failures_repel", "true or false", _is_boolean),
            trials=[_trial(entry, number, space, len(told)) for number, entry in enumerate(numbered)],
            observations=[_observed(entry, seq, len(numbered)) for seq, entry in enumerate(told, start=1)],
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document; `from_json` reads it back."""
        return {
            "format": FORMAT,
            "study": {
                "space": self.space.declaration,
                "strategy": strategy_to_json(self.strategy),
                "seed": self.seed,
                "duplicates": self.duplicates,
                "failures_repel": self.failures_repel,
            },
            "trials": [{"origin": "proposed", **asdict(trial)} for trial in self.trials],
            "observations": [observation_to_json(each) for each in self.observations],
        }

    @property
    def proposals(self) -> int:
        """How many of the trials were proposed."""
        return sum(isinstance(trial, Proposed) for trial in self.trials)

    def replay(self) -> Iterator[list[Mismatch]]:
        """Yield for each proposal what differs. Raises NotReplayable and HistoryError."""
        return replay(
            self.space,
            self.strategy,
            self.seed,
            self.trials,
            self.observations,
            duplicates=self.duplicates,
            failures_repel=self.failures_repel,
        )


def observation_to_json(observed: Observed) -> dict[str, Any]:
    """Return an observation as a record has it: what was asked for stands only where somebody said it."""
    told = {name: getattr(observed, name) for name in ("seq", "trial", "outcome", "loss", "cause")}
    return told if observed.asked is None else told | {"asked": observed.asked.to_json()}


def _space(study: Mapping[str, Any]) -> Space:
    declared = _read(
        study, "the study", "space", "an object, or open", lambda each: _is_object(each) or each == OPEN
    )
    try:
        return Space.declared(declared)
    except ValueError as error:
        raise HistoryError(f"the study: {error}") from error


def _strategy(study: Mapping[str, Any], known: Register) -> Strategy:
    settings = _read(study, "the study", "strategy", "an object", _is_object)
    try:
        return strategy_from_json(settings, known)
    except ValueError as error:
        raise HistoryError(f"the study: {error}") from error


def _trial(entry: Any, number: int, space: Space, observations: int) -> Proposed | Given:
    place = f"trial {number}"
    _read(entry, place, "number", f"{number} here: they follow one another", _only(number))
    origin = _read(entry, place, "origin", *_one_of(Origin))
    config: Config = _read(entry, place, "config", "an object of plain values", _is_config)
    if origin == "proposed":
        return Proposed(
            number=number,
            config=config,
            watermark=_read(entry, place, "watermark", "the number of an observation", _up_to(observations)),
            turn=_read(entry, place, "turn", f"a whole number up to {number}", _up_to(number)),
            reasons=_read(entry, place, "reasons", "an object", _is_object),
        )
    try:
        if not space.is_open:  # there its program says what it holds
            space.validate(config)
    except ValueError as error:
        raise HistoryError(f"{place}: {error}") from error
    return Given(number=number, config=config, origin=origin)


def _observed(entry: Any, seq: int, trials: int) -> Observed:
    place = f"observation {seq}"
    _read(entry, place, "seq", f"{seq} here: they follow one another", _only(seq))
    outcome = _read(entry, place, "outcome", *_one_of(Outcome))
    has_loss = outcome == "succeeded"
    loss = _read(
        entry,
        place,
        "loss",
        "a finite number" if has_loss else "a finite number or null",
        lambda value: _is_finite(value) or (value is None and not has_loss),
    )
    return Observed(
        seq=seq,
        trial=_read(entry, place, "trial", "the number of a trial", _up_to(trials - 1)),
        outcome=outcome,
        loss=None if loss is None else float(loss),
        cause=_read(entry, place, "cause", "a string or null", lambda each: isinstance(each, str | None)),
        asked=None if entry.get("asked") is None else _asked_for(entry["asked"], f"{place}.asked"),
    )


def _asked_for(entry: Any, place: str) -> AskedFor:
    _read(entry, place, "config", "an object of plain values", _is_config)
    _read(entry, place, "dimensions", "an object", _is_object)
    try:
        return AskedFor.from_json(entry)
    except ValueError as error:
        raise HistoryError(f"{place}: {error}") from error


def _read(entry: Any, place: str, name: str, what: str, fits: Callable[[Any], bool]) -> Any:
    """Return what an object has under this name. Raises HistoryError unless it fits."""
    if not _is_object(entry):
        raise HistoryError(f"{place} is an object; got {reprlib.repr(entry)}.")
    value = entry.get(name)
    if not fits(value):
        raise HistoryError(f"{place}: {name} is {what}; got {reprlib.repr(value)}.")
    return value


def _one_of(words: Any) -> tuple[str, Callable[[Any], bool]]:
    choices = get_args(words)
    return f"one of {', '.join(choices)}", lambda value: isinstance(value, str) and value in choices


def _up_to(last: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and 0 <= value <= last


def _only(number: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and value == number


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    return type(value) in {int, float} and abs(value) <= LARGEST_FLOAT


def _is_config(value: Any) -> bool:
    return _is_object(value) and all(isinstance(each, Scalar) for each in value.values())
