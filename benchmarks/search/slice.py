"""Runs searches in the environment of their method: cells come in as JSON lines, results go out the same way.

A cell is one search: method, task, instance, seed, budget, workers, crashes, noise, and how losses are told.
"""

import hashlib
import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.search.methods import Method, method
from benchmarks.search.tasks import Config, Task, task

Cell = dict[str, Any]


def _without_a_loss(value: float) -> Callable[[float | None], float | None]:
    return lambda loss: value if loss is None or math.isinf(loss) else loss


VIEWS: dict[str, Callable[[float | None], float | None]] = {
    "plain": lambda loss: loss,
    # Increasing, and so steep that different floats stay different.
    "cubed": lambda loss: loss and loss**3,
    "1e30": _without_a_loss(1e30),
    "inf": _without_a_loss(math.inf),
    "nan": _without_a_loss(math.nan),
}
"""How the losses are told. A method that looks at nothing but their order proposes the same under each."""


def main() -> None:
    """Answer each line with a line, until there are no more."""
    for line in sys.stdin:
        cell = json.loads(line)
        print(json.dumps(cell | searched(cell)), flush=True)


def searched(cell: Cell) -> dict[str, Any]:
    """Run one search and return its incumbents, as [results known, share better, share better or equal]."""
    begun = time.process_time()
    search = Search(cell, task(cell["task"], cell["instance"]))
    search.run(method(cell["method"], search.task.space, search.seed))
    return {
        "incumbents": search.incumbents,
        "proposals": hashlib.sha256(json.dumps(search.configs).encode()).hexdigest()[:16],
        "method_seconds": round(search.method_seconds, 4),  # of CPU, in ask and tell
        "cpu_seconds": round(time.process_time() - begun, 4),
    }


class Search:
    """One search, its workers simulated: they are all busy, and the next to finish is any of them."""

    def __init__(self, cell: Cell, on: Task) -> None:
        self.cell, self.task = cell, on
        # Equal for every method, so that they meet the same noise and the same crashes.
        name = f"{cell['task']} {cell['instance']} {cell['seed']}"
        self.seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") >> 1
        self.configs: list[Config] = []
        self.incumbents: list[tuple[int, float, float]] = []
        self.method_seconds = 0.0
        self._best, self._known = math.inf, 0

    def run(self, method: Method) -> None:
        """Spend the budget."""
        next_to_finish = np.random.default_rng([self.seed, 1])
        running: list[int] = []
        for number in range(self.cell["budget"]):
            self.configs.append(self._timed(lambda n=number: method.ask(n)))
            running.append(number)
            if len(running) == self.cell["workers"]:
                self._finish(running.pop(next_to_finish.integers(len(running))), method)
        while running:
            self._finish(running.pop(next_to_finish.integers(len(running))), method)

    def _finish(self, number: int, method: Method) -> None:
        loss, config = self._loss(number), self.configs[number]
        told = VIEWS[self.cell["told"]](loss)
        self._timed(lambda: method.tell(number, told))
        self._known += 1
        if loss is not None and loss < self._best:
            self._best = loss
            self.incumbents.append((self._known, *self.task.share_better(config)))

    def _loss(self, number: int) -> float | None:
        chance, config = np.random.default_rng([self.seed, 2, number]), self.configs[number]
        if chance.random() < self.cell["crashes"]:
            return None
        return self.task.noisy_loss(config, chance) if self.cell["noise"] else self.task.loss(config)

    def _timed(self, step: Callable[[], Any]) -> Any:
        begun = time.process_time()
        answer = step()
        self.method_seconds += time.process_time() - begun
        return answer


if __name__ == "__main__":
    main()
