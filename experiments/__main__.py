"""Runs experiments and writes their pages: python -m experiments run NAME."""

import json
import os
import platform
import re
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Annotated, Any, Final

import typer

from experiments import page
from experiments.catalogue import ALL, EXPERIMENTS
from experiments.experiment import SIZES, Experiment, Size, as_json
from thiessen.terminal import say

NUMBERS: Final = r"\[[-+\d.,\se]*(?:null[-+\d.,\se]*)*\]"
commands = typer.Typer(no_args_is_help=True, help="Run the experiments of the originals again.")


@commands.command("list")
def listed() -> None:
    """List the experiments.

    Example: python -m experiments list
    """
    for each in ALL:
        say(f"{each.name:<32} {each.title}")


@commands.command()
def run(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", show_default="all of them")] = None,
    size: Annotated[str, typer.Option(help="small: two cores and minutes; full: as published.")] = "small",
) -> None:
    """Run experiments, keep their numbers in experiments/results, and write their pages.

    Example: python -m experiments run centring
    """
    if size not in SIZES:
        raise typer.BadParameter(f"{size!r} is none of {', '.join(SIZES)}.")
    chosen = [_named(name) for name in names] if names else list(ALL)
    for experiment in chosen:
        _run(experiment, size)
    _pages(chosen)


@commands.command()
def pages() -> None:
    """Write all pages again out of what is kept, without running anything.

    Example: python -m experiments pages
    """
    _pages(ALL)


def _named(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise typer.BadParameter(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]


def _run(experiment: Experiment, size: Size) -> None:
    import torch

    torch.set_num_threads(1)  # so that sums have one order on every machine
    say(f"{experiment.name} ...")
    began = time.perf_counter()
    result = experiment.run(size)
    seconds = time.perf_counter() - began
    document = {
        "experiment": experiment.name,
        "size": size,
        "date": datetime.now(UTC).date().isoformat(),
        "seconds": round(seconds, 1),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "versions": {
            "Python": platform.python_version(),
            **{name: version(name) for name in ("thiessen", "torch", "numpy", "scikit-learn")},
        },
        "result": as_json(result),
    }
    page.RESULTS.mkdir(exist_ok=True)
    file = page.RESULTS / f"{experiment.name}.json"
    file.write_text(_as_text(document))
    for claim in result.claims:
        say(f"  {'holds' if claim.holds else 'DOES NOT HOLD'}: {claim.says} ({claim.told})")
    say(f"  {seconds:.0f} s")


def _as_text(document: Mapping[str, Any]) -> str:
    """Return it as JSON, a list of numbers in one line."""
    text = json.dumps(document, indent=1, ensure_ascii=False)
    return re.sub(NUMBERS, lambda found: " ".join(found[0].split()), text) + "\n"


def _pages(experiments: Sequence[Experiment]) -> None:
    for each in filter(page.is_kept, experiments):
        page.write(each)
    page.write_index(ALL)


if __name__ == "__main__":
    commands()
