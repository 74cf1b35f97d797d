"""The command line of any program, with dimensions in the places of values."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from thiessen.cli.dimensions import KINDS, is_flag, is_meant, read, written
from thiessen.cli.failure import CommandFailed
from thiessen.space import Config, Dimension, Space, SpaceError

PREFIX: Final = "THIESSEN_"
OURS: Final = ("config", "trial", "seed", "result")  # their variables say other things
_PLACE: Final = re.compile(r"\{([^{}]+)\}")


class Word(NamedTuple):
    """What one dimension, or a fixed text, makes of the command line."""

    text: str  # of a dimension, what stands before its value
    dimension: str | None = None
    is_joined: bool = True  # with its value, as in --lr=0.1
    is_flag: bool = False  # which has no value

    def rendered(self, config: Config, places: Mapping[str, str]) -> list[str]:
        """Return the arguments; there are none where the dimension is not active."""
        if self.dimension is None:
            return [_PLACE.sub(lambda place: places.get(place[1], place[0]), self.text)]
        if self.dimension not in config:
            return []
        if self.is_flag:
            return [self.text] if config[self.dimension] else []
        told = written(config[self.dimension])
        return [f"{self.text}{told}"] if self.is_joined else [self.text, told]

    def named(self) -> list[str]:
        """Return the arguments, with the name of the dimension in the place of its value."""
        if self.dimension is None:
            return [self.text]
        place = f"{{{self.dimension}}}"
        return [f"{self.text}{place}"] if self.is_joined else [self.text, place]


@dataclass(frozen=True)
class CommandLine:
    """A program and its arguments, to be filled in with a config."""

    words: Sequence[Word]
    space: Space

    @classmethod
    def of(cls, arguments: Sequence[str], declared: Sequence[str]) -> "CommandLine":
        """Read the arguments of a program, and dimensions as NAME=DIMENSION. Raises CommandFailed."""
        reading = _Reading()
        for text in declared:
            reading.declare(text)
        for argument in arguments:
            reading.add(argument)
        return cls(reading.words, reading.space())

    def arguments(self, config: Config, trial: int, seed: int) -> list[str]:
        """Return the command line of a trial."""
        places = {"trial": str(trial), "seed": str(seed)}
        places |= {name: written(each) for name, each in config.items()}
        return [argument for word in self.words for argument in word.rendered(config, places)]

    @property
    def fixed(self) -> str:
        """What is the same in every trial: the arguments, with names in the places of values."""
        told = [word for each in self.words[1:] for word in each.named()]  # the program may lie elsewhere
        return shlex.join(told)

    @property
    def has_all(self) -> bool:
        """Whether it says all of a config."""
        return self.space.dimensions.keys() <= {
            name for word in self.words for name in (word.dimension, *_PLACE.findall(word.text))
        }


@dataclass
class _Reading:
    """Arguments as they are read, one after the other."""

    words: list[Word] = field(default_factory=list)
    dimensions: dict[str, Dimension] = field(default_factory=dict)

    def declare(self, text: str) -> None:
        name, equals, dimension = text.partition("=")
        if not equals or is_flag(dimension):
            raise CommandFailed(
                f"--dimension {text!r} is not NAME=DIMENSION. Write it as in "
                "--dimension 'lr=float(1e-5,1,log)'; a flag() stands among the arguments of the program."
            )
        self._dimension(name, dimension)

    def add(self, argument: str) -> None:
        head, equals, tail = argument.partition("=")
        if is_meant(argument):
            self._after_its_name(argument)
        elif equals and is_meant(tail):
            if is_flag(tail):
                raise CommandFailed(f"{argument!r} joins a flag to a value. Write it as in {head} 'flag()'.")
            self.words.append(Word(f"{head}=", self._dimension(head, tail)))
        else:
            self.words.append(Word(argument))

    def _after_its_name(self, argument: str) -> None:
        before = self.words.pop() if len(self.words) > 1 else Word("")
        if before.dimension is not None or not re.match(r"--?[A-Za-z]", before.text) or "=" in before.text:
            raise CommandFailed(
                f"{argument!r} follows no option of the program, so it has no name. Write it as in "
                f"--lr '{argument}' or 'lr={argument}'; or name it by --dimension 'lr={argument}' before the "
                "program, and put {lr} here."
            )
        name = self._dimension(before.text, argument)
        self.words.append(Word(before.text, name, is_joined=False, is_flag=is_flag(argument)))

    def _dimension(self, head: str, text: str) -> str:
        name = head.lstrip("-")
        dimension = read(head, text)
        if not re.search(r"\w", name):
            raise CommandFailed(f"{head!r}, before {text}, is no name. Write it as in --lr '{text}'.")
        if variable(name) in {variable(each) for each in OURS}:
            raise CommandFailed(
                f"{head}: {variable(name)} tells the program something else. Name it by --dimension "
                f"'my_{name}={text}' before the program, and write {head} {{my_{name}}} after it."
            )
        for other in self.dimensions:
            if variable(other) == variable(name):
                raise CommandFailed(f"{head}: {other!r} is a dimension already. Give it once.")
        self.dimensions[name] = dimension
        return name

    def space(self) -> Space:
        if not self.dimensions:
            raise CommandFailed(
                "there is nothing to search. Write a dimension in the place of a value, as in "
                f"thiessen run ./train.py --lr 'float(1e-5,1,log)'. There are {', '.join(KINDS)}."
            )
        try:
            space = Space(**self.dimensions)
        except SpaceError as error:
            raise CommandFailed(str(error)) from error
        for word in self.words:
            for name in _PLACE.findall(word.text) if word.dimension is None else ():
                if name in self.dimensions and self.dimensions[name].when:
                    raise CommandFailed(
                        f"{word.text!r}: {name} is not always there. Give it an option of its own, which is "
                        "left out with it."
                    )
        return space


def variable(name: str) -> str:
    """Return the environment variable of a dimension."""
    return PREFIX + re.sub(r"\W", "_", name).upper()
