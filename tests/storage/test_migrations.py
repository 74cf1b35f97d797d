"""An older database keeps its meaning when it is brought up to date."""

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import insert

from app.domain.study import Spec
from app.storage import open_store, studies
from app.storage.schema import _migrations, upgrade
from app.storage.tables import now
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

    def step(tx):
        config.attributes["connection"] = tx
        command.upgrade(config, "0001")

    opened.write(step)
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
