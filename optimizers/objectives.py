"""What is minimised: the negative log-likelihood of a predictive distribution.

An objective is four functions of a batch's outputs z, whose first dimension is that of the cases: the loss,
targets drawn from the model's own prediction, the product with the curvature of the loss in output space, and
the product with a factor of that curvature. They belong to one object so that sampled targets, exact Fisher
and Gauss-Newton never disagree by a factor. Losses are means over the cases and *sums* over the outputs of a
case, at all its positions.

The curvature is the Fisher matrix R of the prediction, which no target enters. For all objectives here whose
outputs are the natural parameters it is also the Hessian of the loss (the matching condition; `Gaussian` with
a link and the two objectives on probabilities are the exceptions, and say so).

Any object with the four methods will do; `verification.verify_objective` tells what is wrong with it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final

import torch
from torch import Generator, Tensor
from torch.func import jvp
from torch.nn.functional import log_softmax, softmax, softplus


class Objective(Protocol):
    """A loss that is -log p(targets | outputs) up to a constant, together with the distribution p itself."""

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean over the cases of the sum over outputs, as a scalar that can be differentiated."""

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        """Return targets drawn from the model's own prediction, never from the data."""

    def curvature(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        """Return R u for each case's row u, where R is the Fisher matrix of its prediction, without 1/n."""

    def factor(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        """Return S v for each case's v, where S Sᵀ = R."""


def identity(outputs: Tensor) -> Tensor:
    """Return the outputs."""
    return outputs


@final
@dataclass(frozen=True, kw_only=True)
class Gaussian:
    """Normal prediction N(link(z), variance) of each output: ‖link(z) - y‖² / (2 variance).

    With a link (torch.sigmoid, torch.tanh) the loss is not convex in z. The curvature here treats the link
    as part of the model and stays positive semi-definite; it is not the Hessian in z then.
    """

    variance: float = 1.0
    link: Callable[[Tensor], Tensor] = identity  # of each output alone

    def __post_init__(self) -> None:
        if not 0 < self.variance < math.inf:
            raise ValueError(f"variance must be finite and above 0, got {self.variance!r}.")

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean squared distance over 2 variance. Raises ValueError unless shapes agree."""
        _check_same_shape(outputs, targets, type(self).__name__)
        return (self.link(outputs) - targets).square().sum() / (2 * self.variance * len(outputs))

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        """Return one draw of the normal prediction for each output."""
        return self.link(outputs) + math.sqrt(self.variance) * _normal_like(outputs, generator)

    def curvature(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        return self._slope(outputs).square() * vectors / self.variance

    def factor(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        return self._slope(outputs) * vectors / math.sqrt(self.variance)

    def _slope(self, outputs: Tensor) -> Tensor:
        slope: Tensor = jvp(self.link, (outputs,), (torch.ones_like(outputs),))[1]
        return slope


def squared_error(*, half: bool = False, link: Callable[[Tensor], Tensor] = identity) -> Gaussian:
    """Return ‖link(z) - y‖², or half of it: the normal prediction with variance ½, or 1.

    Which of the two it is scales the loss, and with it lr and damping; it changes no damped step otherwise.
    """
    return Gaussian(variance=1.0 if half else 0.5, link=link)


@final
class Bernoulli:
    """Independent yes-or-no predictions: outputs are log-odds, targets lie in [0, 1]."""

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean of the summed cross-entropies. Raises ValueError unless shapes agree."""
        _check_same_shape(outputs, targets, "Bernoulli")
        return (softplus(outputs) - targets * outputs).sum() / len(outputs)  # stable at any log-odds

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        """Return zeros and ones, drawn with the predicted probabilities."""
        return torch.bernoulli(torch.sigmoid(outputs), generator=generator)

    def curvature(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        return _bernoulli_variance(outputs) * vectors

    def factor(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        return _bernoulli_variance(outputs).sqrt() * vectors


@final
class CrossEntropy:
    """Categorical predictions: outputs are unnormalised log-probabilities, targets are class numbers.

    Classes are the last dimension. Outputs of (cases, positions, classes) are as many predictions of a case
    as there are positions, each with a target: the loss of the case is their sum.
    """

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean over cases of -log p(targets). Raises ValueError unless these are classes."""
        _check_classes(outputs, targets, "CrossEntropy")
        return -_at(targets, log_softmax(outputs, dim=-1)).sum() / len(outputs)

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        """Return class numbers, drawn with the predicted probabilities."""
        return _drawn(softmax(outputs, dim=-1), generator)

    def curvature(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        predicted = softmax(outputs, dim=-1)  # R = diag ŷ - ŷ ŷᵀ
        return predicted * vectors - predicted * (predicted * vectors).sum(dim=-1, keepdim=True)

    def factor(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        predicted = softmax(outputs, dim=-1)  # S = diag √ŷ - ŷ √ŷᵀ
        roots = predicted.sqrt()
        return roots * vectors - predicted * (roots * vectors).sum(dim=-1, keepdim=True)


@final
class CrossEntropyOfProbabilities:
    """CrossEntropy split at the probabilities: the model itself ends in a softmax.

    For experiments. The curvature, diag 1/ŷ, gives the Fisher matrix of CrossEntropy; but the Hessian of the
    loss, diag y/ŷ², is another matrix: its Gauss-Newton matrix is the empirical Fisher.
    """

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean over cases of -log p(targets). Raises ValueError unless these are classes."""
        _check_classes(outputs, targets, "CrossEntropyOfProbabilities")
        return -_at(targets, outputs).log().sum() / len(outputs)

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        """Return class numbers, drawn with the predicted probabilities."""
        return _drawn(outputs, generator)

    def curvature(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        return vectors / outputs

    def factor(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        return vectors / outputs.sqrt()


@final
class BernoulliOfProbabilities:
    """Bernoulli split at the probabilities: the model itself ends in a sigmoid.

    For experiments. The curvature gives the Fisher matrix of Bernoulli; the Gauss-Newton matrix is, for
    targets 0 and 1, the sum over outputs of the empirical Fisher of each, without cross terms.
    """

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean of the summed cross-entropies. Raises ValueError unless shapes agree."""
        _check_same_shape(outputs, targets, "BernoulliOfProbabilities")
        return -(targets * outputs.log() + (1 - targets) * (-outputs).log1p()).sum() / len(outputs)

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        """Return zeros and ones, drawn with the predicted probabilities."""
        return torch.bernoulli(outputs, generator=generator)

    def curvature(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        return vectors / (outputs * (1 - outputs))

    def factor(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        return vectors / (outputs * (1 - outputs)).sqrt()


def _bernoulli_variance(outputs: Tensor) -> Tensor:
    return torch.sigmoid(outputs) * torch.sigmoid(-outputs)  # 1 - ŷ would cancel at large log-odds


def _normal_like(outputs: Tensor, generator: Generator) -> Tensor:
    return torch.randn(outputs.shape, generator=generator, dtype=outputs.dtype, device=outputs.device)


def _check_same_shape(outputs: Tensor, targets: Tensor, objective: str) -> None:
    if outputs.shape != targets.shape:
        raise ValueError(
            f"{objective} takes one target per output; it got outputs {tuple(outputs.shape)} "
            f"and targets {tuple(targets.shape)}. Give the targets the shape of the outputs."
        )


def _at(targets: Tensor, outputs: Tensor) -> Tensor:
    """Return what stands at the target of each row. Raises ValueError for one that is no class number."""
    places = targets[..., None].long()
    try:  # unlike torch's own cross-entropy, gather ignores no class number: the mean stays over all n
        return outputs.gather(-1, places)
    except (IndexError, RuntimeError):
        classes = outputs.shape[-1]
        wrong = targets[(targets < 0) | (targets >= classes)]
        if not len(wrong):
            raise
    raise ValueError(
        f"The outputs have {classes} classes, numbered 0 to {classes - 1}, but {len(wrong)} of the targets "
        f"are others, as {wrong[0].item()} is. Give the model an output for each class; targets that are not "
        f"to count are to be left out of the batch, no number is ignored."
    )


def _drawn(probabilities: Tensor, generator: Generator) -> Tensor:
    rows = probabilities.reshape(-1, probabilities.shape[-1])
    return torch.multinomial(rows, 1, generator=generator).reshape(probabilities.shape[:-1])


def _check_classes(outputs: Tensor, targets: Tensor, objective: str) -> None:
    if outputs.shape[:-1] != targets.shape or targets.is_floating_point() or outputs.dim() < 2:
        raise ValueError(
            f"{objective} takes outputs of (cases, classes) or (cases, positions, classes), and an integer "
            f"class for each of their rows; it got outputs {tuple(outputs.shape)} and {targets.dtype} "
            f"targets {tuple(targets.shape)}. {_remedy(outputs, targets)}"
        )


def _remedy(outputs: Tensor, targets: Tensor) -> str:
    """Return what to do about targets that are not a class number for each row of outputs."""
    said, wanted = outputs.shape, targets.shape
    if outputs.dim() < 2:
        return "Let the model give each case a row; for one yes or no of each, take Bernoulli()."
    if wanted == said:
        return "Turn one-hot targets into class numbers with targets.argmax(dim=-1)."
    if wanted == said[:-1]:
        return "Class numbers are integers: targets.long()."
    if wanted == (*said[:-1], 1):
        return "Take the last dimension away: targets.squeeze(-1)."
    if wanted == (said[0], *said[2:]):
        return "Classes come last here: let the model give outputs.movedim(1, -1)."
    return f"Targets of these outputs have the shape {tuple(said[:-1])}."
