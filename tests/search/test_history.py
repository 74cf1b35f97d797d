import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.conftest import mixed_spaces
from tests.search.definition import landscape_of
from thiessen.search import (
    History,
    HistoryError,
    Observed,
    Random,
    Revised,
    Snapshot,
    Stream,
)
from thiessen.space import Boolean, Float, Space, SpaceError

pytestmark = pytest.mark.row(8)

LINE = Space(x=Float(0.0, 1.0))
outcomes = st.one_of(
    st.integers(-3, 3).map(lambda loss: {"outcome": "succeeded", "loss": float(loss)}),
    st.sampled_from(["diverged", "cancelled", "queued"]).map(lambda outcome: {"outcome": outcome}),
    st.integers(-3, 3).map(lambda last: {"outcome": "pruned", "loss": float(last)}),
    st.sampled_from(["error", "out_of_memory", "attempts_used_up", "lost"]).map(
        lambda cause: {"outcome": "failed", "cause": cause}
    ),
)
events = st.lists(st.one_of(st.none(), st.tuples(st.integers(0, 9), outcomes)), min_size=10, max_size=40)
rules = st.fixed_dictionaries(
    {"duplicates": st.sampled_from(["forbid", "allow", "memoise"]), "failures_repel": st.booleans()}
)


def seen(landscape, configs):
    """Return all that a strategy can ask of a landscape, but for the neighbours of points between."""
    return (
        landscape.watermark,
        list(landscape.pending.items()),
        [repr(landscape.ranked(place)) for place in range(len(landscape))],
        [repr(landscape.nearest(config)) for config in configs],
        (landscape.best, landscape.worst, landscape.mean),
        [landscape.is_taken(config) for config in configs],
    )


@given(told=events, rule=rules, seed=st.integers(0, 99))
def test_the_landscape_is_made_of_the_latest_observation_of_each_trial(told, rule, seed, a_config):
    history, configs, observations = History(LINE, **rule), [], []
    for event in told:
        if event is None or not configs:
            configs.append(a_config(LINE, seed=seed, trial=len(configs) // 2))  # pairs of replicates
            history.number(configs[-1])
        else:
            trial, outcome = event
            observations.append(Observed(seq=len(observations) + 1, trial=trial % len(configs), **outcome))
            try:
                history.observe(observations[-1])
            except Revised:
                history = History(LINE, Snapshot.of(configs, observations), **rule)

        truth = landscape_of(LINE, configs, observations, **rule)
        assert seen(history.landscape, configs) == seen(truth, configs)
        assert history.trials == len(configs)


@given(
    space=mixed_spaces(),
    told=st.lists(outcomes, max_size=60),
    rule=rules,
    page=st.sampled_from([1, 3, 16, 5000]),
    seed=st.integers(0, 99),
)
def test_a_history_begun_by_pages_is_that_of_one_observation_after_another(
    space, told, rule, page, seed, a_config
):
    configs = [a_config(space, seed=seed, trial=trial) for trial in range(len(told))]
    observations = [Observed(seq=at + 1, trial=at, **outcome) for at, outcome in enumerate(told)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("thiessen.search.history.PAGE", page)
        begun = History(space, Snapshot.of(configs, observations), **rule)

    assert seen(begun.landscape, configs) == seen(landscape_of(space, configs, observations, **rule), configs)


def test_a_config_in_a_page_that_is_no_point_of_the_space_is_named():
    ended = [(Observed(seq=1, trial=0, outcome="diverged"), {"x": "low"})]
    with pytest.raises(SpaceError, match="'x' cannot be 'low'"):
        History(LINE, Snapshot(trials=1, watermark=1, ended=ended))


@given(numbers=st.lists(st.one_of(st.integers(0, 3), st.floats(0, 3)), max_size=20), asked=st.floats(0, 3))
def test_whole_numbers_where_floats_are_due_are_taken_by_pages_as_one_by_one(numbers, asked):
    configs = [{"x": number} for number in numbers]
    space = Space(x=Float(0.0, 3.0))
    observations = [Observed(seq=at + 1, trial=at, outcome="diverged") for at in range(len(configs))]
    begun = History(space, Snapshot.of(configs, observations)).landscape
    truth = landscape_of(space, configs, observations)
    assert seen(begun, [*configs, {"x": asked}]) == seen(truth, [*configs, {"x": asked}])


def test_a_failed_trial_that_is_tried_again_is_pending_and_its_old_outcome_is_forgotten(a_history):
    history = a_history([{"outcome": "succeeded", "loss": 1.0}, {"outcome": "failed", "cause": "error"}])
    again = Observed(seq=3, trial=1, outcome="queued")
    with pytest.raises(Revised):
        history.observe(again)
    assert (len(history.landscape), history.landscape.watermark) == (2, 2), "it changed nothing"

    history = a_history(
        [{"outcome": "succeeded", "loss": 1.0}, {"outcome": "failed", "cause": "error"}], again
    )
    assert (len(history.landscape), list(history.landscape.pending)) == (1, [1])

    history.observe(Observed(seq=4, trial=1, outcome="succeeded", loss=0.5))
    assert [history.landscape.ranked(place).trial for place in range(2)] == [1, 0]


@pytest.mark.parametrize(
    ("seq", "trial"), [(1, 0), (4, 0), (3, 2), (3, -1)], ids=["seen", "gap", "no trial", "negative"]
)
def test_an_observation_that_is_not_the_next_or_of_no_trial_is_refused(seq, trial, a_history):
    history = a_history([{"outcome": "diverged"}, {"outcome": "diverged"}])
    with pytest.raises(
        HistoryError, match=f"observation {seq} of trial {trial} follows observation 2 with 2"
    ):
        history.observe(Observed(seq=seq, trial=trial, outcome="diverged"))


def test_where_duplicates_are_allowed_a_config_is_tried_again_and_again():
    space = Space(flag=Boolean())
    history = History(space, duplicates="allow")
    for number in range(20):
        history.number(Random().propose(space, history.landscape, number, Stream(1, number)).config)

    assert history.trials == 20


def test_replicates_count_as_the_mean_of_their_losses_a_diverged_one_as_the_worst():
    history = History(LINE, duplicates="allow")
    for number, loss in enumerate([1.0, 3.0, None, 9.0]):
        history.number({"x": 0.2 if number < 3 else 0.9})
        outcome = "diverged" if loss is None else "succeeded"
        history.observe(Observed(seq=number + 1, trial=number, outcome=outcome, loss=loss))

    nearest = history.landscape.nearest({"x": 0.3})
    assert nearest.estimate(history.landscape.worst) == pytest.approx((1 + 3 + 9) / 3)


@pytest.fixture
def a_history():
    def make(outcomes, *more):
        configs = [{"x": number / 10} for number in range(len(outcomes))]
        observations = [
            Observed(seq=trial + 1, trial=trial, **outcome) for trial, outcome in enumerate(outcomes)
        ]
        return History(LINE, Snapshot.of(configs, [*observations, *more]))

    return make
