import copy
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thiessen.search import STRATEGIES, Exhausted, Grid, Landscape, Stream
from thiessen.search.strategy import MAX_DRAWS
from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space, config_key

EVERY = 64  # levels, so that the grids here leave out no integer
TABLE = STRATEGIES | {
    "grid": Grid(EVERY),
    "shuffled grid": Grid(EVERY, "shuffled"),
    "coarse to fine grid": Grid(EVERY, "coarse_to_fine"),
}
pytestmark = pytest.mark.parametrize("strategy", TABLE.values(), ids=TABLE)

FINITE = [
    Space(only=Float(2, 2)),
    Space(only=Categorical(("a",))),
    Space(flag=Boolean(), n=Int(1, 50, log=True)),
    Space(kind=Categorical((1, 1.0, True)), size=Ordinal((1, 2), when={"kind": [1.0]}), n=Int(0, 9, step=4)),
    Space(lone=Float(1, 1, when={"flag": [True]}), flag=Boolean()),
]


def proposal_or_none(strategy, landscape, *, seed=1, turn=0):
    try:
        return strategy.propose(landscape.space, landscape, turn, Stream(seed, 99 + turn))
    except Exhausted:
        return None


def number_of_points(space):
    return len(list(space.points([0.0] * len(space.dimensions))))


def test_a_strategy_goes_by_its_name_and_has_a_version(strategy):
    assert isinstance(strategy, type(STRATEGIES[strategy.name]))
    assert strategy.version == 1


@given(data=st.data(), seed=st.integers(0, 2**53 - 1))
def test_a_proposal_lies_in_the_space_and_is_not_taken(strategy, data, seed, mixed_landscapes):
    landscape, _ = data.draw(mixed_landscapes())
    proposal = proposal_or_none(strategy, landscape, seed=seed)
    if proposal is None:
        assert all(map(landscape.is_taken, landscape.space.points([0.5] * len(landscape.space.dimensions))))
        return
    landscape.space.validate(proposal.config)
    assert not landscape.is_taken(proposal.config)
    assert proposal.reasons.strategy == strategy.name
    assert proposal.reasons.watermark == landscape.watermark
    assert 0 <= proposal.reasons.refused <= MAX_DRAWS


@given(data=st.data())
def test_the_same_landscape_and_stream_give_the_same_proposal(strategy, data, mixed_landscapes):
    landscape, _ = data.draw(mixed_landscapes())
    again = copy.deepcopy(landscape)
    assert proposal_or_none(strategy, landscape) == proposal_or_none(strategy, again)


@given(data=st.data())
def test_to_propose_changes_nothing(strategy, data, mixed_landscapes):
    landscape, told = data.draw(mixed_landscapes())
    before = state(landscape)

    proposal_or_none(strategy, landscape)

    assert state(landscape) == before
    assert len(landscape) == len(told)


def state(landscape):
    finished = [repr(landscape.ranked(place)) for place in range(len(landscape))]
    taken = [list(bucket) for bucket in landscape._taken._buckets]
    rest = [taken, dict(landscape.pending), landscape.space.to_json()]
    return [finished, *rest, landscape.best, landscape.worst, landscape.watermark]


def test_other_turns_give_other_proposals_and_so_do_other_seeds_except_on_a_grid(strategy):
    landscape = Landscape(Space(x=Float(0.0, 1.0)))
    keys = [(seed, turn) for seed in range(10) for turn in range(10)]
    proposals = [
        proposal_or_none(strategy, landscape, seed=seed, turn=turn).config["x"] for seed, turn in keys
    ]
    assert len(set(proposals[:10])) == 10
    assert len(set(proposals)) == 100 or (strategy.name == "grid" and len(set(proposals)) <= EVERY)


def test_a_proposal_cannot_be_changed(strategy):
    proposal = proposal_or_none(strategy, Landscape(Space(x=Float(0.0, 1.0))))
    with pytest.raises(FrozenInstanceError):
        proposal.reasons = None


@pytest.mark.parametrize("space", FINITE)
def test_a_finite_space_ends_exactly_when_every_config_is_taken(strategy, space):
    landscape = Landscape(space)
    seen = set()
    for trial in range(number_of_points(space)):
        config = strategy.propose(space, landscape, trial, Stream(3, trial)).config
        seen.add(config_key(config))
        landscape.take(config)
        landscape.observe(trial, config, float(trial % 3))

    assert len(seen) == number_of_points(space)
    with pytest.raises(Exhausted):
        strategy.propose(space, landscape, len(seen), Stream(3, len(seen)))


@pytest.mark.parametrize(
    "child",
    [Float(0.0, 1.0, when={"kind": [0]}), Int(0, 10**9, when={"kind": [0]}), Int(0, 1, when={"kind": [0]})],
)
def test_a_rare_branch_with_room_is_found_when_all_the_others_are_taken(strategy, child):
    landscape = Landscape(Space(kind=Categorical(range(5_000)), child=child))
    for kind in range(1, 5_000):
        landscape.take({"kind": kind})

    for trial in range(2):
        proposal = strategy.propose(landscape.space, landscape, trial, Stream(0, trial))
        landscape.take(proposal.config)
        assert list(proposal.config) == ["kind", "child"]


def test_a_space_whose_only_continuum_is_out_of_reach_ends(strategy):
    landscape = Landscape(Space(kind=Boolean(), child=Float(3.0, 3.0, when={"kind": [True]})))
    for config in ({"kind": False}, {"kind": True, "child": 3.0}):
        landscape.take(config)
    assert proposal_or_none(strategy, landscape) is None
