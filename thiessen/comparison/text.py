"""A comparison as people write it: TOML, YAML or JSON, and in which line something is wrong."""

from typing import TYPE_CHECKING

from thiessen.study_text import Kind, WrongText, faults, parsed

if TYPE_CHECKING:
    from thiessen.contract import ComparisonSpec


def read(text: str, kind: Kind, name: str | None = None, *, has_aliases: bool = True) -> "ComparisonSpec":
    """Return the comparison of a text; `name` is for one that has none. Raises WrongText.

    A few aliases of YAML can stand for more than a machine holds: of strangers they are not read.
    """
    from pydantic import ValidationError

    from thiessen.contract import ComparisonSpec

    document = parsed(text, kind, has_aliases=has_aliases)
    if name is not None and isinstance(document, dict):
        document = {"name": name, **document}
    try:
        return ComparisonSpec.model_validate(document)
    except ValidationError as error:
        raise WrongText("is not a comparison", faults(error, ComparisonSpec, document, text, kind)) from error
