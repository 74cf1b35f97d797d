"""An autoencoder that is trained layer by layer before it is trained as a whole."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import mse_loss

from worker.training.settings import above_zero, share


def pretrain(
    model: nn.Sequential,
    inputs: Tensor,
    generator: Generator,
    *,
    loss: Callable[[Tensor, Tensor], Tensor],
    noise: float = 0.0,
    lr: float = 0.01,
    epochs: int = 5,
    batch_size: int = 100,
) -> None:
    """Train each layer of an encoder with its mirror image in the decoder, from the inputs to the bottleneck.

    Each pair learns to give back what the pair before has made of the inputs. With noise it is a denoising
    autoencoder: this share of what it sees is set to 0, and it has to give back all. The outermost pair is
    judged by the loss of the whole model, the others by their squared error. Raises ValueError when encoder
    and decoder do not mirror each other.
    """
    share("noise", noise)
    above_zero("lr", lr)
    for number, (up, down) in enumerate(_pairs(model)):
        pair = nn.Sequential(up, down)
        optimizer = torch.optim.Adam(pair.parameters(), lr=lr)
        judge = loss if number == 0 else mse_loss
        for _ in range(epochs):
            for batch in torch.randperm(len(inputs), generator=generator).split(batch_size):
                optimizer.zero_grad()
                judge(pair(corrupted(inputs[batch], noise, generator)), inputs[batch]).backward()
                optimizer.step()
        with torch.no_grad():
            inputs = up(inputs)


def corrupted(inputs: Tensor, noise: float, generator: Generator) -> Tensor:
    """Return the inputs with this share of their elements set to 0, at random."""
    kept = torch.rand(inputs.shape, generator=generator) >= noise
    return inputs * kept.to(inputs.device)


def _pairs(model: nn.Sequential) -> list[tuple[nn.Sequential, nn.Sequential]]:
    """Return each linear layer of the encoder, with what follows it, and its mirror image in the decoder."""
    encoder, decoder = _blocks(model.get_submodule("encoder")), _blocks(model.get_submodule("decoder"))
    there = [block[0].weight.shape for block in encoder]
    if there != [block[0].weight.T.shape for block in reversed(decoder)]:
        raise ValueError(
            "Encoder and decoder do not mirror each other, so there are no pairs of layers to train."
        )
    return list(zip(encoder, reversed(decoder), strict=True))


def _blocks(part: nn.Module) -> list[nn.Sequential]:
    blocks: list[nn.Sequential] = []
    for layer in part.children():
        if isinstance(layer, nn.Linear):
            blocks.append(nn.Sequential(layer))
        else:
            blocks[-1].append(layer)
    return blocks
