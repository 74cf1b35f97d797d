"""Where a program begins: a study of its own, or a server."""

from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thiessen.errors import InvalidRequest, ServerUnreachable
from thiessen.integrations import KNOWN
from thiessen.journal import Journal
from thiessen.local import TRIALS, Local, Told
from thiessen.search.settings import strategy_from_json
from thiessen.space import OPEN, Open, Space, space_of
from thiessen.study import DEFAULT_PROJECT, Direction, Objective, Study

if TYPE_CHECKING:
    from thiessen.client import Client

BY_NAME: Final = "{name}.jsonl"
MOST: Final = 2**53  # every JSON reader keeps what is below it
INSIDE: Final = "http://127.0.0.1"  # nobody listens there for us: it only has to be an address


def minimize(
    objective: Objective,
    space: Space | Open = OPEN,
    *,
    trials: int = TRIALS,
    journal: str | Path | None = BY_NAME,
    strategy: str | Mapping[str, Any] | None = None,
    seed: int | None = None,
    stopping: Mapping[str, Any] | None = None,
    n_jobs: int = 1,
    catch: type[Exception] | tuple[type[Exception], ...] = (),
    progress: bool | None = None,
) -> Study:
    """Look for the config whose value is smallest; no server is needed.

    >>> def train(config):
    ...     return (config["lr"] - 0.1) ** 2
    >>> study = minimize(train, Space(lr=Float(1e-4, 1.0, log=True)), trials=50)
    >>> study.best.config

    What came of each trial is kept in a journal, here `train.jsonl` in the folder of now: stopped by Ctrl-C
    or a crash, the same program goes on where it was. With more trials it goes on too. A journal of None
    keeps nothing. Without a space it is open: what the objective asks its trial for is searched, as in
    `trial.float("lr", 1e-4, 1, log=True)`. The other arguments are those of `open_study` and of
    `Study.optimize`.
    """
    path = None if journal is None else str(journal).format(name=_name(objective, journal))
    with open_study(path, space, trials=trials, strategy=strategy, seed=seed, stopping=stopping) as study:
        return study.optimize(objective, n_jobs=n_jobs, catch=catch, progress=progress)


def _name(objective: Objective, journal: str | Path) -> str:
    """Return what the journal of an objective is called. Raises ValueError where others would share it."""
    name: str = getattr(objective, "__name__", "objective")
    if journal == BY_NAME and not name.isidentifier():
        raise ValueError(
            "a lambda has no name for a journal: the next lambda would be taken for this one. Write it as a "
            "function, or give journal='NAME.jsonl', or journal=None to keep nothing."
        )
    return name


def connect(address: str, *, token: str | None = None, project: str = DEFAULT_PROJECT) -> "Client":
    """Return a client of the server at an address, or of one in this process over a database.

    >>> with connect("sqlite:///runs.db") as client:
    ...     study = client.open_study("digits", Space(lr=Float(1e-4, 1.0, log=True)))

    A server in this process has no port; it owns a SQLite file as `thiessen serve` does, and needs the extra
    `[server]`. Raises ServerUnreachable.
    """
    from thiessen.client import Client

    if not address.startswith(("sqlite", "postgresql")):
        return Client(address, token=token, project=project)
    servers = entry_points(group="thiessen.local")
    try:
        [opened] = [server.load() for server in servers]
    except (ModuleNotFoundError, ValueError) as error:
        raise ServerUnreachable(
            "a server in this process needs more packages: pip install 'thiessen[server]'."
        ) from error
    return Client(INSIDE, token=token, project=project, transport=opened(address))


def open_study(
    journal: str | Path | None,
    space: Space | Open | None = None,
    *,
    trials: int | None = None,
    strategy: str | Mapping[str, Any] | None = None,
    seed: int | None = None,
    direction: Direction | None = None,
    stopping: Mapping[str, Any] | None = None,
) -> Study:
    """Begin a study in a new journal, or go on with that of an old one; None keeps it in memory alone.

    A `space` of "open" is made by what its trials ask for: `trial.float("lr", 1e-4, 1, log=True)`.
    `trials` is how many there will be in all, 100 unless told, and may be another each time. `strategy` and
    `stopping` are as in a study file. What is not told is as the journal has it, and in a new one the usual:
    the default search, seed 0, the smallest value, no early stopping. Raises JournalDiffers where the journal
    holds another study, JournalInUse and JournalError.
    """
    return in_journal(
        journal,
        Told(
            space=None if space is None else space_of(space),
            strategy=None if strategy is None else strategy_from_json(strategy, KNOWN),
            seed=seed,
            direction=direction,
            stopping=None if stopping is None else _rule(stopping),
        ),
        trials,
    )


def in_journal(journal: str | Path | None, told: Told, trials: int | None) -> Study:
    """Begin the study that is told of, or go on with that of the journal. Raises as `open_study` does."""
    _check_whole("trials", trials, 1, "how many there will be in all")
    _check_whole("seed", told.seed, 0, "what decides every proposal")
    kept = None if journal is None else Journal(Path(journal))
    name = "study" if kept is None else kept.path.stem
    try:
        return Study(Local(name, kept, told, trials))
    except BaseException:
        if kept is not None:
            kept.abandon()
        raise


def _check_whole(name: str, number: object, least: int, meaning: str) -> None:
    """Raise ValueError for what is no integer, or too small or too large a one."""
    if number is not None and not (isinstance(number, int) and least <= number < MOST):
        raise ValueError(f"{name} is {meaning}, an integer from {least} to 2**53 - 1; got {number!r}.")


def _rule(stopping: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule of early stopping with all its settings. Raises InvalidRequest."""
    from pydantic import TypeAdapter, ValidationError

    from thiessen.contract.faults import faults
    from thiessen.contract.studies import Stopping

    rules: TypeAdapter[Stopping] = TypeAdapter(Stopping)
    try:
        read: dict[str, Any] = rules.validate_python(dict(stopping)).model_dump()
    except ValidationError as error:
        found = faults(error, rules.json_schema())
        raise InvalidRequest(f"stopping is no rule of early stopping: {found}.") from error
    return read
