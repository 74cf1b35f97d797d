import torch
from torch import Generator, Tensor


def stream_beside(parameter: Tensor) -> Generator:
    """Return a generator on the parameter's device, seeded from torch's global stream."""
    return Generator(parameter.device).manual_seed(int(torch.randint(2**62, ())))
