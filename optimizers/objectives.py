"""What is minimised: the negative log-likelihood of a predictive distribution."""

from typing import Protocol, final

import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax, softmax


class Objective(Protocol):
    """A loss that is -log p(targets | outputs), together with the distribution p itself."""

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean over the batch, as a scalar that can be differentiated."""

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        """Return targets drawn from the model's own prediction, never from the data."""


@final
class CrossEntropy:
    """Categorical prediction: outputs are unnormalised log-probabilities, targets are class numbers."""

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean of -log p(target). Raises ValueError unless there is one class number per row."""
        one_per_row = outputs.shape[:-1] == outputs.shape[:1] == targets.shape
        if not one_per_row or targets.is_floating_point():
            raise ValueError(
                f"CrossEntropy takes outputs of shape (batch, classes) and one integer class per row; "
                f"it got outputs {tuple(outputs.shape)} and {targets.dtype} targets {tuple(targets.shape)}. "
                f"Turn one-hot targets into class numbers with targets.argmax(dim=1)."
            )
        # gather, unlike torch's own cross-entropy, ignores no class number: the mean stays over all n.
        return -log_softmax(outputs, dim=1).gather(1, targets[:, None].long()).mean()

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        """Return one class number per row, drawn with the predicted probabilities."""
        return torch.multinomial(softmax(outputs, dim=1), 1, generator=generator)[:, 0]


@final
class SquaredError:
    """Gaussian prediction of variance 1: half the squared distance, without the constant."""

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean over the batch of ½ ‖output - target‖². Raises ValueError for other shapes."""
        _check_alike("SquaredError", outputs, targets)
        return 0.5 * (outputs - targets).square().sum() / len(outputs)

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        """Return the outputs with standard normal noise."""
        noise = torch.empty_like(outputs).normal_(generator=generator)
        return outputs + noise


@final
class Bernoulli:
    """Independent predictions of bits: outputs are log-odds, targets lie from 0 to 1."""

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean over the batch of all cross-entropies. Raises ValueError for other shapes."""
        _check_alike("Bernoulli", outputs, targets)
        return binary_cross_entropy_with_logits(outputs, targets, reduction="sum") / len(outputs)

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        """Return bits, each 1 with its predicted probability."""
        return torch.bernoulli(torch.sigmoid(outputs), generator=generator)


def _check_alike(name: str, outputs: Tensor, targets: Tensor) -> None:
    if outputs.shape != targets.shape:
        raise ValueError(
            f"{name} takes a target for each output; "
            f"it got outputs {tuple(outputs.shape)} and targets {tuple(targets.shape)}."
        )
