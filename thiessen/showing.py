"""Figures for people: plotly draws what `thiessen.figures` made."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thiessen.errors import ThiessenError
from thiessen.figures import Theme, Wanted
from thiessen.figures import side_by_side as panels
from thiessen.figures.sources import of_results

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from thiessen.study import Study


def shown(figure: Mapping[str, Any]) -> "go.Figure":
    """Return plotly's JSON as a figure of plotly. Raises ThiessenError without the package."""
    try:
        import plotly.graph_objects as go
    except ModuleNotFoundError:
        raise ThiessenError("figures need the package plotly: pip install 'thiessen[figures]'") from None
    return go.Figure(figure)


def side_by_side(
    studies: Mapping[str, "Study"], *, x: str | None = None, y: str | None = None, theme: Theme = "light"
) -> "go.Figure":
    """Return several searches of one space in panels, on the same axes and one scale of colours.

    Raises FigureError where their spaces or directions differ.
    """
    trials = {
        name: of_results(name, study.space, study.direction, study.results())
        for name, study in studies.items()
    }
    return shown(panels(trials, Wanted(x=x, y=y, theme=theme)))


def page(figure: Mapping[str, Any], file: Path) -> None:
    """Write a page that shows a figure without a network. Raises ThiessenError without plotly."""
    shown(figure).write_html(file, include_plotlyjs=True, config={"displaylogo": False, "responsive": True})


def pieces(figures: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return figures as pieces of one page without a network: the first one brings what draws them all.

    Raises ThiessenError without plotly.
    """
    config = {"displaylogo": False, "responsive": True}
    return [
        shown(figure).to_html(full_html=False, include_plotlyjs=place == 0, config=config)
        for place, figure in enumerate(figures)
    ]
