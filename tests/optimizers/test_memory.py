"""How many vectors of the size of the parameters an update takes, counted as storages come and go.

Counted is what lives at once and did not before, in the size of all parameters: a network so wide that the
activations of its two cases are nothing beside.
"""

import weakref

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from optimizers import CrossEntropy, HessianFree, TruncatedNaturalGradient, TrustRegion
from optimizers.solvers.iterates import is_kept

GRADIENT, VECTORS = 1, 6
SMALL = 0.1  # of a vector: activations, and a layer of three outputs


class Live(TorchDispatchMode):
    """Knows the bytes of the storages that were made under it, as long as they live."""

    def __init__(self):
        super().__init__()
        self.bytes, self.most = {}, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        del types
        before = {each.untyped_storage()._cdata for each in tensors((args, kwargs))}
        made = function(*args, **(kwargs or {}))
        for each in tensors(made):
            storage = each.untyped_storage()
            if storage._cdata not in before and storage._cdata not in self.bytes:
                self.bytes[storage._cdata] = storage.nbytes()
                weakref.finalize(storage, self.bytes.pop, storage._cdata)
        self.most = max(self.most, sum(self.bytes.values()))
        return made


def tensors(tree):
    return [each for each in tree_leaves(tree) if isinstance(each, torch.Tensor)]


def updated(make, a_network, a_batch):
    """What lived in the third update, with the last solution of two before it, and the size of a vector."""
    model = a_network(80, 80, 80, 3)
    optimizer, batch = make(model), a_batch(2, 80, 3)
    for _ in range(3):
        with Live() as live:
            step = optimizer.step(*batch)
    return live, step, 8 * sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"preconditioner": "none"},
        {"l2": 1e-3},
        {"stop_if_worse_than": "best"},
        {"curvature_from_every": 2},
    ],
)
def test_hessian_free_takes_six_vectors_beside_the_gradient_and_its_iterates(a_network, a_batch, settings):
    live, step, size = updated(
        lambda model: HessianFree(model, CrossEntropy(), cg_steps=20, progress=0.0, **settings),
        a_network,
        a_batch,
    )

    kept = sum(map(is_kept, range(1, step.iterations + 1)))
    assert step.iterations > 2
    assert live.most <= (GRADIENT + VECTORS + kept + SMALL) * size
    assert sum(live.bytes.values()) <= (1 + SMALL) * size  # the next one begins with the last


@pytest.mark.parametrize("settings", [{}, {"warm_start": 0.9}, {"l2": 1e-3, "adapts": True}])
def test_the_truncated_natural_gradient_takes_six_vectors_beside_the_gradient(a_network, a_batch, settings):
    live, step, size = updated(
        lambda model: TruncatedNaturalGradient(
            model, CrossEntropy(), iterations=20, tolerance=0.0, **settings
        ),
        a_network,
        a_batch,
    )

    assert step.iterations > 2
    assert live.most <= (GRADIENT + VECTORS + SMALL) * size
    assert sum(live.bytes.values()) <= (("warm_start" in settings) + SMALL) * size


def test_a_trust_region_takes_six_vectors_beside_the_gradient_and_keeps_none(a_network, a_batch):
    live, step, size = updated(
        lambda model: TrustRegion(model, CrossEntropy(), radius=10.0, cg_steps=20, tolerance=0.0, l2=1e-3),
        a_network,
        a_batch,
    )

    assert step.iterations > 2
    assert live.most <= (GRADIENT + VECTORS + SMALL) * size
    assert sum(live.bytes.values()) <= SMALL * size
