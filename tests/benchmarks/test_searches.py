"""One search as the benchmark runs it: what it is told, what is kept of it, how it is judged."""

import json
import math

import numpy as np
import pytest

from benchmarks.search import methods, score, slice, tasks  # noqa: A004 - a module of this name


class Line:
    """A space of one dimension; the loss is the position, seen through three noisy replicates."""

    space = {"x": {"type": "float", "low": 0.0, "high": 1.0}}  # noqa: RUF012 - never changed

    def __init__(self, view=lambda x: x, noise=(-0.2, 0.0, 0.2)):
        self.view, self.noise = view, np.array(noise)

    def replicates(self, config):
        return self.view(np.array([config["x"]])) + self.noise

    def all_losses(self):
        yield self.view((np.arange(100_000) + 0.5) / 100_000)


@pytest.fixture(autouse=True)
def _references_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "REFERENCES", tmp_path)


def a_cell(**settings):
    return {
        "method": "random", "task": "line", "instance": 1, "seed": 3,
        "budget": 60, "workers": 1, "crashes": 0.0, "noise": False, "told": "plain",
    } | settings  # fmt: skip


def a_task(name="line", **settings):
    return tasks.Task(name, 1, Line(**settings))


def a_search(task, **settings):
    search = slice.Search(a_cell(**settings), task)
    search.run(methods.method(search.cell["method"], task.space, search.seed))
    return search


class Listening:
    """A method that keeps what it is told."""

    def __init__(self):
        self.asked, self.told = [], {}

    def ask(self, number):
        self.asked.append((number, len(self.told)))
        return {"x": (number + 0.5) / 60}

    def tell(self, number, loss):
        self.told[number] = loss


def test_random_search_on_a_task_scores_about_its_trials():
    task = a_task(noise=(0.0,))
    runs = [{"task": "line", "incumbents": a_search(task, seed=seed).incumbents} for seed in range(150)]

    curves = score.curves(runs, budget=60)

    assert abs(score.ret(curves, 60) - 60) < 4 * score.standard_error(curves, 60)


def test_an_increasing_transform_of_all_losses_changes_no_score():
    plain = a_search(a_task(noise=(0.0,)))
    steep = a_search(a_task("steep", view=lambda x: np.exp(9 * x) - 5, noise=(0.0,)))

    assert plain.incumbents == steep.incumbents
    assert len(plain.incumbents) > 2


def test_with_noise_the_incumbent_is_what_was_observed_best_and_judged_by_its_mean():
    task = a_task(noise=(-0.6, 0.0, 0.6))
    noisy, exact = a_search(task, noise=True), a_search(task)

    shares = [better for _, better, _ in noisy.incumbents]

    assert noisy.configs == exact.configs  # random search, whatever it is told
    assert shares[-1] > exact.incumbents[-1][1]  # noise misled it, and that is seen
    for known, better, _ in noisy.incumbents:
        assert better == pytest.approx(
            task.loss(noisy.configs[known - 1]), abs=1e-5
        )  # the mean, not what was observed
    assert a_search(task, noise=True).incumbents == noisy.incumbents


def test_every_worker_is_busy_and_any_of_them_may_be_the_next_to_finish():
    listening, search = Listening(), slice.Search(a_cell(workers=8), a_task())

    search.run(listening)

    assert [known for _, known in listening.asked] == [max(0, number - 7) for number in range(60)]
    assert sorted(listening.told) == list(range(60))
    assert list(listening.told)[:20] != list(range(20))  # nor is it only so while the last ones finish


def test_crashes_hit_the_same_trials_of_every_method_and_tell_nothing():
    told = []
    for _ in range(2):
        listening, search = Listening(), slice.Search(a_cell(crashes=0.2), a_task())
        search.run(listening)
        told.append(listening.told)

    crashed = [number for number, loss in told[0].items() if loss is None]

    assert told[0] == told[1]
    assert 2 < len(crashed) < 25  # 12 of 60 are expected
    assert not {known for known, _, _ in search.incumbents} & {number + 1 for number in crashed}


@pytest.mark.parametrize(
    ("view", "loss", "told"),
    [
        ("cubed", -2.0, -8.0),
        ("cubed", None, None),
        ("1e30", None, 1e30),
        ("1e30", math.inf, 1e30),
        ("inf", None, math.inf),
    ],
)
def test_a_view_changes_how_a_loss_is_told(view, loss, told):
    assert slice.VIEWS[view](loss) == told
    assert slice.VIEWS[view](1.5) == (1.5**3 if view == "cubed" else 1.5)


def test_nan_is_told_for_whatever_has_no_loss():
    assert math.isnan(slice.VIEWS["nan"](None))
    assert math.isnan(slice.VIEWS["nan"](math.inf))


def test_the_best_of_all_owns_its_share_and_the_worst_is_not_beyond_the_space():
    task = a_task(noise=(0.0,))

    assert task.share_better({"x": 0.0}) == (0.0, 1e-5)
    assert task.share_better({"x": 0.25})[0] == pytest.approx(0.25, abs=1e-5)
    assert task.share_better({"x": 1.0})[1] == 1.0


def test_equal_losses_share_their_ranks():
    task = a_task(view=lambda x: np.floor(10 * x), noise=(0.0,))

    assert task.share_better({"x": 0.05}) == pytest.approx((0.0, 0.1))
    assert task.share_better({"x": 0.35}) == pytest.approx((0.3, 0.4))


def test_a_surface_passes_through_the_networks_that_were_trained():
    surface, losses = tasks.Surface("wine"), np.load(tasks.nodes.KEPT)["wine"]
    decay, width, rate, scale = 2, 1, 4, 3
    config = {
        "rule": "momentum",
        "decay": tasks.nodes.DECAYS[decay],
        "width": tasks.nodes.WIDTHS[width],
        "rate": tasks.nodes.RATES[rate],
        "scale": tasks.nodes.SCALES[scale],
    }

    assert surface.replicates(config) == pytest.approx(losses[1 + decay, width, rate, scale] + 1e-4, rel=1e-2)


def test_a_surface_diverges_next_to_networks_that_did():
    surface = tasks.Surface("wine")
    config = {"rule": "sgd", "width": 8, "rate": 99.0, "scale": 1.0}

    assert np.isinf(surface.replicates(config)).all()
    assert np.isfinite(surface.replicates(config | {"rate": 0.1})).all()


def test_settings_of_a_strategy_are_read_from_its_name():
    assert methods._settings("power=2.5,preset=thesis,pending=true") == {
        "power": 2.5,
        "preset": "thesis",
        "pending": True,
    }


def test_a_result_can_be_written_as_a_line(monkeypatch):
    monkeypatch.setattr(slice, "task", lambda name, _: a_task(name))

    assert json.loads(json.dumps(slice.searched(a_cell())))["incumbents"][0][0] == 1
