"""What the client itself can check: packages, the folder of now, and a server."""

import platform
import re
import time
from collections.abc import Iterator, Sequence
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from thiessen.cli.checks import Asked, Finding, on_disk
from thiessen.version import __version__

if TYPE_CHECKING:
    import httpx

    from thiessen.contract import Study, WorkerAnswer

ANSWER_SECONDS: Final = 10.0
CLOCK_SECONDS: Final = 5.0  # that clocks may differ
GONE_SECONDS: Final = 300.0  # of silence, after which a server takes a worker for gone
MOST_STUDIES: Final = 100  # that are looked at, the newest first
MOST_TOLD: Final = 3
NOT_FOR_USERS: Final = ("all", "dev")
_REQUIREMENT: Final = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?(?:>=([\d.]+))?(?:.*extra == ['\"](\w+)['\"])?")


def own(asked: Asked) -> Iterator[Finding]:
    """Yield what the client finds."""
    yield Finding("version", "ok", f"thiessen {__version__} on Python {platform.python_version()}")
    yield from _packages()
    yield on_disk("this folder", Path.cwd(), "Journals are written here: make room, or go elsewhere.")
    if asked.server is None:
        yield Finding("server", "ok", "none was named: --server does.")
    else:
        yield from _server(asked.server, asked.token)


def _packages() -> Iterator[Finding]:
    """Yield a finding for what is always needed, and for each extra."""
    wanted: dict[str, dict[str, str]] = {"": {}}
    for requirement in requires("thiessen") or ():
        if found := _REQUIREMENT.match(requirement):
            wanted.setdefault(found[3] or "", {})[found[1]] = found[2] or "0"
    for extra, packages in wanted.items():
        if extra not in NOT_FOR_USERS:
            yield _of_extra(extra, packages)


def _of_extra(extra: str, packages: dict[str, str]) -> Finding:
    here = {name: _installed(name) for name in packages}
    missing = [name for name, found in here.items() if found is None]
    old = [
        f"{name} {found} is older than {packages[name]}"
        for name, found in here.items()
        if found is not None and _numbers(found) < _numbers(packages[name])
    ]
    check = f"packages [{extra}]" if extra else "packages"
    cure = f"pip install 'thiessen{f'[{extra}]' if extra else ''}'"
    if extra and len(missing) == len(packages):
        return Finding(check, "ok", "not installed.", cure)
    if missing or old:
        faults = [*old, *([f"{', '.join(missing)} not installed"] if missing else [])]
        return Finding(check, "warning" if extra else "fault", f"{'; '.join(faults)}.", cure)
    return Finding(check, "ok", ", ".join(f"{name} {found}" for name, found in here.items()))


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _numbers(version: str) -> list[int]:
    """Return what versions are compared by, without what follows as in 2.4.0+cpu or 3.0rc1."""
    return [int(part) for part in re.match(r"[\d.]*", version)[0].split(".") if part]  # type: ignore[index] # it always matches


def _server(address: str, token: str | None) -> Iterator[Finding]:
    import httpx

    from thiessen.contract import CONTRACT, CONTRACT_HEADER

    url, begun = address.rstrip("/"), time.time()
    try:
        answer = httpx.get(f"{url}/readyz", headers={CONTRACT_HEADER: str(CONTRACT)}, timeout=ANSWER_SECONDS)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        cure = "Start one there (thiessen serve), or give its address without a path."
        yield Finding("server", "fault", f"no answer from {address}: {error}.", cure)
        return
    took = time.time() - begun
    theirs = answer.headers.get(CONTRACT_HEADER, "")
    if not theirs.isdecimal():
        cure = "Give the address that thiessen serve prints, without a path."
        yield Finding("server", "fault", f"what answers at {address} is no server of Thiessen.", cure)
        return
    yield _ready(address, answer)
    yield _contract(int(theirs), CONTRACT)
    time_there = _time_of(answer)
    yield _clock(time_there, begun + took / 2, took)
    yield from _work(url, token, time.time() if time_there is None else time_there)


def _ready(address: str, answer: "httpx.Response") -> Finding:
    if answer.status_code in {200, 426}:  # the latter is the contract's business
        return Finding("server", "ok", f"{address} answers.")
    told = f"{address} answers {answer.status_code}: {answer.text[:200]}"
    return Finding(
        "server", "fault", told, "Look into its log; thiessen doctor --database checks its database."
    )


def _contract(theirs: int, ours: int) -> Finding:
    """A server takes its own contract, and the one before."""
    told = f"the server keeps {theirs}, this is {ours}."
    if theirs == ours:
        return Finding("contract", "ok", told)
    if theirs == ours + 1:
        cure = "Upgrade here before the server is upgraded again: pip install --upgrade thiessen"
        return Finding("contract", "warning", told, cure)
    cure = "Upgrade the older side: pip install --upgrade thiessen, and thiessen db upgrade for a server."
    return Finding("contract", "fault", told, cure)


def _clock(theirs: float | None, now: float, took: float) -> Finding:
    if theirs is None:
        return Finding("clock", "warning", "the server does not tell its time.", "Does a proxy remove Date?")
    differs = theirs - now
    if abs(differs) <= CLOCK_SECONDS + took / 2:
        return Finding("clock", "ok", f"that of the server is ours within {CLOCK_SECONDS:g} s.")
    told = f"that of the server is {abs(differs):.0f} s {'ahead of' if differs > 0 else 'behind'} ours."
    cure = "Deadlines and tokens go by the server's. Let both be set by NTP."
    return Finding("clock", "warning", told, cure)


def _time_of(answer: "httpx.Response") -> float | None:
    try:
        return parsedate_to_datetime(answer.headers["Date"]).timestamp() + 0.5  # it is cut to whole seconds
    except (KeyError, ValueError):
        return None


def _work(url: str, token: str | None, now: float) -> Iterator[Finding]:
    """Yield whether the token is good, and who works for the studies that it may read."""
    from thiessen.client import Client
    from thiessen.errors import Forbidden, ThiessenError, Unauthorized

    try:
        with Client(url, token=token, timeout_seconds=ANSWER_SECONDS, retry_pauses=()) as client:
            active = client.studies(state="active", limit=MOST_STUDIES).studies
            workers = client.workers()
    except Unauthorized as error:
        cure = "Set THIESSEN_TOKEN to one that is valid: thiessen token create makes it, beside the server."
        yield Finding("token", "fault", str(error), cure)
        return
    except Forbidden as error:
        yield Finding("token", "ok", f"it is valid, and may not read studies: {error}")
        return
    except ThiessenError as error:
        yield Finding("token", "warning", f"it could not be tried: {error}")
        return
    told = "none is needed." if token is None else "it is valid, and may read studies."
    yield Finding("token", "ok", told)
    ours = [study for study in active if not study.is_mirror]
    yield _workers(workers, url, now, is_wanted=bool(ours))
    yield _studies(ours)


def _workers(workers: "Sequence[WorkerAnswer]", url: str, now: float, *, is_wanted: bool) -> Finding:
    alive = sum(worker.seen_at.timestamp() > now - GONE_SECONDS for worker in workers)
    told = f"{alive} of {len(workers)} were heard in the last {GONE_SECONDS / 60:g} minutes."
    if alive or not is_wanted:
        return Finding("workers", "ok", told)
    cure = f"Start one where the trials are to be trained: thiessen worker --server {url}"
    return Finding("workers", "warning", told, cure)


def _studies(active: "Sequence[Study]") -> Finding:
    """Say which studies have nothing under way though they are not complete."""
    waiting = [study for study in active if study.waits_for and not study.counts.running]
    if not waiting:
        return Finding("studies", "ok", f"{len(active)} are active, and none waits for a worker.")
    told = " ".join(f"{study.name}: {study.waits_for}" for study in waiting[:MOST_TOLD])
    more = f" And {len(waiting) - MOST_TOLD} more." if len(waiting) > MOST_TOLD else ""
    cure = "thiessen task list says who offers what; thiessen worker --task offers another task."
    return Finding("studies", "warning", f"{told}{more}", cure)
