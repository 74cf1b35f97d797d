"""Random programs that ask for their dimensions: in branches, with ranges that change from trial to trial."""

import zlib
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from thiessen import Pruned, Trial
from thiessen.space import config_key

FLOATS = [("float", (0.0, 1.0)), ("float", (1e-4, 1.0, True))]
INTS = [("int", (0, 8)), ("int", (1, 64, 1, True)), ("int", (0, 12, 3))]
CHOICES = [("categorical", (("a", "b", None),)), ("ordinal", ((1, 2.5, "x"),)), ("boolean", ())]


@dataclass(frozen=True)
class Step:
    """Ask for a dimension, in some trials only; wider every so many trials."""

    name: str
    kind: str
    arguments: tuple[Any, ...]
    branch: int  # of how many trials one does not ask; 0: all do
    wider_every: int  # 0: the range never changes

    def ask(self, trial: Trial) -> None:
        if self.branch and zlib.crc32(f"{self.name} {config_key(trial.config)}".encode()) % self.branch == 0:
            return
        getattr(trial, self.kind)(self.name, *self._range(trial.number))

    def _range(self, number: int) -> tuple[Any, ...]:
        if self.kind not in {"float", "int"} or not self.wider_every:
            return self.arguments
        low, high, *others = self.arguments
        return low, high * (1 + number // self.wider_every % 3), *others


@dataclass(frozen=True)
class Program:
    """Some steps, and a value that depends on nothing but what they were given."""

    steps: tuple[Step, ...]

    def __call__(self, trial: Trial) -> float:
        for step in self.steps:
            step.ask(trial)
        chance = zlib.crc32(config_key(trial.config).encode())
        if chance % 11 == 0:
            return float("nan")
        if chance % 7 == 0:
            raise Pruned(chance / 2**32)
        if chance % 13 == 0:
            raise ZeroDivisionError
        return chance / 2**32


@st.composite
def _steps(draw: st.DrawFn, name: str) -> Step:
    kind, arguments = draw(st.sampled_from([*FLOATS, *INTS, *CHOICES]))
    return Step(
        name, kind, arguments, draw(st.sampled_from([0, 0, 2, 3])), draw(st.sampled_from([0, 0, 1, 4]))
    )


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Programs of up to five dimensions; some ask for nothing at all."""
    return Program(tuple(draw(_steps(f"x{at}")) for at in range(draw(st.integers(0, 5)))))
