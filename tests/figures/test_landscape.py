"""The landscape: what is drawn is what the search believes."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from tests.figures.studies import SPACE, Ending, config_of, many, told
from tests.figures.test_cells import inside
from thiessen import Categorical, Float, Int, Ordinal, Space
from thiessen.figures import FigureError, Wanted, landscape, marks
from thiessen.figures.trials import Proposed, Unfinished

PLANE = Space(lr=Float(1e-4, 1.0, log=True), momentum=Float(0.0, 1.0))
PLAIN = Space(
    lr=Float(1e-4, 1.0, log=True),
    layers=Int(1, 9),
    momentum=Float(0.0, 1.0),
    kind=Categorical(["a", "b", "c", "d"]),
)


def shown(trials, **wanted):
    return landscape.numbers(trials, Wanted(**wanted))


def value_at(numbers, x, y):
    """Return what the picture shows at a point, given as it is drawn."""
    if numbers.grid is None:
        scaled = [np.log if axis.is_log else np.asarray for axis in (numbers.x, numbers.y)]
        for cell in numbers.cells:
            corners = list(zip(scaled[0](np.array(cell.x)), scaled[1](np.array(cell.y)), strict=True))
            if inside(corners, float(scaled[0](x)), float(scaled[1](y))):
                return cell.place
        raise AssertionError((x, y))
    column = np.searchsorted(numbers.grid.x, x) - 1
    row = np.searchsorted(numbers.grid.y, y) - 1
    return numbers.grid.place[row][column]


@pytest.mark.row(266)
def test_in_a_plane_the_cells_are_those_of_scikit_learn():
    trials = many(120, PLANE, pruned=0, failed=0)
    numbers = shown(trials)
    oracle = KNeighborsRegressor(n_neighbors=1).fit(trials.points, trials.losses)

    points = np.random.default_rng(5).random((300, 2))
    places = numbers.scale.places(oracle.predict(points))
    xs, ys = numbers.x.at(points[:, 0]), numbers.y.at(points[:, 1])
    assert len(numbers.cells) > 60
    assert [value_at(numbers, x, y) for x, y in zip(xs, ys, strict=True)] == pytest.approx(places, abs=6e-4)


@pytest.mark.row(266)
@pytest.mark.parametrize(
    "axes", [("lr", "momentum"), ("momentum", "layers"), ("lr", "kind"), ("kind", "layers")]
)
@pytest.mark.parametrize("count", [40, 3000])
def test_a_section_is_the_model_of_the_search_with_the_others_at_the_best_config(axes, count):
    trials = many(count, PLAIN)
    numbers = shown(trials, x=axes[0], y=axes[1])
    best = best_config(trials)

    rng = np.random.default_rng(7)
    wrong = 0
    units = rng.random((200, 2))
    if numbers.grid is not None:  # there it is right in the middle of each field
        units = (np.floor(units * landscape.GRID) + 0.5) / landscape.GRID
    for unit in units.tolist():
        config = dict(best)
        drawn = []
        for name, axis, coordinate in zip(axes, (numbers.x, numbers.y), unit, strict=True):
            config[name] = PLAIN.dimensions[name].decode(coordinate)
            drawn.append(float(axis.at(np.array([PLAIN.dimensions[name].encode(config[name])]))[0]))
        found = trials.landscape.nearest(config)
        place = 1.0 if found.diverged else numbers.scale.places(np.array([found.losses[0]]))[0]
        wrong += abs(value_at(numbers, *drawn) - place) > 1e-3
    assert wrong == 0


def best_config(trials):
    return config_of(trials, trials.best)


def test_two_choices_are_as_far_apart_as_a_whole_range_whichever_they_are():
    near, far = {"lr": 1e-4, "layers": 5, "momentum": 0.0}, {"lr": 1.0, "layers": 5, "momentum": 1.0}
    trials = told(PLAIN, Ending(0, {**near, "kind": "a"}, 1.0), Ending(1, {**far, "kind": "d"}, 2.0))
    cells = {cell.trial: cell for cell in shown(trials, x="lr", y="momentum").cells}

    # To (1, m) the squared distances are 1 + m**2 and 1 + (1 - m)**2: the border meets the edge half way.
    assert sorted(y for x, y in zip(cells[1].x, cells[1].y, strict=True) if x == 1.0) == pytest.approx(
        [0.5, 1.0]
    )


def test_the_fixed_dimensions_are_told():
    trials = many(60, PLAIN, pruned=0)
    numbers = shown(trials, x="lr", y="layers")
    best = best_config(trials)

    assert [name for name, _ in numbers.fixed] == ["momentum", "kind"]
    assert float(numbers.fixed[0][1]) == pytest.approx(best["momentum"], rel=1e-3)
    assert numbers.fixed[1][1] == best["kind"]
    caption = landscape.caption(numbers)
    assert f"kind {best['kind']}, as in the best config" in caption
    assert f"{len(numbers.cells)} of 60 cells" in caption


def test_without_the_others_each_trial_has_its_cell_around_its_own_mark():
    trials = many(50, PLAIN, pruned=0, failed=0)
    numbers = shown(trials, x="lr", y="momentum", others="ignored")

    assert {cell.trial for cell in numbers.cells} == set(range(50))
    assert "projection of 50 trials" in landscape.caption(numbers)
    for mark, loss in zip(numbers.marks, trials.losses, strict=True):
        place = round(float(numbers.scale.places(np.array([loss]))[0]), 3)
        assert value_at(numbers, mark.x, mark.y) == pytest.approx(place, abs=1e-3)


def test_cells_of_diverged_and_broken_trials_know_no_loss_and_are_hatched():
    ends = [
        Ending(0, {"lr": 1e-3, "momentum": 0.5}, 1.0),
        Ending(1, {"lr": 1e-2, "momentum": 0.5}, None, "diverged"),
        Ending(2, {"lr": 1e-1, "momentum": 0.5}, None, "failed"),
        Ending(3, {"lr": 0.9, "momentum": 0.5}, None, "failed"),
        Ending(4, {"lr": 0.5, "momentum": 0.5}, None, "cancelled"),
    ]
    trials = replace(told(PLANE, *ends), is_broken=np.array([False, False, True, False, False]))
    numbers = shown(trials)

    assert {cell.trial: cell.loss for cell in numbers.cells} == {0: 1.0, 1: None, 2: None}
    traces = landscape.picture(numbers, "light")["data"]
    assert [trace["name"] for trace in traces if "fillpattern" in trace] == ["cells of diverged trials"]
    assert {mark.state for mark in numbers.marks} == {"succeeded", "diverged", "failed", "cancelled"}


def test_a_pruned_trial_counts_with_no_less_than_the_median_before_it():
    ends = [
        Ending(0, {"lr": 1e-3, "momentum": 0.2}, 1.0),
        Ending(1, {"lr": 1e-2, "momentum": 0.5}, 3.0),
        Ending(2, {"lr": 1e-1, "momentum": 0.8}, 0.5, "pruned"),
    ]
    assert {cell.trial: cell.loss for cell in shown(told(PLANE, *ends)).cells} == {0: 1.0, 1: 3.0, 2: 2.0}


def test_equally_near_trials_count_as_their_mean():
    ends = [Ending(at, {"lr": 1e-2, "momentum": 0.5}, float(at)) for at in range(3)]

    [cell] = shown(told(PLANE, *ends)).cells
    assert cell.loss == 1.0


def test_several_neighbours_are_drawn_as_their_mean():
    trials = replace(many(80, PLANE, pruned=0, failed=0), neighbours=5)
    numbers = shown(trials)
    oracle = KNeighborsRegressor(n_neighbors=5).fit(trials.points, trials.losses)

    middles = (np.arange(landscape.GRID) + 0.5) / landscape.GRID
    points = np.column_stack([axis.ravel() for axis in np.meshgrid(middles, middles)])
    places = numbers.scale.places(oracle.predict(points))
    assert np.ravel(numbers.grid.place) == pytest.approx(places, abs=1e-3)
    assert "the mean of the 5 nearest" in landscape.caption(numbers)


def test_a_dimension_that_depends_on_an_axis_comes_and_goes_with_it():
    trials = many(200, SPACE, pruned=0, failed=0)
    numbers = shown(trials, x="optimizer", y="lr")

    assert len(numbers.grid.x) == 3
    best = best_config(trials)
    for column, optimizer in enumerate(["sgd", "kfac"]):
        config = {**best, "optimizer": optimizer}
        config.pop("damping", None)
        if optimizer == "kfac":
            config["damping"] = best.get("damping", 1e-3)
        found = trials.landscape.nearest(config)
        y = float(numbers.y.at(np.array([SPACE.dimensions["lr"].encode(config["lr"])]))[0])
        place = numbers.scale.places(np.array([found.losses[0]]))[0]
        assert value_at(numbers, column, y) == pytest.approx(place, abs=1e-3)


def test_a_dimension_may_depend_on_an_axis_with_an_order_too():
    space = Space(depth=Int(1, 3), lr=Float(0.0, 1.0), second=Float(0.0, 1.0, when={"depth": [2, 3]}))
    trials = many(60, space, pruned=0, failed=0)
    numbers = shown(trials, x="depth", y="lr")

    best = best_config(trials)
    for depth in (1, 2, 3):
        config = {"depth": depth, "lr": best["lr"]}
        if depth > 1:
            config["second"] = best.get("second", 0.5)
        row = np.searchsorted(numbers.grid.y, config["lr"]) - 1
        config["lr"] = (row + 0.5) / landscape.GRID
        place = numbers.scale.places(np.array([trials.landscape.nearest(config).losses[0]]))[0]
        assert value_at(numbers, depth, config["lr"]) == pytest.approx(place, abs=1e-3)


def test_kept_and_refused_candidates_of_the_latest_proposals_are_marked():
    config = {"lr": 0.1, "momentum": 0.1}
    latest = [Proposed(number=at, config=config, refused=[config] * at) for at in range(5)]
    unfinished = [Unfinished(number=4, state="running", config=config)]
    trials = replace(told(PLANE), latest=latest, unfinished=unfinished)

    def states(**wanted):
        return [mark.state for mark in shown(trials, **wanted).marks]

    assert states() == ["kept", *["refused"] * 4]
    assert states(candidates=2) == ["kept", *["refused"] * 3, "kept", *["refused"] * 4]
    assert states(candidates=0) == ["running"]


def test_a_trial_with_an_inactive_axis_has_no_mark():
    ends = [
        Ending(0, {"lr": 0.1, "layers": 1, "optimizer": "sgd", "bias": True}, 1.0),
        Ending(1, {"lr": 0.2, "layers": 1, "optimizer": "kfac", "damping": 0.1, "bias": True}, 2.0),
    ]
    for others in ("best", "ignored"):
        numbers = shown(told(SPACE, *ends), x="lr", y="damping", others=others)
        assert [mark.told for mark in numbers.marks] == ["trial 1: 2"]


def test_the_best_is_starred_where_it_is():
    trials = many(60, PLANE)
    best = best_config(trials)
    star = shown(trials).best

    assert (star.x, star.y) == pytest.approx((best["lr"], best["momentum"]), rel=1e-5)
    assert shown(told(PLANE)).best is None


def test_log_axes_are_log_and_steps_stand_at_their_values():
    space = Space(
        lr=Float(1e-4, 1.0, log=True),
        size=Int(1, 1000, log=True),
        depth=Int(2, 10, step=2),
        way=Ordinal(["a", "b", "c"]),
    )
    axes = {name: landscape.Axis(name, dimension) for name, dimension in space.dimensions.items()}

    lr = axes["lr"].layout("light")
    assert (lr["type"], lr["range"]) == ("log", pytest.approx([-4, 0]))
    assert (lr["tickvals"], lr["ticktext"]) == (
        [1e-4, 1e-3, 0.01, 0.1, 1],
        ["10⁻⁴", "10⁻³", "0.01", "0.1", "1"],
    )
    for name in ("size", "depth", "way"):
        where, labels = axes[name].ticks()
        for place, label in zip(where, labels, strict=True):
            value = label if name == "way" else int(label)
            drawn = float(axes[name].at(np.array([space.dimensions[name].encode(value)]))[0])
            assert place == pytest.approx(drawn)
    assert axes["depth"].ticks()[1] == ["2", "4", "6", "8", "10"]
    assert axes["way"].ticks() == ([0.0, 1.0, 2.0], ["a", "b", "c"])
    assert math.isclose(axes["size"].ends[1], 1000.5)


def test_a_space_of_one_dimension_has_no_landscape():
    with pytest.raises(FigureError, match=r"the space only 'x'\. Ask for slice"):
        shown(told(Space(x=Float(0, 1))))


def test_beyond_2000_trials_the_model_is_on_a_grid():
    numbers = shown(many(3000, PLAIN), x="lr", y="momentum")

    assert numbers.cells == []
    assert np.shape(numbers.grid.place) == (landscape.GRID, landscape.GRID)
    assert shown(many(6000, PLAIN)).left_out > 6000 - 2 * marks.KEPT - 1
