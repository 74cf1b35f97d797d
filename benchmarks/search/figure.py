"""RET against trials, one line a method, as an SVG that needs nothing else."""

import math
from collections.abc import Mapping, Sequence
from itertools import cycle

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 420, 60, 170, 20, 45
DASHES = ("", "8 3", "2 3", "8 3 2 3", "14 4", "4 4", "1 5", "12 3 2 3 2 3")  # colour is never the only sign
COLOURS = ("#1f5fa8", "#b3412e", "#3c7d3c", "#7b4fa0", "#8a6d1a", "#1d8a8a", "#a03c74", "#555555")


def drawn(lines: Mapping[str, Sequence[float]]) -> str:
    """Return the figure; each line is the RET after 1, 2, ... trials."""
    trials = max(len(line) for line in lines.values())
    top = math.ceil(math.log10(max(max(line) for line in lines.values())))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"',
        'font-size="12" role="img" aria-label="Random-equivalent trials against trials">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for power in range(top + 1):
        y = _y(10.0**power, top)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10**power:,}</text>')
    for at in range(0, trials + 1, 25):
        x = _x(at, trials)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{at}</text>')
    parts.append(
        f'<text x="{_x(trials / 2, trials):.1f}" y="{HEIGHT - 8}" text-anchor="middle">trials</text>'
    )
    parts.append(f'<text x="{LEFT}" y="{TOP - 6}">random-equivalent trials</text>')
    labels = _apart({name: _y(max(line[-1], 1.0), top) for name, line in lines.items()})
    for (name, line), colour, dash in zip(lines.items(), cycle(COLOURS), cycle(DASHES), strict=False):
        points = " ".join(f"{_x(k, trials):.1f},{_y(max(v, 1.0), top):.1f}" for k, v in enumerate(line, 1))
        style = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        parts.append(f'<polyline points="{points}" {style}/>')
        parts.append(
            f'<text x="{WIDTH - RIGHT + 8}" y="{labels[name] + 4:.1f}" fill="{colour}">{name}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


def _apart(wanted: Mapping[str, float], gap: float = 15.0) -> dict[str, float]:
    """Move labels down until none covers another."""
    placed: dict[str, float] = {}
    for name in sorted(wanted, key=lambda name: wanted[name]):
        placed[name] = max([wanted[name], *(y + gap for y in placed.values())])
    return placed


def _x(trials: float, most: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * trials / most


def _y(ret: float, top: int) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log10(ret) / top
