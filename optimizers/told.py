import inspect
from typing import Any, Self

from torch.optim import Optimizer

NO_SETTINGS = {"params", "generator", "group"}


class Told(Optimizer):
    """An optimizer whose repr tells all its settings: those of groups, and those it was constructed with."""

    _constructed: dict[str, Any]  # by name, what was set for good

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Keep what is set here. A copy is made without anything, and gets it with the rest of its state."""
        del given
        optimizer = super().__new__(cls)
        settings = {**_defaults(cls), **named}
        optimizer._constructed = {name: settings[name] for name in settings if name not in NO_SETTINGS}
        return optimizer

    def __repr__(self) -> str:
        for_all = {name: value for name, value in self._constructed.items() if name not in self.defaults}
        lines = [f"    {name}: {value}" for name, value in sorted(for_all.items())]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            told = {name: self._told(name, group[name]) for name in sorted(group) if name != "params"}
            lines += [f"    {name}: {value}" for name, value in told.items()]
        return "\n".join([f"{type(self).__name__} (", *lines, ")"])

    def _told(self, name: str, value: object) -> object:
        """Return what a setting of a group means."""
        del name
        return value

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_constructed": self._constructed}


def _defaults(kind: type) -> dict[str, Any]:
    """Return the defaults of all settings, those of its base classes too."""
    constructors = [vars(each)["__init__"] for each in reversed(kind.__mro__) if "__init__" in vars(each)]
    return {
        name: parameter.default
        for constructor in constructors
        for name, parameter in inspect.signature(constructor).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty
    }
