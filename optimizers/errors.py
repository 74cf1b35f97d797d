"""What can go wrong, and what to do about it.

OptimizerError
├── UnsupportedModelError       the model has a part this optimizer would train wrongly
├── SingularFactorError         a curvature factor of a layer has no inverse
├── NotPositiveDefiniteError    the same of any matrix, said by a solver, which does not know the layer
├── NotFiniteError              a curvature matrix has entries that are infinite or no number
├── NotConvergedError           an eigen-decomposition did not converge
├── TooLargeError               a dense matrix would be larger than was allowed
├── NotHeardError               in the usual loop, an update is due and the passes were not heard
└── UnsoundError                an objective or a layer contradicts itself
"""

from collections.abc import Callable, Sequence

from torch import Tensor


class OptimizerError(Exception):
    """Any refusal of ours to go on."""

    def __reduce__(self) -> "tuple[Callable[..., OptimizerError], tuple[type[OptimizerError], str]]":
        return _said_again, (type(self), str(self))


def _said_again(kind: type[OptimizerError], said: str) -> OptimizerError:
    """Return an error that came from another process, where what it speaks of has stayed."""
    return kind.__new__(kind, said)


class UnsupportedModelError(OptimizerError):
    """The model has a part which this optimizer would train wrongly, so it does not train at all."""

    def __init__(self, layer: str, problem: str, remedy: str) -> None:
        super().__init__(f"Layer {_named(layer)} {problem}. {remedy}")


class SingularFactorError(OptimizerError):
    """A damped curvature factor has no finite inverse, not even in float64."""

    def __init__(self, layer: str, damping: float) -> None:
        super().__init__(
            f"A curvature factor of layer {_named(layer)} has no finite inverse at damping {damping:g}, "
            f"not even in float64. Raise the damping; if the layer's inputs are huge, scale them down."
        )


class NotPositiveDefiniteError(OptimizerError):
    """A matrix has no Cholesky root, or not a finite one."""

    def __init__(self, matrix: Tensor) -> None:
        super().__init__(
            f"The {tuple(matrix.shape)} matrix in {matrix.dtype} is not positive definite, or not finite. "
            f"Add damping, or use float64."
        )


class NotFiniteError(OptimizerError):
    """A curvature matrix has entries that are infinite or no number."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The curvature {name!r} has entries that are not finite. Look for inputs or activations that "
            f"overflow; a lower lr or more damping keeps the weights from growing so far."
        )


class NotConvergedError(OptimizerError):
    """An eigen-decomposition did not converge, not even in float64."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The eigen-decomposition of the curvature {name!r} did not converge, not even in float64. "
            f"Look for inputs or activations of very unequal size."
        )


class TooLargeError(OptimizerError):
    """A dense matrix would be larger than was allowed."""

    def __init__(self, optimizer: str, parameters: int, limit: int) -> None:
        super().__init__(
            f"{optimizer} writes out a matrix of {parameters:,} x {parameters:,} entries for the trained "
            f"parameters of this model; its limit is {limit:,}. Train a smaller model, or use KFAC."
        )


class NotHeardError(OptimizerError):
    """In the usual loop, an update is due of which the forward and backward passes were not heard."""

    def __init__(self, optimizer: str, problem: str, remedy: str) -> None:
        super().__init__(f"{optimizer} {problem}. {remedy}")


class UnsoundError(OptimizerError):
    """An objective or a layer contradicts itself."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        super().__init__(f"{name} contradicts itself: {'; '.join(problems)}.")


def _named(layer: str) -> str:
    return repr(layer) if layer else "(the model itself)"
