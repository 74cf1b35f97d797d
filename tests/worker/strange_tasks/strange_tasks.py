"""Tasks that do what no task should; putting this folder on the path installs them."""

import math
import os
import signal
import time
from contextlib import suppress

from worker.tasks import Diverged, Pruned, Task


def _raises(config, context):
    raise KeyError("lr")


def _exits(config, context):
    os._exit(7)


def _is_killed(config, context):
    os.kill(os.getpid(), signal.SIGKILL)


def _runs_out_of_memory(config, context):
    raise MemoryError("64 GiB")


def _nan(config, context):
    context.report(1, loss=math.nan)
    return math.nan


def _negative_infinity(config, context):
    return -math.inf


def _diverges(config, context):
    raise Diverged("loss 1e12 after 3 steps")


def _returns_nothing(config, context):
    return None


def _goes_back(config, context):
    context.report(2, loss=1.0)
    context.report(1, loss=1.0)
    return 1.0


def _reports_a_name_that_is_too_long(config, context):
    context.report(1, **{"x" * 120: 1.0})


def _reports_no_metrics(config, context):
    context.report(1)


def _reports_half_a_step(config, context):
    context.report(0.5, loss=1.0)


def _raises_odd_text(config, context):
    raise FileNotFoundError(os.fsdecode(b"caf\xe9.csv") + "\0")


def _forks_and_dies(config, context):
    if os.fork() == 0:
        time.sleep(600)
    os.kill(os.getpid(), signal.SIGKILL)


def _reports_much(config, context):
    """More points at once than one heartbeat takes, numpy's integers among the steps."""
    import numpy as np

    for step in range(1500):
        context.report(np.int64(step), **{f"metric_{number:02}" + "x" * 80: 0.1 for number in range(20)})
    return 0.5


def _takes(config, context):
    """Report every tenth of a second for `seconds`, then return x."""
    try:
        for step in range(int(config["seconds"] * 10)):
            context.report(step, x=config["x"])
            time.sleep(0.1)
    except Pruned:
        print("tidied up")  # noqa: T201
        raise
    return config["x"]


def _prints_and_dies(config, context):
    print("x" * 20_000)  # noqa: T201
    print("the last words", flush=True)  # noqa: T201
    os.system("echo those of a program >&2")  # noqa: S605
    os._exit(7)


def _prunes_itself(config, context):
    raise Pruned(config["x"])


def _ignores_that_it_is_pruned(config, context):
    for step in range(6000):
        with suppress(Pruned):
            context.report(step, x=config["x"])
        time.sleep(0.1)


def _seeds(config, context):
    import random

    import numpy as np
    import torch

    legacy = np.random.rand()  # noqa: NPY002 - the global state is the point
    return random.random() + legacy + torch.rand(()).item()


def _counts_tokens(config, context):
    return float(sum("thiessen_" in value for value in os.environ.values()))


def _segfaults(config, context):
    import ctypes

    print("here it comes")  # noqa: T201
    ctypes.string_at(0)


def _takes_memory_in_a_child_of_its_own(config, context):
    if os.fork() == 0:
        taken = []
        while True:
            taken.append(bytearray(b"x" * 20_000_000))
            time.sleep(0.005)
    _never_ends(config, context)


def _hangs(config, context):
    context.report(1, x=config["x"])
    while True:
        time.sleep(0.1)


def _never_ends(config, context):
    for step in range(10**6):
        context.report(step, x=config["x"])
        time.sleep(0.1)


def _says_cuda_is_full(config, context):
    raise RuntimeError("CUDA error: out of memory")


def _tells_its_process(config, context):
    return float(os.getpid())


def _tells_its_surroundings(config, context):
    names = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")
    context.logger.info("on %s with %s", context.device, {name: os.environ.get(name) for name in names})
    return config["x"]


def _trains(config, context):
    """Train with dropout and shuffled batches; all of its randomness is that of checkpoints."""
    import torch

    data = torch.Generator().manual_seed(context.seed)
    inputs = torch.randn(64, 5, generator=data)
    targets = inputs.sum(dim=1, keepdim=True) + 0.1 * torch.randn(64, 1, generator=data)
    model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1))
    if config["optimizer"] == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    else:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    batches = torch.Generator().manual_seed(context.seed)
    parts = {"model": model, "optimizer": optimizer, "batches": batches}
    context.expect(30)
    loss = torch.zeros(())
    for epoch in range(context.checkpoint.restore(**parts) + 1, 31):
        for batch in torch.randperm(64, generator=batches).split(16):
            optimizer.zero_grad()
            loss = (model(inputs[batch]) - targets[batch]).square().mean()
            loss.backward()
            optimizer.step()
        context.report(epoch, loss=loss.item())
        time.sleep(config["seconds"])
        if context.checkpoint.is_due:
            context.checkpoint.save(epoch, **parts)
    return loss.item()


def _keeps_checkpoints_seldom(config, context):
    if context.checkpoint.is_due:
        raise AssertionError
    context.logger.info("no checkpoint for long")
    time.sleep(600)


RAISES = Task("raises", _raises)
SEGFAULTS = Task("segfaults", _segfaults)
TAKES_MEMORY_IN_A_CHILD_OF_ITS_OWN = Task(
    "takes-memory-in-a-child-of-its-own", _takes_memory_in_a_child_of_its_own
)
HANGS = Task("hangs", _hangs)
NEVER_ENDS = Task("never-ends", _never_ends)
SAYS_CUDA_IS_FULL = Task("says-cuda-is-full", _says_cuda_is_full)
TELLS_ITS_PROCESS = Task("tells-its-process", _tells_its_process)
TELLS_ITS_SURROUNDINGS = Task("tells-its-surroundings", _tells_its_surroundings)
TRAINS = Task("trains", _trains)
KEEPS_CHECKPOINTS_SELDOM = Task("keeps-checkpoints-seldom", _keeps_checkpoints_seldom)
EXITS = Task("exits", _exits)
IS_KILLED = Task("is-killed", _is_killed)
RUNS_OUT_OF_MEMORY = Task("runs-out-of-memory", _runs_out_of_memory)
NAN = Task("nan", _nan)
NEGATIVE_INFINITY = Task("negative-infinity", _negative_infinity)
DIVERGES = Task("diverges", _diverges)
RETURNS_NOTHING = Task("returns-nothing", _returns_nothing)
GOES_BACK = Task("goes-back", _goes_back)
TAKES = Task("takes", _takes)
PRINTS_AND_DIES = Task("prints-and-dies", _prints_and_dies)
PRUNES_ITSELF = Task("prunes-itself", _prunes_itself)
IGNORES_THAT_IT_IS_PRUNED = Task("ignores-that-it-is-pruned", _ignores_that_it_is_pruned)
SEEDS = Task("seeds", _seeds)
REPORTS_A_NAME_THAT_IS_TOO_LONG = Task("reports-a-name-that-is-too-long", _reports_a_name_that_is_too_long)
REPORTS_NO_METRICS = Task("reports-no-metrics", _reports_no_metrics)
REPORTS_HALF_A_STEP = Task("reports-half-a-step", _reports_half_a_step)
RAISES_ODD_TEXT = Task("raises-odd-text", _raises_odd_text)
FORKS_AND_DIES = Task("forks-and-dies", _forks_and_dies)
REPORTS_MUCH = Task("reports-much", _reports_much)
COUNTS_TOKENS = Task("counts-tokens", _counts_tokens)
