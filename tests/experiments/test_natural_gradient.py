"""What the experiments on natural gradients keep comes out again, and what is exact in them is exact."""

import math
from dataclasses import replace

import pytest
import torch

from experiments import page
from experiments.natural_gradient import (
    autoencoder_paths,
    by_metric,
    convolutional,
    metric,
    order_of_data,
    own_batch,
    restricted_mnist,
    unlabeled_faces,
)
from experiments.natural_gradient.paired import difference
from optimizers import TruncatedNaturalGradient
from worker.datasets import load
from worker.models.named import NETWORKS


def one_by_one(function, cases):
    return [function(case) for case in cases]


# The autoencoder with one hidden unit


@pytest.mark.row(197)
@pytest.mark.parametrize("name", autoencoder_paths.METHODS)
@pytest.mark.parametrize("start", autoencoder_paths.STARTS)
def test_the_paths_of_four_methods_end_where_they_did(name, start):
    inputs = autoencoder_paths.cases()
    *_, end = autoencoder_paths.path(autoencoder_paths.METHODS[name], autoencoder_paths.STARTS[start], inputs)
    [table] = page.kept(autoencoder_paths.EXPERIMENT)["result"]["tables"]
    [kept] = [row[1:] for row in table["rows"] if row[0] == f"{start}: {name}"]

    assert [*end, autoencoder_paths.height(end, inputs)] == pytest.approx(kept, rel=1e-6)


@pytest.mark.row(197)
def test_natural_gradient_ends_lowest_and_newton_in_another_basin():
    holds = [each["holds"] for each in page.kept(autoencoder_paths.EXPERIMENT)["result"]["claims"]]

    assert holds[:2] == [True, True]


@pytest.mark.row(197)
def test_a_divergence_is_that_of_two_normal_predictions_of_variance_one_half():
    inputs, point, move = autoencoder_paths.cases(), (-1.0, 0.5), (0.3, -0.2)
    models = [autoencoder_paths.at_point(at) for at in (point, (-0.7, 0.3))]
    normals = [torch.distributions.Normal(model(inputs).detach(), math.sqrt(0.5)) for model in models]
    expected = torch.distributions.kl_divergence(*normals).mean().item()

    assert autoencoder_paths.divergence(point, move, inputs) == pytest.approx(expected)


# What the metric is


@pytest.mark.row(202)
def test_the_identity_and_the_unbalanced_metric_come_out_as_kept():
    kept, found = page.kept(metric.EXPERIMENT)["result"], metric.run("small")

    assert [each.holds for each in found.claims] == [each["holds"] for each in kept["claims"]]
    assert all(each.holds for each in found.claims)


@pytest.mark.row(202)
@pytest.mark.parametrize("name", metric.LINKS)
def test_gauss_newton_is_the_fisher_matrix_by_its_definition_and_the_empirical_one_is_not(name):
    gauss_newton, empirical = metric.differences(name)

    assert gauss_newton < 1e-10
    assert empirical > 1e-2


@pytest.mark.row(202)
def test_with_inputs_of_their_own_the_doubled_class_moves_three_quarters_and_the_other_three_halves():
    assert [*metric.disjoint_ratios().values()] == pytest.approx([3 / 4, 3 / 2], rel=1e-4)


# Few labelled cases


TINY = replace(
    restricted_mnist.SETUPS["small"],
    updates=4,
    gradient_updates=20,
    batch_size=40,
    seeds=2,
)


@pytest.mark.row(198)
def test_all_five_methods_train_on_few_labelled_digits(monkeypatch):
    monkeypatch.setattr(restricted_mnist, "spread", one_by_one)
    found = restricted_mnist.outcomes(replace(TINY, batch_size=100), "small")

    assert list(found) == ["MSGD", "KL, unlabeled", "KL, different batch", "KL, same batch", "covariance"]
    assert all(len(ended) == 2 for ended in found.values())
    assert all(each.train_loss[-1] < each.train_loss[0] for each in found["KL, unlabeled"])
    assert len({each.train_loss[-1] for ended in found.values() for each in ended}) == 10
    assert len({each.train_loss[0] for ended in found.values() for each in ended}) == 2  # by seed


@pytest.mark.row(198)
@pytest.mark.row(200)
@pytest.mark.parametrize(
    ("kind", "of_batch", "labelled", "others"),
    [("different batch", None, 40, 0), ("unlabeled", 0, 0, 40), ("same and unlabeled", 40, 40, 20)],
)
def test_a_metric_is_taken_over_the_cases_that_its_name_says(kind, of_batch, labelled, others, monkeypatch):
    heard = []
    step = TruncatedNaturalGradient.step

    def listening(self, inputs, targets, *, statistics):
        heard.append((inputs, statistics))
        return step(self, inputs, targets, statistics=statistics)

    monkeypatch.setattr(TruncatedNaturalGradient, "step", listening)
    method = by_metric.Method(kind=kind, lr=0.1, damping=1.0)
    by_metric.outcome(replace(TINY.training("KL, same batch", 0, "small"), method=method, updates=1))
    [(batch, statistics)] = heard
    train = load(TINY.dataset, validation=False).train.inputs

    known = sum(any(torch.equal(row, each) for each in train) for row in statistics)
    shared = sum(any(torch.equal(row, each) for each in batch) for row in statistics)
    assert (known, len(statistics) - known) == (labelled, others)
    assert shared == of_batch or (of_batch is None and shared < len(batch))


@pytest.mark.row(198)
def test_a_training_that_diverges_counts_as_infinitely_bad():
    method = by_metric.Method(kind="gradient", lr=1e8)
    training = replace(TINY.training("MSGD", 0, "small"), method=method)

    assert by_metric.outcome(training).train_loss[-1] == math.inf


@pytest.mark.row(198)
def test_a_metric_of_unlabeled_inputs_needs_some():
    method = by_metric.Method(kind="unlabeled", lr=1.0, damping=1.0)
    training = replace(TINY.training("KL, unlabeled", 0, "small"), method=method, dataset="digits")

    with pytest.raises(ValueError, match="digits has no unlabeled inputs"):
        by_metric.outcome(training)


@pytest.mark.row(198)
@pytest.mark.row(200)
def test_a_difference_of_pairs_is_below_zero_by_more_than_two_standard_errors():
    sure = difference([1.0, 2.0, 3.0], [1.5, 2.4, 3.6])
    unsure = difference([1.0, 2.0, 3.0], [1.5, 1.9, 3.1])

    assert (sure.mean, sure.error) == (pytest.approx(-0.5), pytest.approx(0.1 / math.sqrt(3)))
    assert sure.is_below
    assert unsure.mean < 0
    assert not unsure.is_below


# One step


@pytest.mark.row(198)
def test_a_step_overfits_its_batch_and_blows_up_where_the_metric_has_not_seen_it(monkeypatch):
    monkeypatch.setattr(own_batch, "spread", one_by_one)
    setup = replace(own_batch.SETUPS["small"], networks=2, batches=2)
    found = own_batch.pairs(setup)

    assert max(found[own_batch.SAME][own_batch.LEAST][0]) < 0
    assert min(found[own_batch.OTHER][own_batch.LEAST][0]) > 0
    of_many, of_few = (found[name][own_batch.LEAST][0] for name in (own_batch.MANY, own_batch.OTHER))
    assert sum(of_many) < sum(of_few)


# Convolutions and unlabeled cases


@pytest.mark.row(199)
def test_a_convolutional_network_is_trained_in_three_metrics():
    setup = replace(convolutional.SETUPS["small"], batch_size=60, updates=3)
    ends = {}
    for name in convolutional.METHODS:
        ended = by_metric.outcome(convolutional.training(setup, name, 0, "small"))
        ends[name] = ended.train_loss[-1]
        assert ended.updates[-1] == 3
        assert ends[name] < ended.train_loss[0]

    assert len({*ends.values()}) == 3


@pytest.mark.row(199)
def test_the_order_of_metrics_holds_only_with_every_seed():
    def ended(*losses):
        return [
            by_metric.Outcome(updates=[1], train_loss=[x], train_error=[x], test_error=[x]) for x in losses
        ]

    found = {
        "KL, different batch": ended(0.1, 0.2),
        "KL, same batch": ended(0.11, 0.19),
        "covariance": ended(0.3, 0.4),
    }
    holds = [each.holds for each in convolutional.claims(convolutional.SETUPS["small"], found)]

    assert holds == [True, True, False, False, False]


@pytest.mark.row(200)
def test_pairs_with_and_without_unlabeled_cases_begin_alike_and_part(monkeypatch):
    monkeypatch.setattr(unlabeled_faces, "spread", one_by_one)
    setup = replace(unlabeled_faces.SETUPS["small"], batch_size=30, updates=3, seeds=1)
    [alone], [more] = unlabeled_faces.outcomes(setup, "small").values()

    assert alone.train_loss[0] == more.train_loss[0]
    assert alone.train_loss[-1] != more.train_loss[-1]
    assert more.train_loss[-1] < more.train_loss[0]


# The order of the data


@pytest.mark.row(201)
def test_each_of_ten_segments_has_a_variance_by_each_method(monkeypatch):
    monkeypatch.setattr(order_of_data, "spread", one_by_one)
    monkeypatch.setattr(order_of_data, "RUNS", 2)
    setup = replace(order_of_data.SETUPS["small"], hidden=4, segment=32, batch_size=32, held_out=20)
    variances, errors = order_of_data.measured(setup, "small")

    assert set(variances) == set(errors) == {"MSGD", "natural gradient"}
    assert all(len(of) == 10 and min(of) > 0 for of in variances.values())


@pytest.mark.row(201)
def test_only_the_segment_that_is_sampled_anew_differs_between_two_runs(monkeypatch):
    seen = []

    class Heard:
        def step(self, inputs, targets):
            del targets
            seen.append(inputs)

    monkeypatch.setattr(order_of_data, "_optimizer", lambda *_: Heard())
    setup = replace(order_of_data.SETUPS["small"], segment=64, batch_size=32, held_out=5)
    for number in (0, 1):
        order_of_data.predictions(
            order_of_data.Training(setup=setup, method="MSGD", segment=3, run=number, size="small")
        )
    first, second = seen[: len(seen) // 2], seen[len(seen) // 2 :]

    differ = [at for at, pair in enumerate(zip(first, second, strict=True)) if not torch.equal(*pair)]
    assert len(first) == 40  # 20 segments of two batches: the second half is never sampled anew
    assert differ == [6, 7]


def test_a_full_training_takes_the_published_network():
    training = restricted_mnist.SETUPS["full"].training("KL, unlabeled", 0, "full")

    assert training.network is NETWORKS["mnist_wide"]
    assert (training.batch_size, training.updates) == (2500, 2000)
