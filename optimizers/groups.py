"""Groups of parameters with settings of their own, as torch's optimizers take them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from torch import Tensor, nn

Params: TypeAlias = Iterable[nn.Parameter] | Iterable[dict[str, Any]]


def check_groups(
    groups: Sequence[Mapping[str, Any]], model: nn.Module, wholes: Mapping[str, Iterable[Tensor]]
) -> None:
    """Raise ValueError where a parameter is none of the model's, or what is named as a whole is in two."""
    numbers = {p: number for number, group in enumerate(groups) for p in group["params"]}
    if not numbers.keys() <= set(model.parameters()):
        raise ValueError(
            "A parameter is none of the model's, so no step would reach it. "
            "Give the optimizer the model that holds it."
        )
    for whole, parameters in wholes.items():
        if len({numbers[parameter] for parameter in parameters if parameter in numbers}) > 1:
            raise ValueError(
                f"{whole} are in two groups, but the change of one depends on the other's. "
                f"Put them into one group."
            )


def check_shared(groups: Sequence[Mapping[str, Any]], names: Iterable[str], optimizer: str) -> None:
    """Raise ValueError, with its name, for a setting that differs between groups and must not."""
    for name in names:
        values = [group[name] for group in groups]
        if any(value != values[0] for value in values):
            told = ", ".join(map(repr, values))
            raise ValueError(
                f"{name} differs between groups ({told}), but {optimizer} has one for all parameters. "
                f"Set it alike in each."
            )
