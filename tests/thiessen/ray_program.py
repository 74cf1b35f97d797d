"""A program of Ray Tune, with a Ray of its own, which ends with it however it ends.

ray_program.py served FOLDER URL         search a study of a server, twice
ray_program.py whole|cut|restored FOLDER  search alone; until the power is gone; go on from there
"""

import json
import math
import os
import sys
from pathlib import Path
from typing import ClassVar

os.environ |= {
    "RAY_USAGE_STATS_ENABLED": "0",
    "TUNE_GLOBAL_CHECKPOINT_S": "0",
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_STRICT_METRIC_CHECKING": "1",
}

import ray
from ray import tune
from ray.tune.search import ConcurrencyLimiter

from thiessen import Int, Space, open_study
from thiessen.client import Client
from thiessen.integrations.ray import ThiessenSearch


def train(config):
    match config["number"]:
        case 1:
            tune.report({"loss": math.nan})
        case 2:
            tune.report({"other": 1.0})
        case 3:
            raise ValueError("no good")
        case number:
            tune.report({"loss": float(number)})


class PowerCut(tune.Callback):
    """Ends this program at once when its third trial begins."""

    begun: ClassVar[int] = 0

    def on_trial_start(self, iteration, trials, trial, **_):
        del iteration, trials, trial
        PowerCut.begun += 1
        if PowerCut.begun == 3 and sys.argv[1] == "cut":  # Ray restores its callbacks too
            os._exit(9)


def tuner(search, folder, **run):
    return tune.Tuner(
        train,
        param_space={"number": tune.randint(1, 6), "a constant": "kept"},
        tune_config=tune.TuneConfig(
            metric="loss", mode="min", search_alg=search, num_samples=10, reuse_actors=True
        ),
        run_config=tune.RunConfig(name="run", storage_path=str(folder), verbose=0, **run),
    )


def served(folder, url):
    space = Space(number=Int(1, 6))
    with Client(url) as client:
        for run, trials in (("first", 3), ("second", 6)):
            search = ThiessenSearch(study=client.open_study("s", space, trials=trials))
            tuned = tune.Tuner(
                train,
                param_space={"a constant": "kept"},
                tune_config=tune.TuneConfig(metric="loss", mode="min", search_alg=search, num_samples=20),
                run_config=tune.RunConfig(name=run, storage_path=str(folder), verbose=0),
            ).fit()
            assert all(result.config["a constant"] == "kept" for result in tuned)
        return tried(search.study)


def whole(folder):
    search = ThiessenSearch()
    results = tuner(ConcurrencyLimiter(search, max_concurrent=1), folder / "whole").fit()
    return {"tried": tried(search.study), "best": results.get_best_result().config}


def cut(folder):
    limited = ConcurrencyLimiter(ThiessenSearch(), max_concurrent=1)
    tuner(limited, folder / "cut", callbacks=[PowerCut()]).fit()


def restored(folder):
    tune.Tuner.restore(str(folder / "cut" / "run"), train).fit()
    with open_study(max((folder / "cut" / "run").glob("searcher-state-*"))) as study:
        return {"tried": tried(study)}


def tried(study):
    return [[each.config["number"], each.state, each.value] for each in study.results()]


if __name__ == "__main__":
    ray.init(
        address="local",
        _node_ip_address="127.0.0.1",
        num_cpus=1,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="critical",
    )
    _, what, folder, *more = sys.argv
    said = globals()[what](Path(folder), *more)
    print(json.dumps(said), flush=True)
    os._exit(0)  # Ray's processes end with this one, and nobody waits for them
