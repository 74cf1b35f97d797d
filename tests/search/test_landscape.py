import json
import math
import os
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsRegressor

from thiessen.search import Landscape, ranking
from thiessen.search.neighbours import TIE, Neighbours
from thiessen.space import Boolean, Categorical, Float, Int, Space


def coordinate(dimension, value):
    """Return where a number or an ordered choice lies in [0, 1], straight from the definition."""
    if isinstance(dimension, Float):
        low, high, at = dimension.low, dimension.high, value
    elif isinstance(dimension, Int) and dimension.log:
        low, high = dimension.low - 0.5, dimension.high + 0.5
        at = math.sqrt((value - 0.5) * (value + 0.5))
    else:
        values = list(dimension.values())
        return (values.index(value) + 0.5) / len(values)
    if dimension.log:
        low, high, at = math.log(low), math.log(high), math.log(at)
    return (at - low) / (high - low)


def squared_distance(space, one, other, category_weight=1.0):
    total = 0.0
    for name, dimension in space.dimensions.items():
        if (name in one) != (name in other):
            total += 1
        elif name in one and not dimension.ordered:
            total += category_weight * (one[name] != other[name])
        elif name in one:
            total += (coordinate(dimension, one[name]) - coordinate(dimension, other[name])) ** 2
    return total


def cube(dimensions):
    return Space(**{f"x{axis}": Float(0.0, 1.0) for axis in range(dimensions)})


def landscape_over(points, losses=None):
    """A landscape over the unit cube; each trial's loss is its number unless given."""
    landscape = Landscape(cube(len(points[0])))
    for trial, point in enumerate(points):
        config = dict(zip(landscape.space.dimensions, map(float, point), strict=True))
        landscape.observe(trial, config, float(trial) if losses is None else losses[trial])
    return landscape


def exact(points, asked, neighbours=1):
    """Return the least squared distance, added in the order of the dimensions, and the neighbourhood."""
    squared = []
    for point in points:
        total = 0.0
        for theirs, ours in zip(point, asked, strict=True):
            total += (theirs - ours) * (theirs - ours)
        squared.append(total)
    return min(squared), within(squared, neighbours)


def within(squared, neighbours):
    """Return which are the nearest `neighbours` and those that tie with the last of these."""
    last = sorted(squared)[:neighbours][-1]
    return [trial for trial, each in enumerate(squared) if each <= last + TIE]


def assert_exact(landscape, points, asked, neighbours=1):
    points, asked = [list(map(float, point)) for point in points], [list(map(float, each)) for each in asked]
    found = landscape.nearest_each(asked, neighbours=neighbours)
    for ours, nearest in zip(asked, found, strict=True):
        squared, tied = exact(points, ours)
        assert nearest.distance == math.sqrt(squared)
        assert nearest.trial == tied[0]
        assert nearest.losses == tuple(map(float, exact(points, ours, neighbours)[1]))


@pytest.fixture
def small_blocks(monkeypatch):
    sixteen = property(lambda _: 16, lambda *_: None)
    monkeypatch.setattr(Neighbours, "_block", sixteen, raising=False)
    monkeypatch.setattr("thiessen.search.neighbours.SCORES", 2_400)  # 24 for each of 100 points
    monkeypatch.setattr("thiessen.search.neighbours.UNTHREADED", 12)


@pytest.fixture
def early_trees(monkeypatch):
    monkeypatch.setattr("thiessen.search.neighbours.TREE_FROM", 16)


# The truth


@pytest.mark.row(5)
@settings(max_examples=200)
@given(
    data=st.data(),
    category_weight=st.sampled_from([0.0, 0.25, 1.0, 3.0]),
    supposed=st.lists(st.integers(-3, 3).map(float), max_size=4),
)
def test_the_neighbourhood_is_that_of_the_definition(
    data, category_weight, supposed, mixed_landscapes, a_config
):
    (landscape, told), neighbours = data.draw(mixed_landscapes()), data.draw(st.integers(1, 5))
    worst = max((loss for _, loss in told if loss is not None), default=-math.inf)
    pending = dict(enumerate(supposed, start=len(told)))
    for trial, loss in pending.items():
        config = a_config(landscape.space, seed=7, trial=trial)
        landscape.pend(trial, config)
        told.append((config, loss))
    config = a_config(landscape.space, seed=data.draw(st.integers(0, 999)), trial=1_000)
    squared = [squared_distance(landscape.space, config, other, category_weight) for other, _ in told]

    nearest = landscape.nearest(
        config, neighbours=neighbours, category_weight=category_weight, pending=pending
    )

    if not told:
        assert nearest is None
        return
    expected = [told[trial][1] for trial in within(squared, neighbours)]
    assert nearest.trial == within(squared, 1)[0]
    assert nearest.distance == pytest.approx(math.sqrt(min(squared)), abs=1e-7)
    assert [None if math.isnan(loss) else loss for loss in nearest.losses] == expected
    assert nearest.diverged == all(loss is None for loss in expected)
    mean = fmean(worst if loss is None else loss for loss in expected)
    assert nearest.estimate(worst) == pytest.approx(mean)


@given(told=st.lists(st.one_of(st.none(), st.integers(-(10**6), 10**6)), max_size=30), huge=st.booleans())
@example(told=[10**6, -(10**6), 10**6], huge=True)
def test_the_mean_is_that_of_the_finite_losses_even_if_their_sum_overflows(told, huge, a_line):
    losses = [None if loss is None else loss * (1.7e302 if huge else 1.0) for loss in told]
    finite = [loss for loss in losses if loss is not None]
    largest = max(map(abs, finite), default=0.0)
    expected = fmean(loss / 64 for loss in finite) * 64 if finite else 0.0
    landscape = a_line(*((0.5, loss) for loss in losses))
    assert landscape.mean == pytest.approx(expected, rel=1e-12, abs=1e-12 * largest)


@pytest.mark.row(5)
@settings(max_examples=100)
@given(
    dimensions=st.integers(1, 20),
    trials=st.integers(5, 400),
    waiting=st.integers(0, 20),
    neighbours=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_mean_of_the_neighbourhood_is_that_of_scikit_learn(dimensions, trials, waiting, neighbours, seed):
    random = np.random.default_rng(seed)
    points, asked = random.random((trials + waiting, dimensions)), random.random((30, dimensions))
    losses = random.normal(size=trials + waiting)
    oracle = KNeighborsRegressor(n_neighbors=neighbours, algorithm="brute").fit(points, losses)
    landscape = landscape_over(points[:trials], losses.tolist())
    for trial in range(trials, trials + waiting):
        landscape.pend(trial, dict(zip(landscape.space.dimensions, points[trial].tolist(), strict=True)))
    pending = {trial: float(losses[trial]) for trial in landscape.pending}

    found = landscape.nearest_each(asked.tolist(), neighbours=neighbours, pending=pending)

    assert [len(nearest.losses) for nearest in found] == [neighbours] * 30
    means = [nearest.estimate(landscape.worst) for nearest in found]
    assert means == pytest.approx(oracle.predict(asked).tolist(), rel=1e-12, abs=1e-12)


@settings(max_examples=60)
@given(
    dimensions=st.sampled_from([1, 2, 7, 20, 100]),
    spread=st.sampled_from([0.0, 1e-12, 1e-7, 1e-6, 1e-4]),
    neighbours=st.sampled_from([1, 4]),
    seed=st.integers(0, 2**32 - 1),
)
def test_points_closer_than_float32_can_tell_are_told_apart(dimensions, spread, neighbours, seed):
    random = np.random.default_rng(seed)
    centre = random.choice([random.random(dimensions), np.zeros(dimensions), np.ones(dimensions)])
    points = np.clip(centre + spread * random.normal(size=(100, dimensions)), 0.0, 1.0)
    asked = np.clip([centre, 1.0 - centre, random.random(dimensions), points[50]], 0.0, 1.0)

    assert_exact(landscape_over(points), points, asked, neighbours)


@given(data=st.data(), category_weight=st.sampled_from([0.25, 1.0, 3.0]), seed=st.integers(0, 2**32 - 1))
def test_float32_is_never_further_off_than_its_bound(data, category_weight, seed, mixed_spaces):
    dimensions = data.draw(st.sampled_from(["mixed", 1, 5, 20, 100, 256]))
    space = data.draw(mixed_spaces) if dimensions == "mixed" else cube(dimensions)
    landscape, random = Landscape(space), np.random.default_rng(seed)
    for trial, corner in enumerate([0.0, 1.0 - 2**-53, *[None] * 50]):
        units = (
            random.random(len(space.dimensions)) if corner is None else np.full(len(space.dimensions), corner)
        )
        landscape.observe(trial, space.decode(units.tolist()), 0.0)
    model, asked = landscape._neighbours, np.array([landscape.ranked(at).point for at in range(0, 52, 3)])

    scores = np.empty((len(asked), len(model)), np.float32)
    model._score(model._blocks[0][:, : len(model)], model._question(asked), category_weight, scores)

    bound = model._largest_error(category_weight)
    for point, computed in zip(asked, scores, strict=True):
        constant = sum((each - 0.5) ** 2 for each in point[model._plain])
        for index, score in enumerate(computed.tolist()):
            pair, nobody = (np.array([0]), np.array([index])), np.empty((0, len(point)))
            ((truth, _, _),) = model._decided(pair, nobody, point[np.newaxis], 1, category_weight)
            assert abs(score - (truth - constant)) <= bound


# Paths to the same answers


@pytest.mark.parametrize("blocks", ["small_blocks", "monkeypatch"])
@pytest.mark.parametrize("dimensions", [1, 2, 5, 10])
@pytest.mark.parametrize("grid", [None, 3, 8])
def test_with_a_tree_and_without_one_the_answers_are_the_same(dimensions, grid, blocks, monkeypatch, request):
    request.getfixturevalue(blocks)
    random = np.random.default_rng(dimensions)
    points, asked = random.random((500, dimensions)), random.random((100, dimensions))
    if grid is not None:  # many repeated points, and many exactly between two
        points, asked = np.round(points * grid) / grid, np.round(asked * 2 * grid) / (2 * grid)
    read = landscape_over(points)
    monkeypatch.setattr("thiessen.search.neighbours.TREE_FROM", 64)
    treed = landscape_over(points[:300])
    treed.nearest_each(asked.tolist())  # builds it; the others are the tail
    for trial in range(300, 500):
        treed.observe(
            trial, dict(zip(treed.space.dimensions, points[trial].tolist(), strict=True)), float(trial)
        )

    answers = [treed.nearest_each(asked.tolist(), neighbours=neighbours) for neighbours in (1, 5)]

    assert treed._neighbours._tree[1] == 300
    monkeypatch.setattr("thiessen.search.neighbours.TREE_FROM", math.inf)
    for neighbours, found in zip((1, 5), answers, strict=True):
        assert repr(found) == repr(read.nearest_each(asked.tolist(), neighbours=neighbours))
        assert_exact(treed, points, asked, neighbours)
    assert read._neighbours._tree is None


@pytest.mark.usefixtures("small_blocks", "early_trees")
@pytest.mark.parametrize("trials", [16, 20, 60])
@pytest.mark.parametrize("neighbours", [15, 16, 17, 40, 60, 61])
def test_a_neighbourhood_may_be_larger_than_a_block_than_the_tree_and_than_all(trials, neighbours):
    points = np.random.default_rng(trials).random((trials, 2))
    landscape = landscape_over(points[:16])
    landscape.index()
    for trial, point in enumerate(points[16:].tolist(), start=16):
        landscape.observe(trial, dict(zip(("x0", "x1"), point, strict=True)), float(trial))
    assert_exact(landscape, points, points[::3], neighbours)


def test_more_neighbours_than_there_are_cost_no_more_than_all():
    landscape = landscape_over([(0.1,), (0.2,), (0.7,)])
    landscape.pend(3, {"x0": 0.9})

    everyone = landscape.nearest({"x0": 0.0}, neighbours=2**53, pending={3: 9.0})

    assert everyone == landscape.nearest({"x0": 0.0}, neighbours=4, pending={3: 9.0})
    assert everyone.losses == (0.0, 1.0, 2.0, 9.0)


@pytest.mark.usefixtures("small_blocks", "early_trees")
def test_a_tree_is_rebuilt_when_half_of_the_points_are_outside_and_when_asked_to():
    points = np.random.default_rng(0).random((200, 2))
    landscape, covered = Landscape(cube(2)), []
    for trial, point in enumerate(points.tolist()):
        landscape.observe(trial, dict(zip(("x0", "x1"), point, strict=True)), 0.0)
        landscape.nearest_each([[0.5, 0.5]])
        covered.append((landscape._neighbours._tree or (None, 0))[1])
    landscape.index()

    assert sorted(set(covered)) == [0, 16, 32, 64, 128]
    assert landscape._neighbours._tree[1] == 200


@pytest.mark.usefixtures("small_blocks", "early_trees")
@pytest.mark.parametrize("space", [cube(11), Space(x=Float(0.0, 1.0), kind=Boolean())])
def test_no_tree_is_built_where_none_pays(space, a_landscape):
    landscape, _ = a_landscape(space, [0.0] * 40)
    landscape.index()
    assert landscape._neighbours._tree is None


@given(data=st.data(), seed=st.integers(0, 999))
def test_many_candidates_at_once_get_the_answers_of_one_at_a_time(data, seed, mixed_landscapes, a_config):
    landscape, told = data.draw(mixed_landscapes(most=80))
    if not told:
        return
    points = [
        landscape.space.encode(a_config(landscape.space, seed=seed, trial=trial)) for trial in range(64)
    ]
    assert landscape.nearest_each(points) == [landscape.nearest_each([point])[0] for point in points]
    assert landscape.nearest_each([]) == []


@pytest.mark.usefixtures("small_blocks")
def test_a_landscape_grows_past_its_first_blocks_and_forgets_nothing():
    points = [[position / 100] for position in range(101)]
    assert_exact(landscape_over(points), points, points)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("neighbours", [2, 3, 16])
def test_neighbours_that_stand_together_in_one_block_are_all_found(neighbours):
    points = [[1.0 - position / 1000] for position in range(200)]  # each nearer to 0 than all before
    assert_exact(landscape_over(points), points, [[0.0], [0.85], [1.0]], neighbours)


def test_the_order_of_observations_does_not_matter(a_config, a_landscape):
    space = Space(x=Float(0.0, 1.0), kind=Categorical(("a", "b")))
    landscape, told = a_landscape(space, [float(trial % 5) for trial in range(40)])
    backwards = Landscape(space)
    for trial, (config, loss) in reversed(list(enumerate(told))):
        backwards.observe(trial, config, loss)

    for trial in range(100):
        asked = a_config(space, seed=1, trial=trial)
        assert backwards.nearest(asked) == landscape.nearest(asked)


def test_a_hundred_thousand_trials_are_searched_exactly():
    random = np.random.default_rng(7)
    points, asked = random.random((100_000, 3)), random.random((20, 3))
    landscape = landscape_over(points)
    for point, nearest in zip(asked, landscape.nearest_each(asked.tolist()), strict=True):
        gaps = points - point
        squared = gaps[:, 0] * gaps[:, 0] + gaps[:, 1] * gaps[:, 1] + gaps[:, 2] * gaps[:, 2]
        assert (nearest.trial, nearest.distance) == (squared.argmin(), math.sqrt(squared.min()))


ANSWERS = """
import json
import numpy as np
from thiessen.search import BiasedRandom, Landscape, Stream
from thiessen.space import Boolean, Float, Space

told = []
for space in (
    Space(**{f"x{axis}": Float(0.0, 1.0) for axis in range(20)}),
    Space(a=Float(0.0, 1.0), flag=Boolean(), b=Float(0.0, 1.0, when={"flag": [True]})),
):
    landscape = Landscape(space)
    for trial in range(3_000):
        stream = Stream(1, trial)
        config = space.decode([round(stream.uniform(), 1 + trial % 9) for _ in space.dimensions])
        landscape.observe(trial, config, stream.uniform() / 3)
    points = [landscape.ranked(place).point for place in range(0, 3_000, 50)]
    for trial in range(60):
        points.append(space.encode(space.decode([Stream(2, trial).uniform()] * len(points[0]))))
    for nearest in landscape.nearest_each(points):
        told.append([nearest.trial, nearest.distance.hex(), nearest.estimate(landscape.worst).hex()])
    for trial in range(60):
        told.append(str(BiasedRandom.presets["thesis"].propose(space, landscape, trial, Stream(3, trial))))
print(json.dumps(told))
"""


def test_no_feature_of_the_processor_and_no_number_of_threads_changes_an_answer():
    plain = answers()
    assert len(json.loads(plain)) == 360
    assert answers(NPY_DISABLE_CPU_FEATURES=optional_features(), OPENBLAS_CORETYPE="Prescott") == plain
    assert answers(OPENBLAS_NUM_THREADS="1") == answers(OPENBLAS_NUM_THREADS="2") == plain


def answers(**environment):
    command = [sys.executable, "-W", "ignore", "-c", ANSWERS]
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=True
    ).stdout


def optional_features():
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    return " ".join(feature for feature in __cpu_dispatch__ if __cpu_features__[feature])


@settings(max_examples=60)
@given(data=st.data(), places=st.integers(1, 20), seed=st.integers(0, 999))
def test_who_surely_is_not_nearest_is_not(data, places, seed, mixed_landscapes, a_config):
    landscape, told = data.draw(mixed_landscapes(most=200))
    if len(told) < places:
        return
    points = np.array(
        [landscape.space.encode(a_config(landscape.space, seed=seed, trial=at)) for at in range(40)]
    )
    first = {landscape.ranked(place).trial for place in range(places)}
    _, _, near = zip(*landscape._neighbours.nearest_each(points, 1, 1.0, []), strict=True)

    for may_be, indices in zip(landscape.may_be_near(points, places).tolist(), near, strict=True):
        assert may_be or not first & set(indices)


def test_of_most_points_a_small_part_of_all_says_who_is_not_nearest():
    random = np.random.default_rng(3)
    points, asked = random.random((2_000, 2)), random.random((500, 2))
    landscape = landscape_over(points, losses=points[:, 0].tolist())
    truth = [nearest.trial for nearest in landscape.nearest_each(asked)]
    first = {landscape.ranked(place).trial for place in range(100)}

    may_be = landscape.may_be_near(asked, 100)

    assert sum(trial in first for trial in truth) <= may_be.sum() < 100


# Distances and ties


def test_nothing_is_near_before_anything_finished():
    landscape = Landscape(Space(x=Float(0.0, 1.0)))
    landscape.take({"x": 0.5})
    landscape.pend(0, {"x": 0.5})
    assert landscape.nearest({"x": 0.5}) is None
    assert len(landscape) == 0


def test_two_different_choices_are_as_far_apart_as_a_whole_range_or_as_their_weight():
    landscape = Landscape(Space(kind=Categorical(("a", "b", "c")), flag=Boolean(), x=Float(0.0, 1.0)))
    landscape.observe(0, {"kind": "a", "flag": False, "x": 0.0}, 1.0)
    asked = [
        {"kind": kind, "flag": flag, "x": x}
        for kind, flag, x in [("b", False, 0.0), ("c", False, 0.0), ("a", True, 0.0), ("a", False, 1.0)]
    ]
    assert [landscape.nearest(config).distance for config in asked] == [1.0, 1.0, 1.0, 1.0]
    weighted = [landscape.nearest(config, category_weight=0.25).distance for config in asked]
    assert weighted == [0.5, 0.5, 0.5, 1.0]


@pytest.mark.parametrize("child", [Float(0.0, 1.0), Categorical(("a", "b"))])
def test_active_and_inactive_are_one_apart_and_two_inactive_are_not_apart(child):
    space = Space(flag=Int(0, 1), x=replace(child, when={"flag": [1]}))
    landscape = Landscape(space)
    landscape.observe(0, {"flag": 0}, 1.0)
    active = {"flag": 1, "x": child.decode(0.0)}
    assert landscape.nearest({"flag": 0}).distance == 0.0
    assert landscape.nearest(active, category_weight=0.25).distance == math.sqrt(0.5**2 + 1.0)


@pytest.mark.parametrize(("second", "expected"), [(3.0, 2.0), (None, 5.0)])
def test_the_losses_of_a_tie_are_averaged_a_diverged_one_as_the_worst(a_line, second, expected):
    landscape = a_line((0.25, 1.0), (0.75, second), (0.0, 9.0))

    nearest = landscape.nearest({"x": 0.5})

    assert (nearest.estimate(landscape.worst), nearest.diverged, nearest.distance) == (expected, False, 0.25)


@pytest.mark.parametrize(("offset", "expected"), [(1e-13, (1.0, 3.0)), (1e-11, (1.0,))])
def test_a_tie_is_squared_distances_within_1e_12(a_line, offset, expected):
    landscape = a_line((0.25, 1.0), (0.75 + offset, 3.0))
    assert landscape.nearest({"x": 0.5}).losses == expected


@pytest.mark.parametrize(("offset", "expected"), [(1e-13, (1.0, 2.0, 3.0)), (1e-11, (1.0, 2.0))])
def test_all_that_tie_with_the_last_neighbour_are_of_the_neighbourhood(a_line, offset, expected):
    landscape = a_line((0.5, 1.0), (0.25, 2.0), (0.75 + offset, 3.0), (0.0, 9.0))
    nearest = landscape.nearest({"x": 0.5}, neighbours=2)
    assert (nearest.trial, nearest.distance, nearest.losses) == (0, 0.0, expected)


def test_the_nearest_is_named_though_another_neighbour_was_observed_before_it(a_line):
    nearest = a_line((0.25, 1.0), (0.5, 2.0)).nearest({"x": 0.5}, neighbours=2)
    assert (nearest.trial, nearest.distance, nearest.losses) == (1, 0.0, (1.0, 2.0))


def test_a_neighbourhood_diverged_when_all_of_it_did(a_line):
    landscape = a_line((0.1, None), (0.2, None), (0.9, 1.0))
    of_two, of_three = (landscape.nearest({"x": 0.1}, neighbours=neighbours) for neighbours in (2, 3))
    assert (of_two.diverged, of_three.diverged) == (True, False)
    assert of_three.estimate(4.0) == 3.0


def test_of_a_tie_the_first_observed_is_named(a_line):
    nearest = a_line((0.75 + 1e-13, 3.0), (0.25, 1.0)).nearest({"x": 0.5})
    assert (nearest.trial, nearest.distance) == (0, 0.25)


def test_replicates_of_one_config_count_as_their_mean(a_line):
    nearest = a_line((0.5, 1.0), (0.5, 2.0), (0.5, 6.0)).nearest({"x": 0.9})
    assert (nearest.losses, nearest.estimate(6.0)) == ((1.0, 2.0, 6.0), 3.0)


@pytest.mark.parametrize("loss", [1.7e308, -1.7e308, 5e-324])
@pytest.mark.parametrize("times", [2, 3, 7])
def test_the_mean_of_huge_or_tiny_losses_is_that_loss(a_line, loss, times):
    landscape = a_line(*[(0.25, loss)] * times)
    assert landscape.nearest({"x": 0.5}).estimate(loss) == loss


# Losses


@given(values=st.lists(st.one_of(st.none(), st.floats()), max_size=30))
def test_what_is_not_finite_diverged_and_never_moves_best_or_worst(values, a_line):
    finite = [loss for loss in values if loss is not None and math.isfinite(loss)]
    landscape = a_line(*((0.5, loss) for loss in values))

    assert landscape.best == min(finite, default=math.inf)
    assert landscape.worst == max(finite, default=-math.inf)
    assert len(landscape) == len(values)
    if values:
        assert sum(map(math.isfinite, landscape.nearest({"x": 0.5}).losses)) == len(finite)


def test_where_everything_diverged_nothing_finite_is_known(a_line):
    nearest = a_line((0.2, None), (0.2, None), (0.8, 1.0)).nearest({"x": 0.1})
    assert (nearest.trial, nearest.diverged) == (0, True)


few_losses = st.integers(-3, 3).map(float)
any_losses = st.floats(allow_nan=False, allow_infinity=False)  # subnormal and huge ones too


@given(
    values=st.lists(st.one_of(st.none(), few_losses, any_losses), max_size=60),
    asked=st.one_of(st.none(), few_losses, any_losses),
)
def test_ranks_are_those_of_the_sorted_losses(values, asked, a_line):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "RUN", 2)
        landscape = a_line(*((0.5, loss) for loss in values))
    as_sorted = [math.inf if loss is None else loss for loss in values]
    in_order = sorted(range(len(values)), key=as_sorted.__getitem__)

    assert [landscape.ranked(place).trial for place in range(len(values))] == in_order
    for loss in [*values, asked]:
        key = math.inf if loss is None else loss
        places = [place for place, trial in enumerate(in_order) if as_sorted[trial] == key]
        below = sum(other < key for other in as_sorted)
        middle = fmean(places) if places else min(max(below - 0.5, 0), max(len(values) - 1, 0))
        expected = middle / (len(values) - 1) if len(values) > 1 else 0.5
        assert landscape.rank(loss) == pytest.approx(expected)


def test_neither_the_runs_of_a_ranking_nor_the_longest_are_more_than_a_root_of_all(monkeypatch):
    monkeypatch.setattr(ranking, "RUN", 2)
    one_by_one, at_once = ranking.Ranking(), ranking.Ranking()
    for loss in np.random.default_rng(0).random(10_000).tolist():
        one_by_one.append(loss)
        one_by_one.share(loss)  # puts it in its place
        at_once.append(loss)
    at_once.share(0.5)
    for losses in (one_by_one, at_once):
        assert len(losses._runs) <= 100
        assert max(map(len, losses._runs)) <= 200


def test_the_best_ranks_0_the_worst_1_and_the_diverged_behind_all(a_line):
    landscape = a_line((0.1, 5.0), (0.2, None), (0.3, 1.0), (0.4, 3.0), (0.5, math.inf))
    assert [landscape.rank(loss) for loss in (1.0, 3.0, 5.0, None)] == [0.0, 0.25, 0.5, 0.875]
    assert landscape.ranked(0).point == (0.3,)
    assert [landscape.ranked(place).trial for place in range(5)] == [2, 3, 0, 1, 4]
    for nowhere in (-1, 5):
        with pytest.raises(IndexError):
            landscape.ranked(nowhere)


@pytest.mark.parametrize("values", [[2.0], [2.0, 2.0, 2.0], [None], [None, None]])
def test_where_nothing_is_told_apart_the_rank_is_in_the_middle(values, a_line):
    landscape = a_line(*((0.5, loss) for loss in values))
    assert landscape.rank(values[0]) == 0.5


@given(values=st.lists(st.one_of(st.none(), few_losses, any_losses), max_size=60), share=st.floats(0.0, 1.0))
def test_quantiles_are_those_of_numpy(values, share, a_line):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "RUN", 2)
        landscape = a_line(*((0.5, loss) for loss in values))
    finite = [loss for loss in values if loss is not None]
    if not finite:
        with pytest.raises(ValueError, match="no loss is finite"):
            landscape.quantile(share)
        return
    assert landscape.best <= landscape.quantile(share) <= landscape.worst
    scale = max(map(abs, finite)) or 1.0  # numpy's own difference of two huge losses overflows
    expected = np.quantile([loss / scale for loss in finite], share)
    assert landscape.quantile(share) / scale == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_median_of_an_even_number_is_between_the_middle_two(a_line):
    landscape = a_line((0.1, 5.0), (0.2, None), (0.3, 1.0), (0.4, 3.0), (0.5, 7.0))
    assert [landscape.quantile(share) for share in (0.0, 0.25, 0.5, 1.0)] == [1.0, 2.5, 4.0, 7.0]


def test_a_quantile_of_huge_losses_is_finite_and_of_equal_ones_is_that_loss(a_line):
    assert a_line((0.1, -1.7e308), (0.2, 1.7e308)).quantile(0.5) == 0.0
    assert [a_line((0.1, 0.1), (0.2, 0.1)).quantile(share / 100) for share in range(101)] == [0.1] * 101


# Pruned trials


@given(told=st.lists(st.tuples(st.booleans(), st.one_of(st.none(), few_losses, any_losses)), max_size=40))
def test_a_pruned_trial_counts_with_its_last_loss_or_the_median_of_the_succeeded_if_that_is_worse(told):
    landscape, succeeded, known = Landscape(cube(1)), [], []
    for trial, (is_pruned, loss) in enumerate(told):
        finite = loss is not None and math.isfinite(loss)
        if is_pruned:
            landscape.observe_pruned(trial, {"x0": 0.5}, loss)
            known.append(max(loss, middle(succeeded)) if finite and succeeded else math.nan)
        else:
            landscape.observe(trial, {"x0": 0.5}, loss)
            known.append(loss if finite else math.nan)
            succeeded += [loss] if finite else []

    assert landscape.best == min(succeeded, default=math.inf)
    assert [each.loss for each in map(landscape.ranked, range(len(known)))] == pytest.approx(
        sorted(known, key=lambda loss: (math.isnan(loss), loss)), nan_ok=True, rel=1e-12
    )


def middle(losses):
    ordered = sorted(losses)
    return ordered[(len(ordered) - 1) // 2] / 2 + ordered[len(ordered) // 2] / 2


def test_a_pruned_trial_is_of_those_known_later_but_not_of_the_succeeded(a_line):
    landscape = a_line((0.1, 1.0), (0.2, 3.0))
    for trial, last in ((2, 0.0), (3, 9.0), (4, 0.5)):
        landscape.observe_pruned(trial, {"x": trial / 10}, last)

    assert [landscape.ranked(place).loss for place in range(5)] == [1.0, 2.0, 2.0, 3.0, 9.0]
    assert (landscape.best, landscape.worst, landscape.mean) == (1.0, 9.0, pytest.approx(17 / 5))


def test_a_pruned_trial_is_no_longer_pending(a_line):
    landscape = a_line((0.1, 1.0))
    landscape.pend(1, {"x": 0.2})

    landscape.observe_pruned(1, {"x": 0.2}, 0.5)

    assert not landscape.pending


# Pending trials and those of other studies


def test_a_pending_trial_counts_only_in_the_query_that_names_it(a_line):
    landscape = a_line((0.2, 1.0), (0.8, 3.0))
    for trial, position in ((7, 0.5), (8, 0.6)):
        landscape.pend(trial, {"x": position})
    before = landscape.best, landscape.worst, landscape.rank(1.0), landscape.quantile(1.0), len(landscape)

    named = landscape.nearest({"x": 0.5}, pending={7: 99.0})

    assert (named.trial, named.distance, named.losses) == (7, 0.0, (99.0,))
    assert landscape.nearest({"x": 0.6}, pending={7: 99.0}).trial == 7
    assert landscape.nearest({"x": 0.6}).trial == 1
    assert before == (
        landscape.best, landscape.worst, landscape.rank(1.0), landscape.quantile(1.0), len(landscape)
    )  # fmt: skip


def test_a_pending_trial_that_ties_with_a_finished_one_counts_beside_it(a_line):
    landscape = a_line((0.25, 1.0))
    landscape.pend(0, {"x": 0.75})  # marked before, yet the finished one is named
    nearest = landscape.nearest({"x": 0.5}, pending={0: 3.0})
    assert (nearest.trial, nearest.losses) == (0, (1.0, 3.0))


def test_a_pending_trial_is_known_before_anything_finished():
    landscape = Landscape(Space(x=Float(0.0, 1.0)))
    landscape.pend(4, {"x": 0.25})
    nearest = landscape.nearest({"x": 0.5}, neighbours=3, pending={4: 2.0})
    assert (nearest.trial, nearest.distance, nearest.losses) == (4, 0.25, (2.0,))


@pytest.mark.parametrize("finish", [True, False])
def test_a_trial_that_is_not_pending_cannot_be_supposed(finish, a_line):
    landscape = a_line((0.5, 1.0))
    if finish:
        landscape.pend(1, {"x": 0.2})
        landscape.observe(1, {"x": 0.2}, 2.0)
    with pytest.raises(KeyError):
        landscape.nearest({"x": 0.5}, pending={1: 3.0})


def test_a_trial_of_another_study_teaches_but_has_no_number_and_takes_nothing(a_line):
    landscape = a_line((0.9, 2.0))
    landscape.watermark = 1

    assert landscape.recall({"x": 0.1}, 1.0)
    assert landscape.recall({"x": 0.4}, math.inf)
    assert landscape.recall({"x": 0.5}, 3.0)

    assert landscape.nearest({"x": 0.1}).trial is None
    assert landscape.nearest({"x": 0.1}).losses == (1.0,)
    assert landscape.nearest({"x": 0.4}).diverged
    assert landscape.nearest({"x": 0.9}).trial == 0
    assert [landscape.ranked(place).trial for place in range(4)] == [None, 0, None, None]
    assert (landscape.best, landscape.worst, landscape.rank(2.0)) == (1.0, 3.0, 1 / 3)
    assert (len(landscape), landscape.watermark, landscape.is_taken({"x": 0.1})) == (4, 1, False)


@pytest.mark.parametrize(
    "config",
    [
        {"flag": True},  # x is missing
        {"flag": False, "x": 0.5},  # x is inactive
        {"flag": True, "x": 1.5},
        {"flag": True, "x": "a"},
        {"flag": True, "x": 0.5, "y": 1},
        {"flag": "yes", "x": 0.5},
        {},
    ],
)
def test_a_config_that_is_no_point_of_the_space_is_not_recalled(config):
    landscape = Landscape(Space(flag=Boolean(), x=Float(0.0, 1.0, when={"flag": [True]})))
    assert not landscape.recall(config, 1.0)
    assert (len(landscape), landscape.best) == (0, math.inf)
    assert landscape.recall({"flag": False}, 1.0)


# Trials and configs


def test_a_mark_of_a_running_trial_stays_until_it_is_observed(a_line):
    landscape = a_line((0.5, 1.0))
    landscape.pend(7, {"x": 0.1})
    landscape.pend(3, {"x": 0.2})
    landscape.observe(7, {"x": 0.1}, None)

    assert landscape.pending == {3: {"x": 0.2}}
    with pytest.raises(TypeError):
        landscape.pending[4] = {"x": 0.3}


def test_a_config_is_taken_whatever_the_order_of_its_names():
    landscape = Landscape(Space(a=Boolean(), b=Int(0, 1)))
    landscape.take({"a": True, "b": 1})
    assert landscape.is_taken({"b": 1, "a": True})
    assert not landscape.is_taken({"a": True, "b": 0})


@given(numbers=st.lists(st.integers(-1_000, 1_000)), asked=st.integers(-1_000, 1_000))
def test_what_is_taken_is_what_was_taken(numbers, asked):
    landscape = Landscape(Space(n=Int(-1_000, 1_000)))
    for number in numbers:
        landscape.take({"n": number})
    assert landscape.is_taken({"n": asked}) == (asked in numbers)
    assert all(landscape.is_taken({"n": number}) for number in numbers)


def test_a_hundred_thousand_taken_configs_are_told_apart_and_kept_small():
    landscape = Landscape(Space(n=Int(0, 10**6)))
    tracemalloc.start()
    for number in range(0, 200_000, 2):
        landscape.take({"n": number})
        landscape.take({"n": number})
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    taken = [number for number in range(200_000) if landscape.is_taken({"n": number})]
    assert taken == list(range(0, 200_000, 2))
    assert kept / 100_000 < 10
