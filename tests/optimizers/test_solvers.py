"""Truth here is dense: pseudo-inverses, eigen-decompositions and explicit Krylov bases, in float64."""

import contextlib
import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizers.errors import NotFiniteError, NotPositiveDefiniteError
from optimizers.solvers.cg import conjugate_gradients
from optimizers.solvers.cholesky import Inverses, inverse
from optimizers.solvers.eigen import eigen
from optimizers.solvers.kronecker_sum import KroneckerSum, ShiftedKronecker, stein
from optimizers.solvers.minres import minres_qlp
from optimizers.solvers.outliving import Outliving
from optimizers.solvers.steihaug import steihaug

CLOSE = 1e-8


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def with_eigenvalues(values, seed=0):
    basis, _ = torch.linalg.qr(normal(len(values), len(values), seed=seed))
    return (basis * torch.tensor(values, dtype=torch.float64)) @ basis.T


def positive_definite(size, seed=0):
    root = normal(size, size, seed=seed)
    return root @ root.T + 0.1 * torch.eye(size)


def times(matrix):
    return lambda vector: matrix @ vector


def objective(matrix, b, x):
    return float(x @ matrix @ x / 2 - b @ x)


def run(matrix, b, **options):
    settled = {"progress": 0.0, "max_iterations": 500, **options}
    return conjugate_gradients(times(matrix), b, keep=lambda number: number > 0, **settled)


# Conjugate gradients


@pytest.mark.row(145)
@settings(deadline=None, max_examples=25)
@given(size=st.integers(1, 8), seed=st.integers(0, 1000), cold=st.booleans())
def test_the_free_objective_is_that_of_each_iterate(size, seed, cold):
    matrix, b = positive_definite(size, seed), normal(size, seed=seed + 1)
    start = None if cold else normal(size, seed=seed + 2)

    found = run(matrix, b, start=start, max_iterations=size)
    for i, x in found.iterates.items():
        assert found.objectives[i] == pytest.approx(objective(matrix, b, x), rel=1e-9, abs=1e-9)


@pytest.mark.row(145)
def test_directions_are_conjugate():
    matrix, b = positive_definite(8), normal(8, seed=1)
    points = [torch.zeros(8, dtype=torch.float64), *run(matrix, b, max_iterations=5).iterates.values()]
    steps = torch.stack([after - before for before, after in pairwise(points)])

    products = steps @ matrix @ steps.T
    cosines = products / products.diag().sqrt().outer(products.diag().sqrt())
    assert (cosines - torch.eye(5)).abs().max() < 1e-9


@pytest.mark.row(145)
def test_as_many_steps_as_distinct_eigenvalues_are_exact():
    matrix, b = with_eigenvalues([1.0, 1.0, 5.0, 5.0, 5.0, 100.0, 100.0]), normal(7)

    found = run(matrix, b, max_iterations=3)
    torch.testing.assert_close(found.solution, torch.linalg.solve(matrix, b), rtol=1e-9, atol=1e-9)
    assert found.iterations == 3


def test_with_the_matrix_itself_as_preconditioner_one_step_is_exact():
    matrix, b = positive_definite(6), normal(6)
    found = run(matrix, b, max_iterations=1, precondition=times(matrix.inverse()))

    torch.testing.assert_close(found.solution, torch.linalg.solve(matrix, b))


def test_the_scale_of_the_preconditioner_changes_nothing():
    matrix, b, scale = positive_definite(6), normal(6), normal(6, seed=3).exp()
    runs = [
        run(matrix, b, max_iterations=4, precondition=lambda r, c=c: c * scale * r).solution
        for c in (1.0, 1e3)
    ]

    torch.testing.assert_close(*runs)


@pytest.mark.parametrize("precondition", [None, lambda v: v / 2])
def test_a_residual_of_nothing_ends_it(precondition):
    b = torch.tensor([4.0, 0.0])
    solved = conjugate_gradients(
        lambda v: 2 * v, b, precondition=precondition, max_iterations=9, progress=0.0
    )

    assert torch.equal(solved.solution, b / 2)
    assert (solved.stopped, solved.iterations) == ("residual", 1)


def test_without_the_rule_of_progress_rounding_does_not_end_it():
    stream = torch.Generator().manual_seed(0)
    rows = torch.randn(60, 40, generator=stream)  # float32
    matrix, b = rows.T @ rows / 60, torch.randn(40, generator=stream)
    solved = conjugate_gradients(lambda v: matrix @ v, b, max_iterations=200, progress=0.0)

    assert solved.stopped in {"residual", "iterations"}
    assert (solved.residual.norm() / b.norm()).item() < 1e-6


@pytest.mark.row(147)
def test_from_zero_the_iterates_grow_so_that_stopping_early_damps():
    matrix, b = positive_definite(10), normal(10)
    found = run(matrix, b, max_iterations=7)
    norms = [float(x.norm()) for x in found.iterates.values()]

    assert norms == sorted(norms)
    assert (found.iterations, found.stopped) == (7, "iterations")


@pytest.mark.row(235)
@pytest.mark.row(152)
def test_each_iterate_is_the_best_polynomial_of_the_eigenvalues():
    values = [0.1, 0.5, 1.0, 4.0, 9.0, 30.0]
    matrix, b = with_eigenvalues(values), normal(6)
    best = objective(matrix, b, torch.linalg.solve(matrix, b))
    eigenvalues, vectors = torch.linalg.eigh(matrix)
    weights = (vectors.T @ b) ** 2 / eigenvalues / 2  # ω_j of r₀ = -b

    for i, x in run(matrix, b, max_iterations=5).iterates.items():
        # min over p of degree i with p(0) = 1 of Σ ω p(λ)²: least squares in the other coefficients
        powers = torch.stack([eigenvalues**k for k in range(1, i + 1)], dim=1)
        roots = weights.sqrt()
        fit = torch.linalg.lstsq(roots[:, None] * powers, -roots[:, None], driver="gelsd").solution
        least = (roots[:, None] * (1 + powers @ fit)).square().sum()
        assert objective(matrix, b, x) - best == pytest.approx(float(least), rel=1e-6, abs=1e-12)


@pytest.mark.row(152)
def test_of_two_clusters_of_equal_weight_the_larger_eigenvalues_converge_first():
    values = [1.0, 1.1, 1.2, 100.0, 101.0, 102.0]
    matrix = with_eigenvalues(values)
    eigenvalues, vectors = torch.linalg.eigh(matrix)
    b = vectors @ eigenvalues.sqrt()  # so that every direction has the same ω
    x = run(matrix, b, max_iterations=1).solution
    left = (vectors.T @ (x - torch.linalg.solve(matrix, b))) ** 2 * eigenvalues

    assert left[3:].max() < 0.1 * left[:3].min()


@pytest.mark.row(146)
def test_it_stops_at_the_first_step_whose_last_tenth_gained_too_little():
    matrix, b = with_eigenvalues([float(k) ** 2 for k in range(1, 61)]), normal(60)
    recorded = run(matrix, b, max_iterations=200).objectives

    def small(i):
        k = max(10, i // 10)
        return i > k and (recorded[i] - recorded[i - k]) / recorded[i] < 1e-3

    expected = next(i for i in range(1, 201) if small(i))
    found = conjugate_gradients(times(matrix), b, progress=1e-3)
    assert (found.iterations, found.stopped) == (expected, "progress")


@pytest.mark.row(146)
def test_relative_progress_means_nothing_while_the_quadratic_is_above_where_it_began():
    matrix, start = with_eigenvalues([float(k) ** 2 for k in range(1, 61)]), normal(60)
    found = conjugate_gradients(times(matrix), torch.zeros_like(start), start=start, max_iterations=30)

    assert min(found.objectives) > 0
    assert (found.iterations, found.stopped) == (30, "iterations")


def test_it_stops_when_the_residual_is_small_enough():
    matrix, b = positive_definite(30), normal(30)
    found = run(matrix, b, tolerance=1e-3)

    assert found.stopped == "residual"
    assert found.residual.norm() <= 1e-3 * b.norm()
    assert (matrix @ found.iterates[found.iterations - 1] - b).norm() > 1e-3 * b.norm()


def test_it_stops_when_the_caller_says_so():
    matrix, b = positive_definite(30), normal(30)
    found = run(matrix, b, stop=lambda i, x: i == 4 and len(x) == 30)

    assert (found.iterations, found.stopped) == (4, "asked")


@pytest.mark.parametrize("spoiled", [-1.0, math.nan])
def test_negative_curvature_ends_it_at_the_iterate_before(spoiled):
    matrix, b = torch.diag(torch.tensor([1.0, spoiled])), torch.tensor([1.0, 0.0])
    start = torch.tensor([0.0, 0.5])
    found = conjugate_gradients(times(matrix), b, start=start)

    assert found.stopped == "negative curvature"
    assert torch.equal(found.solution, found.iterates[found.iterations])
    assert found.solution.isfinite().all()


def test_the_iterates_that_were_asked_for_are_kept_with_the_last():
    matrix, b = positive_definite(20), normal(20)
    found = conjugate_gradients(times(matrix), b, keep=lambda i: i in {2, 3}, progress=0.0, max_iterations=5)

    assert list(found.iterates) == [2, 3, 5]
    torch.testing.assert_close(found.iterates[2], run(matrix, b, max_iterations=2).solution)


def test_a_right_hand_side_of_zero_takes_no_step():
    found = conjugate_gradients(times(torch.eye(3)), torch.zeros(3))

    assert found.iterations == 0
    assert torch.equal(found.solution, torch.zeros(3))


# MINRES-QLP


SYSTEMS = {
    "singular, compatible": ([0.0, 0.0, 1.0, 2.0, 5.0], True),
    "singular, incompatible": ([0.0, 0.0, 1.0, 2.0, 5.0], False),
    "indefinite": ([-3.0, -1.0, 0.5, 2.0, 5.0], True),
    "indefinite and singular": ([-3.0, 0.0, 0.5, 2.0, 5.0], False),
}


def a_system(name):
    values, compatible = SYSTEMS[name]
    matrix, b = with_eigenvalues(values), normal(5, seed=4)
    return matrix, matrix @ b if compatible else b


@pytest.mark.row(114)
@pytest.mark.parametrize("name", SYSTEMS)
def test_minres_finds_the_shortest_least_squares_solution(name):
    matrix, b = a_system(name)
    found = minres_qlp(times(matrix), b, tolerance=1e-14)

    truth = torch.linalg.pinv(matrix, hermitian=True) @ b
    assert (found.solution - truth).norm() <= CLOSE * truth.norm()


@pytest.mark.row(114)
@pytest.mark.parametrize("name", SYSTEMS)
def test_residual_norms_of_minres_never_increase_and_are_those_of_the_iterates(name):
    matrix, b = a_system(name)
    norms = minres_qlp(times(matrix), b, tolerance=0.0).residual_norms

    assert all(after <= before * (1 + 1e-10) for before, after in pairwise(norms))
    for k in range(1, 3):
        x = minres_qlp(times(matrix), b, max_iterations=k).solution
        assert float((matrix @ x - b).norm()) == pytest.approx(norms[k], rel=1e-8)


@pytest.mark.row(114)
def test_minres_agrees_with_conjugate_gradients_where_both_apply():
    matrix, b = positive_definite(8), normal(8)
    found = minres_qlp(times(matrix), b, tolerance=1e-12)

    torch.testing.assert_close(found.solution, run(matrix, b, tolerance=1e-12).solution)


@pytest.mark.row(114)
def test_minres_keeps_its_basis_orthogonal_over_eigenvalues_of_many_magnitudes():
    matrix, b = with_eigenvalues([10.0**-k for k in range(6)] + [0.0] * 30), normal(36)
    b = matrix @ b
    found = minres_qlp(times(matrix), b, max_iterations=36, tolerance=1e-14)

    truth = torch.linalg.pinv(matrix, hermitian=True, rtol=1e-9) @ b
    assert (found.solution - truth).norm() <= 1e-6 * truth.norm()


@pytest.mark.row(114)
def test_minres_stops_at_its_tolerance_and_at_its_maximum():
    matrix, b = with_eigenvalues([float(k) for k in range(1, 41)]), normal(40)
    early, capped = (
        minres_qlp(times(matrix), b, tolerance=0.1),
        minres_qlp(times(matrix), b, max_iterations=5),
    )

    assert early.residual_norms[-1] <= 0.1 * b.norm() < early.residual_norms[-2]
    assert capped.products == 5


def test_minres_of_zero_is_zero_without_a_product():
    found = minres_qlp(times(torch.eye(3)), torch.zeros(3))

    assert found.products == 0
    assert torch.equal(found.solution, torch.zeros(3))


# Steihaug and Toint


def trust_region_optimum(matrix, b, radius):
    """The exact solution, by bisection for the damping that gives the radius."""
    values, vectors = torch.linalg.eigh(matrix)
    inside = vectors @ ((vectors.T @ b) / values)
    if inside.norm() <= radius:
        return inside
    low, high = 0.0, float(b.norm()) / radius
    for _ in range(200):
        middle = (low + high) / 2
        x = vectors @ ((vectors.T @ b) / (values + middle))
        low, high = (middle, high) if x.norm() > radius else (low, middle)
    return x


@settings(deadline=None, max_examples=30)
@given(size=st.integers(1, 8), seed=st.integers(0, 1000), radius=st.floats(1e-2, 1e2))
def test_steihaug_stays_within_the_radius_and_gains_at_least_half_of_the_best(size, seed, radius):
    matrix, b = positive_definite(size, seed), normal(size, seed=seed + 1)
    found = steihaug(times(matrix), b, radius=radius)

    assert found.solution.norm() <= radius * (1 + 1e-10)
    best = objective(matrix, b, trust_region_optimum(matrix, b, radius))
    assert objective(matrix, b, found.solution) <= best / 2 + 1e-12


def test_steihaug_within_a_large_radius_is_the_plain_solution():
    matrix, b = positive_definite(6), normal(6)
    found = steihaug(times(matrix), b, radius=1e6)

    assert not found.at_boundary
    torch.testing.assert_close(found.solution, torch.linalg.solve(matrix, b))


def test_steihaug_follows_its_first_direction_of_negative_curvature_to_the_boundary():
    b = normal(3)
    found = steihaug(times(with_eigenvalues([-2.0, -1.0, -3.0])), b, radius=0.7)

    assert found.products == 1
    torch.testing.assert_close(found.solution, 0.7 * b / b.norm())


def test_steihaug_gains_where_only_some_curvature_is_negative():
    matrix, b = with_eigenvalues([-2.0, -1.0, 3.0]), normal(3)
    found = steihaug(times(matrix), b, radius=0.7)

    assert found.at_boundary
    assert float(found.solution.norm()) == pytest.approx(0.7)
    assert objective(matrix, b, found.solution) < 0


# Cholesky


BAD = -torch.eye(2)


def test_a_matrix_singular_in_its_precision_is_inverted_in_float64():
    a, b, c = 1346269.0, 2178309.0, 3524578.0  # Fibonacci numbers: a c - b² = 1, lost in 24 bits
    matrix = torch.tensor([[a, b], [b, c]])
    with pytest.raises(NotPositiveDefiniteError):
        inverse(matrix)

    truth = torch.tensor([[c, -b], [-b, a]])
    torch.testing.assert_close(Inverses().of("A", matrix), truth, rtol=0.05, atol=0.0)


def test_without_an_inverse_the_last_is_kept_with_one_warning_and_counted():
    inverses = Inverses()
    good = inverses.of("A", 2 * torch.eye(2))
    with pytest.warns(RuntimeWarning, match="last inverse of 'A' is kept") as warned:
        kept = [inverses.of("A", BAD), inverses.of("A", BAD)]

    assert len(warned) == 1
    assert all(torch.equal(matrix, good) for matrix in kept)
    assert inverses.failures == 2


def test_the_third_failure_in_a_row_is_raised():
    inverses = Inverses()
    inverses.of("A", torch.eye(2))
    with pytest.warns(RuntimeWarning):
        inverses.of("A", BAD)
    inverses.of("A", BAD)
    with pytest.raises(NotPositiveDefiniteError):
        inverses.of("A", BAD)


def test_a_success_between_begins_the_count_anew():
    inverses = Inverses()
    for matrix in (torch.eye(2), 2 * torch.eye(2)):
        inverses.of("A", matrix)
        with pytest.warns(RuntimeWarning) if matrix[0, 0] == 1 else contextlib.nullcontext():
            inverses.of("A", BAD)
            inverses.of("A", BAD)

    assert inverses.failures == 4


def test_without_any_last_inverse_the_first_failure_is_raised():
    with pytest.raises(NotPositiveDefiniteError):
        Inverses().of("A", BAD)


def test_a_matrix_that_is_not_finite_is_named():
    with pytest.raises(NotFiniteError, match="'layer 3, inputs'"):
        Inverses().of("layer 3, inputs", torch.full((2, 2), math.inf))


def test_inverses_go_on_from_a_saved_state():
    first, second = Inverses(), Inverses()
    good = first.of("A", 4 * torch.eye(2))
    with pytest.warns(RuntimeWarning):
        first.of("A", BAD)
    second.load_state_dict(first.state_dict())
    with pytest.warns(RuntimeWarning):
        assert torch.equal(second.of("A", BAD), good)
    with pytest.raises(NotPositiveDefiniteError):
        second.of("A", BAD)


# Eigen-decompositions


def test_eigenvalues_of_a_matrix_that_is_not_finite_are_refused_by_name():
    with pytest.raises(NotFiniteError, match="'G of layer 2'"):
        eigen(torch.full((2, 2), math.nan), "G of layer 2")


def test_the_antisymmetric_part_that_rounding_leaves_is_ignored():
    matrix = torch.tensor([[2.0, 1.0 + 1e-3], [1.0 - 1e-3, 2.0]])
    values, vectors = eigen(matrix, "A")

    torch.testing.assert_close(values, torch.tensor([1.0, 3.0]))
    torch.testing.assert_close((vectors * values) @ vectors.T, torch.tensor([[2.0, 1.0], [1.0, 2.0]]))


def test_a_rough_decomposition_is_made_in_the_precision_of_the_matrix(monkeypatch):
    real, seen = torch.linalg.eigh, []

    def eigh(matrix):
        seen.append(matrix.dtype)
        return real(matrix)

    monkeypatch.setattr(torch.linalg, "eigh", eigh)
    for is_rough in (True, False):
        eigen(torch.eye(2), "A", is_rough=is_rough)

    assert seen == [torch.float32, torch.float64]


# Sums of Kronecker products


def vec(matrix):
    return matrix.T.reshape(-1)


def below(matrix, share, seed):
    """A symmetric matrix whose eigenvalues relative to another lie between 0 and share."""
    root = torch.linalg.cholesky(matrix)
    basis, _ = torch.linalg.qr(normal(len(matrix), len(matrix), seed=seed))
    values = torch.linspace(0, share, len(matrix), dtype=torch.float64)
    return root @ (basis * values) @ basis.T @ root.T


def four_matrices(rows, columns, seed, share=0.9):
    a, b = positive_definite(columns, seed), positive_definite(rows, seed + 1)
    return a, b, below(a, share, seed + 2), below(b, share, seed + 3)


@pytest.mark.row(164)
@settings(deadline=None, max_examples=30)
@given(
    rows=st.integers(1, 5),
    columns=st.integers(1, 5),
    seed=st.integers(0, 1000),
    sign=st.sampled_from([1, -1]),
)
def test_the_inverse_of_a_sum_of_kronecker_products_is_the_dense_one(rows, columns, seed, sign):
    a, b, c, d = four_matrices(rows, columns, seed)
    matrix = normal(rows, columns, seed=seed + 4)

    ours = vec(KroneckerSum(a, b, c, d, sign=sign).solve(matrix))
    truth = torch.linalg.solve(torch.kron(a, b) + sign * torch.kron(c, d), vec(matrix))
    assert (ours - truth).norm() <= CLOSE * truth.norm()


@pytest.mark.row(164)
@settings(deadline=None, max_examples=30)
@given(
    rows=st.integers(1, 5),
    columns=st.integers(1, 5),
    seed=st.integers(0, 1000),
    sign=st.sampled_from([1, -1]),
)
def test_with_a_multiple_of_the_identity_it_takes_the_eigenvalues_alone(rows, columns, seed, sign):
    _, _, c, d = four_matrices(rows, columns, seed)
    shift = (
        1.0 if sign == 1 else 2 * float(torch.linalg.matrix_norm(c, 2) * torch.linalg.matrix_norm(d, 2)) + 1
    )
    matrix = normal(rows, columns, seed=seed + 4)

    ours = vec(ShiftedKronecker(c, d, shift=shift, sign=sign).solve(matrix))
    dense = shift * torch.eye(rows * columns, dtype=torch.float64) + sign * torch.kron(c, d)
    assert (ours - torch.linalg.solve(dense, vec(matrix))).norm() <= CLOSE * ours.norm()


@pytest.mark.row(167)
@pytest.mark.parametrize("sign", [1, -1])
def test_smiths_iteration_gives_the_same_inverse(sign):
    a, b, c, d = four_matrices(4, 3, 7)
    matrix = normal(4, 3, seed=11)

    ours = stein(a, b, c, d, matrix, sign=sign, doublings=9)  # 2⁹ > 36 / (1 - 0.81)
    torch.testing.assert_close(ours, KroneckerSum(a, b, c, d, sign=sign).solve(matrix))


@pytest.mark.row(167)
def test_each_doubling_of_smiths_iteration_sums_twice_as_many_terms():
    a, b, c, d = four_matrices(3, 3, 7)
    matrix = normal(3, 3, seed=11)
    x, p, q = b.inverse() @ matrix @ a.inverse(), -b.inverse() @ d, c @ a.inverse()
    terms = [torch.linalg.matrix_power(p, k) @ x @ torch.linalg.matrix_power(q, k) for k in range(8)]

    torch.testing.assert_close(stein(a, b, c, d, matrix, doublings=3), sum(terms))


def test_a_difference_that_is_singular_stays_finite():
    eye = torch.eye(2, dtype=torch.float64)

    assert KroneckerSum(eye, eye, eye, eye, sign=-1).solve(eye).isfinite().all()


def test_a_sum_with_a_singular_first_factor_is_refused():
    singular = torch.diag(torch.tensor([1.0, 0.0], dtype=torch.float64))
    with pytest.raises(NotPositiveDefiniteError):
        KroneckerSum(singular, torch.eye(2).double(), torch.eye(2).double(), torch.eye(2).double())


def test_a_copy_of_what_outlives_goes_its_own_way():
    first: Outliving[int] = Outliving()
    first.of("A", lambda: 1)
    second = first.copy()
    second.of("A", lambda: 2)

    assert (first["A"], second["A"]) == (1, 2)
