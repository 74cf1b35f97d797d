from dataclasses import replace

import pytest
from hypothesis import strategies as st

from thiessen.search import Landscape, Stream
from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space

dimensions = st.sampled_from(
    [
        Float(-1.0, 3.0),
        Float(1e-3, 10.0, log=True),
        Int(0, 3),
        Int(2, 20, step=3),
        Int(1, 64, log=True),
        Categorical(("a", "b", "c")),
        Ordinal((1, 2, 4, 8)),
        Boolean(),
    ]
)


@st.composite
def mixed_spaces(draw):
    """Up to four dimensions of every kind, some of them active only where an earlier one is low."""
    made = {}
    for name in "abcd"[: draw(st.integers(1, 4))]:
        parents = [parent for parent, dimension in made.items() if not isinstance(dimension, Float)]
        made[name] = draw(dimensions)
        if parents and draw(st.booleans()):
            parent = draw(st.sampled_from(parents))
            made[name] = replace(made[name], when={parent: list(made[parent].values())[:2]})
    return Space(**made)


losses = st.one_of(st.none(), st.integers(-3, 3).map(float))  # few different ones, so that some tie


@st.composite
def mixed_landscapes(draw, values=losses, most=40):
    """A landscape over a mixed space, and the (config, loss) pairs it was told of."""
    space, seed = draw(mixed_spaces()), draw(st.integers(0, 2**53 - 1))
    return a_landscape(space, draw(st.lists(values, max_size=most)), seed=seed)


def a_config(space, *, seed=0, trial=0):
    stream = Stream(seed, trial)
    return space.decode([stream.uniform() for _ in space.dimensions])


def a_landscape(space, values, *, seed=0):
    landscape, told = Landscape(space), []
    for trial, loss in enumerate(values):
        config = a_config(space, seed=seed, trial=trial)
        landscape.take(config)
        landscape.observe(trial, config, loss)
        landscape.watermark = trial + 1
        told.append((config, loss))
    return landscape, told


def a_line(*told):
    """A landscape over [0, 1] with these (position, loss) pairs."""
    landscape = Landscape(Space(x=Float(0.0, 1.0)))
    for trial, (position, loss) in enumerate(told):
        landscape.observe(trial, {"x": position}, loss)
    return landscape


@pytest.fixture(name="a_config", scope="session")
def _a_config():
    return a_config


@pytest.fixture(name="a_landscape", scope="session")
def _a_landscape():
    return a_landscape


@pytest.fixture(name="a_line", scope="session")
def _a_line():
    return a_line


@pytest.fixture(name="mixed_spaces", scope="session")
def _mixed_spaces():
    return mixed_spaces()


@pytest.fixture(name="mixed_landscapes", scope="session")
def _mixed_landscapes():
    return mixed_landscapes
