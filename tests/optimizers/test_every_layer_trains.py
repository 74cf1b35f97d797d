"""Natural gradient by these factors alone, as an optimizer would join them: networks of any layers train."""

import pytest
import torch
from torch import nn

from optimizers import CrossEntropy
from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.network import constant_statistics
from optimizers.curvature.statistics import RunningStatistics, backward, explained, measure, sampled_slopes

CASES, CLASSES, STEPS = 60, 3, 30


class Words(nn.Module):
    """A table, which is also the layer below the classes, and what comes between."""

    def __init__(self, between):
        super().__init__()
        self.table, self.scale = nn.Embedding(9, 8), nn.LayerNorm(8)
        self.between = between
        self.classes = nn.Linear(8, CLASSES)

    def forward(self, tokens):
        within = self.between(self.scale(self.table(tokens)))
        within = within[0] if isinstance(within, tuple) else within
        return self.classes(within.mean(dim=1))


def a_convolutional_network():
    return nn.Sequential(
        nn.Unflatten(1, (1, 4, 4)),
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.Conv2d(4, 4, 3, groups=4, bias=False),
        nn.BatchNorm2d(4),
        nn.PReLU(),
        nn.Flatten(),
        nn.Linear(16, CLASSES),
    )


def a_tied_network():
    shared = nn.Linear(16, 16)
    return nn.Sequential(shared, nn.Tanh(), shared, nn.Tanh(), nn.Linear(16, CLASSES))


NETWORKS = {
    "convolutions and batch norm": a_convolutional_network,
    "tied layers": a_tied_network,
    "attention, layer norm and a table": lambda: Words(
        nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    ),
    "LSTM": lambda: Words(nn.LSTM(8, 8, batch_first=True)),
    "GRU": lambda: Words(nn.GRU(8, 8, batch_first=True, bidirectional=False)),
}


def a_task(network):
    stream = torch.Generator().manual_seed(0)
    if not isinstance(network, Words):
        inputs = torch.randn(CASES, 16, generator=stream)
        return inputs, inputs[:, :CLASSES].argmax(dim=1)
    tokens = torch.randint(9, (CASES, 5), generator=stream)
    return tokens, (tokens % CLASSES).mode(dim=1).values


def natural_step(model, blocks, running, batch, *, lr, stream, sharing):
    inputs, targets = batch
    with constant_statistics(model), recording(model, blocks) as uses:
        outputs = model(inputs)
    loss = CrossEntropy().loss(outputs, targets)
    gradients, _ = backward(uses, loss, retain_graph=True)
    slopes = sampled_slopes(CrossEntropy(), outputs.detach(), stream)
    running.update(measure(uses, outputs, slopes, sharing=sharing))
    parameters = dict(model.named_parameters())
    updates = {name: torch.zeros_like(parameter) for name, parameter in parameters.items()}
    with torch.no_grad():
        for name, factors in running.kept.factors.items():
            inverse = factors.damped(0.3).inverse(name)
            blocks[name].put(inverse.times(blocks[name].matrix(gradients)), updates)
        for name, parameter in parameters.items():
            parameter.sub_(updates[name], alpha=lr)
    return loss.item()


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("sharing", ["expand", "reduce"])
def test_every_parameter_trains_and_the_loss_falls(name, sharing):
    torch.manual_seed(0)
    model, stream = NETWORKS[name](), torch.Generator().manual_seed(1)
    batch, blocks, running = a_task(model), find_blocks(model), RunningStatistics()
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    with recording(model, blocks) as uses:
        outputs = model(batch[0])
    assert explained(uses, outputs) == blocks

    losses = [
        natural_step(model, blocks, running, batch, lr=0.3, stream=stream, sharing=sharing)
        for _ in range(STEPS)
    ]
    assert losses[-1] < 0.5 * losses[0]
    assert all((parameter - before[name]).norm() > 0 for name, parameter in model.named_parameters())
