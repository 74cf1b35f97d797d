"""Where an experiment trains."""

import torch

from experiments.experiment import Size


def device_for(size: Size) -> torch.device:
    """Return the CPU for small trainings, the same everywhere, else a GPU where there is one."""
    return torch.device("cuda" if size == "full" and torch.cuda.is_available() else "cpu")
