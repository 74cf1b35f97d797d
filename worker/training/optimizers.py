"""Every optimizer that a config can choose, each a row of one table, and all driven in one way.

    optimizer = OPTIMIZERS["adam"].build(model, CrossEntropy(), {"lr": 0.001, ...}, surroundings)
    step = optimizer.step(inputs, targets)      # forward, backward, update

A setting has one meaning and the same limits in every row; what is usual, and what is worth a search, is the
row's own.
"""

from collections.abc import Mapping
from typing import Final

from worker.training.driven import Optimizer
from worker.training.first_order import FIRST_ORDER
from worker.training.second_order import SECOND_ORDER

OPTIMIZERS: Final[Mapping[str, Optimizer]] = {**FIRST_ORDER, **SECOND_ORDER}
