"""Fills a server with studies as a lab has them: one runs, one is done, one waits, one is in trouble.

Of its two comparisons one is done and one runs.

What is trained is a formula with noise; what the server does with it is real.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Final

import httpx
from sqlalchemy import create_engine, text

SPACE: Final[dict[str, Any]] = {
    "lr": {"type": "float", "low": 1e-4, "high": 1.0, "log": True},
    "momentum": {"type": "float", "low": 0.5, "high": 0.99},
    "damping": {"type": "float", "low": 1e-3, "high": 10.0, "log": True},
    "hidden": {"type": "int", "low": 16, "high": 512, "log": True},
    "activation": {"type": "categorical", "choices": ["tanh", "relu", "logistic"]},
}
STEPS: Final = 20
PRUNING: Final = {"rule": "median", "metric": "loss"}
MOST_COMPARED: Final = 10_000  # trials
TASKS: Final = ("autoencoder", "rnn")
DIGITS: Final = "digits"  # what is compared
METHODS: Final = ("sgd", "adam", "kfac")
FLOOR: Final = {"sgd": 0.34, "adam": 0.27, "kfac": 0.12}  # what each comes to with its best settings
COMPARED: Final[dict[str, Any]] = {
    "task": DIGITS,
    "settings": {"updates": 200},
    "space": {"lr": SPACE["lr"], "momentum": SPACE["momentum"]},
}
FINISHED: Final = "optimizers-on-digits"
GOING_ON: Final = "random-or-adaptive"
WORKERS: Final = {"node-1": ("cuda:0", "cuda:1"), "node-2": ("cuda:0", "cuda:1")}
OOM: Final = {
    "kind": "out_of_memory",
    "message": "CUDA out of memory",
    "traceback": """Traceback (most recent call last):
  File "train.py", line 41, in train
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.40 GiB""",
}


def fill(url: str, database: str, trials: int = 120) -> None:
    """Make the studies; the last has so many trials that have ended, and some that still run.

    Time goes by on the clock of the server, which is that of its database.
    """
    engine = create_engine(database)

    def pass_seconds(seconds: float) -> None:
        moved = text("UPDATE clock SET offset_milliseconds = offset_milliseconds + :more")
        with engine.begin() as connection:
            connection.execute(moved, {"more": round(1000 * seconds)})

    with httpx.Client(base_url=f"{url}/api/v1", timeout=60) as api:
        lab = Lab(api, pass_seconds)
        lab.create("too-large", 4, max_attempts=2)
        lab.train("too-large", 8, out_of_memory=1.0)
        lab.create("sgd-autoencoder", 60, strategy="random", tags=["paper"])
        lab.train("sgd-autoencoder", 60)
        lab.create("hessian-free-rnn", 30, task="rnn")
        more = {"notes": "Deep autoencoder on digits.", "tags": ["kfac", "paper"], "stopping": PRUNING}
        lab.create("kfac-autoencoder", trials + 40, **more)
        lab.train("kfac-autoencoder", trials, out_of_memory=0.03)
        budget = max(trials // 8, 4)
        arms = [{"label": each, "settings": {"optimizer": each}} for each in METHODS]
        arms[-1]["space"] = {"damping": SPACE["damping"]}
        lab.compare(FINISHED, arms, budget, strategy="random", tags=["paper"])
        lab.compared()
        methods = [{"label": each, "strategy": each} for each in ("random", "biased_random")]
        lab.compare(GOING_ON, methods, budget, settings={"updates": 200, "optimizer": "sgd"})
        lab.compared(5 * budget)
    engine.dispose()


class Lab:
    """Some workers, and what they train."""

    def __init__(self, api: httpx.Client, pass_seconds: Callable[[float], None]) -> None:
        self._api = api
        self._pass_seconds = pass_seconds
        self._chance = random.Random(7)
        self._asked = 0
        for name, slots in WORKERS.items():
            told = {
                "labels": {"pool": "rtx"},
                "slots": [{"name": each, "gpu_memory_gb": 24.0} for each in slots],
            }
            tasks = [{"name": each, "version": "1"} for each in (*TASKS, DIGITS)]
            self._send("PUT", f"/workers/{name}", {"incarnation": "1", "tasks": tasks, **told})

    def create(self, name: str, max_trials: int, **more: Any) -> None:
        study = {"name": name, "task": "autoencoder", "space": SPACE, "max_trials": max_trials, "seed": 3}
        self._send("POST", "/studies", study | more)

    def compare(self, name: str, arms: Sequence[Any], budget: int, **more: Any) -> None:
        sent = {"name": name, "arms": arms, "budget": {"trials": budget}, "replicates": 8, "seed": 5}
        self._send("POST", "/comparisons", {**COMPARED, **sent, **more})

    def compared(self, most: int = MOST_COMPARED) -> None:
        """Train so many trials of comparisons, or all there are, one after the other."""
        for _ in range(most):
            self._asked += 1
            request = {
                "worker": "node-1", "incarnation": "1", "request_id": f"r{self._asked}", "tasks": [DIGITS],
                "slot": {"name": "cuda:0"}, "lease_for": 100_000,
            }  # fmt: skip
            leases = self._send("POST", "/leases", request)["leases"]
            if not leases:
                return
            self._train_digits(*leases)

    def _train_digits(self, lease: dict[str, Any]) -> None:
        reached = digits_of(lease["config"], self._chance)
        self._pass_seconds(self._chance.uniform(2, 4))
        path = f"/leases/{lease['lease_id']}"
        if reached > 2:
            self._send("POST", f"{path}/complete", {"diverged": "nan"})
            return
        falls = [(step, reached * (1 + 6 / step**0.6)) for step in range(10, 201, 10)]
        reports = [
            {"step": step, "metrics": {"loss": 0.9 * loss, "validation_loss": loss, "seconds": 0.02 * step}}
            for step, loss in falls
        ]
        self._send("POST", f"{path}/heartbeat", {"reports": reports})
        self._send("POST", f"{path}/complete", {"loss": reached})

    def train(self, study: str, trials: int, out_of_memory: float = 0.0) -> None:
        """Train on every slot until so many trials have ended, or the study has no more."""
        ended, now = 0, 0.0
        running: list[tuple[float, int, Training]] = []
        for worker, slots in WORKERS.items():
            for slot in slots:
                self._begin(running, study, worker, slot, now)
        while ended < trials and running:
            at, _, training = heappop(running)
            self._pass_seconds(at - now)
            now = at
            if self._goes_on(training, out_of_memory):
                heappush(running, (now + training.seconds, self._asked, training))
                continue
            ended += 1
            self._begin(running, study, training.worker, training.slot, now)

    def _begin(
        self, running: list[tuple[float, int, "Training"]], study: str, worker: str, slot: str, now: float
    ) -> None:
        self._asked += 1
        request = {
            "worker": worker, "incarnation": "1", "request_id": f"r{self._asked}", "tasks": TASKS,
            "studies": [study], "slot": {"name": slot}, "lease_for": 100_000,
        }  # fmt: skip
        for lease in self._send("POST", "/leases", request)["leases"]:
            reached = loss_of(lease["config"], self._chance)
            seconds = self._chance.uniform(8, 30)  # of a quarter of it
            heappush(running, (now + seconds, self._asked, Training(lease, worker, slot, reached, seconds)))

    def _goes_on(self, training: "Training", out_of_memory: float) -> bool:
        """Train a quarter more; return whether there is another one."""
        if self._chance.random() < out_of_memory:
            self._end(training, "fail", OOM)
        elif training.reached > 9:
            self._end(training, "complete", {"diverged": "nan"})
        elif self._report(training) == "prune":
            self._end(training, "complete", {"pruned": True})
        elif training.step == STEPS:
            self._end(training, "complete", {"loss": training.reached})
        else:
            return True
        return False

    def _report(self, training: "Training") -> str:
        steps = range(training.step + 1, training.step + 1 + STEPS // 4)
        losses = [training.reached * (1 + 3 * math.exp(-each / 4)) for each in steps]
        reports = [{"step": at, "metrics": {"loss": loss}} for at, loss in zip(steps, losses, strict=True)]
        training.step = steps[-1]
        lease = training.lease["lease_id"]
        verdict: str = self._send("POST", f"/leases/{lease}/heartbeat", {"reports": reports})["verdict"]
        return verdict

    def _end(self, training: "Training", how: str, said: dict[str, Any]) -> None:
        self._send("POST", f"/leases/{training.lease['lease_id']}/{how}", said)

    def _send(self, method: str, path: str, sent: dict[str, Any]) -> Any:
        answer = self._api.request(method, path, json=sent)
        if not answer.is_success:
            raise RuntimeError(f"{path}: {answer.text}")
        return answer.json() if answer.content else None


@dataclass
class Training:
    """A trial on a slot."""

    lease: dict[str, Any]
    worker: str
    slot: str
    reached: float  # the loss at its end
    seconds: float
    step: int = 0


def loss_of(config: dict[str, Any], chance: random.Random) -> float:
    """Return what training with a config comes to: good near one place, and worse than useless far off."""
    far = (
        (math.log10(config["lr"]) + 1.6) ** 2
        + 4 * (config["momentum"] - 0.9) ** 2
        + 0.5 * (math.log10(config["damping"]) + 0.5) ** 2
        + 0.6 * (math.log2(config["hidden"]) - 7.5) ** 2 / 6
        + {"tanh": 0.0, "relu": 0.15, "logistic": 0.5}[config["activation"]]
    )
    steep = 0.4 * math.log10(config["lr"]) * math.log10(config["damping"])
    return float(0.12 + max(far + steep * 0.3, 0.0) * chance.uniform(0.9, 1.1))


def digits_of(config: dict[str, Any], chance: random.Random) -> float:
    """Return what an optimizer comes to with a config: far off it diverges."""
    far = 0.25 * (math.log10(config["lr"]) + 1.8) ** 2 + 2 * (config["momentum"] - 0.9) ** 2
    if "damping" in config:
        far = 0.5 * far + 0.06 * (math.log10(config["damping"]) + 0.5) ** 2
    if math.log10(config["lr"]) > -0.3 and config["momentum"] > 0.8:
        far += 9
    return float((FLOOR[config["optimizer"]] + far) * chance.uniform(0.93, 1.07))
