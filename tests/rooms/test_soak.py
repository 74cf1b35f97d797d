import json
from itertools import groupby
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chores import soak
from tests import shuffled

SURVIVOR = "thiessen.search.draws.draw\n-    return 1\n+    return 2"
MODULE = "thiessen/search/draws.py"


@pytest.fixture
def known(tmp_path, monkeypatch, capsys):
    """Prints the figures of a house of one module, of which this was found."""
    module = tmp_path / MODULE
    module.parent.mkdir(parents=True)
    module.write_text("def draw():\n    return 1\n")
    monkeypatch.setattr(soak, "HOUSE", tmp_path)
    monkeypatch.setattr(soak, "EXPLAINED", tmp_path / "explained.toml")
    run = {"seed": 1, "commit": "abc", "passed": 7, "failed": [], "exit_code": 0}

    def show(survivors=(), left=0, explained="explained = []", clean=20, broken=0, digest=None):
        found = {"killed": 5, "survivors": list(survivors), "left": left, "commit": "abc"}
        found["digest"] = digest or soak._digest(MODULE)
        soak.EXPLAINED.write_text(explained)
        orders = [run] * clean + [run | {"exit_code": 1}] * broken
        code = soak._print({"mutants": {MODULE: found}, "orders": orders})
        return code, capsys.readouterr().out

    return show


def test_a_house_whose_every_mutant_is_killed_is_done(known):
    code, told = known()

    assert code == 0
    assert "0 survivors are open; 0 of 1 modules are not done." in told


def test_a_survivor_is_open_until_it_is_explained(known):
    assert known([SURVIVOR])[0] == 1
    why = f"[[explained]]\nsurvivor = {json.dumps(SURVIVOR)}\nwhy = 'nobody reads it'"
    assert known([SURVIVOR], explained=why)[0] == 0


def test_mutants_that_no_time_was_left_for_are_told(known):
    code, told = known(left=3)

    assert code == 1
    assert "1 of 1 modules are not done." in told


def test_a_module_that_was_changed_since_must_be_run_again(known):
    code, told = known(digest="of another text")

    assert code == 1
    assert "changed since it was run" in told


def test_one_order_that_failed_is_not_made_good_by_others(known):
    assert known(clean=19)[0] == 1
    assert known(clean=20)[0] == 0
    assert known(clean=20, broken=1)[0] == 1


def test_what_is_explained_was_found():
    explained = soak.tomllib.loads(soak.EXPLAINED.read_text())["explained"]
    modules = json.loads(soak.RECORD.read_text())["mutants"].values()
    found = {each for module in modules for each in module["survivors"]}
    assert [each["survivor"] for each in explained if each["survivor"].strip() not in found] == []
    assert all(each["why"] for each in explained)


def in_order(seed):
    """Return six tests of each of nine files, half of them on each database, in the order of a seed."""
    items = [
        SimpleNamespace(path=file, number=number, callspec=SimpleNamespace(params={"database": number % 2}))
        for file in range(9)
        for number in range(6)
    ]
    shuffled.pytest_collection_modifyitems(SimpleNamespace(getoption=lambda _: seed), items)
    return [(item.path, item.number) for item in items]


@given(st.integers(0, 2**32))
def test_a_seed_is_an_order_of_every_test_in_which_files_and_databases_stay_together(seed):
    order = in_order(seed)

    assert order == in_order(seed)
    assert sorted(order) == [(file, number) for file in range(9) for number in range(6)]
    assert len(list(groupby(order, key=lambda each: (each[0], each[1] % 2)))) == 18
    assert len(list(groupby(order, key=lambda each: each[0]))) == 9


def test_seeds_are_different_orders_of_files_and_of_tests():
    assert len({tuple(in_order(seed)) for seed in range(20)}) == 20
    assert len({tuple(file for file, _ in in_order(seed)) for seed in range(20)}) == 20
    assert len({tuple(number for file, number in in_order(seed) if file == 0) for seed in range(20)}) > 9
