import torch

from optimizers import streams


class Elsewhere:
    """A generator of a device that this machine does not have."""

    def __init__(self, device):
        self.device = device

    def manual_seed(self, seed):
        self.seed = seed
        return self


def test_a_stream_stays_on_its_device():
    stream = torch.Generator().manual_seed(3)

    assert streams.stream_on(torch.device("cpu"), stream) is stream


def test_a_stream_follows_the_model_to_another_device_and_repeats_there(monkeypatch):
    monkeypatch.setattr(streams, "Generator", Elsewhere)
    moved = [
        streams.stream_on(torch.device("meta"), torch.Generator().manual_seed(seed)) for seed in (3, 3, 4)
    ]

    assert {each.device.type for each in moved} == {"meta"}
    assert moved[0].seed == moved[1].seed != moved[2].seed


def test_a_stream_that_is_told_and_retold_goes_on_where_it_was():
    stream = torch.Generator().manual_seed(3)
    torch.rand(5, generator=stream)
    copied = streams.retold(streams.told(stream))

    assert torch.equal(torch.rand(5, generator=copied), torch.rand(5, generator=stream))
