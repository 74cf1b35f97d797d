"""Many draws at once are the draws of one at a time: the same configs, of the same numbers."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.conftest import a_landscape, losses, mixed_spaces
from thiessen.columns import Columns
from thiessen.search import Stream, local
from thiessen.search.draws import Draws
from thiessen.search.strategy import draw
from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space

ODD = Space(
    wide=Int(-(2**53), 2**53),
    thirds=Int(-(2**53), 2**53, step=3),
    long=Int(1, 2**53, log=True),
    huge=Float(-1e308, 7e307),
    whole=Float(10**17 + 1, 10**18),
    tiny=Float(1e-320, 1e-310),
    fixed=Float(5, 5),
    spread=Float(1e-300, 1e300, log=True),
    numbers=Categorical((1, 1.0, True, "1", None)),
    when_one=Ordinal((4, 2, 9), when={"numbers": [1, True]}),
    below=Boolean(when={"when_one": [2]}),
)
spaces = st.one_of(mixed_spaces(), st.just(ODD))


def bits(rows):
    """All numbers as text; NaN is one number."""
    return [[float(number).hex() for number in row] for row in rows]


@settings(max_examples=150)
@given(space=spaces, data=st.data())
def test_columns_are_decoded_and_encoded_to_the_bits_of_one_config_at_a_time(space, data):
    unit = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0, 1 - 2.0**-53, 0.1]))
    row = st.lists(unit, min_size=len(space.dimensions), max_size=len(space.dimensions))
    units = data.draw(st.lists(row, min_size=1, max_size=20))
    columns, configs = Columns(space), [space.decode(row) for row in units]

    codes = columns.decoded(np.array(units))

    assert bits(codes) == bits(map(columns.codes, configs))
    assert bits(columns.encoded(codes)) == bits(map(space.encode, configs))


@settings(max_examples=150)
@given(
    space=spaces, values=st.lists(losses, min_size=1, max_size=30), seed=st.integers(0, 2**32), data=st.data()
)
def test_what_is_drawn_at_once_is_what_is_drawn_one_by_one(space, values, seed, data):
    landscape, _ = a_landscape(space, values, seed=data.draw(st.sampled_from([seed, seed + 1])))
    are_local = data.draw(st.booleans())
    batches = data.draw(st.lists(st.integers(1, 60), min_size=1, max_size=4))
    at_once, rng = Draws(landscape, Stream(seed, 0), are_local=are_local), Stream(seed, 0)
    begun = 0
    for size in batches:
        at_once.more(range(begun, begun := begun + size))

    expected = []
    for number in range(begun):
        parent = local.parent_of(landscape, rng) if are_local else None
        config = local.changed(parent, space, rng) if are_local else draw(space, rng)
        if not landscape.is_taken(config):
            expected.append((number, config, parent and repr(parent), rng.uniform()))

    places = range(len(at_once))
    found = [
        (at_once.numbers[at], at_once.config(at), at_once.parents[at], at_once.uniforms[at]) for at in places
    ]
    assert [(*each[:2], each[2] and repr(each[2]), each[3]) for each in found] == expected
    assert bits(at_once.points[: len(at_once)]) == bits(space.encode(config) for _, config, _, _ in expected)
    assert at_once._rng.spent == rng.spent


def test_a_whole_number_where_a_float_is_due_is_taken_and_is_not_the_float():
    landscape, _ = a_landscape(Space(x=Float(0.0, 4.0), n=Int(0, 4)), [])
    landscape.take({"x": 1, "n": 2})
    assert landscape.is_taken({"n": 2, "x": 1})
    assert not landscape.is_taken({"x": 1.0, "n": 2})
    assert landscape.is_taken_each(np.array([[1.0, 2.0]])) == [False]


@given(space=spaces, seed=st.integers(0, 2**32))
def test_equal_configs_share_a_digest_and_others_do_not(space, seed):
    landscape, _ = a_landscape(space, [], seed=seed)
    configs = [space.decode([Stream(seed, k // 2).uniform() for _ in space.dimensions]) for k in range(20)]
    for config in configs[:10]:
        landscape.take(config)
    codes = np.array([landscape.columns.codes(config) for config in configs])
    expected = [config in configs[:10] for config in configs]
    assert landscape.is_taken_each(codes) == [landscape.is_taken(config) for config in configs] == expected
