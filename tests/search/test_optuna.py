"""Optuna's samplers behind our strategies."""

import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.trial import TrialState

from thiessen.integrations import KNOWN
from thiessen.integrations.optuna import MOST_ASKED, SAMPLERS, _history, _params, _seed_of_the_study, _unit
from thiessen.search import STRATEGIES, Exhausted, Landscape, Stream
from thiessen.search.settings import strategy_from_json, strategy_to_json
from thiessen.search.strategy import StrategyError
from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space

FAST = ["optuna:tpe", "optuna:cmaes", "optuna:random", "optuna:qmc"]
LINE = Space(x=Float(0.0, 1.0))


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def proposal(name, landscape, trial=0, seed=1):
    return KNOWN[name].propose(landscape.space, landscape, trial, Stream(seed, trial))


def test_they_are_known_beside_ours_and_cannot_be_replayed():
    assert set(KNOWN) == set(STRATEGIES) | set(SAMPLERS)
    assert {name: strategy.replayable for name, strategy in KNOWN.items()} == dict.fromkeys(
        STRATEGIES, True
    ) | (dict.fromkeys(SAMPLERS, False))


@pytest.mark.parametrize("name", SAMPLERS)
def test_they_are_written_and_read_like_ours(name):
    document = strategy_to_json(KNOWN[name])
    assert document == {"name": name, "version": 1}
    assert strategy_from_json(document, KNOWN) == KNOWN[name]


@pytest.mark.parametrize(
    ("name", "package", "command"),
    [
        ("optuna:tpe", "optuna", r"pip install 'thiessen\[optuna\]'"),
        ("optuna:cmaes", "cmaes", r"pip install 'thiessen\[optuna\]'"),
        ("optuna:gp", "torch", r"pip install 'thiessen\[optuna,optimizers\]'"),
    ],
)
def test_without_its_packages_a_sampler_is_refused_with_what_to_install(monkeypatch, name, package, command):
    assert KNOWN[name].settled(LINE, 100) == KNOWN[name]
    monkeypatch.setattr(
        "thiessen.integrations.optuna.find_spec", lambda asked: None if asked == package else 1
    )

    with pytest.raises(StrategyError, match=f"{name} needs the package {package} .*{command}"):
        KNOWN[name].settled(LINE, 100)


@given(data=st.data())
def test_what_optuna_is_told_of_a_config_leads_back_to_it(data, mixed_spaces, a_config):
    space = data.draw(mixed_spaces)
    config = a_config(space, seed=data.draw(st.integers(0, 10**6)))

    params = _params(space, space.encode(config))

    assert set(params) == set(config)
    for name, param in params.items():
        dimension = space.dimensions[name]
        again = dimension.decode(_unit(dimension, param))
        assert type(again) is type(config[name])
        assert again == (pytest.approx(config[name], rel=1e-11) if isinstance(again, float) else config[name])


@pytest.mark.parametrize("name", FAST)
@settings(max_examples=25)
@given(data=st.data())
def test_a_proposal_lies_in_the_space_and_is_not_taken(name, data, mixed_landscapes):
    landscape, _ = data.draw(mixed_landscapes())
    try:
        proposed = proposal(name, landscape)
    except Exhausted:
        assert all(map(landscape.is_taken, landscape.space.points([0.5] * len(landscape.space.dimensions))))
        return
    landscape.space.validate(proposed.config)
    assert not landscape.is_taken(proposed.config)
    assert proposed.reasons.strategy == name


@pytest.mark.parametrize("name", SAMPLERS)
def test_choices_that_optuna_takes_for_one_conditions_and_huge_losses_are_no_trouble(name, a_landscape):
    space = Space(
        kind=Categorical((1, 1.0, True, "1", None)),
        size=Ordinal((1, 2, 4), when={"kind": [1.0, None]}),
        step=Int(1, 9, step=3),
        wide=Int(1, 512, log=True),
        flag=Boolean(),
        rate=Float(1e-4, 1.0, log=True, when={"flag": [True]}),
        lone=Float(2, 2),
    )
    landscape, _ = a_landscape(space, [0.0, 1.7e308, None, -1.7e308, *map(float, range(8))])
    landscape.pend(12, space.decode([0.3] * 7))

    space.validate(proposal(name, landscape, 13).config)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_finite_space_ends_exactly_when_every_config_is_taken(name):
    landscape, seen = Landscape(Space(n=Int(1, 3), flag=Boolean())), set()
    for trial in range(6):
        config = proposal(name, landscape, trial).config
        seen.add(tuple(config.values()))
        landscape.take(config)
        landscape.observe(trial, config, float(trial))

    assert len(seen) == 6
    with pytest.raises(Exhausted):
        proposal(name, landscape, 6)


def test_after_sixteen_answers_that_are_taken_one_of_the_remaining_configs_is_proposed():
    landscape = Landscape(Space(n=Int(0, 999)))
    for n in range(999):
        landscape.take({"n": n})

    proposed = proposal("optuna:random", landscape)

    assert proposed.config == {"n": 999}
    assert (proposed.reasons.draw, proposed.reasons.refused) == ("remaining", MOST_ASKED)


def test_diverged_trials_count_as_the_worst_and_pending_ones_as_running(a_line):
    landscape = a_line((0.1, 2.0), (0.2, None), (0.3, 5.0), (0.4, 1e300))
    landscape.pend(7, {"x": 0.75})

    assert [(params["x"], loss) for params, loss in _history(landscape)] == [
        (0.1, 2.0), (0.2, 1e100), (0.3, 5.0), (0.4, 1e100), (0.75, None),
    ]  # fmt: skip
    study = KNOWN["optuna:gp"]._study(landscape, Stream(1, 1))
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 4 + [TrialState.RUNNING]


@pytest.mark.parametrize("name", ["optuna:tpe", "optuna:gp"])
def test_a_model_leads_to_where_the_losses_are_small(name, a_line):
    known = [((trial * 7 % 20 + 0.5) / 20, trial) for trial in range(20)]
    landscape = a_line(*(((x, (x - 0.3) * (x - 0.3)) for x, _ in known)))

    proposed = [proposal(name, landscape, trial).config["x"] for trial in range(3)]

    assert max(abs(x - 0.3) for x in proposed) < 0.15


@pytest.mark.parametrize("name", ["optuna:cmaes", "optuna:qmc"])
def test_a_sampler_that_counts_its_answers_goes_on_as_if_it_had_been_there_all_the_time(name):
    """The same as a study of Optuna asked and told one by one, although ours is made anew each time."""
    space = Space(x=Float(-1.0, 1.0), n=Int(0, 1000))
    distributions = {"x": FloatDistribution(-1.0, 1.0), "n": IntDistribution(0, 1000)}
    landscape, stream = Landscape(space), Stream(5, 0)
    theirs = optuna.create_study(sampler=KNOWN[name].sampler(stream))
    for trial in range(40):
        asked = theirs.ask(distributions)
        ours = proposal(name, landscape, trial, seed=5).config
        if trial:  # the first is drawn at random
            assert ours["n"] == asked.params["n"]
            assert ours["x"] == pytest.approx(asked.params["x"], abs=1e-9)
        loss = ours["x"] * ours["x"] + ours["n"] / 1000
        theirs.tell(asked, loss)
        landscape.take(ours)
        landscape.observe(trial, ours, loss)


def test_a_study_has_one_seed_for_the_samplers_that_count_their_answers():
    seeds = [_seed_of_the_study(Stream(seed, trial)) for seed, trial in [(5, 0), (5, 1), (6, 0)]]
    assert seeds[0] == seeds[1] != seeds[2]
