"""Streams of random numbers that an optimizer owns, so that a run repeats whatever else draws."""

import torch
from torch import Generator, Tensor


def stream_beside(parameter: Tensor) -> Generator:
    """Return a generator on the parameter's device, seeded from torch's global stream."""
    return Generator(parameter.device).manual_seed(int(torch.randint(2**62, ())))


def stream_on(device: torch.device, stream: Generator) -> Generator:
    """Return the stream, or one seeded from it where the model has moved to another device since."""
    if stream.device == device:
        return stream
    seed = torch.randint(2**62, (), generator=stream, device=stream.device)
    return Generator(device).manual_seed(int(seed))


def stream_of(process: int, processes: int, stream: Generator) -> Generator:
    """Return a stream of one of several processes that own the same: its next draws are not the others'."""
    if processes == 1:
        return stream
    seed = torch.randint(2**62, (), generator=stream, device=stream.device)
    return Generator(stream.device).manual_seed(int(seed) + process)


def told(stream: Generator) -> tuple[str, Tensor]:
    """Return what a copy of the stream is made of: not every torch can copy or pickle one itself."""
    return str(stream.device), stream.get_state()


def retold(parts: tuple[str, Tensor]) -> Generator:
    """Return the stream that was told."""
    device, state = parts
    stream = Generator(device)
    stream.set_state(state)
    return stream
