"""The parts of experiments with Hessian-free optimization that can be seen in seconds."""

from dataclasses import replace

import pytest
import torch

from experiments.hessian_free import deep_autoencoders, inside_updates, long_lags
from experiments.hessian_free.recurrent import Case, Course, course
from optimizers import Bernoulli, HessianFree
from worker.models.autoencoder import autoencoder
from worker.training.initialisation import sparse_tanh

PROBLEMS = [
    pytest.param("addition", marks=pytest.mark.row(207)),
    pytest.param("multiplication", marks=pytest.mark.row(208)),
    pytest.param("exclusive_or", marks=pytest.mark.row(209)),
    pytest.param("temporal_order", marks=pytest.mark.row(210)),
    pytest.param("temporal_order_3_bit", marks=pytest.mark.row(211)),
    pytest.param("random_permutation", marks=pytest.mark.row(212)),
    pytest.param("memorisation_5_bit", marks=pytest.mark.row(213)),
    pytest.param("memorisation_20_bit", marks=pytest.mark.row(214)),
]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def a_case(problem="exclusive_or", **settings):
    tiny = {"steps": 10, "structural": True, "seed": 0, "units": 6, "sequences": 40, "of_every": 4}
    return Case(problem=problem, **tiny | {"test": 50, "most": 30} | settings)


def a_course(case, *, is_solved=True, updates=10, products=90):
    return Course(
        case=case,
        is_solved=is_solved,
        updates=updates,
        products=products,
        minibatches=updates * case.of_every + products,
        wrong=0.0 if is_solved else 0.5,
    )


# Long lags


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_training_ends_when_its_mini_batches_are_used_up(problem):
    case = a_case(problem, steps=10 if not problem.startswith("memorisation") else 2)
    found = course(case)

    of_every = 1 if problem == "memorisation_5_bit" else case.of_every
    assert found.minibatches == of_every * found.updates + found.products
    assert found.minibatches >= case.most
    assert not found.is_solved
    assert found.wrong >= 0.01
    assert found.updates >= 1


@pytest.mark.row(210)
def test_a_short_problem_is_solved_and_says_so():
    case = a_case("temporal_order", units=20, sequences=300, test=200, most=600)
    found = course(case)

    assert found.is_solved
    assert found.wrong < 0.01
    assert found.minibatches < 600


@pytest.mark.row(212)
def test_the_random_permutation_begins_with_damping_that_grows_with_its_length(monkeypatch):
    seen = {}

    class Watched:
        def __init__(self, *_, **settings):
            seen.update(settings)

    monkeypatch.setattr("experiments.hessian_free.recurrent.HessianFree", Watched)
    dampings = []
    for problem, structural in (("random_permutation", True), ("addition", True), ("addition", False)):
        course(a_case(problem, structural=structural, steps=20, most=0))
        dampings.append((seen["damping"], seen["structural"] > 0))

    assert dampings == [(pytest.approx(2.0), True), (0.1, True), (0.3, False)]


@pytest.mark.row(215)
def test_every_problem_is_trained_with_and_without_structural_damping_from_the_same_seeds():
    for size in ("small", "full"):
        planned = long_lags.cases(size)

        assert {case.problem for case in planned} == {each.values[0] for each in PROBLEMS}
        assert {replace(case, structural=True) for case in planned if not case.structural} == {
            case for case in planned if case.structural
        }


@pytest.mark.row(213)
@pytest.mark.row(215)
def test_a_training_that_failed_counts_as_endless_and_is_never_left_out():
    planned = long_lags.cases("small")
    courses = [
        a_course(case, is_solved=case.structural or case.seed > 0, products=90 if case.structural else 50)
        for case in planned
    ]
    found = {claim.says[:12]: claim for claim in long_lags.result(courses, "small").claims}

    assert found["Structural d"].holds  # as without it one of each has failed
    assert "0 of" in found["It adds robu"].told
    assert not found["There it tak"].holds  # the middle seed is faster without


@pytest.mark.row(215)
def test_the_failure_rates_of_the_figure_are_shares_of_the_seeds():
    planned = long_lags.cases("small")
    courses = [a_course(case, is_solved=case.seed != 1) for case in planned]
    pictures = {each.name: each for each in long_lags.result(courses, "small").pictures}

    panel = next(each for each in pictures["failures"].panels if each.title == "5-bit memorisation")
    assert [tuple(line.y) for line in panel.lines] == [(pytest.approx(1 / 3),) * 2] * 2
    panel = next(each for each in pictures["minibatches"].panels if each.title == "5-bit memorisation")
    assert len(panel.lines[0].x) == len(panel.lines[0].y) == 2


# Inside updates


@pytest.mark.row(204)
def test_looked_into_from_the_side_an_update_is_what_the_optimizer_does():
    inputs = torch.rand(30, 64, generator=torch.Generator().manual_seed(1))
    model = autoencoder(
        inside_updates.ENCODER, torch.Generator().manual_seed(0), hidden="tanh", initialise=sparse_tanh()
    )
    inside, _ = inside_updates.looked_into(model, inputs, 10.0, None, 12, 12)

    step = HessianFree(model, Bernoulli(), damping=10.0, cg_steps=12, progress=0.0).step(inputs, inputs)

    assert step.iterations == 12
    assert min(inside.losses) <= step.loss_after - step.loss + 1e-4
    assert inside.warm == pytest.approx(inside.cold, rel=1e-5)
    assert all(after < before for before, after in zip(inside.warm, inside.warm[1:], strict=False))


@pytest.mark.row(204)
def test_the_product_that_a_start_costs_is_counted():
    inside = inside_updates.Inside(
        damping=1.0, warm=[1.0, -2.0, -3.0], cold=[0.0, -1.0, -2.0], losses=[0.0, -1.0]
    )

    assert (inside.products_from_zero, inside.products_from_the_last, inside.best) == (2, 2, 1)


# Deep autoencoders


def a_problem(**settings):
    small = deep_autoencoders.PROBLEMS["small"]["CURVES"]
    return replace(small, **{"cases": 40, "updates": 2, "cg_steps": 3, "pretraining": 1} | settings)


@pytest.mark.row(206)
def test_what_hessian_free_optimization_asks_for_is_counted_as_gradients():
    found = deep_autoencoders.course(deep_autoencoders.Arm(problem=a_problem(), method="HF"))

    products = 2 * 3 + 1  # and one for the start of the second update
    assert found.gradients[-1] >= 2 + 2 * products + 2 * deep_autoencoders.PRODUCT
    assert found.train[-1] < found.train[0]
    assert len(found.train) == len(found.test) == len(found.gradients) == 3


@pytest.mark.row(206)
@pytest.mark.parametrize("method", ["NCG", "SGD"])
def test_other_methods_stop_when_they_have_spent_as_much(method):
    arm = deep_autoencoders.Arm(problem=a_problem(), method=method, lr=0.01, budget=12)
    found = deep_autoencoders.course(arm)

    assert 12 <= found.gradients[-1] < 12 + 200
    assert found.gradients == sorted(found.gradients)
    assert found.train[-1] < found.train[0]


@pytest.mark.row(206)
def test_pretraining_is_paid_for_and_begins_lower_than_random_weights():
    problem = a_problem(pretraining=30, cases=200)
    courses = [
        deep_autoencoders.course(
            deep_autoencoders.Arm(problem=problem, method="NCG", is_pretrained=is_pretrained)
        )
        for is_pretrained in (False, True)
    ]

    assert [each.gradients[0] for each in courses] == [0, 60]
    assert courses[1].train[0] < courses[0].train[0]


@pytest.mark.row(206)
def test_a_claim_holds_only_if_it_does_on_every_problem():
    better, worse = (
        deep_autoencoders.Course(gradients=[0.0, 9.0], train=[9.0, end], test=[9.0, end + 1])
        for end in (1.0, 2.0)
    )
    arms = [
        "RAND + HF",
        "PT + HF",
        "RAND + HF without preconditioner",
        "PT + NCG",
        "RAND + NCG",
        "RAND + SGD",
    ]
    good = dict.fromkeys(arms, worse) | {"RAND + HF": better}
    bad = dict.fromkeys(arms, better) | {"RAND + HF": worse}

    holds = [
        [claim.holds for claim in deep_autoencoders.result(found).claims]
        for found in ({"A": good}, {"A": good, "B": bad})
    ]

    assert holds == [[True] * 5, [False, False, False, False, True]]
