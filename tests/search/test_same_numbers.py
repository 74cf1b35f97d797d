"""The same history and the same stream give the same proposals, bit for bit, wherever they are computed."""

import json
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from tests.search import proposals
from thiessen.numbers import Stream
from thiessen.search import STRATEGIES, Landscape
from thiessen.space import Float, Space

# A change of these is a change of released strategies: it needs a new version of the strategy.
DIGESTS = {
    "biased_random": "e78616dc3b5244076132aac00f2c87b3089835e079cff6246890a80c1ac132f4",
    "biased_random adaptive": "e78616dc3b5244076132aac00f2c87b3089835e079cff6246890a80c1ac132f4",
    "biased_random thesis": "de9ba2d44321bd5751c57a41eb6c528f7c020519476f5ebdae0a3b3ab0cbc3c2",
    "grid": "921e67252b3236ce9ed169dcac9fdc0c08f65d082cc978f68f1ec2a67a71bedc",
    "quasi_random": "31a02f6b6ee582c4aa0e1e6e7be7a979f5e68e1005b2ffcfc61d67e75b12bf04",
    "random": "3f22f7cb4a2f19cfa1c3063062fa61c1722fef906e511d5aac65915403d7c9bc",
}
DISPATCHED = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]

HOUSE = Path(proposals.__file__).parents[2]


def in_a_fresh_process(**environment):
    ran = subprocess.run(
        [sys.executable, proposals.__file__],
        input=json.dumps(proposals.document()),
        env=os.environ | {"PYTHONPATH": str(HOUSE)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ran.stdout)


def test_the_proposals_of_every_strategy_are_the_same_for_ever():
    assert proposals.digests(proposals.document()) == DIGESTS


@pytest.mark.parametrize("written", [json, pickle], ids=["json", "pickle"])
def test_a_history_that_was_stored_gives_the_same_proposals(written):
    assert proposals.digests(written.loads(written.dumps(proposals.document()))) == DIGESTS


@pytest.mark.parametrize("seed", ["0", "1", "4294967295"])
def test_the_order_of_hashes_changes_nothing(seed):
    assert in_a_fresh_process(PYTHONHASHSEED=seed)["digests"] == DIGESTS


def test_the_features_of_the_processor_change_nothing():
    told = in_a_fresh_process(NPY_DISABLE_CPU_FEATURES=" ".join(DISPATCHED))

    assert told["features"] == [], "numpy was to use none of them"
    assert told["digests"] == DIGESTS


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_log_dimension_is_searched_as_the_line_of_its_logarithm(name):
    log = Space(x=Float(1e-3, 1.0, log=True), y=Float(0.0, 1.0))
    line = Space(x=Float(-3.0, 0.0), y=Float(0.0, 1.0))
    landscapes = {space: Landscape(space) for space in (log, line)}
    for trial in range(60):
        stream = Stream(1, trial)
        units = [stream.uniform(), stream.uniform()]
        loss = (units[0] - 0.3) * (units[0] - 0.3) + units[1]
        for space, landscape in landscapes.items():
            landscape.observe(trial, space.decode(units), loss)

        ours, theirs = (
            STRATEGIES[name].propose(space, landscape, trial, Stream(2, trial))
            for space, landscape in landscapes.items()
        )

        assert math.log10(ours.config["x"]) == pytest.approx(theirs.config["x"], abs=1e-9)
        assert ours.config["y"] == theirs.config["y"]
        assert ours.reasons.refused == theirs.reasons.refused
        assert ours.reasons.nearest_trial == theirs.reasons.nearest_trial
