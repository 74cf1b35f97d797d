"""With `tune`: our search in a run of Ray Tune."""

from pathlib import Path

from ray import tune

from thiessen.integrations.ray import ThiessenSearch


def train(config):
    tune.report({"loss": (config["lr"] - 0.01) ** 2})


search = ThiessenSearch()
tuner = tune.Tuner(
    train,
    param_space={"lr": tune.loguniform(1e-5, 1.0)},
    tune_config=tune.TuneConfig(
        metric="loss", mode="min", search_alg=search, num_samples=3, max_concurrent_trials=1
    ),
    run_config=tune.RunConfig(name="lines", storage_path=str(Path("runs").resolve()), verbose=0),
)
assert len(tuner.fit()) == 3
assert search.study.best is not None
