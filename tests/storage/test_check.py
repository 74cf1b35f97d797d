"""A sound database passes, each contradiction is found, a copy is whole: all beside a running server."""

import re
import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import text

from app.domain.optuna import Draft, Entry, Kind
from app.lifecycle import compare, optuna
from app.storage import DatabaseUnavailable, open_store
from app.storage.check import INVARIANTS, back_up, faults
from app.storage.schema import prepare
from tests.lifecycle.conftest import Desk
from tests.thiessen.test_commands import run
from thiessen.contract import ComparisonSpec

CONTRADICTIONS = {
    "A study's counter of trials": "UPDATE studies SET trials = trials + 1 WHERE name = 'r'",
    "A study's trials are not numbered": "UPDATE trials SET number = 9 WHERE number = 1 AND study_id = 2",
    "A study's counter of observations": "UPDATE studies SET observations = 3 WHERE name = 'r'",
    "A study's observations are not num": "UPDATE observations SET seq = 9 WHERE seq = 1 AND study_id = 2",
    "An observation is of no trial": "UPDATE observations SET trial = 9 WHERE trial = 1 AND study_id = 2",
    "A trial's counter of attempts": "UPDATE trials SET attempts = 7 WHERE number = 0 AND study_id = 2",
    "A study's counter of a state": "UPDATE studies SET failed = failed + 1 WHERE name = 'r'",
    "A study's counter of proposals": "UPDATE studies SET turns = turns + 1 WHERE name = 'r'",
    "A study's counter of events": "UPDATE studies SET events = events + 1 WHERE name = 'r'",
    "A study's events are not num": "UPDATE events SET seq = 99 WHERE seq = 1 AND study_id = 2",
    "An event does not begin where": "DELETE FROM events WHERE seq = 3 AND study_id = 2",
    "A trial's state is not": "UPDATE trials SET state = 'pruned' WHERE number = 0 AND study_id = 2",
    "A trial's outcome is not": "UPDATE trials SET loss = loss + 1 WHERE number = 1 AND study_id = 2",
    "An attempt is under way": "UPDATE attempts SET ended_at = NULL WHERE trial_id = 4",
    "A trial runs without": "UPDATE trials SET state = 'running' WHERE number = 1 AND study_id = 2",
    "A study of Optuna does not number": "UPDATE optuna_studies SET trials = trials + 1",
    "A study of Optuna has a trial that": "UPDATE optuna_studies SET seq = 1",
    "A trial of Optuna does not take": "DELETE FROM optuna_entries",
    "A mirror does not have": "UPDATE optuna_trials SET state = 'fail'",
    "A comparison is complete before": "UPDATE comparisons SET state = 'completed'",
    "A comparison goes on with nothing": "UPDATE studies SET state = 'completed' WHERE name LIKE 'r.%'",
}


@pytest.fixture
def lived(store):
    """A store in which studies have run; its server runs on."""
    desk = Desk(store)
    for name in ("s", "r"):
        desk.submit(name=name)
        for _ in range(2):
            desk.complete(desk.lease(studies=[name]))
    entry = Entry(Kind.USER, "who", '"ann"')
    theirs = store.write(lambda tx: optuna.create(tx, "default", "r", ["minimize"], [entry], "ann"))
    store.write(lambda tx: optuna.add(tx, "default", theirs.id, [Draft(entries=[entry]), Draft()], "ann"))
    arms = [{"label": label, "settings": {"kind": label}} for label in "ab"]
    x = {"type": "float", "low": 0, "high": 1}
    sent = ComparisonSpec(name="r", task="t", space={"x": x}, arms=arms, budget={"trials": 1})
    desk.write(compare.create, sent=sent, parts=compare.searches(sent), who="ann")
    return store


@pytest.mark.usefixtures("lived")
def test_a_database_that_was_lived_in_passes(database):
    assert faults(database) == []
    assert run("db", "check", "--database", database).output == "The database holds what it must.\n"


@pytest.mark.row(252)
@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_a_contradiction_is_found_and_names_the_study(lived, database, what):
    lived.write(lambda tx: tx.execute(text(CONTRADICTIONS[what])).rowcount)

    found = faults(database)

    assert any(fault.startswith(what) and re.search("such as r[,.]", fault) for fault in found), found
    assert found[0] in str(run("db", "check", "--database", database).exception)


@pytest.mark.row(252)
def test_every_invariant_has_its_contradiction():
    assert all(any(what.startswith(start) for start in CONTRADICTIONS) for what in INVARIANTS)
    assert len(CONTRADICTIONS) == len(INVARIANTS)


def test_a_check_and_a_copy_change_nothing_and_need_a_database_that_is_there(tmp_path):
    missing = tmp_path / "none.db"

    for look in (faults, lambda url: back_up(url, tmp_path / "copy.db")):
        with pytest.raises(DatabaseUnavailable, match="unable to open"):
            look(f"sqlite:///{missing}")
    assert list(tmp_path.iterdir()) == []


def test_a_database_with_nothing_in_it_is_not_called_sound(database):
    open_store(database).close()

    with pytest.raises(DatabaseUnavailable, match="database is empty"):
        faults(database)


@pytest.fixture
def sqlite_file(tmp_path):
    """A SQLite file with a study, whose server runs on."""
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    prepare(store)
    Desk(store).submit()
    yield tmp_path / "x.db"
    store.close()


def test_a_row_whose_owner_is_gone_is_found(sqlite_file):
    with closing(sqlite3.connect(sqlite_file)) as connection:
        connection.execute("INSERT INTO observations VALUES (99, 1, 0, 1, 'failed', NULL, NULL)")
        connection.commit()

    assert faults(f"sqlite:///{sqlite_file}") == [
        "A row of observations belongs to a row of studies that is not there."
    ]


def test_a_damaged_file_is_found(sqlite_file, tmp_path):
    broken = tmp_path / "broken.db"
    back_up(f"sqlite:///{sqlite_file}", broken)
    page = 4096
    content = bytearray(broken.read_bytes())
    content[3 * page : -page] = bytes(len(content) - 4 * page)
    broken.write_bytes(content)

    try:
        found = str(faults(f"sqlite:///{broken}"))
    except DatabaseUnavailable as error:  # so damaged that not even this can be read
        found = str(error)
    assert re.search("damaged|malformed", found)


@pytest.mark.row(252)
def test_a_copy_holds_all_that_was_committed_although_the_server_runs(sqlite_file, tmp_path):
    copy = tmp_path / "copy.db"

    said = run("db", "backup", copy, "--database", f"sqlite:///{sqlite_file}")

    assert said.output == f"The copy is {copy}.\n"
    assert faults(f"sqlite:///{copy}") == []
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT name FROM studies").fetchall() == [("s",)]


def test_a_copy_replaces_no_file_and_leaves_none_behind_when_it_fails(sqlite_file, tmp_path):
    (tmp_path / "notes").write_text("mine")

    for target, said in ((tmp_path / "notes", "exists already"), (tmp_path / "no" / "x.db", "Cannot write")):
        with pytest.raises(DatabaseUnavailable, match=said):
            back_up(f"sqlite:///{sqlite_file}", target)
    assert (tmp_path / "notes").read_text() == "mine"


def test_for_postgresql_the_backup_says_what_does_it(tmp_path):
    with pytest.raises(DatabaseUnavailable, match=r"pg_dump .*postgresql://user:\*\*\*@host/db") as refused:
        back_up("postgresql://user:hunter2@host/db", tmp_path / "x")

    assert "hunter2" not in str(refused.value)
