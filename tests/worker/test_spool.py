import stat
import time

import pytest

from thiessen.contract import Diverged, Failure, Pruned, Value
from thiessen.errors import InvalidRequest, LeaseLost, Refused, ResultDiffers, ServerFailed, ServerUnreachable
from worker.spool import Result, Spool, usual_folder

SERVER = "http://127.0.0.1:8000"
ENDINGS = [
    Value(value=0.1),
    Diverged(diverged="nan"),
    Pruned(pruned=True),
    Pruned(pruned=True, value=2.5),
    Failure(kind="error", message="KeyError: 'lr'", traceback="..."),
]


class Server:
    """Remembers what it was told, or answers as it is told to."""

    def __init__(self, answer=None):
        self.told = []
        self.answer = answer

    def complete(self, lease_id, ending):
        if self.answer:
            raise self.answer
        self.told.append((lease_id, ending))

    fail = complete


def a_result(ending=ENDINGS[0], lease_id="1" * 32, server=SERVER):
    return Result(server=server, lease_id=lease_id, name="trial 0 of s, attempt 1", ending=ending)


@pytest.fixture
def spool(tmp_path):
    return Spool(tmp_path / "results")


def test_what_is_kept_is_found_by_another_process_as_it_was(spool, tmp_path):
    kept = [a_result(ending, str(number) * 32) for number, ending in enumerate(ENDINGS)]
    for result in kept:
        spool.keep(result)
        time.sleep(0.01)  # the order is that of the files' times

    assert Spool(tmp_path / "results").left(SERVER) == kept


def test_only_its_owner_can_read_a_result(spool, tmp_path):
    spool.keep(a_result())

    folder = tmp_path / "results"
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())]
    assert modes == [0o700, 0o600]


def test_the_results_of_another_server_are_not_touched(spool):
    spool.keep(a_result(server="http://10.0.0.5:8000"))

    assert spool.left(SERVER) == []
    assert len(spool.left("http://10.0.0.5:8000")) == 1


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_result_that_was_taken_is_removed(spool, ending):
    spool.keep(a_result(ending))
    server = Server()

    spool.deliver(server, spool.left(SERVER)[0])

    assert server.told == [("1" * 32, ending)]
    assert spool.left(SERVER) == []


@pytest.mark.parametrize("refusal", [LeaseLost, ResultDiffers, InvalidRequest])
def test_a_result_that_was_refused_for_good_is_removed(spool, refusal):
    spool.keep(a_result())

    with pytest.raises(refusal):
        spool.deliver(Server(refusal()), a_result())

    assert spool.left(SERVER) == []


@pytest.mark.parametrize("error", [ServerUnreachable, ServerFailed, Refused])
def test_a_result_that_the_server_may_take_later_stays(spool, error):
    spool.keep(a_result())

    with pytest.raises(error):
        spool.deliver(Server(error()), a_result())

    assert spool.left(SERVER) == [a_result()]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"server": "http://127.0.0.1:8000"}'])
def test_what_is_no_result_is_left_alone(spool, tmp_path, text):
    file = tmp_path / "results" / "strange.json"
    file.write_text(text)
    spool.keep(a_result())

    assert spool.left(SERVER) == [a_result()]
    assert file.exists()


def test_a_result_half_written_is_no_result(spool, tmp_path):
    (tmp_path / "results" / "2.part").write_text('{"server"')

    assert spool.left(SERVER) == []


def test_results_are_kept_in_the_state_folder_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert usual_folder() == tmp_path / "thiessen" / "results"

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    assert str(usual_folder()) == "/home/ada/.local/state/thiessen/results"
