"""The Kronecker factors of all layers, and their running averages (Martens & Grosse 2015).

Sections are those of Martens' thesis (2016). F_ij, the part of the Fisher matrix between layers i and j, is
taken to be Ā_ij ⊗ G_ij, with Ā_ij = E[ā āᵀ] between the inputs of two layers and G_ij = E[g gᵀ] between the
gradients at their outputs. An inverse needs those with i = j, and perhaps those of layers that are *joined*:
the lower one feeds the upper one, and no other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import torch
from torch import Tensor

from optimizers.curvature.kronecker import cross_factor, input_factor, output_factor
from optimizers.curvature.matrices import Matrices


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What one pass tells of a layer, one row per case."""

    inputs: Tensor  # ā
    slopes: Sequence[Tensor]  # g/n at its outputs; the expectation over targets is the sum over these


@dataclass(frozen=True, kw_only=True)
class Junction:
    """The factors between a layer and the one that it feeds."""

    upper: str
    inputs: Tensor  # Ā of lower and upper
    outputs: Tensor  # G of lower and upper


@final
@dataclass(frozen=True, kw_only=True)
class Factors:
    """Ā and G of each layer by its name, and of each junction by the name of its lower layer."""

    inputs: Matrices
    outputs: Matrices
    junctions: Mapping[str, Junction]

    @classmethod
    def of(cls, rows: Mapping[str, Rows], junctions: Mapping[str, str]) -> Self:
        """Estimate them from rows of the same cases; junctions go from lower to upper layers."""
        return cls(
            inputs={name: input_factor(row.inputs, bias=False) for name, row in rows.items()},
            outputs={name: _summed([output_factor(g) for g in row.slopes]) for name, row in rows.items()},
            junctions={
                lower: _junction(rows[lower], upper, rows[upper]) for lower, upper in junctions.items()
            },
        )

    def is_finite(self) -> bool:
        """Return whether no case was infinite or no number: one that is shows in its factor's trace."""
        factors = [*self.inputs.values(), *self.outputs.values()]
        return all(bool(factor.trace().isfinite()) for factor in factors)

    def mixed(self, new: Self, keep: float) -> Self:
        """Return the part `keep` of these and the rest of the new ones, which are overwritten."""
        return type(self)(
            inputs={name: _mixed(old, new.inputs[name], keep) for name, old in self.inputs.items()},
            outputs={name: _mixed(old, new.outputs[name], keep) for name, old in self.outputs.items()},
            junctions={
                name: Junction(
                    upper=old.upper,
                    inputs=_mixed(old.inputs, new.junctions[name].inputs, keep),
                    outputs=_mixed(old.outputs, new.junctions[name].outputs, keep),
                )
                for name, old in self.junctions.items()
            },
        )

    def mean_diagonal(self) -> float:
        """Return the mean of the diagonal of the block-diagonal matrix: the scale of its curvature."""
        traces = [float(a.trace()) * float(self.outputs[name].trace()) for name, a in self.inputs.items()]
        return sum(traces) / sum(len(a) * len(self.outputs[name]) for name, a in self.inputs.items())

    def state_dict(self) -> dict[str, Any]:
        """Return tensors and names alone."""
        junctions = {
            lower: (junction.upper, junction.inputs, junction.outputs)
            for lower, junction in self.junctions.items()
        }
        return {"inputs": dict(self.inputs), "outputs": dict(self.outputs), "junctions": junctions}

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> Self:
        """Return what another was."""
        junctions = {
            lower: Junction(upper=upper, inputs=inputs, outputs=outputs)
            for lower, (upper, inputs, outputs) in state["junctions"].items()
        }
        return cls(inputs=dict(state["inputs"]), outputs=dict(state["outputs"]), junctions=junctions)


@final
class FactorAverages:
    """Running averages S ← ε S + (1 - ε) S_batch with ε = min(1 - 1/k, decay) (sec. 6.5).

    k counts estimates, this one included, so that the first counts in full and nothing is assumed before it.
    """

    def __init__(self, decay: float) -> None:
        self.decay = decay
        self.estimates = 0
        self.factors: Factors | None = None

    def add(self, factors: Factors) -> Factors:
        """Take in an estimate, whose tensors become the average's, and return the average.

        All estimates have the same layers and junctions.
        """
        self.estimates += 1
        keep = min(1 - 1 / self.estimates, self.decay)
        self.factors = factors if self.factors is None else self.factors.mixed(factors, keep)
        return self.factors

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        return {
            "estimates": self.estimates,
            "factors": None if self.factors is None else self.factors.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what another returned."""
        self.estimates, factors = state["estimates"], state["factors"]
        self.factors = None if factors is None else Factors.from_state_dict(factors)


def _junction(lower: Rows, upper_name: str, upper: Rows) -> Junction:
    pairs = zip(lower.slopes, upper.slopes, strict=True)
    cases = len(lower.inputs)
    return Junction(
        upper=upper_name,
        inputs=cross_factor(lower.inputs, upper.inputs),
        # rows hold g/n: n² (1/n) Σ (g/n)(g/n)ᵀ
        outputs=_summed([cases**2 * cross_factor(below, above) for below, above in pairs]),
    )


def _summed(matrices: Sequence[Tensor]) -> Tensor:
    return matrices[0] if len(matrices) == 1 else torch.stack(list(matrices)).sum(dim=0)


def _mixed(old: Tensor, new: Tensor, keep: float) -> Tensor:
    return torch.lerp(new, old, keep, out=new)  # fresh memory for large matrices costs more than the sum
