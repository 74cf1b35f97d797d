import os
import stat
import time

import pytest

from thiessen.contract import Diverged, Failure, Point, Pruned, Value
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

    def heartbeat(self, lease_id, points, log_tail):
        self.told.append((lease_id, [point.step for point in points], log_tail))

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


@pytest.mark.row(270)
def test_what_is_kept_is_found_by_another_process_as_it_was(spool, tmp_path):
    kept = [a_result(ending, str(number) * 32) for number, ending in enumerate(ENDINGS)]
    for result in kept:
        spool.keep(result)
        time.sleep(0.01)  # the order is that of the files' times

    assert Spool(tmp_path / "results").left(SERVER) == kept


@pytest.mark.row(270)
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


def points(*steps):
    return [Point(step=step, metrics={"loss": 0.5}) for step in steps]


def test_a_curve_that_waits_is_told_before_the_ending(spool):
    spool.keep(a_result().model_copy(update={"points": points(1, 2), "log_tail": "the end"}))
    server = Server()

    spool.deliver(server, spool.left(SERVER)[0])

    assert server.told == [("1" * 32, [1, 2], "the end"), ("1" * 32, ENDINGS[0])]


def test_parts_of_a_curve_are_told_as_one_by_whoever_comes_next(spool, tmp_path):
    unfinished = Result(server=SERVER, lease_id="1" * 32, name="trial 0 of s, attempt 1")
    for steps in ((1, 2), (2, 3)):
        spool.keep(unfinished.model_copy(update={"points": points(*steps)}))
    [file] = (tmp_path / "results").iterdir()
    with file.open("ab") as opened:
        opened.write(b'{"server": "http')  # killed in the middle of a line
    server = Server()
    heir = Spool(tmp_path / "results")

    heir.deliver(server, heir.left(SERVER)[0])

    assert server.told == [("1" * 32, [1, 2, 3], None)]
    assert list((tmp_path / "results").iterdir()) == []


def test_a_long_curve_is_told_in_heartbeats_that_a_server_takes_and_goes_on_where_it_broke_off():
    class Away(Server):
        def heartbeat(self, *about):
            if len(self.told) == 1 and self.answer:
                raise self.answer.pop()
            super().heartbeat(*about)

    server = Away([ServerUnreachable("away")])
    result = a_result().model_copy(update={"points": points(*range(2500))})

    with pytest.raises(ServerUnreachable):
        result.tell(server)
    server.answer = None
    result.tell(server)

    told = [steps for _, steps, *_ in server.told[:-1]]
    assert [len(steps) for steps in told] == [1000, 1000, 500]
    assert [step for steps in told for step in steps] == list(range(2500))


@pytest.mark.parametrize(("error", "tries"), [(LeaseLost, 1), (ServerFailed, 5)])
def test_a_curve_that_is_refused_or_fails_often_does_not_keep_the_ending_back(error, tries):
    class Refusing(Server):
        def heartbeat(self, *_):
            raise error("no")

    server = Refusing()
    result = a_result().model_copy(update={"points": points(1)})
    for _ in range(tries - 1):
        with pytest.raises(error):
            result.tell(server)
    result.tell(server)

    assert server.told == [("1" * 32, ENDINGS[0])]


def test_a_file_is_used_again_and_removed_in_the_end(spool, tmp_path):
    for number in range(3):
        spool.keep(a_result(lease_id=str(number) * 32))
        spool.deliver(Server(), a_result(lease_id=str(number) * 32))
    assert [file.stat().st_size for file in (tmp_path / "results").iterdir()] == [0]

    spool.close()

    assert list((tmp_path / "results").iterdir()) == []


def test_a_full_disk_keeps_nothing_by_halves_and_is_asked_until_it_has_room(spool, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    assert spool.keeps()
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            spool.keep(a_result())
        assert not spool.keeps()
    assert spool.left(SERVER) == []

    assert spool.keeps()


def test_an_empty_file_is_left_to_its_worker_for_a_day(spool, tmp_path):
    old, new = tmp_path / "results" / "old-1.jsonl", tmp_path / "results" / "new-1.jsonl"
    for file in (old, new):
        file.touch()
    os.utime(old, (0, 0))

    assert spool.left(SERVER) == []
    assert (old.exists(), new.exists()) == (False, True)


def test_a_file_that_its_worker_uses_for_another_attempt_by_now_is_left_alone(spool, tmp_path):
    spool.keep(a_result())
    heir = Spool(tmp_path / "results")
    [found] = heir.left(SERVER)
    spool.deliver(Server(), a_result())
    spool.keep(a_result(lease_id="2" * 32))

    heir.deliver(Server(), found)

    assert [result.lease_id for result in heir.left(SERVER)] == ["2" * 32]
