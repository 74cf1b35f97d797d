from typing import Any

import torch
from torch import Tensor


def moved(kept: Any, device: torch.device, dtype: torch.dtype) -> Any:
    """Return what an optimizer keeps, in dictionaries, lists and tuples, on a device and in a precision."""
    if isinstance(kept, Tensor):
        return kept.to(device, dtype)
    if isinstance(kept, dict):
        return {key: moved(each, device, dtype) for key, each in kept.items()}
    if isinstance(kept, list | tuple):
        return type(kept)(moved(each, device, dtype) for each in kept)
    return kept
