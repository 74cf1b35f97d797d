"""Two processes that train together do what one does on their joined batches."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.optim import Optimizer

import optimizers
from optimizers import EKFAC, KFAC, CrossEntropy
from optimizers.curvature.centring import moments
from optimizers.divided_work import shares

SCRIPT = Path(__file__).with_name("one_of_two_processes.py")
OURS = runpy.run_path(str(SCRIPT))
OPTIMIZERS, KINDS, UPDATES = OURS["OPTIMIZERS"], OURS["KINDS"], OURS["UPDATES"]
a_model, a_batch = OURS["a_model"], OURS["a_batch"]
USUAL = OURS["USUAL"]
BY_GRADIENTS = [kind.__name__ for kind in (*OURS["LISTEN"], *OURS["TAKE_GRADIENTS"])]
NAMES = [kind.__name__ for kind in KINDS]


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


def test_every_optimizer_is_checked():
    kinds = [getattr(optimizers, name) for name in optimizers.__all__]
    ours = {kind.__name__ for kind in kinds if isinstance(kind, type) and issubclass(kind, Optimizer)}

    assert ours == {name.partition(",")[0] for name in OPTIMIZERS}


def alone_on_joined_batches(optimizer, model, seeds=range(6), **more):
    steps = [optimizer.step(*a_batch(seed), **more) for seed in seeds]
    return [*model.parameters(), torch.tensor(steps[-1].loss)]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_batches_of_different_size_take_the_step_of_all_cases(came, name):
    model = a_model()
    expected = alone_on_joined_batches(OPTIMIZERS[name](model), model, range(UPDATES.get(name, 6)))
    for rank in came:
        assert_close(rank[f"on batches {name}"], expected)


@pytest.mark.parametrize("name", USUAL)
def test_the_usual_loop_under_distributed_data_parallel_takes_the_step_of_all_cases(came, name):
    model = a_model()
    optimizer = OPTIMIZERS[name](model)
    for seed in range(6):
        optimizer.zero_grad()
        inputs, targets = a_batch(seed)
        CrossEntropy().loss(model(inputs), targets).backward()
        optimizer.step()
    for rank in came:
        assert_close(rank[f"in the usual loop {name}"], list(model.parameters()))


def test_a_closure_under_distributed_data_parallel_gives_the_loss_of_all_cases(came):
    model = a_model()
    expected = alone_on_joined_batches(OPTIMIZERS["KFAC, adaptive"](model), model)
    for rank in came:
        assert_close(rank["with a closure"], expected)


@pytest.mark.parametrize("kind", [EKFAC, KFAC])
def test_what_some_processes_know_more_of_weighs_as_much_more(came, kind):
    model = OURS["OfManyParts"]()
    expected = alone_on_joined_batches(kind(model, CrossEntropy(), targets="data"), model, range(3))
    for rank in came:
        assert_close(rank[f"of many parts {kind.__name__}"], expected[:-1])


@pytest.mark.parametrize("kind", [EKFAC, KFAC])
def test_gradients_of_all_are_not_taken_for_the_product_of_the_few_rows_of_one(came, kind):
    model = OURS["a_wide_model"]()
    optimizer = kind(model, CrossEntropy(), lr=0.1, targets="exact")
    for seed in range(3):
        optimizer.step(*(part[:6] for part in a_batch(seed)))
    for rank in came:
        assert_close(rank[f"with few cases {kind.__name__}"], list(model.parameters()))


@pytest.mark.parametrize("kind", [EKFAC, KFAC])
def test_a_weight_that_one_process_uses_besides_its_layer_has_a_diagonal_on_all(came, kind):
    model, (inputs, targets) = OURS["UsedBesides"](), a_batch(0)
    signs = torch.ones(24, 1).index_fill(0, torch.arange(16), -1.0)
    kind(model, CrossEntropy(), targets="data").step(inputs.abs() * signs, targets)
    for rank in came:
        assert_close(rank[f"used besides {kind.__name__}"], list(model.parameters()))


@pytest.mark.parametrize("kind", [EKFAC, KFAC])
def test_each_process_decomposes_half_of_the_factors(came, kind):
    assert [rank[f"decompositions {kind.__name__}"] for rank in came] == [2, 2]


@pytest.mark.parametrize("name", ["ACP", "PRONG"])
def test_statistics_of_their_own_are_joined_too(came, name):
    model = a_model()
    expected = alone_on_joined_batches(OPTIMIZERS[name](model), model, [0], statistics=a_batch(7)[0])
    for rank in came:
        assert_close(rank[f"with statistics {name}"], expected[:-1])


def test_the_processes_have_the_same_weights_to_the_last_bit(came):
    begins = ("on batches", "in the usual", "with", "of many parts", "after nan", "used")
    for what in [key for key in came[0] if key.startswith(begins)]:
        assert all(torch.equal(*pair) for pair in zip(came[0][what], came[1][what], strict=True)), what


@pytest.mark.parametrize("where", ["inputs", "statistics"])
def test_what_is_not_finite_on_one_process_is_skipped_on_all(came, where):
    for rank in came:
        assert_close(rank[f"nan in {where}"], list(a_model().parameters()))


@pytest.mark.parametrize("kind", [EKFAC, KFAC])
def test_training_goes_on_after_a_batch_that_was_not_finite_on_one_process(came, kind):
    model = a_model()
    expected = alone_on_joined_batches(kind(model, CrossEntropy(), targets="exact"), model, [0, 2])
    for rank in came:
        assert_close(rank[f"after nan {kind.__name__}"], expected[:-1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_of_one_trains_alone(came, kind):
    for seed, rank in enumerate(came):
        model = a_model()
        kind(model, CrossEntropy()).step(*a_batch(seed))
        assert_close(rank[f"alone {kind.__name__}"], list(model.parameters()))


@pytest.mark.parametrize("name", ["KFAC", "AdaptiveNaturalGradient", "NaturalGradient"])
def test_each_process_samples_targets_of_its_own(came, name):
    first, second = (rank[f"sampled {name}"]["targets"][0] for rank in came)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("name", ["KFAC", "AdaptiveNaturalGradient", "NaturalGradient"])
def test_the_stream_that_is_saved_is_the_same_on_all(came, name):
    assert torch.equal(*(rank[f"sampled {name}"]["stream"] for rank in came))


def test_work_is_done_by_one_process_and_known_to_all(came):
    assert [rank["work"]["did"] for rank in came] == [["dear"], ["cheap"]]
    assert [rank["work"]["came"] for rank in came] == 2 * [[{"name": "cheap"}, {"name": "dear"}]]


def test_work_that_failed_on_one_process_fails_on_all(came):
    said = "The (3, 3) matrix in torch.float32 is not positive definite, or not finite."
    assert [rank["work"]["failed"].partition(" Add ")[0] for rank in came] == 2 * [said]


def test_shares_of_work_cost_about_the_same():
    assert shares({"a": 1.0, "b": 8.0, "c": 4.0, "d": 4.0}, 2) == [["b", "a"], ["c", "d"]]


def test_functions_of_rows_are_of_one_process_unless_told(came):
    for seed, rank in enumerate(came):
        assert_close(rank["moments"], moments(a_batch(seed)[0], centre=True))


def test_the_largest_is_taken_entry_by_entry(came):
    assert [rank["largest"].tolist() for rank in came] == [[1.0, 5.0], [1.0, 5.0]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("wrapped", "wrapped in DistributedDataParallel. Give the optimizer the model inside it"),
        ("another part", "has parts that took part on some processes and not on others"),
        ("another bias", "has parts that took part on some processes and not on others"),
        ("other weights", "has other weights on other processes. Begin with the same on each"),
        ("no cases", "got a batch without cases on one of the processes."),
        ("frozen on one", "has nothing to train on one of the processes: all its parameters are frozen."),
        ("pickled", "with a group of processes cannot be pickled. Save its state_dict()"),
    ],
)
def test_what_would_make_the_processes_differ_is_refused_on_each(came, what, sentence, name):
    assert all(sentence in rank[f"{what} {name}"] for rank in came)


def test_a_model_that_was_wrapped_and_then_compiled_is_refused(came):
    assert all("wrapped in DistributedDataParallel" in rank["compiled"] for rank in came)


@pytest.mark.parametrize("name", BY_GRADIENTS)
def test_gradients_of_one_process_alone_are_refused_on_each(came, name):
    sentence = "has other gradients on other processes. Run it through DistributedDataParallel"
    assert all(sentence in rank[f"own gradients {name}"] for rank in came)


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_trains_with_the_same_processes(came, name):
    assert all(rank[f"copied {name}"] > 0 for rank in came)
