import warnings
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, final

from optimizers.errors import NotConvergedError, NotFiniteError, NotPositiveDefiniteError
from optimizers.processes import ALONE, Processes

FAILURES = (NotConvergedError, NotFiniteError, NotPositiveDefiniteError)
PATIENCE = 3  # failures in a row before a run is stopped

Result = TypeVar("Result")


@final
class Outliving(Generic[Result]):
    """Results by name that are computed again and again as training goes on, and outlive a bad matrix.

    Where one cannot be computed its last one is kept, with one warning for each name. The third failure of a
    name in a row is raised.
    """

    def __init__(self, processes: Processes = ALONE) -> None:
        self.processes = processes  # which divide the work among them
        self.failures = 0  # of all names, since the beginning
        self._kept: dict[str, Result] = {}
        self._in_a_row: dict[str, int] = {}
        self._warned: set[str] = set()

    def __getitem__(self, name: str) -> Result:
        return self._kept[name]

    def __contains__(self, name: str) -> bool:
        return name in self._kept

    def of(self, name: str, compute: Callable[[], Result]) -> Result:
        """Compute the result anew and return it, or the last one of this name.

        Raises NotConvergedError, NotFiniteError or NotPositiveDefiniteError when there is no last one or at
        the third failure in a row.
        """
        try:
            self._kept[name] = compute()
        except FAILURES as error:
            self._failed(name, error)
        else:
            self._in_a_row[name] = 0
        return self._kept[name]

    def copy(self) -> Self:
        """Return another with the same results, which goes its own way from here."""
        other = type(self)(self.processes)
        other.load_state_dict(self.state_dict())
        other._warned = set(self._warned)  # noqa: SLF001  # of the same class
        return other

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        return {"failures": self.failures, "kept": dict(self._kept), "in_a_row": dict(self._in_a_row)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what another returned."""
        self.failures, self._kept = state["failures"], dict(state["kept"])
        self._in_a_row = dict(state["in_a_row"])

    def _failed(self, name: str, error: Exception) -> None:
        self.failures += 1
        self._in_a_row[name] = self._in_a_row.get(name, 0) + 1
        if name not in self._kept or self._in_a_row[name] >= PATIENCE:
            raise error
        if name not in self._warned:
            self._warned.add(name)
            warnings.warn(f"The last inverse of {name!r} is kept. {error}", RuntimeWarning, stacklevel=4)
