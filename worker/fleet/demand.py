"""How many slots the studies of a server could keep busy."""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from thiessen.client import Client
from thiessen.contract import Study

PAGE: Final = 200  # studies read at once


def active(client: Client, *, tasks: Collection[str] = (), names: Collection[str] = ()) -> Iterator[Study]:
    """Yield the active studies, those of these tasks and names alone where some are given."""
    cursor: str | None = None
    while True:
        page = client.studies(state="active", limit=PAGE, cursor=cursor)
        for study in page.studies:
            if (not tasks or study.task in tasks) and (not names or study.name in names):
                yield study
        if (cursor := page.next) is None:
            return


def demand(studies: Iterable[Study]) -> int:
    """Return how many trials could run at once: those that do, that wait, and that are still to come."""
    return sum(map(_of_one, studies))


def _of_one(study: Study) -> int:
    counts = study.counts
    numbered = counts.queued + counts.running + counts.finished - study.imported
    still_to_come = 0 if study.reason else max(study.max_trials - numbered, 0)
    wanted = counts.running + counts.queued + still_to_come
    return wanted if study.max_running is None else min(wanted, study.max_running)
