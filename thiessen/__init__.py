"""Thiessen: hyperparameter search by biased random search.

The public names load on first use, so that `import thiessen` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thiessen.version import __version__

if TYPE_CHECKING:
    from thiessen.client import Client
    from thiessen.errors import ThiessenError
    from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space

__all__ = [
    "Boolean",
    "Categorical",
    "Client",
    "Float",
    "Int",
    "Ordinal",
    "Space",
    "ThiessenError",
    "__version__",
]

_HOMES = {"Client": "thiessen.client", "ThiessenError": "thiessen.errors"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'thiessen' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "thiessen.space")), name)


def __dir__() -> list[str]:
    return __all__
