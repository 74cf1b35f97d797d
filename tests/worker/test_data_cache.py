import errno
import json
import shutil
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from worker.datasets.cache import kept, usual_folder
from worker.datasets.dataset import Content

ARRAYS = {"train_inputs": np.arange(6.0).reshape(3, 2), "train_targets": np.arange(3)}


def content():
    return Content(arrays=ARRAYS, held_back=1, origin="From a test.")


def never():
    raise AssertionError("it was kept")


@pytest.fixture
def cache(data_folder):
    return data_folder.parent / "cache" / "thiessen" / "datasets"


def assert_whole(found):
    assert found.arrays.keys() == ARRAYS.keys()
    assert all(np.array_equal(found.arrays[name], array) for name, array in ARRAYS.items())
    assert (found.held_back, found.origin) == (1, "From a test.")


def test_what_was_made_is_not_made_again(cache):
    assert_whole(kept("set", content))
    assert_whole(kept("set", never))
    assert sorted(path.name for path in cache.iterdir()) == ["set", "set.lock"]


@pytest.mark.usefixtures("cache")
def test_the_first_and_every_later_reader_map_the_file_and_hold_no_copy():
    for found in (kept("set", content), kept("set", never)):
        assert all(isinstance(array, np.memmap) for array in found.arrays.values())


@pytest.mark.usefixtures("cache")
def test_what_is_written_into_an_array_neither_the_file_nor_another_reader_sees():
    mine, other = kept("set", content), kept("set", never)

    mine.arrays["train_inputs"][:] = 7

    assert_whole(other)
    assert_whole(kept("set", never))


@pytest.mark.usefixtures("cache")
def test_two_keys_are_two_contents():
    kept("set", content)
    other = Content(arrays={"train_inputs": np.zeros(1)}, held_back=0, origin="Another.")

    assert kept("set-2", lambda: other).origin == "Another."


def cut(folder):
    (folder / "train_inputs.npy").write_bytes((folder / "train_inputs.npy").read_bytes()[:-1])


def overwrite(folder):
    time.sleep(0.02)  # file systems tell times in steps of some milliseconds
    with (folder / "train_inputs.npy").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\xff")


def remove_an_array(folder):
    (folder / "train_targets.npy").unlink()


def remove_the_note(folder):
    (folder / "content.json").unlink()


def cut_the_note(folder):
    (folder / "content.json").write_text((folder / "content.json").read_text()[:-9])


def write_another_note(folder):
    (folder / "content.json").write_text("[]")


def forget_the_origin(folder):
    note = json.loads((folder / "content.json").read_text())
    del note["origin"]
    (folder / "content.json").write_text(json.dumps(note))


def put_a_file_in_its_place(folder):
    shutil.rmtree(folder)
    (folder.parent / f"{folder.name}.part").mkdir()
    (folder.parent / f"{folder.name}.part" / "rest").write_text("of a process that was killed")


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        overwrite,
        remove_an_array,
        remove_the_note,
        cut_the_note,
        write_another_note,
        forget_the_origin,
        put_a_file_in_its_place,
    ],
)
def test_what_is_damaged_is_made_anew(cache, damage):
    kept("set", content)
    damage(cache / "set")

    assert_whole(kept("set", content))
    assert_whole(kept("set", never))


def test_who_has_mapped_a_data_set_keeps_it_when_it_is_made_anew(cache):
    mine = kept("set", content)
    cut_the_note(cache / "set")
    kept("set", lambda: Content(arrays={"train_inputs": np.zeros(1)}, held_back=0, origin="Another."))

    assert_whole(mine)


def start(*lines):
    program = textwrap.dedent(
        """
        import os, pathlib, signal, sys
        import numpy as np
        from worker.datasets.cache import kept
        from worker.datasets.dataset import Content
        ARRAYS = {"train_inputs": np.arange(6.0).reshape(3, 2), "train_targets": np.arange(3)}
        """
    )
    script = program + "\n".join(lines)
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)


def test_of_processes_that_race_one_makes_it_and_all_have_it(cache):
    racers = start(
        "def make():",
        "    os.write(1, b'made\\n')",
        "    return Content(arrays=ARRAYS, held_back=1, origin='From a test.')",
        "wait, go = os.pipe()",
        "for racer in range(4):",
        "    if os.fork() == 0:",
        "        os.close(go)",
        "        os.read(wait, 1)",  # answers all of them when the last writer closes it
        "        os.write(1, b'%d\\n' % kept('set', make).arrays['train_inputs'].sum())",
        "        os._exit(0)",
        "os.close(go)",
        "for _ in range(4): os.wait()",
    )
    said, _ = racers.communicate()

    assert sorted(said.split()) == ["15", "15", "15", "15", "made"]
    assert_whole(kept("set", never))
    assert sorted(path.name for path in cache.iterdir()) == ["set", "set.lock"]


def test_a_process_that_is_killed_while_it_writes_leaves_no_half_and_no_lock(cache):
    killed = start(
        "class Deadly(dict):",
        "    def items(self):",
        "        yield 'train_inputs', ARRAYS['train_inputs']",
        "        os.kill(os.getpid(), signal.SIGKILL)",
        "kept('set', lambda: Content(arrays=Deadly(ARRAYS), held_back=1, origin='From a test.'))",
    )
    killed.communicate()
    assert killed.returncode == -9
    assert (cache / "set.part" / "train_inputs.npy").exists()

    assert_whole(kept("set", content))
    assert_whole(kept("set", never))


def test_where_nothing_can_be_kept_it_is_made_in_memory_and_said_aloud(monkeypatch, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    assert_whole(kept("set", content))
    assert f"{tmp_path}/file/thiessen/datasets/set cannot be kept" in caplog.text
    assert "XDG_CACHE_HOME" in caplog.text


def test_a_full_disk_leaves_what_was_made_in_memory_and_nothing_half_written(cache, monkeypatch, caplog):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)

    assert_whole(kept("set", content))
    assert "No space left on device" in caplog.text
    assert [path.name for path in cache.iterdir()] == ["set.lock"]


@pytest.mark.usefixtures("cache")
def test_what_goes_wrong_in_the_making_is_no_fault_of_the_cache(caplog):
    def fail():
        raise PermissionError("the source cannot be read")

    with pytest.raises(PermissionError, match="the source"):
        kept("set", fail)
    assert not caplog.records


def test_data_sets_are_kept_in_the_cache_folder_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert usual_folder() == tmp_path / "thiessen" / "datasets"

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    assert str(usual_folder()) == "/home/ada/.cache/thiessen/datasets"
