import json
import runpy
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, select, update

from app.storage.tables import attempts, trials
from benchmarks.service import figures, history, servers, storm, work
from benchmarks.service.wire import Wire, complete, lease_request, leases_of

SERVICE = Path(figures.__file__).parent


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, _served(tmp_path_factory.mktemp("runs"), patch) as wire:
        yield wire


@contextmanager
def _served(folder, patch):
    patch.setattr(history, "RUNS", folder)
    with (
        history.on_sqlite(30, "adaptive") as address,
        servers.thiessen(address) as server,
        Wire(server.port) as wire,
    ):
        yield wire


def test_the_server_takes_a_made_history_for_one_that_was_run(served):
    study = served.send("GET", f"/api/v1/studies/{history.STUDY}")
    [lease] = leases_of(served.send("POST", "/api/v1/leases", lease_request("next", 0)))
    served.send(*complete(lease, 0.5))
    after = served.send("GET", f"/api/v1/studies/{history.STUDY}")

    assert study["counts"]["succeeded"] == 30
    assert study["best"]["loss"] < 0.5
    assert lease["trial"] == 30
    assert after["counts"]["succeeded"] == 31


def test_the_trials_of_a_made_history_have_configs_of_their_own(served):
    first, last = (served.send("GET", f"/api/v1/studies/{history.STUDY}/trials/{n}") for n in (1, 29))

    assert first["config"] != last["config"]
    assert [len(first["attempts"]), len(last["attempts"])] == [1, 1]


def test_a_bar_says_whether_it_is_met():
    verdicts = [bar.verdict for bar in (figures.at_least(3, 2.9, ""), figures.at_most(3, 2.9, ""))]

    assert verdicts == ["MISSED", "met"]
    assert figures.at_most(3, float("nan"), "").verdict == "not measured"


def test_the_report_prints_the_last_figure_of_the_log(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "LOG", tmp_path / "log.jsonl")
    for found in ("1", "2"):
        figures.keep(figures.Figure(name="x", title="a figure", head=("what", "ms"), rows=[("ask", found)]))
    entries = map(json.loads, figures.LOG.read_text().splitlines())
    printed = list(runpy.run_path(str(SERVICE / "report"))["sections"](entries))

    assert "\n## A figure\n" in printed
    assert [line for line in printed if "ask" in line] == ["| ask | 2 |"]


def test_work_counts_transactions_that_end_and_every_statement_between():
    asked = ["BEGIN", "SELECT 1", "COMMIT", "BEGIN READ WRITE", "SAVEPOINT one", "INSERT INTO x", "UPDATE x"]

    counted = work.Work.of([*asked, "ROLLBACK TO one", "COMMIT", "BEGIN", "SELECT 1", "ROLLBACK"], trials=1)

    assert counted == work.Work(transactions=3, writing=1, statements=6)


def test_the_work_of_a_trial_is_that_of_its_three_steps(tmp_path):
    figure = figures.Figure(name="work", title="", head=())
    work._show_ours(figure, "SQLite", f"sqlite:///{tmp_path}/x.db", 1, None)

    costs = {row[0]: [float(cell) for cell in row[1:]] for row in figure.rows}
    whole = costs.pop("SQLite: the trial")
    assert [sum(column) for column in zip(*costs.values(), strict=True)] == whole
    assert all(writing >= 1 for _, writing, _ in costs.values())


def test_a_storm_finds_what_the_database_lost_gave_twice_or_contradicts(database):
    seen, verdict = storm.weathered(database, 400, kills=1, count=3)
    told = told_by(database)

    assert verdict == storm.Verdict(acknowledged=400, duplicates=0, lost=0, contradictions=[])
    assert seen.faults["cut off"] > 0
    assert storm.judged(database, [*told, told[0]]).duplicates == 1
    assert storm.judged(database, [*told[1:], (0, "another lease", told[0][2])]).lost == 1
    assert storm.judged(database, [*told[1:], (*told[0][:2], 7.0)]).lost == 1
    with changed(database) as tx:
        tx.execute(update(trials).where(trials.c.number == 3).values(attempts=2))
    tampered = storm.judged(database, told)
    assert (tampered.duplicates, len(tampered.contradictions)) == (1, 1)


def told_by(database):
    wanted = select(trials.c.number, attempts.c.lease_id, attempts.c.loss).order_by(trials.c.number)
    with changed(database) as tx:
        return [tuple(row) for row in tx.execute(wanted.join(attempts, attempts.c.trial_id == trials.c.id))]


@contextmanager
def changed(database):
    engine = create_engine(database)
    with engine.begin() as tx:
        yield tx
    engine.dispose()
