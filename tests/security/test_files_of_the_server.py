"""What other users of the machine can read of the server."""

import os
import stat

import pytest

from app.storage import open_store
from app.storage.check import back_up
from app.storage.schema import prepare


@pytest.fixture
def trusting():
    """A user whose new files everybody may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder):
    return {file.name: oct(stat.S_IMODE(file.stat().st_mode)) for file in folder.iterdir()}


@pytest.mark.usefixtures("trusting")
def test_a_database_and_its_copy_are_for_their_owner_alone(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    prepare(store)
    back_up(f"sqlite:///{tmp_path}/runs.db", tmp_path / "copy.db")

    found = modes(tmp_path)
    store.close()

    assert {"runs.db", "runs.db-wal", "copy.db"} <= found.keys()
    assert set(found.values()) == {"0o600"}


@pytest.mark.usefixtures("trusting")
def test_a_database_that_its_owner_has_opened_to_a_group_stays_so(tmp_path):
    file = tmp_path / "runs.db"
    file.touch(0o660)

    open_store(f"sqlite:///{file}").close()

    assert modes(tmp_path)["runs.db"] == "0o660"
