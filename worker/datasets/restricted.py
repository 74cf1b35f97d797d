"""A data set of which few cases are labelled."""

from dataclasses import replace

from worker.datasets.dataset import Content


def few_labelled(whole: Content, labelled: int) -> Content:
    """Return the data set with so many training cases; of the others there are only the inputs, unlabeled.

    A fifth of the labelled is held back.
    """
    inputs, targets = whole.arrays["train_inputs"], whole.arrays["train_targets"]
    few = {"train_inputs": inputs[:labelled], "train_targets": targets[:labelled]}
    arrays = {**whole.arrays, **few, "unlabeled": inputs[labelled:]}
    origin = f"{whole.origin} {labelled} of the {len(inputs)} training cases are labelled."
    return replace(whole, arrays=arrays, held_back=labelled // 5, origin=origin)
