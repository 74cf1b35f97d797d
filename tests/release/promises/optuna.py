"""With `optuna`: our search in its programs, and its search, evolution too, in ours."""

import optuna

from thiessen import Float, Space, minimize
from thiessen.integrations.optuna_sampler import ThiessenSampler

theirs = optuna.create_study(sampler=ThiessenSampler(seed=0))
theirs.optimize(lambda trial: trial.suggest_float("lr", 1e-5, 1.0, log=True), n_trials=20)
assert theirs.best_value < 0.1
for strategy in ("optuna:tpe", "optuna:cmaes"):
    space = Space(lr=Float(0, 1), momentum=Float(0, 1))
    study = minimize(
        lambda trial: trial["lr"] + trial["momentum"], space, trials=15, strategy=strategy, journal=None
    )
    assert study.ended == 15
