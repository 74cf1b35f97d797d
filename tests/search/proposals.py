"""What every strategy proposes on a fixed history, as one digest each: to be compared between machines.

    python tests/search/proposals.py history > history.json
    python tests/search/proposals.py < history.json

Needs numpy, scipy and this repository on the path, nothing else.
"""

import hashlib
import json
import sys
from dataclasses import asdict

from thiessen.numbers import Stream
from thiessen.search import STRATEGIES, Landscape
from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space

SPACE = Space(
    lr=Float(1e-5, 1.0, log=True),
    momentum=Float(0.0, 0.99),
    batch=Int(8, 128, step=8),
    hidden=Int(1, 1000, log=True),
    optimizer=Categorical(("sgd", "adam", "kfac")),
    damping=Float(1e-8, 10.0, log=True, when={"optimizer": ["kfac"]}),
    depth=Ordinal((1, 2, 4, 8)),
    bias=Boolean(),
    scale=Float(1e-300, 1e300, log=True),
)
TRIALS = 120


def document():
    """Return the space and its observations in order: configs with losses, some diverged, tied or huge."""
    configs = [_config(trial) for trial in range(TRIALS)]
    history = [[trial, config, _loss(trial, config)] for trial, config in enumerate(configs)]
    return {"space": SPACE.to_json(), "history": history}


def digests(document):
    """Return the digest of each strategy's and preset's proposals on a document, one for each observation."""
    presets = {
        f"{name} {preset}": settled
        for name, strategy in STRATEGIES.items()
        for preset, settled in strategy.presets.items()
    }
    return {name: _digest(strategy, document) for name, strategy in (STRATEGIES | presets).items()}


def _digest(strategy, document):
    space = Space.from_json(document["space"])
    landscape, digest = Landscape(space), hashlib.sha256()
    for trial, config, loss in document["history"]:
        landscape.take(config)
        landscape.observe(trial, config, loss)
        landscape.watermark = trial + 1
        proposal = strategy.propose(space, landscape, trial, Stream(2026, trial))
        digest.update(json.dumps(_told(proposal)).encode())
    return digest.hexdigest()


def _told(proposal):
    """Return what a proposal has always said; a reason that is new does not change the digest."""
    reasons = asdict(proposal.reasons)
    names = ("strategy", "watermark", "refused", "nearest_trial", "distance", "estimate", "acceptance")
    return {"config": proposal.config} | {name: reasons[name] for name in names}


def _config(trial):
    stream = Stream(7, trial)
    return SPACE.decode([stream.uniform() for _ in SPACE.dimensions])


def _loss(trial, config):
    if trial % 11 == 5:
        return None
    if trial % 13 == 7:
        return 1e30
    lr, momentum = SPACE.dimensions["lr"].encode(config["lr"]), config["momentum"]
    return 1.0 if trial % 5 == 4 else (lr - 0.6) * (lr - 0.6) + (momentum - 0.8) * (momentum - 0.8)


def main():
    import numpy as np
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    if sys.argv[1:] == ["history"]:
        answer = document()
    else:
        features = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
        answer = {
            "digests": digests(json.load(sys.stdin)),
            "features": features,  # of the processor, that this numpy may use
            "numpy": np.__version__,
        }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
