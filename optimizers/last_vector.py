from typing import final

from torch import Tensor

from optimizers.curvature.vectors import Params, flat, shaped


@final
class LastVector:
    """A vector that an update leaves for the next one, by the names of parameters: layers may be unfrozen."""

    def __init__(self) -> None:
        self._parts: Params = {}

    def keep(self, vector: Tensor, params: Params) -> None:
        """Take it in the place of what was kept."""
        self._parts = shaped(vector, params)

    def forget(self) -> None:
        """Keep nothing."""
        self._parts = {}

    def among(self, params: Params) -> Tensor | None:
        """Return a flat copy, where and as precise as these parameters are; None where it is of others."""
        if self._parts.keys() != params.keys():
            return None
        return flat({name: part.to(params[name]) for name, part in self._parts.items()})

    def state_dict(self) -> Params:
        """Return all that a resumed run needs."""
        return dict(self._parts)

    def load_state_dict(self, state: Params) -> None:
        """Take over what another returned."""
        self._parts = dict(state)
