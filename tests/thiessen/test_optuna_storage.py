"""ThiessenStorage, judged by Optuna's own suite for storages, with a real server behind it."""

import inspect
import itertools
import re
import subprocess
import sys
from pathlib import Path

import optuna
import pytest
from optuna.testing import pytest_storages
from optuna.testing.pytest_storages import StorageTestCase

from tests.conftest import BACKENDS, _programs, address_of, an_empty_database, wait_until
from thiessen.client import Client
from thiessen.integrations.optuna_storage import ThiessenStorage

HOUSE = Path(__file__).parents[2]

optuna.logging.set_verbosity(optuna.logging.ERROR)

numbers = itertools.count()


@pytest.fixture(scope="module", params=BACKENDS)
def database(request, tmp_path_factory):
    """The address of an empty database, here one for all tests of this file."""
    with an_empty_database(request, request.param, tmp_path_factory.mktemp("optuna")) as address:
        yield address


@pytest.fixture(scope="module")
def server(database, tmp_path_factory):
    """A client of a real server process."""
    with _programs(tmp_path_factory.mktemp("server")) as start:
        process = start("serve", "--database", database, "--port", "0", THIESSEN_REQUESTS_PER_SECOND="0")
        with Client(address_of(process)) as client:
            wait_until(client.is_ready)
            yield client
            assert process.poll() is None


@pytest.fixture
def storage(server):
    """An empty storage: a project of its own."""
    project = f"test-{next(numbers)}"
    server._http.post(f"{server.url}/api/v1/projects", json={"name": project}).raise_for_status()
    opened = ThiessenStorage(server.url, project=project)
    yield opened
    opened.close()


class TestThiessenStorage(StorageTestCase):
    """Every case that Optuna has for a storage, none overridden."""

    @pytest.fixture
    def storage(self, storage):
        return storage


def test_the_cases_collected_are_those_of_their_own_proxy_on_both_databases():
    theirs = Path(__file__).with_name("their_storages.py")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    said = subprocess.run(
        [*command, __file__, theirs], capture_output=True, text=True, check=True, cwd=HOUSE
    ).stdout
    cases = {"sqlite": set(), "postgresql": set(), "theirs": set()}
    for line in said.splitlines():
        _, _, case = line.partition("::Test")
        kind, _, name = case.partition("::")
        if kind == "TheirGrpcProxy":
            cases["theirs"].add(name)
        elif kind == "ThiessenStorage":
            backend = re.search(r"\b(sqlite|postgresql)\b", name)[0]
            cases[backend].add(re.sub(rf"\[{backend}\]|(?<=\[){backend}-|-{backend}(?=\])", "", name))
    assert len(cases["theirs"]) > 50
    assert cases["sqlite"] == cases["postgresql"] == cases["theirs"]


def test_no_case_of_theirs_is_overridden():
    ours = {name for name in vars(TestThiessenStorage) if name.startswith("test_")}
    kinds = [each for each in vars(pytest_storages).values() if inspect.isclass(each)]
    others = [each for each in kinds if each.__module__ == pytest_storages.__name__]

    assert not ours
    assert others == [StorageTestCase]
