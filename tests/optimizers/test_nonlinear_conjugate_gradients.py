import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from optimizers import CrossEntropy, NonlinearConjugateGradients, squared_error
from optimizers.damping.line_search import strong_wolfe
from optimizers.height import Height
from optimizers.nonlinear_conjugate_gradients import conjugate
from optimizers.solvers.cg import conjugate_gradients

H = [[20.0, 0.6, 0.1, 0.0], [0.6, 5.0, -0.2, 0.1], [0.1, -0.2, 0.5, 0.0], [0.0, 0.1, 0.0, 0.2]]
START = [1.0, -2.0, 3.0, 0.5]
EXACT = 1e-10


def made(quadratic, **more):
    return NonlinearConjugateGradients(quadratic.model, quadratic.objective, **{"slope_left": EXACT, **more})


def vectors(size):
    return st.lists(st.integers(-100, 100), min_size=size, max_size=size).map(
        lambda tenths: torch.tensor(tenths, dtype=torch.float64) / 10
    )


@pytest.mark.row(104)
@pytest.mark.parametrize("searches", [1, 2, 3, 4])
def test_with_exact_searches_on_a_quadratic_it_is_linear_conjugate_gradients(a_quadratic, searches):
    quadratic = a_quadratic(H, START)
    optimizer = made(quadratic, line_searches=searches)
    linear = conjugate_gradients(
        lambda v: quadratic.hessian @ v,
        -quadratic.hessian @ quadratic.start,
        max_iterations=searches,
        progress=0.0,
    )
    step = optimizer.step(*quadratic.batch)

    torch.testing.assert_close(quadratic.point - quadratic.start, linear.solution, rtol=1e-6, atol=1e-7)
    assert step.iterations == searches
    assert step.loss_after == pytest.approx(quadratic.height, abs=1e-12)


@pytest.mark.row(104)
@pytest.mark.parametrize("restart_every", [1, 2])
def test_restarts_begin_conjugate_gradients_anew(a_quadratic, restart_every):
    ours, theirs = a_quadratic(H, START), a_quadratic(H, START)
    ours.path(made(ours, line_searches=6, restart_every=restart_every), 1)
    theirs.path(made(theirs, line_searches=restart_every), 6 // restart_every)

    torch.testing.assert_close(ours.point, theirs.point, rtol=1e-6, atol=1e-9)
    assert ours.height > 1e-6  # four without restarts would have solved it


@pytest.mark.row(104)
def test_it_begins_anew_after_as_many_searches_as_there_are_parameters(a_quadratic):
    ends = []
    for more in ({}, {"restart_every": 2}, {"restart_every": 3}):
        quadratic = a_quadratic([[20.0, 0.5], [0.5, 1.0]], [1.0, -2.0])
        quadratic.path(made(quadratic, line_searches=4, slope_left=0.9, **more), 1)
        ends.append(quadratic.point)

    assert torch.equal(ends[0], ends[1])
    assert not torch.equal(ends[0], ends[2])


@pytest.mark.row(104)
@given(vectors(3), vectors(3), vectors(3))
def test_every_direction_descends_and_the_part_of_the_last_one_is_never_negative(slope, before, direction):
    if not (slope.any() and before.any()):
        return
    following = conjugate(slope, before, direction)
    beta = max(0.0, float(slope @ (slope - before) / before.square().sum()))

    assert slope @ following < 0
    assert torch.equal(following, -slope) or torch.allclose(following, beta * direction - slope)


@pytest.mark.row(104)
@pytest.mark.parametrize("slope_left", [0.01, 0.1, 0.9])
def test_the_loss_of_a_network_never_rises(a_network, a_batch, slope_left):
    model, batch = a_network(4, 5, 3), a_batch(20, 4, 3)
    optimizer = NonlinearConjugateGradients(
        model, CrossEntropy(), line_searches=5, slope_left=slope_left, l2=1e-3
    )
    steps = [optimizer.step(*batch) for _ in range(15)]

    assert all(later.loss < step.loss for step, later in pairwise(steps))
    assert all(step.iterations == 5 for step in steps)
    assert steps[-1].loss < 0.3 * steps[0].loss


@pytest.mark.row(104)
@given(st.floats(-3.0, 3.0), st.floats(-5.0, 1.0), st.sampled_from([0.5, 0.1, 1e-3, 1e-6]))
def test_a_search_ends_lower_and_where_the_slope_is_small(place, power, slope_left):
    def along(alpha):
        x = place + math.copysign(alpha, -math.sin(place) - 0.1 * place)
        height = -math.cos(x) + 0.05 * x * x
        return height, (math.sin(x) + 0.1 * x) * math.copysign(1.0, -math.sin(place) - 0.1 * place)

    loss, slope = along(0.0)
    if slope > -1e-3:
        return
    alpha = strong_wolfe(along, first=10.0**power, slope_left=slope_left)

    assert alpha > 0
    assert along(alpha)[0] < loss
    assert abs(along(alpha)[1]) <= slope_left * abs(slope)


def test_no_gradient_is_taken_twice(a_network, a_batch, monkeypatch):
    places, slope = [], Height.slope

    def seen(self, place):
        places.append(tuple(place.tolist()))
        return slope(self, place)

    monkeypatch.setattr(Height, "slope", seen)
    NonlinearConjugateGradients(a_network(4, 5, 3), CrossEntropy(), line_searches=5).step(*a_batch(20, 4, 3))

    assert len(places) == len(set(places)) > 5


def test_where_it_is_lowest_it_stays(a_quadratic):
    quadratic = a_quadratic(H, [0.0] * 4)
    step = made(quadratic).step(*quadratic.batch)

    assert (step.update_norm, step.iterations) == (0.0, 0)


@pytest.mark.parametrize(
    "wrong", [{"line_searches": 0}, {"restart_every": 0}, {"slope_left": 1.0}, {"l2": -1.0}, {"lr": -1.0}]
)
def test_a_setting_out_of_range_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        NonlinearConjugateGradients(nn.Linear(2, 1), squared_error(), **wrong)
