import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizers.damping.factor_damping import FactorDamping, best
from optimizers.damping.levenberg_marquardt import CEILING, FLOOR, LevenbergMarquardt, next_radius
from optimizers.damping.line_search import REDUCTIONS, SHRINK, SUFFICIENT, backtrack
from optimizers.damping.rescaling import best_multiples, model_change
from optimizers.damping.tikhonov import scale_sensitive, tikhonov, tikhonov_product
from optimizers.solvers.cg import conjugate_gradients

RULE = LevenbergMarquardt()


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def positive_definite(size, seed=0):
    root = normal(size, size, seed=seed)
    return root @ root.T + 0.1 * torch.eye(size)


def judge(rule=RULE, *, before=1.0, after=0.5, model_change=-0.5, **rest):
    return rule.judge(
        before=before, after=after, model_change=model_change, **{"dtype": torch.float64, **rest}
    )


# Tikhonov


@pytest.mark.row(153)
def test_damping_multiplies_each_component_of_the_step_by_its_share_of_curvature():
    matrix, gradient, damping = positive_definite(5), normal(5), 0.7
    values, vectors = torch.linalg.eigh(matrix)

    newton = torch.linalg.solve(matrix, gradient)
    ours = torch.linalg.solve(tikhonov(matrix, damping), gradient)
    torch.testing.assert_close(vectors.T @ ours, values / (values + damping) * (vectors.T @ newton))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_damped_matrix_is_of_the_type_and_the_device_of_the_matrix(dtype):
    damped = tikhonov(torch.zeros(3, 3, dtype=dtype, device="meta"), 0.1)

    assert (damped.dtype, damped.device.type) == (dtype, "meta")
    zero = torch.zeros(3, 3, dtype=dtype)
    assert torch.equal(tikhonov(zero, 0.1).diag(), torch.full((3,), 0.1, dtype=dtype))


@pytest.mark.row(235)
@pytest.mark.row(153)
def test_under_large_damping_the_step_is_minus_the_gradient_over_it():
    matrix, gradient = positive_definite(5), normal(5)
    step = -torch.linalg.solve(tikhonov(matrix, 1e9), gradient)

    torch.testing.assert_close(1e9 * step, -gradient, rtol=1e-6, atol=1e-6)


def test_the_damped_product_is_that_of_the_damped_matrix():
    matrix, vector = positive_definite(5), normal(5)
    product = tikhonov_product(lambda v: matrix @ v, 0.3)

    torch.testing.assert_close(product(vector), tikhonov(matrix, 0.3) @ vector)


@pytest.mark.row(154)
@settings(deadline=None, max_examples=20)
@given(damping=st.floats(1e-3, 1e3), seed=st.integers(0, 100))
def test_damped_by_its_own_diagonal_the_step_does_not_depend_on_units(damping, seed):
    matrix, gradient = positive_definite(4, seed), normal(4, seed=seed)
    units = normal(4, seed=seed + 1).exp()  # θ = units · ζ
    step = torch.linalg.solve(scale_sensitive(matrix, damping, matrix.diag()), gradient)

    other = matrix * units.outer(units)
    theirs = torch.linalg.solve(scale_sensitive(other, damping, other.diag()), units * gradient)
    torch.testing.assert_close(units * theirs, step)


@pytest.mark.row(235)
@pytest.mark.row(154)
def test_damped_by_c_transposed_c_the_step_is_that_of_the_parameters_c_makes():
    # The system of E23 too: (CᵀBC + λCᵀC)⁻¹ Cᵀg = C⁻¹ (B + λI)⁻¹ g.
    matrix, gradient, change = positive_definite(4), normal(4), normal(4, 4, seed=3)
    inner = change.T @ matrix @ change

    ours = torch.linalg.solve(scale_sensitive(inner, 0.5, change.T @ change), change.T @ gradient)
    theirs = torch.linalg.solve(change, torch.linalg.solve(tikhonov(matrix, 0.5), gradient))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.row(154)
@pytest.mark.parametrize("a", [15.0, 1e4])
def test_damped_by_its_own_diagonal_a_valley_along_no_axis_is_held_back_too_much(a):
    u, v = torch.tensor([-1.0, 1.0]).double(), torch.tensor([1.0, 1.0]).double()
    matrix, damping = u.outer(u) + a * v.outer(v), 0.1
    step = torch.linalg.solve(scale_sensitive(matrix, damping, matrix.diag()), u)

    newton = torch.linalg.solve(matrix, u)
    torch.testing.assert_close(step, 2 / (2 + damping * (a + 1)) * newton)


# Levenberg and Marquardt


@pytest.mark.row(156)
@pytest.mark.parametrize(
    ("ratio", "factor"), [(0.8, 2 / 3), (0.76, 2 / 3), (0.74, 1.0), (0.26, 1.0), (0.24, 1.5), (-1.0, 1.5)]
)
def test_damping_falls_above_three_quarters_and_rises_below_one(ratio, factor):
    judgement = judge(after=1 - 0.5 * ratio)

    assert judgement.ratio == pytest.approx(ratio)
    assert not judgement.rejected
    assert RULE.next(6.0, judgement) == pytest.approx(6.0 * factor)


@pytest.mark.row(162)
@pytest.mark.parametrize(("updates", "factor"), [(1, 0.95), (5, 0.7738), (20, 0.3585)])
def test_adapted_every_few_updates_the_factor_is_nineteen_twentieths_for_each(updates, factor):
    rule = LevenbergMarquardt.every(updates)

    assert rule.next(1.0, judge(after=0.5)) == pytest.approx(factor, abs=5e-5)
    assert rule.next(1.0, judge(after=1.0)) == pytest.approx(1 / factor, rel=1e-4)


@pytest.mark.row(156)
@pytest.mark.parametrize(
    "bad",
    [
        {"model_change": 0.1},
        {"model_change": 0.0},
        {"after": math.nan},
        {"after": math.inf},
        {"model_change": math.nan},
    ],
)
def test_a_step_that_the_model_did_not_foresee_to_descend_or_that_is_no_number_is_rejected(bad):
    judgement = judge(**bad)

    assert judgement.rejected
    assert judgement.ratio is None
    assert RULE.next(2.0, judgement) == 3.0


@pytest.mark.row(156)
@pytest.mark.parametrize("idle", [{"moved": False}, {"model_change": -1e-15}, {"model_change": 1e-15}])
def test_no_step_or_one_of_rounding_leaves_damping_as_it_is(idle):
    judgement = judge(**idle)

    assert not judgement.rejected
    assert RULE.next(2.0, judgement) == 2.0


def test_what_counts_as_rounding_depends_on_the_precision_of_the_loss():
    single, double = (judge(model_change=-1e-7, dtype=dtype) for dtype in (torch.float32, torch.float64))

    assert single.ratio is None
    assert double.ratio is not None


@pytest.mark.parametrize(("damping", "after", "end"), [(FLOOR, 0.5, FLOOR), (CEILING, 1.0, CEILING)])
def test_damping_stays_between_its_floor_and_ceiling(damping, after, end):
    assert RULE.next(damping, judge(after=after)) == end


@pytest.mark.row(156)
def test_on_a_quadratic_the_undamped_model_has_the_ratio_one_so_that_damping_falls_geometrically():
    matrix, theta, damping = positive_definite(5), normal(5), 1.0
    history = [damping]
    for _ in range(8):
        gradient = matrix @ theta
        step = -torch.linalg.solve(tikhonov(matrix, damping), gradient)
        before, after = (float(x @ matrix @ x / 2) for x in (theta, theta + step))
        judgement = judge(
            before=before, after=after, model_change=float(gradient @ step + step @ matrix @ step / 2)
        )
        assert judgement.ratio == pytest.approx(1.0, rel=1e-6)
        theta, damping = theta + step, RULE.next(damping, judgement)
        history.append(damping)

    assert history == pytest.approx([(2 / 3) ** k for k in range(9)])


@pytest.mark.row(156)
def test_a_model_of_a_quarter_of_the_curvature_makes_damping_grow():
    # Its step is four times too long: h rises where the model foresaw a fall.
    judgement = judge(before=8.0, after=0.5 * (4 - 16) ** 2, model_change=-0.5 * 16 * 4)

    assert RULE.next(1.0, judgement) == 1.5


@pytest.mark.row(156)
@given(scale=st.floats(1e-3, 1e3), after=st.floats(0.0, 2.0))
def test_the_scale_of_the_loss_changes_no_judgement(scale, after):
    ours, scaled = judge(after=after), judge(before=scale, after=scale * after, model_change=-scale / 2)
    near_a_threshold = any(abs(ours.ratio - edge) < 1e-9 for edge in (0.25, 0.75))

    assert near_a_threshold or ours.model_is_trusted == scaled.model_is_trusted


@pytest.mark.row(235)
@settings(deadline=None, max_examples=20)
@given(lr=st.floats(0.01, 1.99), damping=st.floats(1e-2, 1e2), seed=st.integers(0, 100))
def test_the_damped_quadratic_is_the_first_order_change_times_one_minus_half_the_rate(lr, damping, seed):
    matrix, gradient = tikhonov(positive_definite(4, seed), damping), normal(4, seed=seed)
    step = -lr * torch.linalg.solve(matrix, gradient)

    quadratic = gradient @ step + step @ matrix @ step / 2
    torch.testing.assert_close(quadratic, (1 - lr / 2) * (gradient @ step))


@pytest.mark.row(235)
@pytest.mark.parametrize(
    ("lr", "low", "high"), [(1.0, 1 / 8, 3 / 8), (2.0, 1 / 4, 3 / 4), (5.0, 1 / 4, 3 / 4)]
)
def test_thresholds_of_the_first_order_ratio_shrink_up_to_a_rate_of_two_and_are_plain_beyond(lr, low, high):
    rule = LevenbergMarquardt.first_order(lr)

    assert (rule.low, rule.high) == pytest.approx((low, high))


# Trust region


@pytest.mark.row(157)
@pytest.mark.parametrize(
    ("after", "step_norm", "end"), [(0.5, 2.0, 3.0), (0.5, 1.9, 2.0), (1.0, 2.0, 4 / 3), (0.75, 2.0, 2.0)]
)
def test_a_radius_grows_only_where_it_held_a_good_step_back(after, step_norm, end):
    assert next_radius(2.0, judge(after=after), step_norm=step_norm) == pytest.approx(end)


@pytest.mark.row(157)
@settings(deadline=None, max_examples=20)
@given(damping=st.floats(1e-3, 1e2), seed=st.integers(0, 100))
def test_a_damped_step_is_the_best_of_all_that_are_no_longer(damping, seed):
    matrix, gradient = positive_definite(4, seed), normal(4, seed=seed)
    step = -torch.linalg.solve(tikhonov(matrix, damping), gradient)
    others = normal(50, 4, seed=seed + 1)
    others = others / others.norm(dim=1, keepdim=True) * step.norm() * torch.rand(50, 1, dtype=torch.float64)

    def model(direction):
        return float(gradient @ direction + direction @ matrix @ direction / 2)

    assert all(model(step) <= model(other) + 1e-12 for other in others)


def test_a_quotient_at_a_threshold_changes_nothing():
    assert judge(after=0.25, model_change=-1.0).model_is_trusted is None
    assert judge(after=0.75, model_change=-1.0).model_is_trusted is None


def test_what_is_foreseen_counts_from_ten_times_the_rounding_on():
    rounding = torch.finfo(torch.float64).eps

    assert judge(model_change=-10 * rounding).ratio is None
    assert judge(model_change=-10.5 * rounding).ratio is not None


def test_a_step_as_long_as_the_radius_but_for_rounding_was_held_back():
    trusted = judge(after=0.0, model_change=-1.0)

    assert next_radius(2.0, trusted, step_norm=2.0 * (1 - 5e-7)) == 3.0
    assert next_radius(2.0, trusted, step_norm=2.0 * (1 - 5e-6)) == 2.0


# Line search


@pytest.mark.row(158)
@settings(deadline=None, max_examples=50)
@given(curvature=st.floats(0.1, 1e4), slope=st.floats(-10, -0.1))
def test_the_step_that_is_found_descends_enough_and_the_one_before_did_not(curvature, slope):
    def loss_at(alpha):
        return 1 + slope * alpha + curvature * alpha**2 / 2

    alpha = backtrack(loss_at, loss=1.0, slope=slope)

    assert loss_at(alpha) <= 1 + SUFFICIENT * alpha * slope
    assert alpha == 1 or loss_at(alpha / SHRINK) > 1 + SUFFICIENT * alpha / SHRINK * slope


@pytest.mark.row(158)
@pytest.mark.parametrize("slope", [0.0, 1.0, math.nan])
def test_without_descent_nothing_is_tried(slope):
    def loss_at(alpha):
        raise AssertionError(alpha)

    assert backtrack(loss_at, loss=1.0, slope=slope) == 0


def test_a_step_that_descends_just_enough_is_taken():
    assert backtrack(lambda _: 1.0 - SUFFICIENT, loss=1.0, slope=-1.0) == 1.0


@pytest.mark.parametrize("value", [2.0, math.nan, math.inf])
def test_a_search_without_success_ends_with_no_step(value):
    tried = []
    found = backtrack(lambda alpha: tried.append(alpha) or value, loss=1.0, slope=-1.0)

    assert found == 0
    assert len(tried) == REDUCTIONS + 1


# Multiples of directions


def quadratic_of(matrix, *directions):
    return torch.stack([torch.stack([u @ matrix @ v for v in directions]) for u in directions])


def slopes_of(gradient, *directions):
    return torch.stack([gradient @ direction for direction in directions])


@pytest.mark.row(235)
@pytest.mark.row(159)
@settings(deadline=None, max_examples=30)
@given(count=st.integers(1, 2), seed=st.integers(0, 1000))
def test_the_multiples_are_the_minimum_of_the_model_over_the_directions(count, seed):
    matrix, gradient = positive_definite(5, seed), normal(5, seed=seed)
    directions = normal(count, 5, seed=seed + 1)
    quadratic, slopes = quadratic_of(matrix, *directions), slopes_of(gradient, *directions)
    found = best_multiples(quadratic, slopes)

    residual = directions @ (gradient + matrix @ (found @ directions))
    assert residual.abs().max() <= 1e-9 * slopes.abs().max()
    assert model_change(quadratic, slopes, found) == pytest.approx(float(slopes @ found) / 2)


@pytest.mark.row(159)
def test_a_short_previous_step_is_not_lost_beside_a_long_one():
    matrix, gradient = positive_definite(5), normal(5)
    long, short = 1e6 * normal(5, seed=1), 1e-6 * normal(5, seed=2)
    unscaled = best_multiples(
        quadratic_of(matrix, long / 1e6, short * 1e6), slopes_of(gradient, long / 1e6, short * 1e6)
    )
    found = best_multiples(quadratic_of(matrix, long, short), slopes_of(gradient, long, short))

    torch.testing.assert_close(found, unscaled * torch.tensor([1e-6, 1e6], dtype=torch.float64))


@pytest.mark.parametrize("previous", [0.0, 2.0, -2.0])
def test_a_previous_step_of_zero_or_along_the_same_line_takes_no_part(previous):
    matrix, gradient, direction = positive_definite(5), normal(5), normal(5, seed=1)
    pair = direction, previous * direction
    found = best_multiples(quadratic_of(matrix, *pair), slopes_of(gradient, *pair))

    assert found[1] == 0
    assert found[0] == pytest.approx(float(-gradient @ direction / (direction @ matrix @ direction)))


def test_a_direction_without_curvature_is_not_taken():
    assert torch.equal(best_multiples(torch.zeros(1, 1), torch.ones(1)), torch.zeros(1, dtype=torch.float64))


def test_with_a_fixed_preconditioner_best_multiples_are_preconditioned_conjugate_gradients():
    matrix, b, weights = positive_definite(8), normal(8), normal(8, seed=5).exp()
    iterates = conjugate_gradients(
        lambda v: matrix @ v, b, precondition=lambda r: r / weights, progress=0.0, max_iterations=6,
        keep=lambda number: number > 0,
    ).iterates  # fmt: skip

    theta, previous = torch.zeros(8, dtype=torch.float64), torch.zeros(8, dtype=torch.float64)
    for i in range(1, 7):
        gradient = matrix @ theta - b
        pair = -gradient / weights, previous
        alpha, mu = best_multiples(quadratic_of(matrix, *pair), slopes_of(gradient, *pair))
        previous = alpha * pair[0] + mu * previous
        theta = theta + previous
        torch.testing.assert_close(theta, iterates[i], rtol=1e-10, atol=1e-12)


# γ


def test_gamma_ends_a_hundred_times_above_the_root_of_the_largest_damping():
    rule = FactorDamping(every=20, l2=CEILING)
    highest = 100 * math.sqrt(2 * CEILING)

    assert rule.first(CEILING**4) == pytest.approx(highest)
    assert rule.candidates(highest, 20)[2] == pytest.approx(highest)


@pytest.mark.row(161)
def test_gamma_begins_at_the_root_of_the_damping_and_is_tried_in_three_sizes_every_so_often():
    rule = FactorDamping(every=20, l2=0.5)

    assert rule.first(8.5) == 3.0
    assert rule.candidates(1.0, 40) == pytest.approx((1.0, 0.5987, 1 / 0.5987), rel=1e-4)
    assert rule.candidates(1.0, 41) == (1.0,)


@pytest.mark.row(161)
def test_the_candidate_that_lowers_the_model_most_is_kept_and_none_that_is_no_number():
    assert best((1.0, 0.6, 1.7), (-1.0, -3.0, -2.0)) == 1
    assert best((1.0, 0.6, 1.7), (-1.0, math.nan, -1.0)) == 0
    with pytest.raises(ValueError, match="empty"):
        best((1.0,), (math.nan,))


@pytest.mark.parametrize("gamma", [1e-8, 1e7])
def test_gamma_stays_within_its_bounds(gamma):
    assert all(1e-8 <= candidate <= 1e7 for candidate in FactorDamping().candidates(gamma, 0))
