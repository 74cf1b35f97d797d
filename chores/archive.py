"""Writes tests/storage/archive/<revision>.<kind>.sql: a database in which a bit of everything has happened.

Made once for each revision of the schema, with the code of that time, and kept: whatever comes later must be
able to bring it up to date. All of it goes through the HTTP interface. The clock stands still between the
steps and chance has a seed, so the same code writes the same text.
"""

import secrets
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

from fastapi.testclient import TestClient
from sqlalchemy import create_engine, update
from sqlalchemy.ext.compiler import compiles

from app.domain.webhook import Delivery
from app.lifecycle.expire import expire
from app.main import build
from app.settings import Settings
from app.storage import Store, webhooks
from app.storage.schema import revisions
from app.storage.tables import clock, metadata, now
from benchmarks.service import servers
from thiessen.search.asking import Asking
from thiessen.space import OpenSpace

ARCHIVE: Final = Path(__file__).parents[1] / "tests" / "storage" / "archive"
BEGAN: Final = round(datetime(2026, 11, 1, tzinfo=UTC).timestamp() * 1000)
LEASE_SECONDS: Final = 30
LONG_AGO: Final = datetime.fromtimestamp(0, UTC)
X = {"type": "float", "low": 0.0, "high": 1.0}
SPACE: Final = {
    "lr": {"type": "float", "low": 1e-4, "high": 1.0, "log": True},
    "width": {"type": "int", "low": 8, "high": 64, "step": 8},
    "rule": {"type": "categorical", "choices": ["sgd", "kfac"]},
    "size": {"type": "ordinal", "choices": ["narrow", "middle", "wide"]},
    "nesterov": {"type": "boolean", "when": {"rule": ["sgd"]}},
}


def main() -> None:
    """Write both."""
    _foresee()
    ARCHIVE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        _live(f"sqlite:///{folder}/archive.db")
        _keep("sqlite", _of_sqlite(Path(folder, "archive.db")))
    with servers.postgresql() as running:
        address = running.new_database()
        _live(address)
        _keep("postgresql", _of_postgresql(address))


def _foresee() -> None:
    """Let secrets and the databases' clocks be the same in every run."""
    secrets.token_bytes = lambda nbytes=None: _chance.randbytes(nbytes or 32)

    @compiles(now, "sqlite")
    @compiles(now, "postgresql")
    def standing(element: now, compiler: object, **options: object) -> str:
        del element, compiler, options
        return f"({BEGAN} + (SELECT offset_milliseconds FROM clock))"  # noqa: S608 - a constant


_chance = Random(0)


def _keep(kind: str, text: str) -> None:
    file = ARCHIVE / f"{revisions()[-1]}.{kind}.sql"
    file.write_text(text)
    print(f"{file}: {len(text):,} characters")


def _of_sqlite(file: Path) -> str:
    """Return the database as SQL; its indexes by name, as SQLAlchemy makes them in any order."""
    with closing(sqlite3.connect(file)) as connection:
        *lines, commit = connection.iterdump()
    indexes = sorted(line for line in lines if line.startswith(("CREATE INDEX", "CREATE UNIQUE INDEX")))
    others = [line for line in lines if line not in indexes]
    return "".join(f"{line}\n" for line in [*others, *indexes, commit])


def _of_postgresql(address: str) -> str:
    """Return the database in the words of pg_dump, rows in the order of their keys, without its remarks."""
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for table in metadata.sorted_tables:
            connection.exec_driver_sql(f"CLUSTER {table.name} USING {table.primary_key.name}")
            connection.exec_driver_sql(f"ALTER TABLE {table.name} SET WITHOUT CLUSTER")
        programs = connection.exec_driver_sql(
            "SELECT setting FROM pg_config WHERE name = 'BINDIR'"
        ).scalar_one()
    engine.dispose()
    options = ["--inserts", "--no-owner", "--no-privileges", "--no-comments"]
    plain = address.replace("postgresql+psycopg://", "postgresql://")
    command = [f"{programs}/pg_dump", *options, "--dbname", plain]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    kept = [line for line in ran.stdout.splitlines() if line and not line.startswith(("--", "\\"))]
    return "".join(f"{line}\n" for line in kept)


def _live(address: str) -> None:
    """Do a bit of everything in an empty database."""
    _chance.seed(0)
    app = build(Settings(database=address, lease_seconds=LEASE_SECONDS, allow_private_webhooks=True))
    store: Store = app.state.house.store
    life = Life(TestClient(app, base_url="http://127.0.0.1"), store)  # not entered: nothing runs beside it
    try:
        for chapter in CHAPTERS:
            chapter(life)
        life.set_clock(timedelta())
    finally:
        store.close()


class Life:
    """Speaks the HTTP interface, and moves the clock."""

    def __init__(self, http: TestClient, store: Store) -> None:
        self._http = http
        self.store = store
        self._passed = timedelta()
        self._wishes = 0

    def send(self, method: str, path: str, body: Any = None, refused: int = 0, headers: Any = None) -> Any:
        """Return the answer; it must be a success, or refused with this status."""
        self.pass_by(0.25)
        answer = self._http.request(method, f"/api/v1{path}", json=body, headers=headers)
        if answer.status_code != refused and (refused or not answer.is_success):
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None

    def pass_by(self, seconds: float) -> None:
        """Let time pass."""
        self._passed += timedelta(seconds=seconds)
        self.set_clock(self._passed)

    def set_clock(self, passed: timedelta) -> None:
        """Move the clock so far from where it stands still."""
        milliseconds = round(passed.total_seconds() * 1000)
        change = update(clock).values(offset_milliseconds=milliseconds)
        self.store.write(lambda tx: tx.execute(change).rowcount)

    def study(self, name: str, project: str = "", **spec: Any) -> None:
        """Create one."""
        usual = {"name": name, "task": "train", "space": {"x": X}, "seed": 1, "max_trials": 20}
        self.send("POST", f"{project}/studies", usual | spec)

    def lease(self, study: str, worker: str = "node-1", headers: Any = None, **wish: Any) -> dict[str, Any]:
        """Return the only lease."""
        self._wishes += 1
        usual = {"worker": worker, "incarnation": "monday", "request_id": f"wish-{self._wishes}"}
        asked = usual | {"tasks": ["train"], "studies": [study]} | wish
        [leased] = self.send("POST", "/leases", asked, headers=headers)["leases"]
        return dict(leased)

    def end(self, leased: dict[str, Any], verb: str = "complete", refused: int = 0, **how: Any) -> None:
        """End an attempt."""
        self.send("POST", f"/leases/{leased['lease_id']}/{verb}", how, refused)

    def beat(self, leased: dict[str, Any], *losses: float, first: int = 0, **more: Any) -> None:
        """Report a piece of a learning curve."""
        reports = [{"step": step, "metrics": {"loss": loss}} for step, loss in enumerate(losses, start=first)]
        self.send("POST", f"/leases/{leased['lease_id']}/heartbeat", {"reports": reports, **more})


def _house(life: Life) -> None:
    """Projects, tokens, workers, webhooks."""
    life.send("POST", "/projects", {"name": "vision", "max_running": 8, "max_studies": 10})
    life.send("PATCH", "/projects/vision", {"max_running": 4})
    for name, scopes in (("ann", ["read", "submit", "admin"]), ("node", ["work"]), ("gone", ["read"])):
        life.send("POST", "/tokens", {"name": name, "scopes": scopes, "days": 90})
    life.send("POST", "/tokens", {"name": "guest", "scopes": ["read"], "project": "vision"})
    life.send("DELETE", "/tokens/gone")
    slots = [{"name": "cuda:0", "gpus": 1, "gpu_memory_gb": 80.0}]
    accepted = {"schema": {"properties": {"lr": {"type": "number"}}}, "spaces": {"usual": {"lr": X}}}
    offer = {
        "incarnation": "monday",
        "slots": slots,
        "tasks": [{"name": "train", "version": "1.0", **accepted}],
    }
    life.send("PUT", "/workers/node-1", offer | {"labels": {"pool": "a"}})
    life.send("PUT", "/workers/node-2", offer)
    life.send("PUT", "/workers/node-3", offer)
    life.send("PATCH", "/workers/node-2", {"is_draining": True})
    for kinds in ([], ["study.completed"]):
        life.send("POST", "/webhooks", {"url": "http://127.0.0.1:9/hook", "kinds": kinds})
    life.send("PATCH", "/webhooks/2", {"state": "paused"})


def _a_search(life: Life) -> None:
    """An active study with trials of every outcome, several attempts, curves, and people who meddle."""
    stopping = {"rule": "median", "metric": "loss", "min_curves": 2}
    notes = 'The first one; it\'s "quoted".'
    about: dict[str, Any] = {"tags": ["baseline"], "notes": notes, "attributes": {"owner": "ann"}}
    life.study("search", space=SPACE, stopping=stopping, max_trials=60, max_attempts=2, **about)
    for number in range(4):
        leased = life.lease("search", environment={"torch": "2.13"})
        life.beat(leased, 1.0, 0.8 + number / 10)
        life.beat(leased, 0.5 + number / 10, first=2, log_tail="epoch 3")
        life.end(leased, loss=0.5 + number / 10)
    pruned = life.lease("search")
    life.beat(pruned, 2.0, 3.0)
    life.end(pruned, pruned=True)
    life.end(life.lease("search"), diverged="nan")
    for kind in ("error", "out_of_memory"):
        life.end(life.lease("search"), "fail", kind=kind, message="boom", traceback="Traceback: boom")
    life.send("PATCH", "/studies/search/trials/6", {"state": "queued"})  # tried again
    life.end(life.lease("search"), loss=0.9)
    life.end(life.lease("search"), "fail", kind="time_limit", message="too slow", retry=False)
    life.end(life.lease("search"), "release")
    life.end(life.lease("search"), loss=0.7)
    _silence(life)
    _people(life)
    life.beat(life.lease("search", "node-3"), 0.9, 0.8)  # runs on


def _silence(life: Life) -> None:
    """Leases that expire: taken over, a late result, all attempts used up."""
    silent = life.lease("search")
    life.pass_by(2 * LEASE_SECONDS)
    taken = life.lease("search", "node-3")
    life.end(silent, refused=409, loss=0.65)  # late: kept with its attempt
    life.end(taken, "fail", kind="error", message="no luck either")  # and now it counts
    for _ in range(2):
        life.lease("search")
        life.pass_by(2 * LEASE_SECONDS)
    expire(life.store, LONG_AGO)


def _people(life: Life) -> None:
    """What is enqueued, imported, cancelled, annotated."""
    config = {"lr": 0.01, "width": 16, "rule": "kfac", "size": "wide"}
    some = [{"config": config | {"width": width}} for width in (16, 24, 32)]
    known = {"config": config | {"width": 40}, "outcome": {"value": 0.31}}
    broken = {"config": config | {"width": 48}, "outcome": {"diverged": "inf"}}
    sent, key = {"trials": [*some, known, broken]}, {"Idempotency-Key": "k1"}
    life.send("POST", "/studies/search/trials", sent, headers=key)
    queued = life.send("GET", "/studies/search/trials?state=queued")["trials"]
    life.send("PATCH", f"/studies/search/trials/{queued[-1]['trial']}", {"state": "cancelled"})
    life.send(
        "PATCH", "/studies/search/trials/0", {"notes": "The power failed here.", "attributes": {"a": 1}}
    )


def _other_studies(life: Life) -> None:
    """A study in each state, by each strategy and budget."""
    life.study("paused", strategy={"name": "biased_random", "preset": "thesis"}, priority=20)
    life.end(life.lease("paused"), loss=0.4)
    life.send("POST", "/studies/paused/trials", {"trials": [{"config": {"x": 0.25}}]})
    life.send("PATCH", "/studies/paused", {"state": "paused"})
    life.study("finished", strategy="random", max_trials=2)
    for loss in (0.5, 0.4):
        life.end(life.lease("finished"), loss=loss)
    flags = {"a": {"type": "boolean"}, "b": {"type": "boolean"}}
    life.study("exhausted", space=flags, strategy="grid")
    for loss in (0.1, 0.2, 0.3, 0.4):
        life.end(life.lease("exhausted"), loss=loss)
    life.study("stopped", strategy="quasi_random")
    life.lease("stopped")
    life.send("PATCH", "/studies/stopped", {"state": "stopped"})
    life.study("reached", direction="maximize", target=0.9)
    for value in (0.5, 0.95):
        life.end(life.lease("reached"), value=value)
    life.study("memoised", duplicates="memoise", failures_repel=False)
    same = {"config": {"x": 0.5}}
    life.send("POST", "/studies/memoised/trials", {"trials": [same | {"outcome": {"value": 0.2}}]})
    life.send("POST", "/studies/memoised/trials", {"trials": [same]})
    for name in ("archived", "purged"):
        life.study(name)
        life.end(life.lease(name), loss=0.5)
        life.send("DELETE", f"/studies/{name}" + "?purge=true" * (name == "purged"))


def _an_open_study(life: Life) -> None:
    """A study whose trials say what is searched: told, failed, imported, enqueued, under way."""
    life.study("open", space="open", max_attempts=1)
    leased = life.lease("open")
    life.end(leased, loss=0.5, asked=_asked(leased, lr=SPACE["lr"], deep={"type": "boolean"}))
    leased = life.lease("open")
    asked = _asked(leased, lr=SPACE["lr"], layers={"type": "int", "low": 1, "high": 4})
    life.end(leased, "fail", kind="error", message="boom", asked=asked)
    told = {"config": {"x": 0.25}, "dimensions": {"x": X}, "outcome": {"value": 0.4}}
    life.send("POST", "/studies/open/trials", {"trials": [told, {"config": {"lr": 0.3, "unheard": "of"}}]})
    life.lease("open")


def _asked(leased: dict[str, Any], **dimensions: Any) -> dict[str, Any]:
    """Return what the program of a trial asks for."""
    asking = Asking(leased["config"], leased["seed"])
    for name, dimension in OpenSpace.from_json(dimensions).dimensions.items():
        asking.value(name, dimension)
    return asking.asked.to_json()


def _gpus(life: Life) -> None:
    """A study of another project that needs GPUs, has every budget, and a worker with a token."""
    secret = life.send("POST", "/tokens", {"name": "gpu", "scopes": ["work"], "project": "vision"})["token"]
    budget: dict[str, Any] = {"max_running": 2, "max_gpu_hours": 5.0, "deadline": "2031-01-01T00:00:00Z"}
    life.study("theirs", "/projects/vision", requires={"gpus": 1}, retry=["lost"], **budget)
    slot = {"slot": {"name": "cuda:0", "gpus": 1, "gpu_memory_gb": 80.0}, "lease_for": 3600.0}
    token = {"Authorization": f"Bearer {secret}"}
    for loss in (0.8, 0.6):
        leased = life.lease("theirs", "gpu-1", headers=token, **slot)
        life.pass_by(600)
        life.send("POST", f"/leases/{leased['lease_id']}/complete", {"loss": loss}, headers=token)
    life.lease("theirs", "gpu-1", headers=token, **slot)
    life.send("PATCH", "/projects/vision/studies/theirs", {"max_trials": 30, "tags": ["gpu"]})


def _comparisons(life: Life) -> None:
    """One that is complete and was extended since, one that confirms, one that is searched, one archived."""
    arms = [{"label": label, "settings": {"rule": label}} for label in ("sgd", "kfac")]
    spec: dict[str, Any] = {"task": "train", "space": {"x": X}, "arms": arms, "strategy": "random", "seed": 1}
    spec |= {"budget": {"trials": 2}, "replicates": 2, "confirm": {"seeds": 2}}
    for name in ("extended", "confirming", "searching", "away"):
        life.send("POST", "/comparisons", spec | {"name": name, "tags": ["fair"]})
    for name, trials in (("extended", 8 + 8), ("confirming", 8 + 3), ("searching", 3)):
        for number in range(trials):
            page = life.send("GET", f"/studies?comparison={name}&state=active")["studies"]
            wanted = min((each["counts"]["running"], each["name"]) for each in page)[1]
            leased = life.lease(wanted)
            life.beat(leased, 0.9, 0.5 + number / 100)
            life.end(leased, **({"diverged": "nan"} if number % 4 == 3 else {"loss": 0.5 + number / 100}))
    life.send("PATCH", "/comparisons/extended", {"budget": {"trials": 3}})
    life.send("PATCH", "/comparisons/searching", {"state": "paused"})
    life.send("DELETE", "/comparisons/away")
    life.study("spends", max_updates=5, max_trials=3)
    leased = life.lease("spends")
    life.beat(leased, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
    life.end(leased, loss=0.4)


def _mail(life: Life) -> None:
    """One delivery arrived, one failed."""
    first = life.store.write(lambda tx: webhooks.take(tx, 1))
    life.store.write(lambda tx: webhooks.arrived(tx, _present(first)))
    second = life.store.write(lambda tx: webhooks.take(tx, 1))
    minute, refused = timedelta(minutes=1), "connection refused"
    life.store.write(lambda tx: webhooks.failed(tx, _present(second), error=refused, pause_for=minute))


def _programs_of_optuna(life: Life) -> None:
    """Studies of one objective and of two, trials in every state, one study that was deleted."""
    choices = '{"name": "CategoricalDistribution", "attributes": {"choices": ["sgd", NaN, null]}}'
    numbers = '{"name": "FloatDistribution", "attributes": {"low": 0.0, "high": 1.0, "log": false}}'
    params = {"x": {"value": 0.5, "distribution": numbers}, "rule": {"value": 1, "distribution": choices}}
    for name, directions in (
        ("theirs", ["minimize"]),
        ("two", ["minimize", "maximize"]),
        ("gone", ["minimize"]),
    ):
        about = {"user_attributes": {"who": '"ann"'}, "system_attributes": {"": "[NaN, Infinity]"}}
        study = life.send("POST", "/optuna/studies", {"name": name, "directions": directions, **about})["id"]
        finished: dict[str, Any] = {"params": params, "intermediate_values": [{"step": 1, "value": "NaN"}]}
        finished |= {"state": "complete", "values": ["Infinity", 0.25][: len(directions)]}
        states: list[Any] = [{"state": "waiting"}, {"state": "fail"}, {"state": "pruned"}]
        times = {"started_at": "2026-11-01T00:00:00.123456Z", "completed_at": "2026-11-01T00:00:01Z"}
        wish = {"trials": [{}, {}, finished | times, *states]}
        first, second, *_ = life.send("POST", f"/optuna/studies/{study}/trials", wish)["trials"]
        life.send("PATCH", f"/optuna/trials/{first['id']}", {"params": params})
        life.send("PATCH", f"/optuna/trials/{first['id']}", finished)
        life.send("POST", f"/optuna/trials/{second['id']}/heartbeat")
    life.send("DELETE", f"/optuna/studies/{study}")


def _present(delivery: Delivery | None) -> Delivery:
    if delivery is None:
        raise RuntimeError("there was nothing to tell")
    return delivery


CHAPTERS: Final[tuple[Callable[[Life], None], ...]] = (
    _house,
    _a_search,
    _other_studies,
    _an_open_study,
    _gpus,
    _comparisons,
    _mail,
    _programs_of_optuna,
)

if __name__ == "__main__":
    main()
