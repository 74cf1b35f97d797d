"""No history makes a proposal loop for ever, leave the space or fill the memory."""

import math
import tracemalloc
from itertools import cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thiessen.search import STRATEGIES, Exhausted, Landscape, Stream
from thiessen.search.strategy import MAX_DRAWS, MOST_LISTED
from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space

MOST_BYTES = 12 * 2**20  # that a proposal allocates at once; no history here has more than 10,000 trials
pytestmark = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)

LINE = Space(x=Float(0.0, 1.0))
PLANE = Space(x=Float(0.0, 1.0), y=Float(1e-6, 1.0, log=True))
FINITE = Space(a=Int(0, 9), b=Ordinal(tuple(range(10))), flag=Boolean(), c=Float(1, 1, when={"flag": [True]}))
MANY = Space(kind=Categorical(tuple(range(10_000))))
DEPTH = 20
CHAIN = Space(**{f"b{n}": Boolean(when={f"b{n - 1}": [True]} if n else None) for n in range(DEPTH)})
RARE_BRANCH = Space(kind=MANY.dimensions["kind"], **{f"b{n}": Boolean(when={"kind": [0]}) for n in range(43)})


class PatientStream(Stream):
    """A stream that fails, so that nothing hangs, when it is asked for more than 256 candidates may need."""

    def __init__(self, space):
        super().__init__(seed=5, trial=7)
        self.left = (MAX_DRAWS + 1) * (3 * len(space.dimensions) + 8)

    def uniform(self):
        return self._counted(super().uniform)

    def integer(self, below):
        return self._counted(super().integer, below)

    def normal(self):
        return self._counted(super().normal)

    def _counted(self, number, *arguments):
        self.left -= 1
        assert self.left >= 0, "too many numbers drawn"
        return number(*arguments)


class PatientLandscape(Landscape):
    """A landscape that fails when it is asked about too many candidates."""

    def __init__(self, space, *, taken=(), nearly_full=False):
        super().__init__(space)
        taken = list(taken)
        for config in taken:
            self.take(config)
        # Whoever lists what remains passes over what is taken; so do the points of a grid.
        self.left = MAX_DRAWS + len(taken) + nearly_full * MOST_LISTED

    def is_taken(self, config):
        self.left -= 1
        assert self.left >= 0, "too many candidates drawn"
        return super().is_taken(config)

    def told(self, pairs):
        for trial, (config, loss) in enumerate(pairs):
            self.observe(trial, config, loss)
        return self


def random_configs(space, number):
    for trial in range(number):
        stream = Stream(3, trial)
        yield space.decode([stream.uniform() for _ in space.dimensions])


def with_losses(space, losses, number=1_000):
    return PatientLandscape(space).told(zip(random_configs(space, number), cycle(losses), strict=False))


def needle():
    """Only the ten thousandth of the line next to 0 has an acceptance above 0."""
    return PatientLandscape(LINE).told([({"x": 0.0}, 0.0), ({"x": 2e-4}, 1.0), ({"x": 0.5}, 1.0)])


def needle_beside_duplicates():
    duplicates = [({"x": 0.5}, 1.0)] * 10_000
    return PatientLandscape(LINE).told([*duplicates, ({"x": 2e-4}, 1.0), ({"x": 0.0}, 0.0)])


def diverged_duplicates():
    return PatientLandscape(LINE).told([*[({"x": 0.5}, None)] * 10_000, ({"x": 0.0}, 0.0)])


def choices(taken):
    configs = [{"kind": kind} for kind in range(taken)]
    landscape = PatientLandscape(MANY, taken=configs, nearly_full=True)
    return landscape.told([(config, float(config["kind"] != 0)) for config in configs])


def finite(taken):
    configs = list(islice(FINITE.points([0.0] * 4), taken))
    landscape = PatientLandscape(FINITE, taken=configs, nearly_full=True)
    return landscape.told([(config, float(trial % 7)) for trial, config in enumerate(configs)])


def chain(taken):
    """Almost every draw ends after a few of the conditions, where all is taken."""
    ends = [{f"b{n}": n < end for n in range(end + 1)} for end in range(taken)]
    landscape = PatientLandscape(CHAIN, taken=ends, nearly_full=True)
    return landscape.told((config, None if len(config) % 2 else 1.0) for config in ends)


def rare_branch():
    """All that remains, 2**43 configs, lies under a choice that no draw hits."""
    return PatientLandscape(
        RARE_BRANCH, taken=[{"kind": kind} for kind in range(1, 10_000)], nearly_full=True
    )


HISTORIES = {
    "a needle": needle,
    "a needle beside 10,000 duplicates": needle_beside_duplicates,
    "10,000 diverged duplicates": diverged_duplicates,
    "a lucky outlier": lambda: with_losses(PLANE, [-1e9, *[1.0 + n * 1e-9 for n in range(999)]]),
    "a huge loss": lambda: with_losses(PLANE, [1e308, *map(float, range(999))]),
    "losses that overflow": lambda: with_losses(PLANE, [1.7e308, -1.7e308, 1e308, -1e308, 0.0]),
    "denormal losses": lambda: with_losses(PLANE, [5e-324, -5e-324, 1e-323, 0.0, -0.0]),
    "all diverged": lambda: with_losses(PLANE, [None, math.nan, math.inf, -math.inf]),
    "one finite": lambda: with_losses(PLANE, [1.0, *[None] * 999]),
    "all equal": lambda: with_losses(PLANE, [1.0]),
    "100 dimensions": lambda: with_losses(
        Space(**{f"x{n}": Float(0.0, 1.0) for n in range(100)}), [-1e9, *[1.0 + n * 1e-9 for n in range(999)]]
    ),
    "10,000 choices, one tried": lambda: choices(1),
    "10,000 choices, a tenth tried": lambda: choices(1_000),
    "10,000 choices, all but one tried": lambda: choices(9_999),
    "a finite space, all but one config taken": lambda: finite(199),
    "deep conditions, all but two configs taken": lambda: chain(DEPTH - 1),
    "a rare branch": rare_branch,
}
FULL = {
    "a finite space": lambda: finite(200),
    "10,000 choices": lambda: choices(10_000),
    "one config": lambda: PatientLandscape(Space(x=Float(1, 1)), taken=[{"x": 1.0}], nearly_full=True),
}


@pytest.fixture(scope="module", autouse=True)
def _everything_is_imported():
    for strategy in STRATEGIES.values():
        strategy.propose(LINE, Landscape(LINE), 0, Stream(0, 0))


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_a_free_config_is_found_with_few_draws_and_little_memory(strategy, history):
    landscape = history()
    stream = PatientStream(landscape.space)
    tracemalloc.start()
    try:
        config = strategy.propose(landscape.space, landscape, 0, stream).config
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < MOST_BYTES
    landscape.space.validate(config)
    assert not Landscape.is_taken(landscape, config)


@pytest.mark.parametrize("history", FULL.values(), ids=FULL)
def test_a_full_space_is_exhausted_with_few_draws(strategy, history):
    landscape = history()
    with pytest.raises(Exhausted):
        strategy.propose(landscape.space, landscape, 0, PatientStream(landscape.space))


extreme_losses = st.one_of(
    st.none(), st.floats(), st.sampled_from([1e308, -1e308, 5e-324, -5e-324, math.inf, -math.inf, math.nan])
)
repeats = st.sampled_from([1, 1, 1, 2, 100])


@given(data=st.data(), turn=st.integers(0, 50), is_taken=st.booleans())
def test_any_history_gets_a_free_config_or_is_exhausted(strategy, data, turn, is_taken, mixed_spaces):
    space = data.draw(mixed_spaces)
    history = data.draw(st.lists(st.tuples(st.integers(0, 9), extreme_losses, repeats), max_size=12))
    configs = list(random_configs(space, 10))
    taken = [configs[at] for at, _, _ in history] if is_taken else []
    landscape = PatientLandscape(space, taken=taken, nearly_full=True).told(
        (configs[at], loss) for at, loss, many in history for _ in range(many)
    )

    try:
        config = strategy.propose(space, landscape, turn, PatientStream(space)).config
    except Exhausted:  # a grid may leave out some values
        free = (point for point in space.points([0.5] * len(space.dimensions)) if point not in taken)
        assert strategy.name == "grid" or not any(free)
        return
    space.validate(config)
    assert not Landscape.is_taken(landscape, config)
