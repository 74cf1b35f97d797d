"""When steps of a given length compute the inverses of which blocks anew."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizers import EKFAC, KFAC, CrossEntropy
from optimizers.curvature.block_diagonal import BlockDiagonal
from optimizers.curvature.block_tridiagonal import BlockTridiagonal
from tests.optimizers.conftest import a_batch, a_network

MAKERS = {
    "block-diagonal": lambda model, every: KFAC(model, CrossEntropy(), lr=0.1, refresh_every=every),
    "block-tridiagonal": lambda model, every: KFAC(
        model, CrossEntropy(), lr=0.1, refresh_every=every, inverse="block_tridiagonal"
    ),
    "ekfac": lambda model, every: EKFAC(model, CrossEntropy(), refresh_every=every),
}
KINDS = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def refreshed(optimizer, batch, updates):
    """The blocks whose inverses each update computed."""
    steps = [optimizer.step(*batch) for _ in range(updates)]
    return [[name for name, age in step.ages.items() if age == 0] for step in steps]


@pytest.mark.row(163)
@KINDS
def test_after_the_first_updates_equal_blocks_come_one_by_one_from_the_outputs_down(make):
    computed = refreshed(make(a_network(5, 5, 5, 5), 6), a_batch(9, 5, 5), 13)

    assert [len(names) for names in computed[:3]] == [3, 3, 3]
    assert {number: names for number, names in enumerate(computed) if names and number > 2} == {
        4: ["0.weight"],
        6: ["4.weight"],
        8: ["2.weight"],
        10: ["0.weight"],
        12: ["4.weight"],
    }


@pytest.mark.row(163)
@KINDS
@settings(deadline=None, max_examples=10)
@given(widths=st.lists(st.integers(1, 9), min_size=2, max_size=5), every=st.integers(1, 7))
def test_whatever_their_sizes_each_block_comes_once_in_as_many_updates(make, widths, every):
    optimizer = make(a_network(*widths, 3), every)
    computed = refreshed(optimizer, a_batch(6, widths[0], 3), 3 + 2 * every)

    counts = Counter(name for names in computed[3:] for name in names)
    assert counts == dict.fromkeys(computed[0], 2)


def test_a_change_of_damping_refreshes_all_blocks_at_once():
    optimizer, batch = KFAC(a_network(5, 5, 5), CrossEntropy(), lr=0.1, damping=1.0), a_batch(9, 5, 5)
    refreshed(optimizer, batch, 4)
    optimizer.param_groups[0]["damping"] = 0.1

    assert refreshed(optimizer, batch, 2) == [["0.weight", "2.weight"], []]


@pytest.mark.parametrize("kind", [BlockDiagonal, BlockTridiagonal])
def test_an_inverse_of_one_block_alone_is_the_one_it_has_among_all(kind):
    optimizer, batch = MAKERS["block-tridiagonal"](a_network(5, 5, 5, 5), 9), a_batch(9, 5, 5)
    optimizer.step(*batch)
    statistics = optimizer._statistics()
    first, whole = kind().refreshed(statistics, 1.0), kind().refreshed(statistics, 0.1)
    mixed = first.refreshed(statistics, 0.1, only=["2.weight"])

    kept = [inverse.state_dict()["kept"] for inverse in (first, whole, mixed)]
    for name in kept[0]:
        expected = kept[name == "2.weight"][name]
        assert torch.equal(entries(kept[2][name]), entries(expected))
        assert not torch.equal(entries(kept[0][name]), entries(kept[1][name]))


def entries(part):
    """All numbers that are kept of a block."""
    if isinstance(part, torch.Tensor):
        return part.flatten()
    tensors = [entries(each) for each in part.values() if isinstance(each, torch.Tensor | dict)]
    return torch.cat(tensors)
