"""An older database keeps its meaning when it is brought up to date."""

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import insert, select

from app.domain.study import Spec
from app.storage import open_store, studies
from app.storage.schema import _migrations, upgrade
from app.storage.tables import attempts, events, now, trials
from app.storage.tables import studies as table
from thiessen.search import BiasedRandom, Grid, QuasiRandom, Random
from thiessen.search.settings import strategy_from_json, strategy_to_json
from thiessen.space import Float, Space

SPACE = Space(x=Float(0.0, 1.0))
COMMON = {"task": "t", "seed": 0, "max_trials": 9, "max_attempts": 1}


@pytest.fixture
def old(database):
    """A database of the first schema, with nothing in it."""
    opened = open_store(database)
    config = Config()
    config.set_main_option("script_location", str(_migrations()))
    with opened.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    yield opened
    opened.close()


def spec_of(store, name):
    return store.read(lambda tx: studies.named(tx, name)).spec


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("biased_random", BiasedRandom.presets["thesis"]),
        ("grid", Grid()),
        ("quasi_random", QuasiRandom()),
        ("random", Random()),
    ],
)
def test_a_strategy_that_was_a_name_goes_on_by_the_same_rule_with_all_its_settings(old, name, meant):
    row = {"name": "s", "space": SPACE.to_json(), "strategy": name, **COMMON}
    counters = {"state": "active", "trials": 0, "observations": 0, "created_at": now()}
    old.write(lambda tx: tx.execute(insert(table).values(**row, **counters)).rowcount)

    upgrade(old)

    kept = spec_of(old, "s")
    assert kept == Spec(name="s", space=SPACE, strategy=strategy_to_json(meant), **COMMON)
    assert strategy_from_json(kept.strategy) == meant


def test_what_is_stored_afterwards_stands_beside_it(old):
    upgrade(old)
    spec = Spec(name="s", space=SPACE, strategy=strategy_to_json(Grid({"x": 3}, "shuffled")), **COMMON)

    old.write(lambda tx: studies.add(tx, spec))

    assert spec_of(old, "s") == spec


def test_trials_of_before_there_were_events_keep_their_attempts_and_get_counters_and_a_birth(old):
    row = {"name": "s", "space": SPACE.to_json(), "strategy": "random", **COMMON, "state": "active"}
    first = {"study_id": 1, "number": 0, "config": {"x": 0.5}, "config_key": "a", "seed": 1, "attempts": 1,
             "reasons": {"watermark": 3}, "state": "succeeded", "loss": 1.5, "max_attempts": 1}  # fmt: skip
    attempt = {"trial_id": 1, "number": 1, "lease_id": "l", "request_id": "r", "worker": "w",
               "incarnation": "i", "device": "cpu", "environment": {}, "last_step": -1}  # fmt: skip

    def fill(tx):
        tx.execute(insert(table).values(**row, trials=1, observations=1, created_at=now()))
        tx.execute(insert(trials).values(**first, free_at=now(), created_at=now()))
        tx.execute(insert(attempts).values(**attempt, started_at=now()))

    old.write(fill)

    upgrade(old)

    study = old.read(lambda tx: tx.execute(select(table)).one())
    assert (study.turns, study.succeeded, study.queued, study.events) == (1, 1, 0, 2)
    trial = old.read(lambda tx: tx.execute(select(trials)).one())
    assert (trial.origin, trial.turn, trial.watermark) == ("proposed", 0, 3)
    assert old.read(lambda tx: tx.execute(select(attempts.c.lease_id)).scalar_one()) == "l"
    told = old.read(lambda tx: tx.execute(select(events.c.kind, events.c.after).order_by(events.c.seq)).all())
    assert told == [("study.created", None), ("trial.created", "succeeded")]
