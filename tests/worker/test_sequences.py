"""Sequence problems, read again from their inputs alone by definitions of their own."""

import itertools
import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Generator

from worker.datasets.sequences import (
    PROBLEMS,
    addition,
    exclusive_or,
    memorisation_5_bit,
    memorisation_20_bit,
    multiplication,
    random_permutation,
    temporal_order,
    temporal_order_3_bit,
)

LENGTHS = st.integers(10, 150)
ALL = [make(20) for make in PROBLEMS.values()]


def drawn(problem, count=200, seed=1):
    return problem.draw(count, Generator().manual_seed(seed))


def symbols_of(row):
    """The symbols of a 1-of-N code, numbered from 0."""
    assert all(sorted(code) == [0.0] * (len(code) - 1) + [1.0] for code in row)
    return [code.index(1.0) for code in row]


def within(step, low, high, steps):
    """Whether a step is in [low, high) of all steps, in exact arithmetic."""
    return Fraction(low) * steps <= step < Fraction(high) * steps


def told_last(sequences, problem):
    assert sequences.mask.tolist() == [False] * (problem.steps - 1) + [True]
    assert torch.equal(sequences.mask, sequences.judged)
    assert not sequences.targets[:, :-1].any()
    return sequences.targets[:, -1]


@pytest.mark.row(234)
@pytest.mark.parametrize(
    ("make", "combined"),
    [
        (addition, sum),
        (multiplication, math.prod),
        (exclusive_or, lambda marked: int(marked[0] != marked[1])),
    ],
)
@given(steps=st.integers(3, 150))
def test_the_target_is_made_of_the_two_values_that_are_marked(make, combined, steps):
    problem = make(steps)
    sequences = drawn(problem, 20)

    answers = told_last(sequences, problem)[:, 0].tolist()
    for row, answer in zip(sequences.inputs.tolist(), answers, strict=True):
        marked = [step for step, (_, mark) in enumerate(row) if mark == 1]
        assert all(mark in (0, 1) for _, mark in row)
        assert len(marked) == 2
        assert within(marked[0], 0, Fraction(1, 10), steps)
        assert within(marked[1], Fraction(1, 10), Fraction(1, 2), steps)
        assert answer == pytest.approx(combined([row[step][0] for step in marked]), abs=1e-6)


@pytest.mark.parametrize("make", [addition, multiplication])
def test_numbers_are_uniform_between_0_and_1(make):
    values = drawn(make(40), 2000).inputs[..., 0].double()

    assert values.min() >= 0
    assert values.max() <= 1
    assert values.mean() == pytest.approx(1 / 2, abs=0.01)
    assert values.var() == pytest.approx(1 / 12, abs=0.01)


def test_bits_are_0_or_1_as_often():
    values = drawn(exclusive_or(40), 2000).inputs[..., 0].double()

    assert values.unique().tolist() == [0, 1]
    assert values.mean() == pytest.approx(1 / 2, abs=0.01)


@pytest.mark.parametrize("make", [addition, multiplication, exclusive_or])
def test_each_permitted_step_is_marked_as_often(make):
    marks = drawn(make(40), 8000).inputs[..., 1].double().mean(dim=0)

    expected = torch.tensor([1 / 4] * 4 + [1 / 16] * 16 + [0] * 20, dtype=torch.double)
    torch.testing.assert_close(marks, expected, atol=0.02, rtol=0)


@pytest.mark.row(234)
@pytest.mark.parametrize(
    ("make", "ranges"),
    [
        (temporal_order, [(10, 20), (50, 60)]),
        (temporal_order_3_bit, [(10, 20), (33, 43), (66, 76)]),
    ],
)
@given(steps=LENGTHS)
def test_the_target_is_the_ordered_tuple_of_the_special_symbols(make, ranges, steps):
    problem = make(steps)
    sequences = drawn(problem, 20)
    classes = list(itertools.product((0, 1), repeat=len(ranges)))

    for row, answer in zip(sequences.inputs.tolist(), told_last(sequences, problem).tolist(), strict=True):
        symbols = symbols_of(row)
        special = [(step, symbol) for step, symbol in enumerate(symbols) if symbol < 2]
        assert len(row[0]) == 6
        assert tuple(symbol for _, symbol in special) == classes[answer]
        for (step, _), (low, high) in zip(special, ranges, strict=True):
            assert low * steps <= 100 * step <= high * steps
    assert problem.outputs == len(classes)


@pytest.mark.parametrize("make", [temporal_order, temporal_order_3_bit])
def test_each_class_and_each_irrelevant_symbol_is_as_likely(make):
    problem = make(40)
    sequences = drawn(problem, 4000)

    shares = torch.bincount(told_last(sequences, problem)).double() / 4000
    torch.testing.assert_close(shares, torch.full_like(shares, 1 / problem.outputs), atol=0.03, rtol=0)
    others = sequences.inputs.sum(dim=(0, 1))[2:]
    torch.testing.assert_close(others / others.sum(), torch.full((4,), 1 / 4), atol=0.01, rtol=0)


@pytest.mark.row(234)
@given(steps=st.integers(3, 60))
def test_the_target_of_a_random_permutation_is_the_next_symbol(steps):
    problem = random_permutation(steps)
    sequences = drawn(problem, 10)

    for row, targets in zip(sequences.inputs.tolist(), sequences.targets.tolist(), strict=True):
        symbols = symbols_of(row)
        assert symbols[0] == symbols[-1] < 2
        assert all(2 <= symbol < 100 for symbol in symbols[1:-1])
        assert targets[:-1] == symbols[1:]
    assert sequences.mask.tolist() == [True] * (steps - 1) + [False]
    assert sequences.judged.nonzero().flatten().tolist() == [steps - 2]


def test_the_symbols_of_a_random_permutation_are_uniform():
    codes = drawn(random_permutation(22), 5000).inputs.double()

    assert codes[:, 0].mean(dim=0)[:2].tolist() == pytest.approx([0.5, 0.5], abs=0.03)
    between = codes[:, 1:-1].mean(dim=(0, 1))[2:]
    torch.testing.assert_close(between, torch.full_like(between, 1 / 98), atol=0.0015, rtol=0)


def assert_memorised(row, targets, *, length, alphabet, lag, trigger):
    symbols = symbols_of(row)
    filler = [alphabet] * (lag + length)
    filler[trigger - length] = alphabet + 1
    assert len(symbols) == lag + 2 * length
    assert symbols == symbols[:length] + filler
    assert all(symbol < alphabet for symbol in symbols[:length])
    assert targets == [alphabet] * (lag + length) + symbols[:length]


@pytest.mark.row(234)
@pytest.mark.parametrize(
    ("make", "length", "alphabet"), [(memorisation_5_bit, 5, 2), (memorisation_20_bit, 10, 5)]
)
@pytest.mark.parametrize("early", [False, True])
@given(lag=st.integers(1, 60))
def test_a_word_is_to_be_said_again_after_the_trigger(make, length, alphabet, early, lag):
    problem = make(lag, trigger_early=early)
    sequences = drawn(problem, 5)

    trigger = lag + 2 * length - length - early  # the fifth-last step of 5 bits
    for row, targets in zip(sequences.inputs.tolist(), sequences.targets.tolist(), strict=True):
        assert_memorised(row, targets, length=length, alphabet=alphabet, lag=lag, trigger=trigger)
    assert sequences.mask.all()
    assert sequences.judged.all()


@pytest.mark.row(234)
def test_there_are_32_sequences_of_5_bits_and_all_can_be_had():
    sequences = memorisation_5_bit(20).every()

    words = {tuple(targets[-5:]) for targets in sequences.targets.tolist()}
    assert words == set(itertools.product((0, 1), repeat=5))
    assert len(sequences.inputs) == 32
    for row, targets in zip(sequences.inputs.tolist(), sequences.targets.tolist(), strict=True):
        assert_memorised(row, targets, length=5, alphabet=2, lag=20, trigger=25)


def test_only_the_sequences_of_5_bits_are_few_enough_to_have_them_all():
    assert [problem.name for problem in ALL if problem.every] == ["memorisation_5_bit"]


@pytest.mark.parametrize("problem", ALL, ids=lambda problem: problem.name)
def test_the_seed_decides_the_sequences(problem):
    one, same, other = drawn(problem), drawn(problem), drawn(problem, seed=2)

    assert torch.equal(one.inputs, same.inputs)
    assert torch.equal(one.targets, same.targets)
    assert not torch.equal(one.inputs, other.inputs)


@pytest.mark.parametrize("problem", ALL, ids=lambda problem: problem.name)
def test_a_problem_says_how_large_its_sequences_are(problem):
    sequences = drawn(problem, 7)

    assert PROBLEMS[problem.name](20).name == problem.name
    assert sequences.inputs.shape == (7, problem.steps, problem.channels)
    assert sequences.targets.shape[:2] == (7, problem.steps)
    assert sequences.mask.shape == sequences.judged.shape == (problem.steps,)
    assert (sequences.targets.dtype == torch.long) == (problem.loss == "categorical")
    if problem.loss == "categorical":
        assert sequences.targets.max() < problem.outputs


def perfect(problem, sequences):
    """Outputs before the link that miss nothing."""
    if problem.loss == "categorical":
        return torch.nn.functional.one_hot(sequences.targets, problem.outputs).float()
    return sequences.targets * 2 - 1 if problem.loss == "binary" else sequences.targets.clone()


def spoiled(problem, outputs, rows, step):
    """The same outputs, wrong at one step of so many sequences."""
    outputs = outputs.clone()
    if problem.loss == "squared":
        outputs[:rows, step] += 0.05
    elif problem.loss == "binary":
        outputs[:rows, step] *= -1
    else:
        outputs[:rows, step] = outputs[:rows, step].roll(1, dims=-1)
    return outputs


@pytest.mark.row(234)
@pytest.mark.parametrize("problem", ALL, ids=lambda problem: problem.name)
def test_it_is_solved_when_less_than_a_hundredth_of_the_sequences_is_wrong(problem):
    sequences = drawn(problem, 200)
    outputs = perfect(problem, sequences)
    step = sequences.judged.nonzero().max()

    assert problem.wrong(outputs, sequences).tolist() == [False] * 200
    one_wrong = spoiled(problem, outputs, 1, step)
    assert problem.wrong(one_wrong, sequences).tolist() == [True] + [False] * 199
    assert problem.solved(one_wrong, sequences)
    assert not problem.solved(spoiled(problem, outputs, 2, step), sequences)


@pytest.mark.parametrize("problem", ALL, ids=lambda problem: problem.name)
def test_a_step_that_is_not_judged_may_be_wrong(problem):
    sequences = drawn(problem)
    outputs = perfect(problem, sequences)
    outputs[:, ~sequences.judged] = float("nan")

    assert problem.solved(outputs, sequences)


@pytest.mark.parametrize("problem", ALL, ids=lambda problem: problem.name)
def test_outputs_that_are_no_numbers_are_wrong(problem):
    sequences = drawn(problem, 200)

    assert problem.wrong(torch.full_like(perfect(problem, sequences), float("nan")), sequences).all()


@pytest.mark.parametrize(("error", "wrong"), [(0.039, False), (0.041, True), (-0.039, False), (-0.041, True)])
def test_a_number_may_be_missed_by_four_hundredths(error, wrong):
    problem = addition(20)
    sequences = drawn(problem, 1)

    assert problem.wrong(sequences.targets + error, sequences).item() is wrong


@pytest.mark.parametrize(
    ("make", "least"),
    [
        (addition, 3),
        (temporal_order, 10),
        (temporal_order_3_bit, 10),
        (random_permutation, 3),
        (memorisation_5_bit, 1),
    ],
)
def test_a_sequence_that_is_too_short_is_refused_with_the_least_that_will_do(make, least):
    make(least).draw(50, Generator().manual_seed(1))

    with pytest.raises(ValueError, match=f"{make.__name__} .*take {least} or more"):
        make(least - 1)
