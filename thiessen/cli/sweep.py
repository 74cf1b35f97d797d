"""Sweep files of Weights & Biases as studies: how to search, over what, how far, and for which program.

    method            grid, random -> the same; bayes -> biased_random, the default search
    metric            goal -> direction, target -> target; its name finds the value in what the program prints
    parameters        values, value, or min and max with a distribution -> dimensions; nested ones get a.b
    run_cap           max_trials; without it all points of a grid, else 100
    early_terminate   hyperband -> successive_halving
    program, command  the program of `thiessen run`

What has no counterpart is refused with its place in the file, and what to write in its stead.
"""

import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from thiessen.cli.dimensions import spelled
from thiessen.space import Boolean, Categorical, Dimension, Float, Int, Ordinal, Scalar, Space, SpaceError

Place = tuple[str | int, ...]

METHODS: Final = {"grid": "grid", "random": "random", "bayes": "biased_random"}
KNOWN: Final = {
    "name", "description", "method", "metric", "parameters", "early_terminate", "run_cap", "program",
    "command", "project", "entity",  # of W&B; a server of ours has its own
}  # fmt: skip
USUAL_COMMAND: Final = ("${env}", "python", "${program}", "${args}")
TRIALS: Final = 100
ETA: Final = 3
MOST_MULTIPLES: Final = 1000
RUN: Final = "run"  # the attribute that says what comes after `thiessen run`
INSTEAD: Final = {
    "normal": "min and max, with distribution: uniform",
    "q_normal": "min, max and q, with distribution: q_uniform",
    "log_normal": "min and max, with distribution: log_uniform_values",
    "q_log_normal": "min and max, with distribution: q_log_uniform_values",
    "q_log_uniform": "min and max themselves, with distribution: q_log_uniform_values",
    "beta": "min and max, with distribution: uniform",
    "q_beta": "min, max and q, with distribution: q_uniform",
    "categorical_w_probabilities": "values without probabilities",
}


class WrongSweep(Exception):  # noqa: N818 - says what happened
    """What a sweep file says has no counterpart; `place` is where it stands."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place


def is_sweep(document: object) -> bool:
    """Return whether the document of a file is a sweep."""
    return isinstance(document, Mapping) and {"method", "parameters"} <= document.keys()


def as_study(sweep: Mapping[str, Any], name: str, task: str) -> dict[str, Any]:
    """Return the document of a study; `name` is for one that has none. Raises WrongSweep."""
    for key in sweep:
        if key not in KNOWN:
            raise WrongSweep((key,), "is not known of a sweep; leave it out")
    dimensions = dict(_dimensions(_mapping(sweep, ("parameters",)), ("parameters",)))
    space = Space(**{name: dimension for name, (dimension, _) in dimensions.items()})
    metric = _mapping(sweep, ("metric",)) if "metric" in sweep else {}
    study: dict[str, Any] = {
        "name": re.sub(r"[^A-Za-z0-9._-]+", "-", str(sweep.get("name", name))).strip("-._") or name,
        "task": task,
        "space": space.to_json(),
        "strategy": _strategy(sweep),
        "direction": metric.get("goal", "minimize"),
        "max_trials": sweep.get("run_cap") or _usual_trials(sweep, dimensions),
        "notes": str(sweep.get("description", "")),
    }
    if "target" in metric:
        study["target"] = metric["target"]
    if "early_terminate" in sweep:
        study["stopping"] = _stopping(_mapping(sweep, ("early_terminate",)), metric)
    if "program" in sweep or "command" in sweep:
        study["attributes"] = {RUN: shlex.join(_run(sweep, space, metric))}
    return study


def place(there: Sequence[str | int]) -> Place:
    """Return where in a sweep file that stands which is there in the study made of it."""
    named: dict[Place, Place] = {
        ("max_trials",): ("run_cap",),
        ("direction",): ("metric", "goal"),
        ("target",): ("metric", "target"),
        ("space",): ("parameters", *there[1:2]),
        ("stopping",): ("early_terminate",),
        ("notes",): ("description",),
    }
    return named.get(tuple(there[:1]), tuple(there))


def _mapping(within: Mapping[str, Any], where: Place) -> Mapping[str, Any]:
    found = within[str(where[-1])]
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise WrongSweep(where, "has keys with values, one a line")
    return found


def _strategy(sweep: Mapping[str, Any]) -> str:
    if (method := sweep["method"]) not in METHODS:
        raise WrongSweep(("method",), f"is one of {', '.join(METHODS)}; got {method!r}")
    return METHODS[method]


def _dimensions(
    parameters: Mapping[str, Any], where: Place, outer: str = ""
) -> Iterator[tuple[str, tuple[Dimension, Place]]]:
    """Yield each dimension by its name, with its place."""
    for key in parameters:
        here = (*where, key)
        parameter = _mapping(parameters, here)
        if "parameters" in parameter:
            yield from _dimensions(
                _mapping(parameter, (*here, "parameters")), (*here, "parameters"), f"{outer}{key}."
            )
        else:
            dimension = _dimension(parameter, here)
            try:
                Space(**{f"{outer}{key}": dimension})
            except SpaceError as error:
                raise WrongSweep(here, str(error)) from error
            yield f"{outer}{key}", (dimension, here)


def _dimension(parameter: Mapping[str, Any], where: Place) -> Dimension:
    if "probabilities" in parameter:
        raise WrongSweep(
            (*where, "probabilities"), "is not known here: all values are as likely; leave it out"
        )
    distribution = parameter.get("distribution") or _usual_distribution(parameter, where)
    if distribution == "constant":
        return Categorical([_scalar(_needed(parameter, "value", where), (*where, "value"))])
    if distribution == "categorical":
        return _choice(_needed(parameter, "values", where), (*where, "values"))
    if distribution not in BETWEEN:
        instead = INSTEAD.get(str(distribution))
        cure = (
            f"write {instead}" if instead else f"there are {', '.join(['constant', 'categorical', *BETWEEN])}"
        )
        raise WrongSweep((*where, "distribution"), f"{distribution!r} is not searched here; {cure}")
    low, high = (_number(parameter, end, where) for end in ("min", "max"))
    step = _number(parameter, "q", where) if "q" in parameter else 1
    try:
        return BETWEEN[distribution](low, high, step)
    except (ValueError, OverflowError) as error:
        raise WrongSweep(where, str(error)) from error


def _usual_distribution(parameter: Mapping[str, Any], where: Place) -> str:
    if "value" in parameter:
        return "constant"
    if "values" in parameter:
        return "categorical"
    if not {"min", "max"} <= parameter.keys():
        wanted = INSTEAD["normal"] if {"mu", "sigma"} & parameter.keys() else "min and max"
        raise WrongSweep(where, f"has no value and no values; write one of them, or {wanted}")
    return "int_uniform" if all(type(parameter[end]) is int for end in ("min", "max")) else "uniform"


def _needed(parameter: Mapping[str, Any], key: str, where: Place) -> Any:
    if key not in parameter:
        raise WrongSweep(where, f"has no {key}, which its distribution needs")
    return parameter[key]


def _number(parameter: Mapping[str, Any], key: str, where: Place) -> int | float:
    found = _needed(parameter, key, where)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise WrongSweep((*where, key), f"is a number; got {found!r}")
    return found


def _scalar(found: Any, where: Place) -> Scalar:
    if isinstance(found, list | dict):
        raise WrongSweep(
            where, f"{found!r} is no single value; give it a name, and look that up in the program"
        )
    return found  # type: ignore[no-any-return]  # what YAML and JSON know beside


def _choice(values: Any, where: Place) -> Dimension:
    """Return numbers in their order, and other values without one."""
    if not isinstance(values, list) or not values:
        raise WrongSweep(where, f"is a list of values; got {values!r}")
    choices = [_scalar(each, (*where, index)) for index, each in enumerate(values)]
    if len(choices) == 2 and all(isinstance(each, bool) for each in choices):
        return Boolean()
    if len(choices) > 1 and all(
        isinstance(each, int | float) and not isinstance(each, bool) for each in choices
    ):
        return Ordinal(sorted(choices))  # type: ignore[type-var]
    return Categorical(choices)


def _int(low: float, high: float, log: bool = False) -> Dimension:
    if low != int(low) or high != int(high):
        raise ValueError("min and max of integers are integers; write distribution: uniform for others")
    return Int(int(low), int(high), log=log)


def _multiples(low: float, high: float, step: float) -> Dimension:
    """Return the multiples of the step to which something between is rounded."""
    if step <= 0:
        raise ValueError(f"q is above 0; got {step}")
    first, last = round(low / step), round(high / step)
    if step == int(step):
        return Int(first * int(step), last * int(step), int(step))
    if last - first >= MOST_MULTIPLES:
        raise ValueError(
            f"there are more than {MOST_MULTIPLES:,} multiples of {step}; leave q out, or make it larger"
        )
    return Ordinal([float(f"{index * step:.12g}") for index in range(first, last + 1)])


def _rounded_log(low: float, high: float, step: float) -> Dimension:
    if step != 1:
        raise ValueError("on a logarithmic scale only q: 1 is searched; leave q out, or list the values")
    return _int(round(low), round(high), log=True)


BETWEEN: Final[Mapping[str, Callable[[float, float, float], Dimension]]] = {
    "uniform": lambda low, high, _: Float(low, high),
    "int_uniform": lambda low, high, _: _int(low, high),
    "q_uniform": _multiples,
    "log_uniform": lambda low, high, _: Float(math.exp(low), math.exp(high), log=True),
    "log_uniform_values": lambda low, high, _: Float(low, high, log=True),
    "q_log_uniform_values": _rounded_log,
    "inv_log_uniform": lambda low, high, _: Float(math.exp(-high), math.exp(-low), log=True),
    "inv_log_uniform_values": lambda low, high, _: Float(low, high, log=True),
}
"""Distributions between a min and a max, with q."""


def _usual_trials(sweep: Mapping[str, Any], dimensions: Mapping[str, tuple[Dimension, Place]]) -> int:
    if sweep["method"] != "grid":
        return TRIALS
    points = 1
    for dimension, where in dimensions.values():
        if isinstance(dimension, Float):
            raise WrongSweep(where, "has no end of values for a grid; list some, or write method: random")
        points *= len(dimension.values() or ())
    return points


def _stopping(rule: Mapping[str, Any], metric: Mapping[str, Any]) -> dict[str, Any]:
    """Return Hyperband's brackets as rungs: the first, then each eta times the one before."""
    here = ("early_terminate",)
    if rule.get("type") != "hyperband":
        raise WrongSweep((*here, "type"), f"is hyperband; got {rule.get('type')!r}")
    if "name" not in metric:
        raise WrongSweep(here, "compares trials by a metric; write its name under metric")
    eta = rule.get("eta", ETA)
    if type(eta) is not int or not 2 <= eta <= 100:
        raise WrongSweep((*here, "eta"), f"is an integer from 2 to 100; got {eta!r}")
    if "min_iter" in rule:
        first: float = _number(rule, "min_iter", here)
    else:
        first = _number(rule, "max_iter", here) / eta ** round(_number(rule, "s", here))
    return {"rule": "successive_halving", "metric": metric["name"], "min_step": first, "eta": eta}


def _run(sweep: Mapping[str, Any], space: Space, metric: Mapping[str, Any]) -> Iterator[str]:
    """Yield what comes after `thiessen run`: where the value is found, and the program."""
    if name := metric.get("name"):
        yield from ("--loss-from", rf"\b{re.escape(str(name))}\s*[:=]\s*(\S+)")
    command = sweep.get("command", USUAL_COMMAND)
    if not isinstance(command, list | tuple):
        raise WrongSweep(("command",), f"is a list of words; got {command!r}")
    for index, word in enumerate(command):
        yield from _words(str(word), sweep, space, ("command", index))


def _words(word: str, sweep: Mapping[str, Any], space: Space, where: Place) -> Iterator[str]:
    dimensions = space.dimensions.items()
    match word:
        case "${env}":
            yield "/usr/bin/env"
        case "${interpreter}":
            yield "python"
        case "${program}":
            if "program" not in sweep:
                raise WrongSweep(where, "there is no program")
            yield str(sweep["program"])
        case "${args}":
            yield from (f"--{name}={spelled(each)}" for name, each in dimensions)
        case "${args_no_hyphens}":
            yield from (f"{name}={spelled(each)}" for name, each in dimensions)
        case "${args_no_boolean_flags}":
            for name, each in dimensions:
                yield from (
                    (f"--{name}", "flag()") if isinstance(each, Boolean) else (f"--{name}={spelled(each)}",)
                )
        case _ if "${" in word:
            raise WrongSweep(
                where,
                f"{word} is not filled in here; the program finds its config in THIESSEN_CONFIG, as JSON",
            )
        case _:
            yield word
