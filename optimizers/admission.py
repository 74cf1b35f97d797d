"""What every optimizer is given, looked at in one place: the model, the objective, and the batches.

What is refused is refused before anything has changed, with what was given and what to write in its place.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import torch
from torch import Tensor, nn

from optimizers.processes import Processes, check_not_wrapped

METHODS: Final = {  # of an objective
    "loss": "outputs, targets",
    "sample": "outputs, generator",
    "curvature": "outputs, vectors",
    "factor": "outputs, vectors",
}
OURS: Final = "CrossEntropy(), Bernoulli(), Gaussian() or squared_error()"
INSTEAD: Final = {  # of what others call a loss, by its name without case, underscores and "loss"
    "crossentropy": "CrossEntropy()",
    "nll": "CrossEntropy()",
    "mse": "squared_error(), or Gaussian() for half of it",
    "squarederror": "squared_error()",
    "gaussian": "Gaussian()",
    "bernoulli": "Bernoulli()",
    "bcewithlogits": "Bernoulli()",
    "binarycrossentropywithlogits": "Bernoulli()",
    "bce": "Bernoulli(), and a model that ends before its sigmoid",
    "binarycrossentropy": "Bernoulli(), and a model that ends before its sigmoid",
}


def check_model_and_objective(
    model: object, objective: object, optimizer: str, *, needs: Iterable[str] = tuple(METHODS)
) -> None:
    """Raise TypeError for anything else, and UnsupportedModelError for a wrapped model."""
    if not isinstance(model, nn.Module):
        raise TypeError(
            f"The first argument of {optimizer} is the model, an nn.Module; it got {told(model)}. "
            f"Write {optimizer}(model, objective). What is not to be trained is frozen, or, where there are "
            f"groups, left out of params=."
        )
    check_not_wrapped(model)
    lacking = [name for name in needs if not callable(getattr(objective, name, None))]
    if not (lacking or isinstance(objective, type)):
        return
    if isinstance(objective, type) or not any(hasattr(objective, name) for name in METHODS):
        name = objective if isinstance(objective, str) else getattr(objective, "__name__", None)
        key = (name or type(objective).__name__).lower().replace("_", "").removesuffix("loss")
        remedy = INSTEAD.get(key, f"{name}()" if isinstance(objective, type) and not lacking else OURS)
        raise TypeError(
            f"The second argument of {optimizer} is an objective, which knows more than a loss; "
            f"it got {told(objective)}. Take {remedy}."
        )
    methods = ", ".join(f"{name}({METHODS[name]})" for name in lacking)
    raise TypeError(
        f"{optimizer} needs the objective {type(objective).__name__} to have {methods}. "
        f"See optimizers.Objective; or take {OURS}."
    )


def check_batch(
    optimizer: str,
    model: nn.Module,
    trained: Iterable[Tensor],
    batch: Mapping[str, object],  # by what it is; empty in the usual loop
    processes: Processes,
) -> None:
    """Raise TypeError for what is no tensor, ValueError where there is nothing to train, or to train on.

    The latter is said on all processes where it is so on one: those with cases would wait for it for ever.
    """
    tensors = [_tensor(optimizer, name, value) for name, value in batch.items()]
    idle = [not any(True for _ in trained), not all(map(len, tensors))]
    if processes.size > 1:
        device = next(model.parameters()).device
        idle = processes.largest(torch.tensor(idle, dtype=torch.float32, device=device)).bool().tolist()
    is_frozen, is_empty = idle
    here = " on one of the processes" if processes.size > 1 else ""
    if is_frozen:
        raise ValueError(
            f"{optimizer} has nothing to train{here}: all its parameters are frozen. "
            f"Unfreeze some of them with requires_grad_(True)."
        )
    if is_empty:
        raise ValueError(
            f"{optimizer}.step got a batch without cases{here}. Leave such batches out; "
            f"of several processes, each needs at least one case."
        )


def check_rows(optimizer: str, outputs: Tensor, inputs: Tensor) -> None:
    """Raise ValueError unless the outputs have one row for each case."""
    if outputs.shape[:1] != inputs.shape[:1]:
        raise ValueError(
            f"{optimizer} tells cases apart and needs one row of outputs for each case; the model made "
            f"outputs {tuple(outputs.shape)} of {len(inputs)} cases. Leave positions in a dimension of their "
            f"own: outputs of (cases, positions, classes), targets of (cases, positions)."
        )


def _tensor(optimizer: str, name: str, value: object) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{optimizer}.step takes {name} as one tensor; it got {told(value)}. {_as_a_tensor(value)}"
        )
    if not value.dim():
        raise ValueError(
            f"{optimizer}.step takes {name} with one row for each case; it got a single number. "
            f"Give it a first dimension, of cases."
        )
    return value


@contextmanager
def precision_explained(model: nn.Module, inputs: Tensor) -> Iterator[None]:
    """Raise ValueError, with the remedy, where torch failed on inputs of another precision than the model."""
    try:
        yield
    except RuntimeError as error:
        known = {parameter.dtype for parameter in model.parameters()}
        if inputs.dtype in known or "type" not in str(error):
            raise
        dtype = ", ".join(sorted(map(str, known)))
        other = f", or convert the model with model.to({inputs.dtype})" if inputs.is_floating_point() else ""
        raise ValueError(
            f"The inputs are in {inputs.dtype}, the model in {dtype}. Give it inputs.to({dtype}){other}."
        ) from error


def told(value: object) -> str:
    """Return what something is, in a few words."""
    if isinstance(value, str):
        return f"the text {value!r}"
    if value is None or isinstance(value, float | int):
        return repr(value)
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    if isinstance(value, list | tuple | dict):
        kinds = {type(each).__name__ for each in (value.values() if isinstance(value, dict) else value)}
        return f"a {type(value).__name__} of {len(value)} ({', '.join(sorted(kinds)) or 'nothing'})"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    module, name = type(value).__module__, type(value).__name__
    return f"a {name}" if module == "builtins" else f"a {module.partition('.')[0]} {name}"


def _as_a_tensor(value: object) -> str:
    parts = [*value.values()] if isinstance(value, dict) else value
    if isinstance(parts, list | tuple) and any(isinstance(part, Tensor) for part in parts):
        return "Join the parts into one tensor, and have the model's forward take it apart."
    return "Convert it with torch.as_tensor."
