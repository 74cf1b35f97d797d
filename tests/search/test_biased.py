import json
import math
from collections import Counter
from dataclasses import replace
from itertools import count
from statistics import fmean, median, stdev

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from thiessen.search import BiasedRandom, Exhausted, Landscape, Random, Rank, SharpeningRank, Stream, biased
from thiessen.search.judgement import Judgement, chosen
from thiessen.search.strategy import MAX_DRAWS
from thiessen.space import Boolean, Categorical, Float, Int, Space

THESIS = BiasedRandom.presets["thesis"]

UNLIKELY = 0.001  # a chi-squared test on a fixed stream fails below this
extreme = st.sampled_from([1e308, -1e308, 1.7e308, -1.7e308, 5e-324, -5e-324, 0.0, 1.0, None])
any_loss = st.one_of(st.none(), st.integers(-3, 3).map(float))


def propose(landscape, *, seed=0, trial=0, strategy=None):
    return (strategy or THESIS).propose(landscape.space, landscape, trial, Stream(seed, trial))


def positions(landscape, number):
    return [propose(landscape, trial=trial).config["x"] for trial in range(number)]


@pytest.mark.row(4)
def test_three_cells_of_losses_0_half_and_1_get_two_thirds_one_third_and_nothing(a_line):
    landscape = a_line((1 / 6, 0.0), (1 / 2, 0.5), (5 / 6, 1.0))
    cells = Counter(int(3 * position) for position in positions(landscape, 10_000))

    assert cells[2] == 0
    assert chisquare([cells[0], cells[1]], [20_000 / 3, 10_000 / 3]).pvalue > UNLIKELY


def test_of_two_cells_only_the_better_is_searched(a_line):
    assert max(positions(a_line((0.25, 0.0), (0.75, 1.0)), 1_000)) < 0.5


def test_within_a_cell_every_place_is_equally_likely(a_line):
    landscape = a_line((1 / 6, 0.0), (1 / 2, 0.5), (5 / 6, 1.0))
    tenths = Counter(int(position * 30) for position in positions(landscape, 6_000) if position < 1 / 3)
    assert chisquare([tenths[tenth] for tenth in range(10)]).pvalue > UNLIKELY


@pytest.fixture(scope="module")
def cones():
    """The losses of 200 searches of 100 trials by each strategy, on the same noisy cones."""
    both = Random(), THESIS
    return [[losses_on_a_cone(strategy, search) for strategy in both] for search in range(200)]


def losses_on_a_cone(strategy, search, trials=100):
    """Return the losses of a search on |u - u*| + 0.01 N(0, 1), u* uniform on [0.2, 0.8] squared."""
    world = Stream(seed=search, trial=trials)
    centre = [0.2 + 0.6 * world.uniform() for _ in "xy"]
    landscape, losses = Landscape(Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))), []
    for trial in range(trials):
        config = propose(landscape, seed=search, trial=trial, strategy=strategy).config
        losses.append(math.dist(config.values(), centre) + 0.01 * world.normal())
        landscape.observe(trial, config, losses[-1])
    return losses


def standard_errors_above_zero(differences):
    return fmean(differences) / (stdev(differences) / math.sqrt(len(differences)))


@pytest.mark.row(4)
def test_on_a_noisy_cone_it_beats_random_search_by_more_than_three_standard_errors(cones):
    advantages = [min(uniform) - min(biased) for uniform, biased in cones]
    assert standard_errors_above_zero(advantages) > 3


@pytest.mark.row(11)
def test_on_a_noisy_cone_the_median_of_the_second_half_is_better_than_that_of_random_search(cones):
    advantages = [median(uniform[50:]) - median(biased[50:]) for uniform, biased in cones]
    assert standard_errors_above_zero(advantages) > 3


@pytest.mark.row(6)
@given(data=st.data(), scale=st.integers(-20, 20), shift=st.integers(-1000, 1000))
def test_proposals_do_not_change_with_the_unit_or_the_origin_of_the_loss(
    data, scale, shift, mixed_landscapes
):
    landscape, told = data.draw(mixed_landscapes())
    other = Landscape(landscape.space)
    for trial, (config, loss) in enumerate(told):
        other.take(config)
        other.observe(trial, config, None if loss is None else math.ldexp(loss + shift, scale))

    for trial in range(50, 60):
        ours, theirs = outcome(landscape, trial), outcome(other, trial)
        assert ours == theirs


@pytest.mark.row(6)
@settings(max_examples=50)
@pytest.mark.parametrize("rule", [Rank(), SharpeningRank()], ids=["rank", "sharpening_rank"])
@given(data=st.data(), crash=st.sampled_from([None, 1e30, 1.7e308]))
def test_by_rank_proposals_change_with_no_increasing_change_of_the_loss_nor_with_what_a_crash_is_told_as(
    rule, data, crash, mixed_landscapes
):
    landscape, told = data.draw(mixed_landscapes())
    assume(any(loss is not None for _, loss in told))
    bent = Landscape(landscape.space)
    for trial, (config, loss) in enumerate(told):
        bent.take(config)
        bent.observe(trial, config, crash if loss is None else (loss - 9.0) ** 3)

    strategy = replace(THESIS, acceptance=rule, neighbours=data.draw(st.integers(1, 3)))
    for trial in range(50, 60):
        assert outcome(landscape, trial, strategy) == outcome(bent, trial, strategy)


def outcome(landscape, trial, strategy=None):
    """Return what decides a proposal, without the estimate, which has the unit of the loss."""
    try:
        proposal = propose(landscape, trial=trial, strategy=strategy)
    except Exhausted:
        return None
    return (
        proposal.config,
        proposal.reasons.refused,
        proposal.reasons.nearest_trial,
        pytest.approx(proposal.reasons.acceptance),
    )


@given(data=st.data(), loss=st.sampled_from([None, 0.5, "empty"]))
def test_without_anything_to_tell_apart_it_is_random_search_on_the_same_stream(
    data, loss, mixed_spaces, a_landscape
):
    landscape, _ = a_landscape(data.draw(mixed_spaces), [] if loss == "empty" else [loss] * 5)

    for trial in range(50, 60):
        biased, uniform = (attempt(landscape, trial, strategy=strategy) for strategy in (THESIS, Random()))
        assert biased == uniform


def attempt(landscape, trial, strategy):
    try:
        proposal = propose(landscape, trial=trial, strategy=strategy)
    except Exhausted:
        return None
    return proposal.config, proposal.reasons.refused, proposal.reasons.acceptance


def test_a_diverged_cell_is_never_chosen(a_line):
    landscape = a_line((0.2, 1.0), (0.5, None), (0.8, 2.0))
    assert not [position for position in positions(landscape, 2_000) if position > 0.35]


def test_a_diverged_cell_is_avoided_even_when_the_finite_losses_are_equal(a_line):
    landscape = a_line((0.25, 1.0), (0.75, None))
    proposals = [propose(landscape, trial=trial) for trial in range(500)]
    assert max(proposal.config["x"] for proposal in proposals) < 0.5
    assert {proposal.reasons.acceptance for proposal in proposals} == {1.0}


def test_a_finite_trial_within_a_diverged_cell_opens_its_part_again(a_line):
    landscape = a_line((0.25, 1.0), (0.75, None), (0.95, 1.0))
    assert any(position > 0.85 for position in positions(landscape, 100))
    assert not any(0.5 < position < 0.85 for position in positions(landscape, 1_000))


def test_while_nothing_finite_is_known_every_draw_is_kept(a_line):
    proposal = propose(a_line((0.25, None), (0.75, None)))
    assert (proposal.reasons.refused, proposal.reasons.acceptance, proposal.reasons.estimate) == (
        0,
        1.0,
        None,
    )


@pytest.mark.parametrize("rest", [1.0, None])
def test_a_needle_in_a_hopeless_space_costs_no_more_than_the_most_draws(a_line, rest):
    landscape = a_line((0.0, 0.0), (1e-4, 1.0), *((position / 500, rest) for position in range(1, 500)))
    for trial in range(8):
        stream = Stream(seed=1, trial=trial)
        proposal = THESIS.propose(landscape.space, landscape, trial, stream)

        assert (proposal.reasons.refused, proposal.reasons.acceptance) == (MAX_DRAWS, 0.0)
        assert stream.spent == 2 * 256 + 1


@pytest.mark.parametrize(("refused", "forced"), [(MAX_DRAWS - 1, False), (MAX_DRAWS, True)])
def test_a_proposal_is_forced_only_when_the_last_draw_too_was_refused(a_line, refused, forced):
    numbers = np.array([0.9, 0.5] * refused + [0.1, 0.5])
    stream = Stream(seed=0, trial=0)
    stream._words = (numbers * 2**53).astype(np.uint64) << 11

    landscape = a_line((0.25, 0.0), (0.75, 1.0))
    reasons = THESIS.propose(landscape.space, landscape, 1, stream).reasons
    assert (reasons.refused, reasons.forced) == (refused, forced)


def test_when_no_draw_is_kept_a_barely_acceptable_one_goes_before_a_hopeless_one(a_line):
    landscape = a_line((0.0, 0.0), (1e-4, 1 - 1e-9), (0.2, 1.0), (0.5, 1.0), (0.8, None))
    proposals = [propose(landscape, seed=1, trial=trial) for trial in range(50)]
    assert {(proposal.reasons.refused, proposal.reasons.nearest_trial) for proposal in proposals} == {
        (MAX_DRAWS, 1)
    }


@pytest.mark.parametrize(
    ("acceptances", "expected"),
    [
        ((0.1, 0.0, 0.3, 0.4), [125, 0, 375, 500]),
        ((0.0, 1e-9, 3e-9, 0.0), [0, 250, 750, 0]),
        ((0.0, 0.0, 0.0, 0.0), [250, 250, 250, 250]),
        ((0.0, 0.0, 5e-324, 0.0), [0, 0, 500, 500]),  # too small to be told from none
    ],
)
def test_one_of_the_refused_is_chosen_in_proportion_to_its_acceptance(acceptances, expected):
    drawn = Counter(chosen(acceptances, acceptances, (step + 0.5) / 1000) for step in range(1000))
    assert [drawn[x] for x in range(4)] == expected


shares = st.one_of(st.just(0.0), st.floats(0, 1), st.floats(-1074, 0).map(lambda size: 2.0**size))


@settings(max_examples=300)
@given(
    bounds=st.lists(st.tuples(shares, shares, shares).map(sorted), min_size=1, max_size=12),
    uniform=st.floats(0, 1, exclude_max=True),
)
def test_a_choice_between_bounds_is_that_of_the_acceptances_or_is_left_open(bounds, uniform):
    least, between, most = zip(*bounds, strict=True)
    truth = chosen(between, between, uniform)
    assert truth is not None
    assert chosen(least, most, uniform) in {truth, None}


@pytest.mark.parametrize("kind", ["uniform", "local"])
def test_limits_change_no_proposal(kind, monkeypatch):
    landscape = Landscape(Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0)))
    for trial in range(2_000):
        stream = Stream(9, trial)
        config = landscape.space.decode([stream.uniform(), stream.uniform()])
        landscape.observe(trial, config, (config["x"] - 0.3) ** 2 + config["y"])
    strategy = replace(
        BiasedRandom(acceptance=SharpeningRank(0.5)), explore=0.0, local=float(kind == "local")
    )
    told = []
    for long in (20, math.inf):
        monkeypatch.setattr(biased, "LONG", long)
        if long == math.inf:
            monkeypatch.setattr(Judgement, "_bound", bound_by_nothing)
        told.append([propose(landscape, trial=trial, strategy=strategy) for trial in range(40)])

    assert told[0] == told[1]


def bound_by_nothing(judgement, points):
    """Bound draws, and settle them all at once: nothing is left out."""
    limits, shares = judgement._limits(points)
    new = range(len(judgement.most), len(judgement.most) + len(points))
    judgement.most += limits.tolist()
    judgement.shares += shares
    judgement.least += [0.0] * len(points)
    judgement.settle(new)


def test_a_choice_is_not_left_open_by_what_cannot_change_it():
    assert chosen([0.0, 0.5, 0.0], [1e-9, 0.5, 1e-9], 0.5) == 1
    assert chosen([0.0, 0.5, 0.0], [0.5, 0.5, 1e-9], 0.5) is None


def test_when_all_draws_are_hopeless_each_is_equally_likely(a_line):
    landscape = a_line((0.0, 0.0), (1e-4, 1.0), (0.5, None))
    thirds = Counter(int(3 * position) for position in positions(landscape, 300))
    assert chisquare([thirds[third] for third in range(3)]).pvalue > UNLIKELY


@settings(max_examples=200)
@given(data=st.data())
def test_huge_and_tiny_losses_never_raise_nor_give_nan(data, mixed_landscapes):
    landscape, told = data.draw(mixed_landscapes(extreme, most=12))
    try:
        proposal = propose(landscape, seed=1, trial=len(told))
    except Exhausted:
        return
    assert 0 <= proposal.reasons.acceptance <= 1
    json.dumps(
        [proposal.reasons.acceptance, proposal.reasons.estimate, proposal.reasons.distance], allow_nan=False
    )


def test_tied_losses_near_the_largest_float_have_a_finite_mean():
    landscape = Landscape(Space(kind=Categorical(range(40))))
    for kind, loss in zip(range(30), [1.7e308, -1.7e308, 1.7e308] * 10, strict=True):
        landscape.observe(kind, {"kind": kind}, loss)
        landscape.take({"kind": kind})

    proposal = propose(landscape)

    assert proposal.reasons.estimate == pytest.approx(1.7e308 / 3)
    assert proposal.reasons.acceptance == pytest.approx(1 / 3)


@settings(max_examples=200)
@given(data=st.data())
def test_the_reasons_of_a_proposal_agree_with_the_landscape(data, mixed_landscapes):
    landscape, told = data.draw(mixed_landscapes(any_loss))
    try:
        proposal = propose(landscape, seed=1, trial=len(told))
    except Exhausted:
        return
    reasons, nearest = proposal.reasons, landscape.nearest(proposal.config)

    assert (reasons.strategy, reasons.watermark) == ("biased_random", len(told))
    assert 0 <= reasons.acceptance <= 1
    assert reasons.forced == (reasons.refused == MAX_DRAWS and reasons.draw != "remaining")
    if nearest is None:
        assert (reasons.nearest_trial, reasons.distance, reasons.estimate) == (None, None, None)
        return
    assert (reasons.nearest_trial, reasons.distance) == (nearest.trial, nearest.distance)
    assert reasons.neighbourhood == len(nearest.losses)
    assert reasons.estimate == (None if nearest.diverged else nearest.estimate(landscape.worst))
    if not nearest.diverged and landscape.best < landscape.worst:
        spread = landscape.worst - landscape.best
        assert reasons.acceptance == pytest.approx((landscape.worst - reasons.estimate) / spread, abs=1e-15)


def test_the_draws_before_the_kept_one_are_counted_as_refused(a_line):
    landscape = a_line((0.25, 0.0), (0.75, 1.0))
    proposals = [propose(landscape, trial=trial) for trial in range(2_000)]
    refused = Counter(min(proposal.reasons.refused, 4) for proposal in proposals)  # geometric with one half

    assert chisquare([refused[n] for n in range(5)], [1000, 500, 250, 125, 125]).pvalue > UNLIKELY


def test_a_candidate_costs_one_number_a_dimension_and_one_to_judge_it(a_line):
    landscape = a_line((0.25, 0.0), (0.75, 1.0))
    for trial in range(20):
        stream = Stream(seed=0, trial=trial)
        numbers = [stream.uniform() for _ in range(2 * MAX_DRAWS)]
        proposal = propose(landscape, trial=trial)
        assert proposal.config == landscape.space.decode([numbers[2 * proposal.reasons.refused]])
        assert numbers[2 * proposal.reasons.refused + 1] < proposal.reasons.acceptance


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [
        ("neighbours", 0),
        ("neighbours", 1.5),
        ("initial", -1),
        ("initial", True),
        ("explore", 1.01),
        ("explore", math.nan),
        ("local", -0.01),
        ("pending", "median"),
    ],
)
def test_a_senseless_setting_is_refused_by_name_with_what_it_may_be(setting, wrong):
    with pytest.raises(ValueError, match=setting) as refusal:
        replace(THESIS, **{setting: wrong})
    assert repr(wrong) in str(refusal.value)


def test_a_finite_space_is_searched_to_its_end_without_repeats():
    space = Space(kind=Categorical(("a", "b", "c")), n=Int(1, 9, when={"kind": ["a", "c"]}), flag=Boolean())
    landscape = Landscape(space)
    for trial in range(38):
        config = propose(landscape, trial=trial).config
        assert not landscape.is_taken(config)
        landscape.take(config)
        landscape.observe(trial, config, [None, 1.0, 2.0, 0.0][trial % 4])

    with pytest.raises(Exhausted):
        propose(landscape, trial=38)


def test_pending_trials_do_not_shape_the_landscape_but_are_not_proposed_again():
    landscape = Landscape(Space(x=Float(0.0, 1.0)))
    first = propose(landscape)
    landscape.take(first.config)

    second = propose(landscape)  # on the same stream: what comes after the first

    assert second.config != first.config
    assert (second.reasons.refused, second.reasons.nearest_trial) == (1, None)


@pytest.mark.row(1)
def test_a_log_dimension_behaves_as_a_linear_one_in_the_logarithm():
    log, linear = (Landscape(Space(x=dimension)) for dimension in (Float(1e-3, 1.0, log=True), Float(-3, 0)))
    for trial in count():
        ours, theirs = propose(log, trial=trial), propose(linear, trial=trial)
        assert math.log10(ours.config["x"]) == pytest.approx(theirs.config["x"], abs=1e-11)
        assert (ours.reasons.refused, ours.reasons.nearest_trial) == (
            theirs.reasons.refused,
            theirs.reasons.nearest_trial,
        )
        if trial == 100:
            break
        loss = abs(theirs.config["x"] + 1)
        log.observe(trial, ours.config, loss)
        linear.observe(trial, theirs.config, loss)
