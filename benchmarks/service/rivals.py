"""What peers do with the same cycles, each in an environment of its own."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.peers.environment import environment
from benchmarks.service import clients, servers
from benchmarks.service.clients import Seen

HERE = Path(__file__).parent
OPTUNA, VIZIER = "service-optuna", "service-vizier"
QUIETLY = ("-W", "ignore")  # what it says of its experimental parts


def optuna(kind: str, address: str, count: int, seconds: float, **settings: str) -> Seen:
    """Let clients of Optuna work on a storage; what it costs is in their CPU time."""
    given = ["env", *(f"{name}={value}" for name, value in settings.items())]
    return clients.together([[*given, *each] for each in _optunas(kind, address, count, seconds)])


def optuna_proxy(address: str, count: int, seconds: float) -> Seen:
    """Let clients of Optuna work through its gRPC proxy of a SQLite file with WAL and synchronous=NORMAL."""
    with servers.peer([environment(OPTUNA), *QUIETLY, HERE / "optuna_server.py", "tuned", address]) as server:
        return clients.together(_optunas("proxy", str(server.port), count, seconds), server.cpu_seconds)


def vizier(count: int, seconds: float) -> Seen:
    """Let clients of OSS Vizier work. Raises CalledProcessError when it cannot be installed."""
    python = environment(VIZIER)
    with servers.peer([python, HERE / "vizier_server.py"]) as server:
        command = [python, HERE / "vizier_client.py", str(server.port), str(seconds)]
        return clients.together([command] * count, server.cpu_seconds)


@contextmanager
def optuna_on_sqlite(kind: str, trials: int) -> Iterator[str]:
    """Give the address of a new SQLite file with a study of Optuna's that has so many finished trials."""
    servers.RUNS.mkdir(parents=True, exist_ok=True)
    file = servers.RUNS / "optuna.db"
    _remove(file)
    fill(kind, f"sqlite:///{file}", trials)
    try:
        yield f"sqlite:///{file}"
    finally:
        _remove(file)


def fill(kind: str, address: str, trials: int) -> None:
    """Make a study of Optuna's in an empty database, with so many finished trials."""
    command = [environment(OPTUNA), *QUIETLY, HERE / "optuna_history.py", kind, address, str(trials)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _optunas(kind: str, address: str, count: int, seconds: float) -> list[clients.Command]:
    return [[environment(OPTUNA), *QUIETLY, HERE / "optuna_client.py", kind, address, str(seconds)]] * count


def _remove(file: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        Path(f"{file}{ending}").unlink(missing_ok=True)
