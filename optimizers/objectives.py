"""What is minimised: the negative log-likelihood of a predictive distribution."""

from typing import Protocol, final

import torch
from torch import Generator, Tensor
from torch.nn.functional import log_softmax, softmax


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
