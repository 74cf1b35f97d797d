"""A program of Optuna that prints each trial of which it knows that it was kept."""

import sys

import optuna

from thiessen.integrations.optuna_storage import ThiessenStorage


def objective(trial):
    x = trial.suggest_float("x", -5, 5)
    for step in range(3):
        trial.report(x + step, step)
    trial.set_user_attr("twice", 2 * x)
    return x**2 + trial.suggest_int("n", 0, 9)


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(study_name="killed", storage=ThiessenStorage(sys.argv[1]))
    study.optimize(
        objective,
        n_trials=30,
        callbacks=[lambda _, trial: print(trial.number, trial.value, trial.params, flush=True)],
    )
