"""K-FAC's experiments: the fast ones whole, beside what was kept of them, the long ones in small."""

import math
from dataclasses import replace

import pytest
import torch

from experiments import page
from experiments.experiment import as_json
from experiments.kfac import approximation, autoencoders, batches, cost, damping, identities
from experiments.kfac.course import DIGITS, Course, Training, followed, kfac, nesterov, plan

FEW = autoencoders.SETUPS["small"][0]


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def verdicts(result):
    return {claim["says"]: claim["holds"] for claim in result["claims"]}


def numbers(result):
    return [
        cell
        for table in result["tables"]
        for row in table["rows"]
        for cell in row
        if not isinstance(cell, str)
    ]


def now_and_then(experiment):
    return as_json(experiment.run("small")), page.kept(experiment)["result"]


@pytest.mark.row(216)
def test_the_approximation_of_a_small_classifier_is_as_good_as_it_was():
    now, then = now_and_then(approximation.EXPERIMENT)

    assert verdicts(now) == verdicts(then)
    assert numbers(now) == pytest.approx(numbers(then), rel=1e-5)


@pytest.mark.row(217)
def test_the_scan_of_damping_comes_out_as_it_was():
    now, then = now_and_then(damping.EXPERIMENT)

    assert verdicts(now) == verdicts(then)
    assert numbers(now) == pytest.approx(numbers(then), rel=1e-5)


@pytest.mark.row(220)
def test_the_identities_hold_and_none_other():
    now, then = now_and_then(identities.EXPERIMENT)

    assert verdicts(now) == verdicts(then)
    assert all(verdicts(now).values())


@pytest.mark.row(220)
def test_gradient_descent_does_not_pass_for_a_method_that_is_blind_to_affine_maps():
    net = identities.Net((4, 3, 4, 2), 40, seed=9)
    maps = net.drawn()

    assert net.away(maps, net.by_gradient) > 1e6 * net.away(maps, net.by_kfac)


@pytest.mark.row(220)
def test_the_operations_of_a_further_layer_are_as_many_as_they_were():
    [form, _, _, by_cases, by_width, decompositions] = page.kept(cost.EXPERIMENT)["result"]["tables"][0][
        "rows"
    ][0]
    assert form == "block-diagonal, with momentum"
    counts = [
        cost.counted(
            cost.Case(
                inverse="block_diagonal",
                momentum=True,
                layers=layers,
                width=8,
                cases=800 * number,
                updates=20,
            )
        )
        for layers in (2, 4)
        for number in (1, 2)
    ]

    assert vars(cost.per_layer(counts, 8, 800)) == pytest.approx(
        {"by_cases": by_cases, "by_width": by_width, "decompositions": decompositions}
    )


@pytest.mark.row(220)
def test_the_formula_of_the_cost_is_the_published_one():
    assert cost.published(momentum=True) == pytest.approx(3.425 + 1.25)


def a_course(errors, updates=None):
    training = Training(
        name="any", problem=DIGITS, optimizer="kfac", settings=kfac(), plan=plan(len(errors) - 1, 10)
    )
    places = list(range(len(errors))) if updates is None else updates
    return Course(
        training=training,
        updates=places,
        errors=errors,
        cases=[10 * place for place in places],
        seconds=[place / 2 for place in places],
    )


@pytest.mark.row(219)
def test_what_was_spent_until_an_error_lies_on_the_line_of_its_logarithm():
    course = a_course([100.0, 10.0, 1.0, 2.0], [0, 5, 15, 20])

    assert course.spent("updates", 10.0) == pytest.approx(5)
    assert course.spent("updates", math.sqrt(10)) == pytest.approx(10)
    assert course.spent("cases", math.sqrt(10)) == pytest.approx(100)
    assert course.spent("seconds", 0.9) is None


@pytest.mark.row(219)
def test_a_rate_that_is_too_high_counts_as_infinitely_bad():
    setup = replace(FEW, baseline_updates=40, rates=(0.05, 1e4), momenta=(("constant", 0.9),))
    good, bad = (followed(each) for each in autoencoders.baselines(setup))

    assert bad.diverged
    assert bad.final == math.inf
    assert math.isfinite(good.final)


@pytest.mark.row(219)
def test_in_as_many_updates_kfac_is_far_below_every_setting_of_the_baseline_from_the_same_weights():
    setup = replace(FEW, updates=30, full_at=30, baseline_updates=30, momenta=(autoencoders.RISING,))
    ours = followed(autoencoders.trainings(setup)["diagonal"])
    theirs = [followed(each) for each in autoencoders.baselines(setup)]

    assert {course.errors[0] for course in theirs} == {ours.errors[0]}
    assert ours.final < 0.7 * min(course.final for course in theirs)


@pytest.mark.row(219)
def test_only_momentum_inverse_and_damping_tell_the_forms_of_kfac_apart():
    forms = autoencoders.trainings(FEW)

    assert forms["diagonal"].settings == {"weight_decay": 1e-5, "damping": 1.0}
    assert forms["tridiagonal, large"].settings["inverse"] == "block_tridiagonal"
    assert forms["tridiagonal, large"].settings["damping"] == 150.0
    assert forms["plain"].settings["found_momentum"] is False
    assert len({each.plan for name, each in forms.items() if name not in {"plain, fixed", "iterate"}}) == 1


@pytest.mark.row(218)
def test_with_momentum_larger_batches_take_kfac_further_and_each_case_is_counted():
    setup = replace(batches.SETUPS["small"], sizes=(100, 1500), updates=40)
    small, large = (followed(batches.training(setup, batches.MOMENTUM, size)) for size in setup.sizes)

    assert small.cases[-1] == 40 * 100
    assert large.cases[-1] == 40 * 1500
    assert large.final < small.final


@pytest.mark.row(218)
def test_faster_than_in_proportion_means_fewer_cases_to_the_same_error():
    slow = a_course([8.0, 4.0, 2.0, 1.0])
    quick = a_course([8.0, 0.5, 0.4, 0.3])
    setup = replace(batches.SETUPS["small"], sizes=(100, 200))
    courses = {batches.MOMENTUM: [slow, quick], batches.PLAIN: [slow, slow], batches.BASELINE: [slow, slow]}
    faster, in_proportion = (batches.judged(setup, courses).claims[place] for place in (2, 3))

    assert faster.holds
    assert "batches 2 times as large: as far in 4 times fewer updates" in faster.told
    assert in_proportion.holds


def test_nesterov_has_the_weight_decay_of_kfac():
    assert nesterov(0.1, 0.9)["weight_decay"] == kfac()["weight_decay"]
