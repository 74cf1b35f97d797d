"""Models under torch.compile, as they were before: hooks and derivatives of derivatives need each layer."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn


def uncompiled(model: nn.Module) -> nn.Module:
    """Return what torch.compile was given, with the parameters and names that it had; else the model."""
    inner = getattr(model, "_orig_mod", None)
    return inner if isinstance(inner, nn.Module) else model


def eagerly() -> AbstractContextManager[object]:
    """Run what was compiled in place, by model.compile(), as it was written while the context is open."""
    set_stance = getattr(torch.compiler, "set_stance", None)  # since torch 2.6
    if not _can_compile() or set_stance is None:
        return nullcontext()
    stance: AbstractContextManager[object] = set_stance("force_eager")
    return stance


def run_as_written(function: Callable[..., None], *given: Any) -> None:
    """Call it, also where a compiled model does: the compiled part ends before, and goes on after it."""
    if _can_compile():
        function = torch.compiler.disable(function)
    function(*given)


def _can_compile() -> bool:
    return "torch._dynamo" in sys.modules  # to import it takes seconds, and without it nothing is compiled
