"""Two processes that train together do what one does on their joined batches."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from optimizers import CrossEntropy, LocalCriterion
from optimizers.curvature.centring import moments

SCRIPT = Path(__file__).with_name("one_of_two_processes.py")
OURS = runpy.run_path(str(SCRIPT))
OPTIMIZERS, a_model, a_batch = OURS["OPTIMIZERS"], OURS["a_model"], OURS["a_batch"]


@pytest.fixture(name="came", scope="module")
def _came(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    environment = os.environ | {
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(SCRIPT.parents[2]),
    }
    processes = [
        subprocess.Popen([sys.executable, SCRIPT, folder, str(rank)], env=environment, stderr=subprocess.PIPE)
        for rank in range(2)
    ]
    try:
        said = [rank.communicate(timeout=120)[1].decode() for rank in processes]
    finally:
        for rank in processes:
            rank.kill()
    assert [rank.returncode for rank in processes] == [0, 0], said
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


def assert_close(ours, theirs):
    for our, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our, their, rtol=1e-9, atol=1e-12)


def alone_on_joined_batches(name, seeds=range(4), **more):
    model = a_model()
    optimizer = OPTIMIZERS[name](model)
    steps = [optimizer.step(*a_batch(seed), **more) for seed in seeds]
    return list(model.parameters()), torch.tensor(steps[-1].loss)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_batches_of_different_size_take_the_step_of_all_cases(came, name):
    parameters, loss = alone_on_joined_batches(name)
    for rank in came:
        assert_close(rank[f"on batches {name}"], [*parameters, loss])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_usual_loop_under_distributed_data_parallel_takes_the_step_of_all_cases(came, name):
    parameters, _ = alone_on_joined_batches(name)
    for rank in came:
        assert_close(rank[f"in the usual loop {name}"], parameters)


@pytest.mark.parametrize("name", ["ACP", "PRONG"])
def test_statistics_of_their_own_are_joined_too(came, name):
    parameters, _ = alone_on_joined_batches(name, seeds=[0], statistics=a_batch(7)[0])
    for rank in came:
        assert_close(rank[f"with statistics {name}"], parameters)


def test_the_processes_have_the_same_weights_to_the_last_bit(came):
    for what in [key for key in came[0] if key.startswith(("on batches", "in the usual", "with stat"))]:
        assert all(torch.equal(*pair) for pair in zip(came[0][what], came[1][what], strict=True)), what


@pytest.mark.parametrize("where", ["inputs", "statistics"])
def test_what_is_not_finite_on_one_process_is_skipped_on_all(came, where):
    for rank in came:
        assert_close(rank[f"nan in {where}"], list(a_model().parameters()))


def test_a_group_of_one_trains_alone(came):
    for seed, rank in enumerate(came):
        model = a_model()
        LocalCriterion(model, CrossEntropy()).step(*a_batch(seed))
        assert_close(rank["alone"], list(model.parameters()))


def test_functions_of_rows_are_of_one_process_unless_told(came):
    for seed, rank in enumerate(came):
        assert_close(rank["moments"], moments(a_batch(seed)[0], centre=True))


def test_the_largest_is_taken_entry_by_entry(came):
    assert [rank["largest"].tolist() for rank in came] == [[1.0, 5.0], [1.0, 5.0]]


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("wrapped", "wrapped in DistributedDataParallel. Give the optimizer the model inside it"),
        ("own gradients", "has other gradients on other processes. Run it through DistributedDataParallel"),
        ("another part", "has parts that took part on some processes and not on others"),
        ("pickled", "with a group of processes cannot be pickled. Save its state_dict()"),
    ],
)
def test_what_would_make_the_processes_differ_is_refused_on_each(came, what, sentence):
    assert all(sentence in rank[what] for rank in came)


def test_a_copy_trains_with_the_same_processes(came):
    assert all(rank["copied"] > 0 for rank in came)
