"""A page of the documentation as a session: its blocks one after the other, each as what it is."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests.rooms import stand_ins

HOUSE = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([\w./-]+\.\w+)`:$")
LINE = re.compile(r"In `(\S+)`, above the line with `(.+)`:$")
EMPTY = re.compile(r"`(\S+)`, empty")
SECONDS = 600.0  # machines are busy

# Runs one block after the other, as a prompt does, and tells whether each came to its end.
PROMPT = """
import json, os, sys, traceback
known = {"__name__": "__main__"}
for line in sys.stdin:
    asked = json.loads(line)
    os.chdir(asked["folder"])
    os.environ.update(asked["environment"])
    try:
        exec(compile(asked["text"], "the block", "exec"), known)
        done = b"y"
    except BaseException:
        traceback.print_exc()
        done = b"n"
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(int(sys.argv[1]), done)
"""


@dataclass(frozen=True)
class Block:
    """A block of code, with its language and the paragraph above it."""

    language: str
    text: str
    above: str


Judge = Callable[["Session", Block], None]


def blocks(text: str) -> list[Block]:
    return [
        Block(
            found[2], dedent(found[3]), " ".join(text[: found.start()].rstrip().rpartition("\n\n")[2].split())
        )
        for found in FENCE.finditer(text)
    ]


def how_many(text: str) -> int:
    """How many blocks there are, counted in another way than they are found."""
    fences = [line for line in text.splitlines() if line.lstrip().startswith("```")]
    assert len(fences) % 2 == 0
    return len(fences) // 2


def is_placed(block: Block) -> bool:
    """Whether it is for a file, which the paragraph above names."""
    return bool(LINE.search(block.above) or FILE.search(block.above))


class Session:
    """A folder, a shell and a Python of its own, in which a page is followed to the letter."""

    def __init__(
        self, folder: Path, here: Mapping[str, str], judges: Mapping[str, Judge], **environment: str
    ):
        self.folder = folder / "page"
        self.here = here
        self._home = folder
        self._judges = judges
        self._transcript = folder / "transcript"
        self._transcript.touch()
        self._prompt: subprocess.Popen[str] | None = None
        self.environment = {
            **os.environ,
            "SESSION": str(folder),
            "HOME": str(folder),
            "CURL_HOME": str(folder),
            "PYTHONPATH": str(folder / "site"),
            "REAL_MAKE": shutil.which("make") or "make",
            "OMP_NUM_THREADS": "1",
            "THIESSEN_THREADS": "1",
            "CUDA_VISIBLE_DEVICES": "",
            "RAY_USAGE_STATS_ENABLED": "0",
            "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
            "CI": "",  # where every test would have to run
            **environment,
        }
        path = [str(self._programs()), str(TOOLS), self.environment["PATH"]]
        self.environment["PATH"] = os.pathsep.join(path)
        (folder / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n")

    def _programs(self) -> Path:
        """Return where the programs are; a page finds them in `.venv/bin` too."""
        programs = self.folder / ".venv" / "bin"
        programs.mkdir(parents=True)
        for name in stand_ins.PROGRAMS:
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P "{stand_ins.__file__}" {name} "$@"\n')
            program.chmod(0o755)
        (programs / "activate").write_text(f'PATH="{programs}:$PATH"\n')
        return programs

    def follow(self, block: Block) -> None:
        """Do what the block says. Fails where nobody knows how."""
        text = block.text
        for there, here in self.here.items():
            text = text.replace(there, here)
        if line := LINE.search(block.above):
            self._insert(self.folder / line[1], line[2], text)
        elif file := FILE.search(block.above):
            self._write(file[1], text, block.above)
        elif block.language in self._judges:
            self._judges[block.language](self, Block(block.language, text, block.above))
        elif block.language in {"python", "sh", "text"}:
            {"python": self.python, "sh": self.shell, "text": self.was_said}[block.language](text)
        else:
            raise AssertionError(f"nobody knows what to do with a block of {block.language or 'no language'}")

    def _write(self, name: str, text: str, above: str) -> None:
        for empty in EMPTY.findall(above):
            self._write(empty, "", "")
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if text.startswith("#!"):
            path.chmod(0o755)

    def _insert(self, path: Path, place: str, line: str) -> None:
        before, there, after = path.read_text().partition(place)
        assert there, f"no line of {path} has {place!r}"
        start = before.rindex("\n") + 1
        path.write_text(before[:start] + line + before[start:] + there + after)

    def shell(self, text: str) -> None:
        """Run it as typed. The next begins where it leaves the shell, in its folder, with its variables."""
        after, kept = self._home / "folder", self._home / "environment"
        trap = f'trap \'pwd > "{after}"; env -0 > "{kept}"\' EXIT'
        with self._transcript.open("a") as said:
            ran = subprocess.run(
                ["bash", "-ec", f"{trap}\n{text}\nwait"],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                timeout=SECONDS,
                check=False,
            )
        assert ran.returncode == 0, f"{text}\n{self.said()}"
        self.folder = Path(after.read_text().strip())
        self.environment = dict(each.split("=", 1) for each in kept.read_text().split("\0") if each)

    def python(self, text: str) -> None:
        """Run it in the Python of the page, which knows what the blocks before have made."""
        if self._prompt is None:
            self._ends, answers = os.pipe()
            with self._transcript.open("a") as said:
                self._prompt = subprocess.Popen(
                    [sys.executable, "-P", "-c", PROMPT, str(answers)],
                    cwd=self.folder,
                    env=self.environment,
                    stdin=subprocess.PIPE,
                    stdout=said,
                    stderr=said,
                    pass_fds=[answers],
                    text=True,
                )
            os.close(answers)
        assert self._prompt.stdin
        asked: dict[str, Any] = {"text": text, "folder": str(self.folder), "environment": self.environment}
        print(json.dumps(asked), file=self._prompt.stdin, flush=True)
        assert os.read(self._ends, 1) == b"y", f"{text}\n{self.said()}"

    def was_said(self, text: str) -> None:
        """What a page shows was said, line by line, if with other numbers."""
        for line in filter(None, map(without_numbers, text.splitlines())):
            try:
                stand_ins.wait_until(lambda line=line: line in without_numbers(self.said()))
            except AssertionError as late:
                raise AssertionError(f"nothing says {line!r}:\n{self.said()}") from late

    def said(self) -> str:
        logs = sorted(self._home.glob("lasting/*.log"))
        return "\n".join(path.read_text(errors="replace") for path in (self._transcript, *logs))

    def stop(self) -> None:
        """Stop what goes on, the last first; it ends well."""
        for pid in sorted(self._home.glob("lasting/*.pid"), reverse=True):
            stand_ins.stop(pid)

    def close(self) -> None:
        if self._prompt:
            assert self._prompt.stdin
            self._prompt.stdin.close()
            self._prompt.wait(SECONDS)
            os.close(self._ends)
        self.stop()

    def kill(self) -> None:
        """Leave nothing, however it went."""
        if self._prompt:
            self._prompt.kill()
            self._prompt.communicate()
        for pid in self._home.glob("lasting/*.pid"):
            if not pid.with_suffix(".code").exists():
                os.kill(int(pid.read_text()), signal.SIGKILL)


def without_numbers(line: str) -> str:
    """Return the text with a sign for each number, and one for each run of a ruling or of spaces."""
    line = re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", line)
    return " ".join(re.sub(r"([━─])\1+", r"\1", line).split())
