"""Spreads independent calls over the cores; what comes of them does not depend on how many there are."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Case = TypeVar("Case")
Found = TypeVar("Found")


def spread(function: Callable[[Case], Found], cases: Iterable[Case]) -> list[Found]:
    """Return what a function of a module makes of each case, in their order, one thread each."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn"), initializer=_alone) as pool:
        return list(pool.map(function, cases))


def _alone() -> None:
    import torch

    torch.set_num_threads(1)
