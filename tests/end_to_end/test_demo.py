"""The first command a stranger types."""

import hashlib
import json
import math
import os
import re
import socket
import subprocess
from pathlib import Path

import psutil
import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import cross_entropy, log_softmax

from tests.conftest import wait_until

HOUSE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def demo():
    return subprocess.run(
        ["make", "demo", "PORT=0"],
        cwd=HOUSE,
        env=os.environ | {"THIESSEN_TOKEN": "thiessen_of_another_server", "THIESSEN_REQUIRE_TOKENS": "true"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def best(demo):
    loss, seed, config = re.search(r"Best: loss (\S+) from seed (\d+) with\n({.*})\n", demo.stdout).groups()
    return float(loss), int(seed), json.loads(config)


def trained_by_torch_alone(config, seed, *, shuffle=False):
    """The whole experiment again, in plain torch: nothing of Thiessen is used."""
    torch.set_num_threads(1)
    pixels, classes = load_digits(return_X_y=True)
    order = torch.randperm(1797, generator=torch.Generator().manual_seed(20))[:1500]  # the rest is for tests
    inputs = (torch.tensor(pixels, dtype=torch.float32) / 16)[order]
    targets = torch.tensor(classes)[order]
    if shuffle:
        targets[:1200] = targets[:1200][torch.randperm(1200, generator=torch.Generator().manual_seed(0))]
    model = nn.Sequential(nn.Linear(64, config["hidden"]), nn.Tanh(), nn.Linear(config["hidden"], 10))
    stream = stream_of(seed, "weights")
    for layer in (model[0], model[2]):
        bound = math.sqrt(6 / (layer.in_features + layer.out_features))
        nn.init.uniform_(layer.weight, -bound, bound, generator=stream)
        nn.init.zeros_(layer.bias)
    optimizer = torch.optim.SGD(model.parameters(), config["lr"], momentum=config["momentum"], nesterov=True)
    stream = stream_of(seed, "batches")
    order = torch.cat([torch.randperm(1200, generator=stream) for _ in range(15)])
    size = config["batch_size"]
    for batch in order[: len(order) // size * size].split(size):
        optimizer.zero_grad()
        cross_entropy(model(inputs[:1200][batch]), targets[:1200][batch]).backward()
        optimizer.step()
    with torch.no_grad():
        return -log_softmax(model(inputs[1200:]), dim=1)[torch.arange(300), targets[1200:]].mean().item()


def stream_of(seed, name):
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)


@pytest.mark.row(237)
def test_the_demo_prints_ranked_configs_and_the_dashboard_and_exits_cleanly(demo):
    assert demo.returncode == 0, demo.stdout + demo.stderr
    losses = [float(loss) for loss in re.findall(r"│\s+\d+ │ (\d+\.\d+) │", demo.stdout)]
    assert len(losses) >= 5
    assert losses == sorted(losses)
    assert re.search(r"Dashboard: http://127\.0\.0\.1:\d+/studies/digits-sgd", demo.stdout)
    assert "40/40" in demo.stdout


@pytest.mark.row(237)
def test_the_best_config_trains_again_to_the_same_loss_with_torch_alone(best):
    loss, seed, config = best

    assert trained_by_torch_alone(config, seed) == loss


def test_with_shuffled_labels_the_best_config_learns_nothing(best):
    loss, seed, config = best

    assert trained_by_torch_alone(config, seed, shuffle=True) > loss + 1


def test_a_port_in_use_ends_the_demo_with_the_remedy(programs):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        demo = programs("demo", "--port", str(port))

        assert demo.wait(120) == 1
    said = demo.log.read_text()
    assert f"Cannot listen on 127.0.0.1:{port}" in said
    assert "make demo PORT=" in said


def test_a_demo_that_lacks_a_package_names_it_and_no_port(programs, tmp_path):
    (tmp_path / "fastapi.py").write_text(
        "raise ModuleNotFoundError('as if it were not there', name='fastapi')"
    )

    demo = programs("demo", "--port", "0", PYTHONPATH=str(tmp_path))

    assert demo.wait(120) == 1
    said = demo.log.read_text()
    assert "pip install 'thiessen[server]'" in said
    assert "PORT=" not in said


def test_a_demo_that_is_stopped_stops_everything_it_started(programs):
    demo = programs("demo", "--port", "0", "--trials", "1000")
    wait_until(lambda: len(psutil.Process(demo.pid).children(recursive=True)) >= 3)
    children = psutil.Process(demo.pid).children(recursive=True)

    demo.terminate()

    assert demo.wait(120) != 0
    _gone, alive = psutil.wait_procs(children, timeout=20)
    assert not alive


def test_a_demo_keeps_its_results_where_it_is_told_to(programs, tmp_path):
    demo = programs("demo", "--port", "0", "--trials", "5", "--folder", str(tmp_path / "kept"))

    assert demo.wait(120) == 0, demo.log.read_text()
    assert (tmp_path / "kept" / "demo.db").exists()
