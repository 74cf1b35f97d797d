"""Processes that train one model together, each on its part of every batch (torch.distributed)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias, final

import torch
import torch.distributed as dist
from torch import Tensor, nn

from optimizers.errors import UnsupportedModelError

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

Group: TypeAlias = "ProcessGroup | None"


@final
class Processes:
    """The processes of a group; without one, all that torch.distributed has begun; else this process alone.

    What is said here is said by all processes, in the same order, and all get the same answer, bit by bit.
    """

    def __init__(self, group: Group = None, *, alone: bool = False) -> None:
        self._group, self._alone = group, alone

    @property
    def size(self) -> int:
        """How many processes there are."""
        begun = not self._alone and dist.is_available() and dist.is_initialized()
        return dist.get_world_size(self._group) if begun else 1

    def total(self, tensor: Tensor) -> Tensor:
        """Return the sum over processes."""
        return self._reduced(tensor, "SUM")

    def largest(self, tensor: Tensor) -> Tensor:
        """Return the largest over processes, entry by entry."""
        return self._reduced(tensor, "MAX")

    def sum_of_rows(self, rows: Tensor) -> tuple[Tensor, float]:
        """Return the sum of the rows of all processes, and how many they are."""
        if self.size == 1:
            return rows.sum(dim=0), float(len(rows))
        both = self.total(torch.cat([rows.sum(dim=0), rows.new_tensor([float(len(rows))])]))
        return both[:-1], both[-1].item()

    def mean_of_rows(self, rows: Tensor) -> Tensor:
        """Return the mean over the rows of all processes."""
        total, count = self.sum_of_rows(rows)
        return total / count

    def means(self, tensors: Iterable[Tensor], weight: float) -> list[Tensor]:
        """Return the mean over processes of each tensor, where this process has that weight: at one go."""
        parts = list(tensors)
        if self.size == 1 or not parts:
            return parts
        # In float64, as a weight or a loss among many gradients must not cost them digits.
        flat = torch.cat([weight * part.reshape(-1).double() for part in parts])
        total = self.total(torch.cat([flat, flat.new_tensor([weight])]))
        mean = (total[:-1] / total[-1]).split([part.numel() for part in parts])
        return [entries.reshape(part.shape).to(part.dtype) for entries, part in zip(mean, parts, strict=True)]

    def spread(self, values: Tensor) -> float:
        """Return how much the values differ between processes, beside their size: 0 where all agree."""
        most, least = self.largest(values), -self.largest(-values)
        return float(((most - least) / most.abs().clamp(min=1e-30)).max())

    def _reduced(self, tensor: Tensor, how: str) -> Tensor:
        if self.size == 1:
            return tensor
        reduced = tensor.clone()
        dist.all_reduce(reduced, op=getattr(dist.ReduceOp, how), group=self._group)
        return reduced

    def __deepcopy__(self, memo: dict[int, object]) -> "Processes":
        return self  # a copy trains with the same processes

    def __reduce__(self) -> tuple[type, tuple[()]]:
        if self._group is not None:
            raise TypeError(
                "An optimizer with a group of processes cannot be pickled. Save its state_dict()."
            )
        return Processes, ()


def check_not_wrapped(model: nn.Module) -> None:
    """Raise UnsupportedModelError for DistributedDataParallel, whose names and passes are not the model's."""
    if isinstance(model, nn.parallel.DistributedDataParallel):
        raise UnsupportedModelError(
            "",
            "is wrapped in DistributedDataParallel",
            "Give the optimizer the model inside it, `.module`; call the wrapped one in the loop.",
        )


ALONE = Processes(alone=True)
