"""Studies of which every figure has something to show."""

import math
from dataclasses import dataclass, replace

import numpy as np

from thiessen import Boolean, Categorical, Diverged, Float, Int, Pruned, Space
from thiessen.columns import Columns, values_of
from thiessen.figures import curves
from thiessen.figures.sources import of_results
from thiessen.figures.trials import Attempt, Proposed, Trials, Unfinished

SPACE = Space(
    lr=Float(1e-4, 1.0, log=True),
    layers=Int(1, 4),
    optimizer=Categorical(["sgd", "kfac"]),
    damping=Float(1e-6, 1.0, log=True, when={"optimizer": ["kfac"]}),
    bias=Boolean(),
)


def train(trial):
    """Report a curve; some trials diverge, are pruned, or fail."""
    far = math.log10(trial["lr"] / 0.02) ** 2 + 0.3 * trial["layers"]
    for step in range(1, 6):
        trial.report(step, loss=far + 3 / step, accuracy=math.nan if step == 2 else 1 / far)
    if trial["lr"] > 0.5:
        raise Diverged
    if trial["lr"] < 3e-4:
        raise Pruned(far + 1)
    if trial["layers"] == 4 and trial["bias"]:
        raise RuntimeError("no memory left")
    return far


def run(study):
    """Run it to its end."""
    with study:
        study.optimize(train, catch=RuntimeError)
    return study


@dataclass
class Ending:
    """What came of a trial, as figures are told of it."""

    number: int
    config: dict
    loss: float | None = None
    state: str = "succeeded"


def told(space, *endings, direction="minimize"):
    """Return trials that finished in this order."""
    return of_results("digits", space, direction, endings)


def of_losses(*losses, direction="minimize"):
    """Return trials of a line, numbered as they finished; None for one that diverged."""
    return told(
        LINE,
        *(
            Ending(number, {"x": number / 100}, loss, "diverged" if loss is None else "succeeded")
            for number, loss in enumerate(losses)
        ),
        direction=direction,
    )


LINE = Space(x=Float(0.0, 1e6))


def many(count, space=SPACE, seed=0, pruned=0.2, failed=0.05):
    """Return so many trials of a search that came nearer to a valley, in a moment."""
    rng = np.random.default_rng(seed)
    units = rng.random((count, len(space.dimensions)))
    units[count // 2 :] = np.clip(0.5 + 0.15 * (units[count // 2 :] - 0.5), 0, 1 - 1e-9)
    losses = 1 + ((units - 0.5) ** 2 @ np.arange(len(space.dimensions), 0, -1)) + 0.1 * rng.random(count)
    luck = rng.random(count)
    states = np.where(luck < pruned, "pruned", np.where(luck > 1 - failed, "diverged", "succeeded"))
    return Trials(
        study="many",
        space=space,
        direction="minimize",
        numbers=np.arange(count),
        states=states.astype("U9"),
        losses=np.where(states == "diverged", np.nan, losses),
        codes=Columns(space).decoded(units).T.copy(),
        is_broken=np.zeros(count, bool),
    )


def with_more(trials):
    """Return the trials with running ones, candidates, curves and attempts, as many as are ever told."""
    rng = np.random.default_rng(1)
    configs = [trials.space.decode(rng.random(len(trials.space.dimensions)).tolist()) for _ in range(600)]
    first = len(trials)
    return replace(
        trials,
        unfinished=[
            Unfinished(number=first + at, state="queued" if at % 2 else "running", config=configs[at])
            for at in range(500)
        ],
        latest=[
            Proposed(number=first + at, config=configs[at], refused=configs[at + 1 : at + 4])
            for at in range(64)
        ],
        curves={
            number: [(step, {"loss": number % 7 + 1 / (step + 1), "other": 0.0}) for step in range(2000)]
            for number in curves.chosen(trials)
        },
        attempts=[
            Attempt(
                trial=at,
                worker=f"node-{at % 50}",
                device="cuda:0",
                start=1.79e9 + 10.0 * at,
                end=1.79e9 + 10.0 * at + 450.0,
                outcome=("succeeded", "pruned", "diverged", "error", "lost")[at % 5],
                loss=1.0 + at % 3,
            )
            for at in range(min(first, 1500))
        ],
        now=1.79e9 + 20_000.0,
    )


def config_of(trials, place):
    """Return the config of a trial."""
    return {
        name: values_of(dimension, code)[0]
        for (name, dimension), code in zip(
            trials.space.dimensions.items(), trials.codes[:, place][:, np.newaxis], strict=True
        )
        if not np.isnan(code[0])
    }
