"""Any program as an objective: it is given a config in its arguments and environment."""

import json
import math
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from thiessen.cli.command_line import PREFIX, CommandLine, variable
from thiessen.cli.dimensions import written
from thiessen.cli.failure import CommandFailed
from thiessen.cli.outcome import DIVERGED, PRUNED, USUAL, ProgramFailed, in_words, tail, value
from thiessen.space import Config
from thiessen.trial import Diverged, Pruned, Trial

GRACE_SECONDS: Final = 10.0  # from a signal to SIGKILL
POLL_SECONDS: Final = 0.1
FRUITLESS: Final = 3  # when so many trials fail first, the command line is wrong and not their configs


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How a program is run, and read."""

    pattern: re.Pattern[str] = USUAL
    seconds: float = math.inf
    logs: Path | None = None


@dataclass
class Program:
    """Tries configs by running a program; any thread may."""

    line: CommandLine
    terms: Terms
    has_any_value: bool = False  # of this run or an earlier one
    failures: list[str] = field(default_factory=list)
    stopped_by: int | None = None  # a signal
    refusal: CommandFailed | None = None  # why it was stopped, where no person did
    _stopped_at: float = math.inf
    _running: "set[subprocess.Popen[bytes]]" = field(default_factory=set)

    def __call__(self, trial: Trial) -> float:
        """Return its value. Raises ProgramFailed, Diverged, Pruned; KeyboardInterrupt when told to stop."""
        try:
            with tempfile.TemporaryDirectory(prefix="thiessen-run-") as folder:
                found = self._tried(trial, Path(folder))
        except ProgramFailed as failure:
            self._count(str(failure))
            raise
        except (Diverged, Pruned):
            self.has_any_value = True
            raise
        self.has_any_value = True
        return found

    def stop(self, number: int) -> None:
        """Pass a signal on to what runs; nothing else is begun."""
        self.stopped_by, self._stopped_at = number, time.monotonic()
        for process in [*self._running]:
            self._pass_on(process)

    def kill(self) -> None:
        """End what runs, at once."""
        for process in [*self._running]:
            _send(process, signal.SIGKILL)

    def once_more(self, config: Config, trial: int, seed: int) -> str:
        """Return what a person types to run a trial again."""
        told = _told(config, trial, seed)
        names = [f"{PREFIX}SEED"] if self.line.has_all else list(told)
        variables = [f"{name}={shlex.quote(told[name])}" for name in names]
        return " ".join([*variables, shlex.join(self.line.arguments(config, trial, seed))])

    def _tried(self, trial: Trial, folder: Path) -> float:
        logs = self.terms.logs or folder
        output, errors = logs / f"trial-{trial.number}.out", logs / f"trial-{trial.number}.err"
        result = folder / "result"
        code, ended_for = self._run(trial, result, output, errors)
        if ended_for is not None:
            raise ProgramFailed(f"{ended_for}{tail(errors, output)}")
        if code == DIVERGED:
            raise Diverged
        found = value(result, output, self.terms.pattern) if code in {0, PRUNED} else None
        if code == PRUNED:
            raise Pruned(found if found is not None and math.isfinite(found) else None)
        if found is not None:
            return found
        if self.stopped_by is not None:
            raise self.refusal or KeyboardInterrupt
        if code != 0:
            raise ProgramFailed(f"it {in_words(code)}{tail(errors, output)}")
        raise ProgramFailed(
            "it ended well and told no value: let it print a last line such as 'loss: 0.123', or write the "
            f"number to the file that THIESSEN_RESULT names, or give --loss-from{tail(output, errors)}"
        )

    def _run(self, trial: Trial, result: Path, output: Path, errors: Path) -> tuple[int, str | None]:
        """Return its exit code, and why we ended it, if we did."""
        if self.stopped_by is not None:
            raise self.refusal or KeyboardInterrupt
        arguments = self.line.arguments(trial.config, trial.number, trial.seed)
        ours = {name: each for name, each in os.environ.items() if name != f"{PREFIX}TOKEN"}
        told = _told(trial.config, trial.number, trial.seed)
        with output.open("wb") as out, errors.open("wb") as err:
            try:
                process = subprocess.Popen(  # nosec B603 - what the user has asked to run
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env={**ours, **told, f"{PREFIX}RESULT": str(result)},
                    start_new_session=True,  # signals come from us alone, and reach all that it starts
                )
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) else error
                raise CommandFailed(
                    f"cannot start {arguments[0]}: {why}. A script needs a first line such as "
                    f"#!/usr/bin/env python3; or say what runs it: thiessen run python {arguments[0]} ..."
                ) from error
        self._running.add(process)
        self._pass_on(process)  # what came just now
        try:
            return self._waited(process, trial)
        finally:
            self._running.discard(process)

    def _pass_on(self, process: "subprocess.Popen[bytes]") -> None:
        if self.stopped_by is not None:
            _send(process, self.stopped_by)

    def _waited(self, process: "subprocess.Popen[bytes]", trial: Trial) -> tuple[int, str | None]:
        end, ended_for = time.monotonic() + self.terms.seconds, None
        while True:
            try:
                code = process.wait(min(max(end - time.monotonic(), 0.0), POLL_SECONDS))
            except subprocess.TimeoutExpired:
                now = time.monotonic()
            else:
                if ended_for is not None or self.stopped_by is not None:
                    _send(process, signal.SIGKILL)  # to what it started and did not end
                return code, ended_for
            if now >= self._stopped_at + GRACE_SECONDS or (ended_for is not None and now >= end):
                _send(process, signal.SIGKILL)
            elif ended_for is None and (ended_for := self._unwanted(trial, is_late=now >= end)):
                _send(process, signal.SIGTERM)
                end = now + GRACE_SECONDS

    def _unwanted(self, trial: Trial, *, is_late: bool) -> str | None:
        if is_late:
            return f"it took longer than the {self.terms.seconds:g} s of --time-limit"
        return f"nobody wants it any more: {trial.refusal}" if trial.refusal else None

    def _count(self, failure: str) -> None:
        """Remember a failure. Raises CommandFailed where nothing ever came of anything."""
        self.failures.append(failure)
        if len(self.failures) >= FRUITLESS and not self.has_any_value:
            self.refusal = CommandFailed(f"the first {FRUITLESS} trials all failed. The last one: {failure}")
            self.stop(signal.SIGTERM)
            raise self.refusal


def _told(config: Config, trial: int, seed: int) -> dict[str, str]:
    """Return the environment by which a program is told of its trial."""
    values = {variable(name): written(each) for name, each in config.items()}
    ours = {"CONFIG": json.dumps(config), "TRIAL": str(trial), "SEED": str(seed)}
    return {**values, **{f"{PREFIX}{name}": each for name, each in ours.items()}}


def _send(process: "subprocess.Popen[bytes]", number: int) -> None:
    """Send a signal to a process and to all that it started."""
    with suppress(ProcessLookupError, PermissionError):  # it has ended
        os.killpg(process.pid, number)
