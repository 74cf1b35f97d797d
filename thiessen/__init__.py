"""Thiessen: hyperparameter search by biased random search.

The public names load on first use, so that `import thiessen` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thiessen.version import __version__

if TYPE_CHECKING:
    from thiessen.client import Client
    from thiessen.errors import ThiessenError
    from thiessen.opening import connect, minimize, open_study
    from thiessen.showing import side_by_side
    from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space
    from thiessen.study import Result, Study
    from thiessen.trial import Diverged, Pruned, Trial

__all__ = [
    "Boolean",
    "Categorical",
    "Client",
    "Diverged",
    "Float",
    "Int",
    "Ordinal",
    "Pruned",
    "Result",
    "Space",
    "Study",
    "ThiessenError",
    "Trial",
    "__version__",
    "connect",
    "minimize",
    "open_study",
    "side_by_side",
]

_HOMES = {
    "Client": "thiessen.client",
    "Diverged": "thiessen.trial",
    "Pruned": "thiessen.trial",
    "Result": "thiessen.study",
    "Study": "thiessen.study",
    "ThiessenError": "thiessen.errors",
    "Trial": "thiessen.trial",
    "connect": "thiessen.opening",
    "minimize": "thiessen.opening",
    "open_study": "thiessen.opening",
    "side_by_side": "thiessen.showing",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'thiessen' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "thiessen.space")), name)


def __dir__() -> list[str]:
    return __all__
