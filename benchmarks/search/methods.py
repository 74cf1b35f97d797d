"""The methods: ours by the name of their strategy, peers by their own ask and tell.

A method is asked for the config of a trial and told its loss: `inf` if the training diverged, None if it
crashed for reasons that have nothing to do with the config. Nothing else is known to it.

Ours are written `random`, `biased_random`, or with settings of the strategy
`biased_random/name=value,name=value`.
"""

import json
import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

Config = dict[str, Any]
SpaceJson = dict[str, dict[str, Any]]


class Method(Protocol):
    """One search on one space."""

    def ask(self, number: int) -> Config:
        """Return the config of the trial with this number."""

    def tell(self, number: int, loss: float | None) -> None:
        """Take the loss of the trial with this number."""


class Ours:
    """A strategy of thiessen.search, with the landscape that the server would keep."""

    def __init__(self, space: SpaceJson, seed: int, *, name: str) -> None:
        from thiessen.search import Landscape
        from thiessen.search.settings import strategy_from_json
        from thiessen.space import Space

        strategy, _, settings = name.partition("/")
        self._strategy = strategy_from_json({"name": strategy, **_settings(settings)})
        self._space, self._seed = Space.from_json(space), seed
        self._landscape = Landscape(self._space)
        self._configs: dict[int, Config] = {}

    def ask(self, number: int) -> Config:
        from thiessen.search import Stream

        stream = Stream(self._seed, number)
        config = self._strategy.propose(self._space, self._landscape, number, stream).config
        self._landscape.take(config)
        self._configs[number] = config
        return config

    def tell(self, number: int, loss: float | None) -> None:
        known = loss if loss is not None and math.isfinite(loss) else None  # a crash repels, as in a study
        self._landscape.watermark += 1
        self._landscape.observe(number, self._configs[number], known)


class Optuna:
    """A sampler of Optuna with its defaults; a crashed trial has failed, a diverged one has the loss inf."""

    def __init__(self, space: SpaceJson, seed: int, *, sampler: str) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        warnings.filterwarnings("ignore", message="Clip non-finite values")  # the GP's way with inf
        samplers = optuna.samplers
        made = {
            "random": lambda: samplers.RandomSampler(seed=seed),
            "qmc": lambda: samplers.QMCSampler(seed=seed, scramble=True, warn_independent_sampling=False),
            "tpe": lambda: samplers.TPESampler(seed=seed),
            "cmaes": lambda: samplers.CmaEsSampler(seed=seed, warn_independent_sampling=False),
            "gp": lambda: samplers.GPSampler(seed=seed),
        }[sampler]()
        self._study, self._space = optuna.create_study(sampler=made), space
        self._failed = optuna.trial.TrialState.FAIL
        self._trials: dict[int, Any] = {}

    def ask(self, number: int) -> Config:
        trial = self._trials[number] = self._study.ask()
        config: Config = {}
        for name, entry in self._space.items():
            if _holds(entry, config):
                config[name] = _suggested(trial, name, entry)
        return config

    def tell(self, number: int, loss: float | None) -> None:
        if loss is None:
            self._study.tell(self._trials.pop(number), state=self._failed)
        else:
            self._study.tell(self._trials.pop(number), loss)


class Hyperopt:
    """hyperopt's TPE; it is asked for every dimension, and the inactive ones are left out of the config."""

    def __init__(self, space: SpaceJson, seed: int) -> None:
        import hyperopt

        self._hyperopt, self._space, self._seed = hyperopt, space, seed
        self._dimensions = {
            name: _hyperopt_dimension(hyperopt.hp, name, entry) for name, entry in space.items()
        }
        self._domain = hyperopt.base.Domain(lambda _: 0.0, self._dimensions)
        self._trials = hyperopt.Trials()

    def ask(self, number: int) -> Config:
        (document,) = self._hyperopt.tpe.suggest(
            [number], self._domain, self._trials, (self._seed + number) % 2**31
        )
        self._trials.insert_trial_docs([document])
        self._trials.refresh()
        drawn = {name: values[0] for name, values in document["misc"]["vals"].items()}
        config: Config = {}
        for name, entry in self._space.items():
            if _holds(entry, config):
                config[name] = (
                    entry["choices"][int(drawn[name])] if "choices" in entry else float(drawn[name])
                )
        return config

    def tell(self, number: int, loss: float | None) -> None:
        base = self._hyperopt.base
        document = next(each for each in self._trials._dynamic_trials if each["tid"] == number)  # noqa: SLF001
        if loss is None or not math.isfinite(loss):
            document["state"], document["result"] = base.JOB_STATE_DONE, {"status": base.STATUS_FAIL}
        else:
            document["state"], document["result"] = (
                base.JOB_STATE_DONE,
                {"status": base.STATUS_OK, "loss": loss},
            )
        self._trials.refresh()


PEERS: dict[str, tuple[str, Callable[..., Method]]] = {
    "optuna:random": ("search-optuna", partial(Optuna, sampler="random")),
    "optuna:qmc": ("search-optuna", partial(Optuna, sampler="qmc")),
    "optuna:tpe": ("search-optuna", partial(Optuna, sampler="tpe")),
    "optuna:cmaes": ("search-optuna", partial(Optuna, sampler="cmaes")),
    "optuna:gp": ("search-gp", partial(Optuna, sampler="gp")),
    "hyperopt:tpe": ("search-hyperopt", Hyperopt),
}
"""Each peer with the environment it lives in (benchmarks/peers/<environment>.txt)."""


def environment_of(method: str) -> str:
    """Return the environment of a method; ours live with the tasks."""
    return PEERS[method][0] if method in PEERS else "search-tasks"


def method(name: str, space: SpaceJson, seed: int) -> Method:
    """Return a new search. Raises StrategyError for a name that is neither a strategy nor a peer."""
    return PEERS[name][1](space, seed) if name in PEERS else Ours(space, seed, name=name)


def _settings(text: str) -> dict[str, Any]:
    pairs = (pair.split("=", 1) for pair in text.split(",") if pair)
    return {name: _read(value) for name, value in pairs}


def _read(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def _holds(entry: dict[str, Any], config: Config) -> bool:
    return all(config.get(parent) in wanted for parent, wanted in entry.get("when", {}).items())


def _suggested(trial: Any, name: str, entry: dict[str, Any]) -> Any:
    if entry["type"] == "categorical":
        return trial.suggest_categorical(name, entry["choices"])
    if entry["type"] == "ordinal":
        return entry["choices"][trial.suggest_int(name, 0, len(entry["choices"]) - 1)]
    return trial.suggest_float(name, entry["low"], entry["high"], log=entry.get("log", False))


def _hyperopt_dimension(hp: Any, name: str, entry: dict[str, Any]) -> Any:
    if entry["type"] == "categorical":
        return hp.choice(name, list(range(len(entry["choices"]))))
    if entry["type"] == "ordinal":
        return hp.quniform(name, -0.5, len(entry["choices"]) - 0.5, 1)
    if entry.get("log"):
        return hp.loguniform(name, math.log(entry["low"]), math.log(entry["high"]))
    return hp.uniform(name, entry["low"], entry["high"])
