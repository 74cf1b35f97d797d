"""The cells of a section through the nearest-neighbour model, as polygons.

On a plane through the unit cube the squared distance to a trial is that within the plane, and an offset: the
squared distance from the plane. Which trial is nearest is a power diagram: cells are convex, some trials have
none, and a trial's own mark may lie in a neighbour's.
"""

import math

import numpy as np

from thiessen.elementwise import Array

SMALLEST: float = 1e-9  # area of a cell, in that of the square
Point = tuple[float, float]


def cells(sites: Array, offsets: Array) -> list[list[Point]]:
    """Return the cells that are not empty in the unit square, each with its corners in turn.

    Sites are rows of two coordinates.
    """
    alone = _without_hidden(sites, offsets)
    sites, offsets = sites[alone], offsets[alone]
    found = (_cell(sites, offsets, at) for at in range(len(sites)))
    return [corners for corners in found if len(corners) > 2 and area(corners) > SMALLEST]


def area(corners: list[Point]) -> float:
    """Return the area of a polygon."""
    following = corners[1:] + corners[:1]
    return abs(sum(x * v - u * y for (x, y), (u, v) in zip(corners, following, strict=True))) / 2


def centre(corners: list[Point]) -> Point:
    """Return a point inside of a convex polygon."""
    return sum(x for x, _ in corners) / len(corners), sum(y for _, y in corners) / len(corners)


def _without_hidden(sites: Array, offsets: Array) -> Array:
    """Return the places of the sites, of those at one point only the one that is nearest to the plane."""
    order = np.lexsort((offsets, *sites.T))
    ordered = sites[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (np.abs(np.diff(ordered, axis=0)) > 1e-12).any(axis=1)
    return np.sort(order[is_first])


def _cell(sites: Array, offsets: Array, at: int) -> list[Point]:
    """Return the corners of a site's cell: the square, cut by the line between it and each other site.

    Lines are cut in the order of their distance from the site, and none that is farther than every corner.
    """
    x, y = sites[at].tolist()
    away = sites - sites[at]
    squared = (away**2).sum(axis=1)
    squared[at] = 1.0  # it has no line of its own, which must not be divided by 0
    distance = np.sqrt(squared)
    lines = (squared + offsets - offsets[at]) / (2 * distance)
    lines[at] = math.inf
    corners: list[Point] = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    reach = _reach(corners, x, y)
    (near,) = (lines < reach).nonzero()
    for other in near[np.argsort(lines[near], kind="stable")].tolist():
        line = float(lines[other])
        if line >= reach:
            break
        across, up = (away[other] / distance[other]).tolist()
        corners = _cut(corners, across, up, line + across * x + up * y)
        if len(corners) < 3:
            return []
        reach = _reach(corners, x, y)
    return corners


def _reach(corners: list[Point], x: float, y: float) -> float:
    return max(math.hypot(u - x, v - y) for u, v in corners)


def _cut(corners: list[Point], across: float, up: float, line: float) -> list[Point]:
    """Return the part of a convex polygon where across x + up y is at most `line`."""
    heights = [across * x + up * y - line for x, y in corners]
    kept: list[Point] = []
    for place, (here, height) in enumerate(zip(corners, heights, strict=True)):
        before, earlier = corners[place - 1], heights[place - 1]
        if (height <= 0) != (earlier <= 0):
            share = earlier / (earlier - height)
            kept.append(
                (before[0] + share * (here[0] - before[0]), before[1] + share * (here[1] - before[1]))
            )
        if height <= 0:
            kept.append(here)
    return kept
