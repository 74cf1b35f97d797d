"""One of several processes that do the same to a study at once. Prints what it got."""

import sys

import optuna
from optuna.distributions import CategoricalDistribution
from optuna.trial import TrialState

from thiessen.integrations.optuna_storage import ThiessenStorage


def claim(storage, study_id):
    for trial in storage.get_all_trials(study_id):
        if storage.set_trial_state_values(trial._trial_id, TrialState.RUNNING):
            print(trial._trial_id)


def add(storage, study_id):
    for _ in range(20):
        print(storage.get_trial(storage.create_new_trial(study_id)).number)


def suggest(storage, study_id):
    choices = ("a", "b") if int(sys.argv[4]) % 2 else ("b", "a")
    trial_id = storage.create_new_trial(study_id)
    for number in range(20):
        try:
            storage.set_trial_param(trial_id, f"p{number}", 0, CategoricalDistribution(choices))
        except ValueError:
            continue


if __name__ == "__main__":
    storage = ThiessenStorage(sys.argv[1], project=sys.argv[2])
    study_id = storage.get_study_id_from_name("race")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    print("ready", flush=True)
    sys.stdin.readline()
    {"claim": claim, "add": add, "suggest": suggest}[sys.argv[3]](storage, study_id)
