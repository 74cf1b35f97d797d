"""Truth here is the recursion of matrices as it is written, dense solves, and simulated chains."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizers.errors import NotPositiveDefiniteError
from optimizers.stochastic_iteration import StochasticIteration, trace_of_lyapunov

CHAINS = 200_000
PAGE = Path(__file__).parents[2] / "docs/reference/optimizers/stochastic-iteration.md"

sizes, seeds = st.integers(1, 5), st.integers(0, 10_000)


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def positive_definite(size, seed=0):
    root = normal(size, size, seed=seed)
    return root @ root.T + 0.3 * torch.eye(size)


def power_of(matrix, exponent):
    values, vectors = torch.linalg.eigh(matrix)
    return (vectors * values**exponent) @ vectors.T


@dataclass
class Problem:
    """H, B, Σ and θ_0 - θ*, as they are."""

    h: torch.Tensor
    b: torch.Tensor
    sigma: torch.Tensor
    start: torch.Tensor

    @property
    def iteration(self):
        return StochasticIteration(
            curvature=self.h, preconditioner=self.b, noise=self.sigma, start=self.start
        )

    @property
    def a(self):
        return torch.linalg.solve(self.b, self.h)

    @property
    def q(self):
        return self.b.inverse() @ self.sigma @ self.b.inverse()

    def excess(self, mean, covariance):
        return float(mean @ self.h @ mean + (self.h @ covariance).trace()) / 2

    def after(self, lrs):
        """Mean and covariance by the recursion of matrices."""
        mean, covariance, identity = self.start, torch.zeros_like(self.h), torch.eye(len(self.h))
        for lr in lrs:
            keep = identity - lr * self.a
            mean, covariance = keep @ mean, keep @ covariance @ keep.T + lr**2 * self.q
        return mean, covariance


def a_problem(size=4, seed=0):
    """A random problem whose B⁻¹H has 1 as the largest eigenvalue."""
    h, b = positive_definite(size, seed), positive_definite(size, seed + 1)
    largest = torch.linalg.eigvals(torch.linalg.solve(b, h)).real.max()
    return Problem(h, b * largest, positive_definite(size, seed + 2), normal(size, seed=seed + 3))


def a_problem_from(slowest, size=4, seed=0):
    """A random problem whose B⁻¹H has eigenvalues from this to twice as much."""
    h, values = positive_definite(size, seed), torch.linspace(slowest, 2 * slowest, size, dtype=torch.float64)
    basis, _ = torch.linalg.qr(normal(size, size, seed=seed + 1))
    b = power_of(h, 0.5) @ (basis / values) @ basis.T @ power_of(h, 0.5)
    return Problem(h, (b + b.T) / 2, positive_definite(size, seed + 2), normal(size, seed=seed + 3))


def decaying(updates):
    return [1 / (k + 1) for k in range(updates)]


# Exact


@pytest.mark.row(177)
@settings(deadline=None, max_examples=25)
@given(size=sizes, seed=seeds, lrs=st.lists(st.floats(0, 3), max_size=8))
def test_mean_and_covariance_are_those_of_the_recursion_at_any_learning_rates(size, seed, lrs):
    problem = a_problem(size, seed)
    mean, covariance = problem.after(lrs)
    found = problem.iteration.after(lrs)

    torch.testing.assert_close(found.mean, mean, rtol=1e-7, atol=1e-9)
    torch.testing.assert_close(found.covariance, covariance, rtol=1e-7, atol=1e-9)
    assert found.excess == pytest.approx(problem.excess(mean, covariance), rel=1e-7)
    assert float(problem.iteration.excess(lrs)[-1]) == pytest.approx(found.excess, rel=1e-7)


@pytest.mark.row(177)
def test_the_mean_does_not_know_the_noise():
    problem = a_problem()
    louder = Problem(problem.h, problem.b, 100 * problem.sigma, problem.start)

    torch.testing.assert_close(
        problem.iteration.after([0.5] * 7).mean, louder.iteration.after([0.5] * 7).mean
    )


@pytest.mark.row(177)
@settings(deadline=None, max_examples=25)
@given(size=sizes, seed=seeds, lr=st.floats(0.01, 1.9))
def test_the_limit_is_where_the_recursion_stays(size, seed, lr):
    problem = a_problem(size, seed)
    keep, limit = torch.eye(size) - lr * problem.a, problem.iteration.limit(lr)

    stayed = keep @ limit.covariance @ keep.T + lr**2 * problem.q
    torch.testing.assert_close(stayed, limit.covariance, rtol=1e-7, atol=1e-9)
    trace = lr / 2 * torch.linalg.solve(2 * problem.b - lr * problem.h, problem.sigma).trace()
    assert limit.excess == pytest.approx(float(trace), rel=1e-7)


@pytest.mark.row(177)
@pytest.mark.row(235)
def test_the_limit_is_a_quarter_of_the_learning_rate_only_where_that_is_small():
    problem = a_problem()
    trace = float(torch.linalg.solve(problem.b, problem.sigma).trace())
    ratios = [problem.iteration.limit(lr).excess / (lr / 4 * trace) for lr in (1.0, 1e-2, 1e-4)]

    assert ratios[0] > 1.1
    assert [ratio - 1 for ratio in ratios[1:]] == [pytest.approx(0, abs=lr) for lr in (1e-2, 1e-4)]
    with_h = Problem(problem.h, problem.h, problem.sigma, problem.start)
    of_newton = 0.8 / (2 * (2 - 0.8)) * torch.linalg.solve(problem.h, problem.sigma).trace()
    assert with_h.iteration.limit(0.8).excess == pytest.approx(float(of_newton))


@pytest.mark.row(177)
@settings(deadline=None, max_examples=50)
@given(size=sizes, seed=seeds, lr=st.floats(0.01, 1.0), updates=st.integers(0, 40))
def test_at_a_constant_learning_rate_the_excess_is_within_its_bounds(size, seed, lr, updates):
    iteration = a_problem(size, seed).iteration
    lower, upper = iteration.bounds(lr, updates)
    excess = float(iteration.excess([lr] * updates)[-1])

    assert lower * (1 - 1e-9) <= excess <= upper * (1 + 1e-9)


@pytest.mark.row(177)
@pytest.mark.row(235)
def test_the_printed_lower_bound_does_not_hold_for_a_single_parameter():
    h, noise, start, lr = 2.0, 0.3, 1.0, 0.1
    iteration = Problem(*(torch.tensor([[x]]) for x in (h, 1.0, noise)), torch.tensor([start])).iteration
    gone, first = lr * h, h * start**2 / 2
    printed = 2 * gone * lr / 4 * noise + (1 - 2 * gone) * first + (1 - gone) ** 2 * first

    exact = (1 - gone) ** 2 * first + lr**2 * h * noise / 2  # after one update
    assert float(iteration.excess([lr])[1]) == pytest.approx(exact, rel=1e-6)
    assert exact < printed - 0.5 * first  # in it, the start counts as a part of the covariance too


# Learning rates 1 / (k + 1)


def coefficients(problem):
    """C₁ and C₂ of the covariance by solves with Kronecker products."""
    size, identity = len(problem.h), torch.eye(len(problem.h), dtype=torch.float64)
    both = torch.kron(problem.a.contiguous(), identity) + torch.kron(identity, problem.a.contiguous())  # Ξ

    def solved(shift, matrix):
        shifted = both - shift * torch.eye(size**2)
        return torch.linalg.solve(shifted, matrix.reshape(-1)).reshape(size, size)

    first = solved(1, problem.q)
    return first, solved(2, problem.a @ first @ problem.a.T - problem.q)


@pytest.mark.row(177)
@settings(deadline=None, max_examples=25)
@given(size=sizes, seed=seeds, slowest=st.floats(1.1, 2))
def test_both_coefficients_are_those_of_the_matrix_equations(size, seed, slowest):
    problem = a_problem_from(slowest, size, seed)
    expected = [float((problem.h @ c).trace()) / 2 for c in coefficients(problem)]

    assert problem.iteration.decaying() == pytest.approx(expected, rel=1e-6)


@pytest.mark.row(177)
@pytest.mark.parametrize("slowest", [0.7, 1.0, 1.6])
def test_the_leading_coefficient_is_the_published_trace(slowest):
    problem = a_problem_from(slowest)
    root, inverse_root = power_of(problem.b, 0.5), power_of(problem.b, -0.5)
    published = torch.linalg.solve(
        torch.eye(4) - root @ problem.h.inverse() @ root / 2, inverse_root @ problem.sigma @ inverse_root
    )

    assert problem.iteration.decaying()[0] == pytest.approx(float(published.trace()) / 4)


@pytest.mark.row(177)
@pytest.mark.row(235)
def test_the_excess_of_late_iterates_has_both_coefficients():
    problem = a_problem_from(2.0, size=3)
    first, second = problem.iteration.decaying()
    excess = problem.iteration.excess(decaying(4000))
    left = [float(k**2 * (excess[k] - first / k)) for k in (1000, 2000, 4000)]  # c₂ + O(1 / k)
    errors = [abs(value - second) for value in left]

    assert errors[2] < 0.01 * second
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.05)
    assert second > 0  # what is printed in its place is negative
    root = power_of(problem.b, 0.5)
    of_noise = power_of(problem.b, -0.5) @ problem.sigma @ power_of(problem.b, -0.5)
    printed = -torch.linalg.solve(torch.eye(3) - root @ problem.h.inverse() @ root / 4, of_noise).trace() / 8
    assert printed < 0


@pytest.mark.row(177)
@settings(deadline=None, max_examples=25)
@given(size=sizes, seed=seeds, updates=st.integers(1, 30))
def test_preconditioned_by_the_curvature_the_excess_is_one_trace_over_two_k(size, seed, updates):
    problem = a_problem(size, seed)
    with_h = Problem(problem.h, problem.h, problem.sigma, problem.start)
    trace = float(torch.linalg.solve(problem.h, problem.sigma).trace())

    assert with_h.iteration.after(decaying(updates)).excess == pytest.approx(trace / (2 * updates))
    assert with_h.iteration.decaying() == pytest.approx((trace / 2, 0), abs=1e-9 * trace)


@pytest.mark.row(177)
def test_where_the_model_is_true_gradient_descent_pays_for_the_spread_of_the_curvature():
    h = positive_definite(5)
    values = torch.linalg.eigvalsh(h)
    ratios = values / values[0]
    start = normal(5)
    newton = Problem(h, h, h, start).iteration.decaying()[0]  # Σ = H: the curvature is the noise's covariance
    descent = Problem(h, values[0] * torch.eye(5), h, start).iteration.decaying()[0]

    assert newton == pytest.approx(5 / 2)
    assert descent == pytest.approx(float((ratios / (1 - 1 / (2 * ratios))).sum()) / 4)
    assert float(ratios.sum()) / 4 <= descent <= float(ratios.sum()) / 2


@pytest.mark.parametrize("slowest", [0.3, 0.5])
def test_learning_rates_that_decay_too_fast_for_the_slowest_direction_are_refused(slowest):
    with pytest.raises(ValueError, match="above 1/2"):
        a_problem_from(slowest * (1 - 1e-12)).iteration.decaying()


# The trace without the matrix


@pytest.mark.row(179)
@settings(deadline=None, max_examples=50)
@given(size=sizes, seed=seeds)
def test_the_trace_of_the_unknown_takes_one_solve(size, seed):
    a, p = normal(size, size, seed=seed) + 3 * torch.eye(size), normal(size, size, seed=seed + 1)
    q = -(a @ p + p.T @ a)

    assert trace_of_lyapunov(a, q) == pytest.approx(float(p.trace()), rel=1e-6, abs=1e-6)


@pytest.mark.row(179)
def test_limit_and_leading_coefficient_are_such_traces():
    problem, lr = a_problem_from(0.8), 0.1
    h, b, sigma = problem.h, problem.b, problem.sigma

    of_limit = trace_of_lyapunov(-(b - lr / 2 * h), lr * sigma)  # of P = V H
    assert problem.iteration.limit(lr).excess == pytest.approx(of_limit / 2)
    leading = trace_of_lyapunov(-(b.inverse() - h.inverse() / 2), problem.q)  # of P = H C₁
    assert problem.iteration.decaying()[0] == pytest.approx(leading / 2)


# The mean of all iterates


def averaged_by_hand(problem, lr, updates):
    """Mean and covariance by the definition: what each gradient's noise has left in the mean."""
    identity = torch.eye(len(problem.h), dtype=torch.float64)
    keep = identity - lr * problem.a
    powers = [torch.linalg.matrix_power(keep, k) for k in range(updates + 1)]
    mean = sum(powers) @ problem.start / (updates + 1)
    of_noise = problem.h.inverse() @ problem.sigma @ problem.h.inverse()
    left = [identity - powers[updates - j] for j in range(updates)]
    covariance = sum((x @ of_noise @ x.T for x in left), torch.zeros_like(keep)) / (updates + 1) ** 2
    return mean, covariance


@pytest.mark.row(178)
@settings(deadline=None, max_examples=25)
@given(size=sizes, seed=seeds, lr=st.floats(0.01, 1.9), updates=st.integers(0, 12))
def test_the_moments_of_the_averaged_iterate_are_those_by_hand(size, seed, lr, updates):
    problem = a_problem(size, seed)
    mean, covariance = averaged_by_hand(problem, lr, updates)
    found = problem.iteration.averaged(lr, updates)

    torch.testing.assert_close(found.mean, mean, rtol=1e-7, atol=1e-9)
    torch.testing.assert_close(found.covariance, covariance, rtol=1e-7, atol=1e-9)
    assert found.excess == pytest.approx(problem.excess(mean, covariance), rel=1e-7)


def published_bound(problem, lr, updates):
    """The least of its branches for the noise, and the three for the start."""
    h, b, start, count = problem.h, problem.b, problem.start, updates + 1
    pulled = b @ start
    of_noise = min(
        torch.linalg.solve(h, problem.sigma).trace() / count,
        lr / 2 * torch.linalg.solve(b, problem.sigma).trace(),
    )
    of_start = min(
        pulled @ torch.linalg.solve(h, pulled) / (count * lr) ** 2,
        start @ pulled / (count * lr),
        3 * start @ h @ start / 2,
    )
    return float(of_noise + of_start)


@pytest.mark.row(178)
@settings(deadline=None, max_examples=50)
@given(
    size=sizes,
    seed=seeds,
    lr=st.floats(0.01, 1.0),
    updates=st.integers(0, 300),
    noise=st.sampled_from([0.0, 1e-3, 1.0, 1e3]),
)
def test_the_averaged_iterate_keeps_to_its_bound_and_that_to_the_published_one(
    size, seed, lr, updates, noise
):
    problem = a_problem(size, seed)
    problem.sigma = noise * problem.sigma
    excess = problem.iteration.averaged(lr, updates).excess
    bound = problem.iteration.averaged_bound(lr, updates)

    assert excess <= bound * (1 + 1e-9)
    assert bound <= published_bound(problem, lr, updates) * (1 + 1e-9)


@pytest.mark.row(178)
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_late_averages_come_as_near_to_the_bound_as_one_likes(noise):
    problem = a_problem(3)
    problem.sigma = noise * problem.sigma
    exact = problem.iteration.averaged(0.9, 20_000).excess
    bound = problem.iteration.averaged_bound(0.9, 20_000)

    assert exact == pytest.approx(bound, rel=0.01)
    assert exact < 0.51 * published_bound(problem, 0.9, 20_000)


@pytest.mark.row(178)
@pytest.mark.row(235)
def test_averaged_noise_does_not_know_the_preconditioner():
    problem, updates = a_problem(3), 20_000
    h, sigma = problem.h, problem.sigma
    limit = h.inverse() @ sigma @ h.inverse()
    largest = torch.linalg.eigvalsh(h)[-1]
    for b in (problem.b, h, largest * torch.eye(3)):
        found = Problem(h, b, sigma, 0 * problem.start).iteration.averaged(0.9, updates)
        torch.testing.assert_close((updates + 1) * found.covariance, limit, rtol=0.02, atol=1e-3)
        assert 2 * (updates + 1) * found.excess == pytest.approx(float((h @ limit).trace()), rel=0.01)


@pytest.mark.row(178)
@pytest.mark.row(235)
def test_at_half_the_largest_curvature_the_start_counts_four_times_what_is_printed():
    h, start, updates = torch.diag(torch.tensor([1.0, 4.0])).double(), torch.tensor([0.0, 1.0]).double(), 50
    iteration = Problem(h, torch.eye(2).double(), 0 * h, start).iteration
    pulled = (
        4.0**2 * float(start @ torch.linalg.solve(h, start)) / (updates + 1) ** 2
    )  # λ₁² ‖H^-½ ·‖² / (k+1)²

    assert pulled < iteration.averaged(1 / 8, updates).excess <= 4 * pulled


# Simulated


def simulated(problem, lrs, draw, *, seed):
    """Yield θ - θ* of all chains after each update; a row is a chain."""
    stream = torch.Generator().manual_seed(seed)
    root, inverse = torch.linalg.cholesky(problem.sigma), problem.b.inverse()
    chains = problem.start.expand(CHAINS, -1)
    yield chains
    for lr in lrs:
        noise = draw(CHAINS, len(problem.h), stream) @ root.T
        chains = chains - lr * (chains @ problem.h + noise) @ inverse
        yield chains


def gaussian(rows, columns, stream):
    return torch.randn(rows, columns, generator=stream, dtype=torch.float64)


def signs(rows, columns, stream):
    return 2.0 * torch.randint(2, (rows, columns), generator=stream, dtype=torch.float64) - 1


def assert_within_four_standard_errors(samples, expected):
    error = samples.std(dim=0) / len(samples) ** 0.5
    assert ((samples.mean(dim=0) - expected).abs() <= 4 * error + 1e-12).all()


def assert_agree(problem, chains, moments):
    apart = chains - moments.mean
    assert_within_four_standard_errors(chains, moments.mean)
    assert_within_four_standard_errors(apart[:, :, None] * apart[:, None, :], moments.covariance)
    excess = ((chains @ problem.h) * chains).sum(dim=1, keepdim=True) / 2
    assert_within_four_standard_errors(excess, moments.excess)


@pytest.mark.row(177)
@pytest.mark.row(178)
@pytest.mark.parametrize("draw", [gaussian, signs])  # of the noise, the covariance alone counts
def test_chains_at_a_constant_learning_rate_agree(draw):
    problem, lr, updates = a_problem(3, seed=3), 0.9, 40
    total = torch.zeros(CHAINS, 3, dtype=torch.float64)
    for k, chains in enumerate(simulated(problem, [lr] * updates, draw, seed=1)):
        total += chains
        if k in {1, 4, updates}:
            assert_agree(problem, chains, problem.iteration.after([lr] * k))
        if k in {4, updates}:
            assert_agree(problem, total / (k + 1), problem.iteration.averaged(lr, k))


@pytest.mark.row(177)
def test_chains_run_long_enough_agree_with_the_limit():
    problem, lr = a_problem_from(0.6, size=3), 0.8
    *_, chains = simulated(problem, [lr] * 25, gaussian, seed=2)  # 0.52²⁵ is left of the start

    assert_agree(problem, chains, problem.iteration.limit(lr))


@pytest.mark.row(177)
def test_chains_at_decaying_learning_rates_agree():
    problem = a_problem_from(1.5, size=3, seed=7)
    *_, chains = simulated(problem, decaying(30), gaussian, seed=3)

    assert_agree(problem, chains, problem.iteration.after(decaying(30)))


@pytest.mark.row(177)
def test_chains_of_a_true_model_agree_with_half_the_parameters_over_k():
    h = positive_definite(3)
    problem = Problem(h, h, h, normal(3))
    *_, chains = simulated(problem, decaying(10), signs, seed=4)
    excess = ((chains @ h) * chains).sum(dim=1, keepdim=True) / 2

    assert problem.iteration.after(decaying(10)).excess == pytest.approx(3 / (2 * 10))
    assert_within_four_standard_errors(excess, 3 / (2 * 10))


# What is refused


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"curvature": torch.ones(2, 3)}, "curvature must be symmetric"),
        ({"preconditioner": torch.tensor([[1.0, 0.5], [0.0, 1.0]])}, "preconditioner must be symmetric"),
        ({"noise": torch.eye(3)}, "noise must be symmetric, 2 by 2"),
        ({"noise": torch.diag(torch.tensor([1.0, -1.0]))}, "noise must be a covariance"),
    ],
)
def test_matrices_that_fit_no_iteration_are_refused_by_name(wrong, said):
    right = {
        "curvature": torch.eye(2),
        "preconditioner": torch.eye(2),
        "noise": torch.eye(2),
        "start": torch.ones(2),
    }
    with pytest.raises(ValueError, match=said):
        StochasticIteration(**{**right, **wrong})


@pytest.mark.parametrize("name", ["curvature", "preconditioner"])
def test_a_matrix_that_is_not_positive_definite_is_refused(name):
    right = {"curvature": torch.eye(2), "preconditioner": torch.eye(2)}
    indefinite = torch.diag(torch.tensor([1.0, -1.0]))
    with pytest.raises(NotPositiveDefiniteError):
        StochasticIteration(**{**right, name: indefinite}, noise=torch.eye(2), start=torch.ones(2))


@pytest.mark.parametrize(
    "question", [lambda i: i.limit(2.1), lambda i: i.bounds(1.1, 3), lambda i: i.averaged_bound(0.0, 3)]
)
def test_a_learning_rate_for_which_there_is_no_answer_is_refused(question):
    with pytest.raises(ValueError, match="largest eigenvalue"):
        question(a_problem().iteration)


# The page


def test_the_page_tells_the_numbers_of_its_example():
    [code] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    exec(code, names := {})  # noqa: S102 - what the reader would paste
    told = re.findall(r"^(\w+\..*excess)  # ([0-9.]+)", code, re.MULTILINE)

    assert len(told) == 4
    for question, answer in told:
        assert eval(question, names) == pytest.approx(float(answer), rel=0.01)  # noqa: S307 - the same
