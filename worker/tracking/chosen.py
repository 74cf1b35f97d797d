"""Which trackers there are, and those that a person wants."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from worker.tracking.tracking import Tracker


class NoTracker(ValueError):  # noqa: N818 - says what happened
    """A tracker that was asked for and is not here; the message says what to do."""


def chosen(wishes: Sequence[str]) -> dict[str, Tracker]:
    """Return the trackers of wishes such as `tensorboard:runs`, each by its kind. Raises NoTracker."""
    trackers = {}
    for wish in wishes:
        kind, _, where = wish.partition(":")
        if kind not in _KINDS or not where:
            raise NoTracker(f"{wish!r} is no tracker: write tensorboard:FOLDER, or mlflow:URI.")
        if kind in trackers:
            raise NoTracker(f"there are two trackers of the kind {kind}: give one of them.")
        try:
            trackers[kind] = _KINDS[kind](where)
        except ModuleNotFoundError as error:
            raise NoTracker(
                f"{kind} is not installed here ({error.name}): pip install 'thiessen[worker,{kind}]'."
            ) from error
    return trackers


def _tensorboard(where: str) -> Tracker:
    from worker.tracking.tensorboard import TensorBoard

    return TensorBoard(where)


def _mlflow(where: str) -> Tracker:
    from worker.tracking.mlflow import MLflow

    return MLflow(where)


_KINDS: Final[Mapping[str, Callable[[str], Tracker]]] = {"mlflow": _mlflow, "tensorboard": _tensorboard}
