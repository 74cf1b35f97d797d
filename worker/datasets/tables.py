"""Small tables that scikit-learn ships, their columns standardised."""

from importlib.metadata import version
from typing import Final

import numpy as np

from worker.datasets.dataset import Array, Content, ordered

SEED: Final = 21


def breast_cancer() -> Content:
    """Return whether a tumour is benign, by 30 measurements of its cells."""
    from sklearn.datasets import load_breast_cancer

    return _content("Breast cancer", *load_breast_cancer(return_X_y=True))


def wine() -> Content:
    """Return of which of three growers a wine is, by 13 measurements of it."""
    from sklearn.datasets import load_wine

    return _content("Wine", *load_wine(return_X_y=True))


def _content(title: str, features: Array, classes: Array) -> Content:
    """Return a table: a sixth of its rows to test with, another sixth held back.

    Each column has mean 0 and variance 1 over the rows that are trained on.
    """
    order = ordered(len(classes), SEED)
    features, classes, sixth = features[order], classes[order].astype(np.int64), len(order) // 6
    learned = features[: -2 * sixth]
    inputs = ((features - learned.mean(axis=0)) / learned.std(axis=0)).astype(np.float32)
    arrays = {
        "train_inputs": inputs[:-sixth],
        "train_targets": classes[:-sixth],
        "test_inputs": inputs[-sixth:],
        "test_targets": classes[-sixth:],
    }
    origin = f"{title} of scikit-learn {version('scikit-learn')}, in the order of seed {SEED}."
    return Content(arrays=arrays, held_back=sixth, origin=origin)
