"""How figures look: colours for light and for dark, and what every layout has."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from thiessen.figures.text import lines

Theme = Literal["light", "dark"]
Figure = dict[str, Any]
"""What plotly draws: `data` and `layout`."""

FONT: Final = '-apple-system, "Segoe UI", Inter, Roboto, "Noto Sans", system-ui, sans-serif'
MONO: Final = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'
TITLE: Final = 15
LABEL: Final = 12  # never smaller
HEAD: Final = 36  # pixels of the title
LINE: Final = 17  # pixels a line of the caption
MARGIN: Final = 12  # pixels between the caption and the figure
ROW: Final = 19  # pixels a line of the legend
ENTRY: Final = 66  # pixels a word of it
ABREAST: Final = 2  # of these on a phone


class Table(NamedTuple):
    """What a figure shows in words and numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | float]]


class Tokens(NamedTuple):
    """The colours of a theme. Losses have a scale of their own; the rest is ink on paper."""

    surface: str
    sunken: str
    line: str
    edge: str
    ink: str
    ink2: str
    ink3: str
    best: str
    star: str
    running: str
    pruned: str
    diverged: str
    failed: str
    losses: tuple[str, ...]  # the best first: equal steps of lightness, also for the colour-blind


# Steps of equal OKLab distance, checked with simulated colour deficiencies. In the dark the scale is turned
# round: the best stands out of the page, the worst sinks into it.
_LIGHT: Final = (
    "1b226b 1a2a71 1a3177 18397d 164083 144889 114f8e 0e5694 085e98 03669b 006d9e "
    "0175a1 057ca4 0e83a7 188ba9 2292ac 2c99ae 37a0af 44a6af 50adaf 5db3af 6ab9af "
    "77bfb0 84c4b1 91cab3 9ecfb6 acd4b7 bad9b9 c7ddbd d4e2c2 e0e6c9 ebebd1 f5f1da"
)
_DARK: Final = (
    "c1fdff b5f6ff a8f0fb 9ceaf7 8fe4f3 82ddf0 74d7ec 66d1e9 5ec9e3 59c1dd 54bad7 "
    "4fb2d1 4aaacb 46a3c5 419bbe 3d94b8 3a8cb1 3b85aa 3b7da2 3b769a 3b6e93 3a678b "
    "396083 375a7b 355372 334d69 304760 2e4156 2b3b4d 293644 26303b 242a32 212529"
)

THEMES: Final[Mapping[Theme, Tokens]] = {
    "light": Tokens(
        surface="#ffffff",
        sunken="#eeeeea",
        line="#dfdfd9",
        edge="#83878d",
        ink="#15181c",
        ink2="#474c53",
        ink3="#62676e",
        best="#b8430a",
        star="#f06a1c",
        running="#1a5fae",
        pruned="#7a5600",
        diverged="#8f2a78",
        failed="#b3261e",
        losses=tuple(f"#{each}" for each in _LIGHT.split()),
    ),
    "dark": Tokens(
        surface="#14181c",
        sunken="#1b2025",
        line="#2a3036",
        edge="#737a83",
        ink="#e9ebed",
        ink2="#b9bec5",
        ink3="#959ba4",
        best="#ffa05c",
        star="#ff8a3d",
        running="#7db4f5",
        pruned="#d9b457",
        diverged="#e793d0",
        failed="#ff8f86",
        losses=tuple(f"#{each}" for each in _DARK.split()),
    ),
}


def colours(theme: Theme) -> list[list[Any]]:
    """Return the scale of losses as plotly takes it, from the best at 0 to the worst at 1."""
    scale = THEMES[theme].losses
    return [[at / (len(scale) - 1), colour] for at, colour in enumerate(scale)]


def drawn(
    theme: Theme,
    traces: Sequence[Mapping[str, Any]],
    *,
    kind: str,
    title: str,
    caption: str,
    table: Table,
    height: int = 440,
    legend: bool = False,
    left: int = 64,
    right: int = 24,
    bottom: int = 56,
    above: int = 0,
    meta: Mapping[str, Any] | None = None,
    **layout: Any,
) -> Figure:
    """Return a figure: the traces, and a layout with its title and a caption that says what is shown.

    `layout.meta` repeats both for those who hear a figure, or put it where a title stands already: they take
    `head` pixels away from its height and its upper margin. It has the numbers as a table too.
    """
    tokens = THEMES[theme]
    told = lines(caption)
    head = HEAD + LINE * len(told)
    top = head + MARGIN + above
    entries = sum(trace.get("showlegend", True) and bool(trace.get("name")) for trace in traces)
    foot = bottom + (ROW * -(-entries // ABREAST) + 16 if legend else 0)
    caption_html = "<br>".join(told)
    return {
        "data": list(traces),
        "layout": {
            "meta": {
                "figure": kind,
                "title": title,
                "caption": caption,
                "head": head,
                "table": table._asdict(),
                **(meta or {}),
            },
            "title": {
                "text": title,
                "subtitle": {"text": caption_html, "font": {"size": LABEL, "color": tokens.ink3}},
                "font": {"size": TITLE, "color": tokens.ink},
                "x": 0,
                "xref": "container",
                "xanchor": "left",
                "y": 1,
                "yref": "container",
                "yanchor": "top",
                "pad": {"t": 14, "l": 16},
            },
            "font": {"family": FONT, "size": LABEL, "color": tokens.ink2},
            "paper_bgcolor": tokens.surface,
            "plot_bgcolor": tokens.surface,
            "height": height + top + foot,
            "autosize": True,
            "margin": {"l": left, "r": right, "t": top, "b": foot, "autoexpand": False},
            "hoverlabel": {
                "bgcolor": tokens.surface,
                "bordercolor": tokens.edge,
                "font": {"family": FONT, "size": LABEL, "color": tokens.ink},
            },
            "hovermode": "closest",
            "showlegend": legend,
            "legend": {
                "orientation": "h",
                "x": 0.01,
                "xref": "container",
                "xanchor": "left",
                "y": -bottom / height,
                "yanchor": "top",
                "entrywidth": ENTRY,
                "font": {"size": LABEL, "color": tokens.ink2},
                "itemsizing": "trace",
                "tracegroupgap": 0,
                "bgcolor": "rgba(0,0,0,0)",
            },
            **layout,
        },
    }


def axis(theme: Theme, **said: Any) -> dict[str, Any]:
    """Return an axis: outer ticks, faint grid lines where they are asked for."""
    tokens = THEMES[theme]
    return {
        "showgrid": False,
        "gridcolor": tokens.line,
        "zeroline": False,
        "showline": True,
        "linecolor": tokens.edge,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": tokens.edge,
        "tickfont": {"size": LABEL, "color": tokens.ink3},
        "exponentformat": "power",
        **said,
    }


def axis_title(theme: Theme, text: str, *, mono: bool = False) -> dict[str, Any]:
    """Return the title of an axis; names of dimensions are in the letters of what can be pasted."""
    font = {"size": LABEL, "color": THEMES[theme].ink2} | ({"family": MONO} if mono else {})
    return {"text": text, "font": font, "standoff": 8}


def upright(theme: Theme, text: str, left: int) -> dict[str, Any]:
    """Return the name of an upright axis, at the left edge of a figure with this margin.

    A title would do, but plotly moves it into the figure when the page changes its width.
    """
    font = {"size": LABEL, "family": MONO, "color": THEMES[theme].ink2}
    where = {"x": 0, "xanchor": "center", "xshift": 14 - left, "y": 0.5, "yanchor": "middle"}
    return note(theme, text, textangle=-90, font=font, **where)


def note(theme: Theme, text: str, **where: Any) -> dict[str, Any]:
    """Return a line of text somewhere in the figure."""
    return {
        "text": text,
        "showarrow": False,
        "font": {"size": LABEL, "color": THEMES[theme].ink3},
        "xref": "paper",
        "yref": "paper",
        "align": "left",
        **where,
    }
