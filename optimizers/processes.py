"""Processes that train one model together, each on its part of every batch (torch.distributed)."""

import hashlib
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, final

import torch
import torch.distributed as dist
from torch import Tensor, nn

from optimizers.eager import uncompiled
from optimizers.errors import UnsupportedModelError
from optimizers.uses import precise

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

    @property
    def rank(self) -> int:
        """The number of this process among them."""
        return dist.get_rank(self._group) if self.size > 1 else 0

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

    def rows_of_all(self, rows: Tensor) -> Tensor:
        """Return the rows of all processes, in the order of their ranks."""
        return rows if self.size == 1 else torch.cat(self.gathered(rows, rows.device))

    def means(self, tensors: Iterable[Tensor], weights: float | Sequence[float]) -> list[Tensor]:
        """Return the mean over processes of each tensor, where this process has that weight, or one for each.

        All of one precision go at one go, in float32 at least. Where nobody has any weight, it is 0.
        """
        parts = list(tensors)
        if self.size == 1 or not parts:
            return parts
        each = list(weights) if isinstance(weights, Sequence) else [weights] * len(parts)
        shares = parts[0].new_tensor(each, dtype=torch.float64)
        shares /= self.total(shares).clamp(min=torch.finfo(torch.float64).tiny)
        weighted = [share * part for share, part in zip(shares.tolist(), map(precise, parts), strict=True)]
        return [total.to(part.dtype) for total, part in zip(self._totals(weighted), parts, strict=True)]

    def mean(self, number: float, weight: float, device: torch.device) -> float:
        """Return the mean over processes, where this process has that weight."""
        [mean] = self.means([torch.tensor(number, dtype=torch.float64, device=device)], weight)
        return float(mean)

    def _totals(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        totals: dict[int, Tensor] = {}
        for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
            alike = {place: tensor for place, tensor in enumerate(tensors) if tensor.dtype == dtype}
            joined = self.total(torch.cat([tensor.reshape(-1) for tensor in alike.values()]))
            pieces = joined.split([tensor.numel() for tensor in alike.values()])
            totals |= {
                place: piece.reshape(tensor.shape)
                for (place, tensor), piece in zip(alike.items(), pieces, strict=True)
            }
        return [totals[place] for place in range(len(tensors))]

    def agree(self, said: object, device: torch.device) -> bool:
        """Return whether all say the same, of what has a repr."""
        digest = hashlib.sha256(repr(said).encode()).digest()
        return self.spread(torch.tensor(list(digest), dtype=torch.float32, device=device)) == 0

    def gathered(self, own: Any, device: torch.device) -> list[Any]:
        """Return what each process has, in the order of their ranks, with its tensors on this device."""
        file = io.BytesIO()
        torch.save(own, file)
        files: list[bytes] = [b""] * self.size
        dist.all_gather_object(files, file.getvalue(), group=self._group)
        # Who is in the group runs this very program, and torch has unpickled what they sent already.
        contents = map(io.BytesIO, files)
        return [torch.load(each, map_location=device, weights_only=False) for each in contents]  # nosec B614

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
    """Raise UnsupportedModelError for what splits batches, whose names and passes are not the model's."""
    if isinstance(uncompiled(model), nn.parallel.DistributedDataParallel):
        raise UnsupportedModelError(
            "",
            "is wrapped in DistributedDataParallel",
            "Give the optimizer the model inside it, `.module`; call the wrapped one in the loop.",
        )
    if isinstance(uncompiled(model), nn.DataParallel):
        raise UnsupportedModelError(
            "",
            "is wrapped in DataParallel, whose copies are not heard",
            "Train the model inside it, `.module`, on one device, or take DistributedDataParallel.",
        )


ALONE = Processes(alone=True)
