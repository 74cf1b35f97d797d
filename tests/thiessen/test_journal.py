"""The file that keeps a study without a server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thiessen.errors import JournalError, JournalInUse
from thiessen.journal import Journal

LINES = [{"a": 1}, {"b": [1.5, None, "ü\n"]}, {"c": {}}]


def written(path: Path) -> bytes:
    path.unlink(missing_ok=True)
    with Journal(path) as journal:
        for line in LINES:
            journal.add(line)
        journal.keep()
    return path.read_bytes()


def test_what_was_kept_is_read_back(tmp_path: Path) -> None:
    written(tmp_path / "runs.jsonl")
    with Journal(tmp_path / "runs.jsonl") as journal:
        assert journal.entries == LINES


@pytest.mark.row(239)
@given(cut=st.integers(min_value=0))
def test_whatever_is_cut_off_the_end_the_whole_lines_before_it_are_read(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.jsonl"
    content = written(path)
    left = content[: cut % (len(content) + 1)]
    path.write_bytes(left)
    with Journal(path) as journal:
        assert journal.entries == LINES[: left.count(b"\n")]
        journal.add({"d": 1})
        journal.keep()
    with Journal(path) as journal:
        assert journal.entries == [*LINES[: left.count(b"\n")], {"d": 1}]


@pytest.mark.parametrize("line", [b"no json", b"[1, 2]", b"\xff\xfe"])
def test_a_damaged_line_is_named(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(written(path) + line + b"\n" + b'{"d":1}\n')
    with pytest.raises(JournalError, match=r"line 4 of .*runs.jsonl cannot be read"):
        Journal(path)


@pytest.mark.row(239)
def test_two_processes_do_not_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    script = f"""
from pathlib import Path
from thiessen.journal import Journal
journal = Journal(Path({str(path)!r}))
print("open", flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(JournalInUse, match="is written by another process"):
            Journal(path)
        other.stdin.write("\n")
    Journal(path).close()


def test_a_folder_is_made_and_one_that_cannot_be_is_named(tmp_path: Path) -> None:
    with Journal(tmp_path / "new" / "runs.jsonl"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match=r"cannot write .*file.runs.jsonl"):
        Journal(tmp_path / "file" / "runs.jsonl")


def test_what_is_added_is_on_the_disk_once_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    fsync = os.fsync
    with Journal(tmp_path / "runs.jsonl") as journal:
        monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(1), fsync(descriptor)))
        journal.add({"a": 1})
        assert not synced
        journal.keep()
        assert synced == [1]
        assert (tmp_path / "runs.jsonl").read_bytes() == b'{"a":1}\n'
