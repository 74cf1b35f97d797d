"""A comparison's life: searches, what confirms them, more of both."""

from functools import partial

import pytest

from app.domain.access import Principal, Scope
from app.domain.errors import (
    ComparisonEnded,
    ComparisonExists,
    ComparisonNotFound,
    InvalidRequest,
    QuotaUsedUp,
    StudyEnded,
    StudyExists,
    StudyNotFound,
)
from app.lifecycle import compare, comparison_progress, comparison_reports, projects, submit
from app.storage import comparisons as stored
from app.storage import studies
from thiessen.comparison import plan
from thiessen.contract import ComparisonChanges, ComparisonSpec
from thiessen.search import trial_seed

SPEC = {
    "name": "c",
    "task": "t",
    "space": {"x": {"type": "float", "low": 0, "high": 1}},
    "arms": [{"label": "a", "settings": {"kind": "a"}}, {"label": "b", "settings": {"kind": "b"}}],
    "budget": {"trials": 2},
    "replicates": 2,
    "strategy": "random",
    "confirm": {"seeds": 2},
    "seed": 5,
}


class Bench:
    """A desk on which comparisons lie."""

    def __init__(self, desk) -> None:
        self.desk = desk

    def create(self, **changed):
        spec = ComparisonSpec.model_validate(SPEC | changed)
        return self.desk.write(compare.create, sent=spec, parts=compare.searches(spec), who="ann")

    def change(self, **changes):
        sent = ComparisonChanges.model_validate(changes)
        self.desk.write(compare.change, name="c", sent=sent, who="ann")

    def archive(self):
        self.desk.write(compare.archive, name="c", who="ann")

    def purge(self):
        self.desk.write(compare.purge, name="c", who="ann")

    def progress(self):
        return self.desk.read(comparison_progress.progress, name="c")

    def is_(self):
        found = self.progress()
        return found.comparison.state.value, found.stage

    def names(self):
        return [line.name for line in self.progress().lines]

    def arms(self):
        _, known = self.desk.read(comparison_reports._read, name="c")
        return {arm.label: arm for arm in known.arms}

    def train(self, most=10_000, loss=None, fails=lambda _: False):
        """Train until nothing is left, or so many; return what was leased."""
        done = []
        while len(done) < most and (leased := self.desk.lease()):
            done.append(leased)
            if fails(leased):
                self.desk.diverge(leased)
            else:
                self.desk.complete(leased, loss(leased) if loss else leased.config["x"])
        return done


@pytest.fixture
def bench(desk):
    return Bench(desk)


def test_it_is_made_of_a_search_for_each_arm_and_replicate_that_tries_one_trial_at_a_time(bench):
    assert bench.create()

    first = [bench.desk.lease() for _ in range(5)]

    assert [leased and leased.study for leased in first] == ["c.a.1", "c.b.1", "c.a.2", "c.b.2", None]
    assert [leased.config["kind"] for leased in first[:4]] == ["a", "b", "a", "b"]
    assert first[0].seed == first[1].seed != first[2].seed == first[3].seed
    assert first[0].config["x"] == first[1].config["x"]  # a replicate has the same chance in all arms


def test_the_same_again_is_the_existing_one_and_another_is_refused_by_what_differs(bench):
    bench.create()

    assert not bench.create()
    with pytest.raises(ComparisonExists, match="another budget, seed"):
        bench.create(seed=6, budget={"trials": 3})
    assert len(bench.names()) == 4


def test_a_name_of_one_of_its_studies_that_is_taken_is_told_and_nothing_is_made(bench):
    bench.desk.submit(name="c.b.2")

    with pytest.raises(StudyExists, match=r"needs a study 'c\.b\.2'"):
        bench.create()
    with pytest.raises(ComparisonNotFound):
        bench.progress()
    bench.desk.submit(name="d.a.confirm")
    with pytest.raises(StudyExists, match=r"'d\.a\.confirm'"):
        bench.create(name="d")


def test_it_counts_for_the_quota_with_what_will_confirm_it(bench):
    admin = Principal("ann", frozenset({Scope.ADMIN}))
    bench.desk.store.write(partial(projects.limit, who=admin, name="default", changed={"max_studies": 5}))

    with pytest.raises(QuotaUsedUp, match="no 6 more"):
        bench.create()
    assert bench.create(confirm=None)


def test_a_search_that_cannot_be_is_told_with_its_arm(bench):
    arms = [{"label": "a", "space": {"y": {"type": "float", "low": 2, "high": 1}}}, {"label": "b"}]

    with pytest.raises(InvalidRequest, match=r"arm 'a'.*y"):
        bench.create(arms=arms)
    with pytest.raises(InvalidRequest, match=r"arm 'a'.*rndom"):
        bench.create(strategy="rndom")


def test_when_all_searches_have_ended_the_best_of_each_is_trained_again_with_seeds_that_arms_share(bench):
    bench.create()
    searched = bench.train(most=7)
    assert bench.is_() == ("active", "searching")
    searched += bench.train(most=1)
    assert bench.is_() == ("active", "confirming")

    runs = {leased.study: [] for leased in searched}
    for leased in bench.train():
        runs.setdefault(leased.study, []).append(leased)

    seed = plan.confirmation(
        ComparisonSpec.model_validate(SPEC), ComparisonSpec.model_validate(SPEC).arms[0], 1
    ).seed
    for arm in "ab":
        best = [
            min(leased.config["x"] for leased in searched if leased.study == f"c.{arm}.{replicate}")
            for replicate in (1, 2)
        ]
        found = sorted(runs[f"c.{arm}.confirm"], key=lambda leased: leased.number)
        assert [leased.config["x"] for leased in found] == [best[0], best[0], best[1], best[1]]
        assert [leased.seed for leased in found] == [trial_seed(seed, number) for number in range(4)]
    assert not {leased.seed for leased in searched} & {leased.seed for leased in found}
    assert bench.is_() == ("completed", "done")
    assert bench.progress().share == 1.0


def test_what_confirms_trains_at_once_on_every_slot(bench):
    bench.create()
    bench.train(most=8)

    assert [bench.desk.lease() is not None for _ in range(9)] == [True] * 8 + [False]


def test_of_so_many_configs_those_of_different_searches_come_first(bench):
    bench.create(confirm={"configs": 3, "seeds": 1}, budget={"trials": 3})
    losses = {"c.a.1": [0.1, 0.2, 0.3], "c.a.2": [0.9, 0.8, 0.7], "c.b.1": [0.5] * 3, "c.b.2": [0.5] * 3}
    bench.train(most=12, loss=lambda leased: losses[leased.study][leased.number])
    bench.train(loss=lambda _: 1.0)

    found = [(run.replicate, run.trial, run.searched) for run in bench.arms()["a"].runs]
    assert found == [(1, 0, 0.1), (2, 2, 0.7), (1, 1, 0.2)]


def test_an_arm_without_any_success_has_nothing_to_confirm(bench):
    bench.create()
    bench.train(most=8, fails=lambda leased: leased.config["kind"] == "b")
    bench.train()

    assert "c.b.confirm" not in bench.names()
    assert len(bench.arms()["a"].runs) == 4
    assert bench.is_() == ("completed", "done")


@pytest.mark.parametrize("changed", [{"confirm": None}, {"confirm": {"seeds": 1}}])
def test_it_is_complete_with_its_searches_where_nothing_is_confirmed(bench, changed):
    bench.create(**changed)
    bench.train(most=8, fails=lambda _: True)

    assert bench.is_() == ("completed", "done")
    assert len(bench.names()) == 4


def test_a_trial_that_ends_beyond_the_budget_of_updates_is_not_the_best_of_its_search(bench):
    bench.create(budget={"updates": 15})
    losses = [0.5, 0.1]
    while leased := bench.desk.lease():
        bench.desk.beat(leased, [{"step": 10, "metrics": {"loss": 1.0}}])
        if leased.study.endswith("confirm"):
            break
        bench.desk.complete(leased, losses[leased.number])

    confirms = bench.desk.read(lambda tx, project: stored.confirmed(tx, stored.named(tx, project, "c").id, 1))
    assert [[trial for _, trial, _ in each] for each in confirms.values()] == [[0, 0], [0, 0]]


def test_pausing_holds_all_of_it_and_resuming_goes_on(bench):
    bench.create()
    running = bench.desk.lease()

    bench.change(state="paused")
    bench.desk.complete(running, 0.5)
    assert bench.desk.lease() is None
    assert bench.progress().waits_for == "It is paused; resume it."

    bench.change(state="active")
    assert len(bench.train()) == 7 + 8
    assert bench.is_() == ("completed", "done")


def test_the_last_trial_of_a_paused_comparison_brings_what_confirms_when_it_is_resumed(bench):
    bench.create()
    bench.train(most=7)
    last = bench.desk.lease()
    bench.change(state="paused")
    bench.desk.complete(last, 0.5)
    assert bench.is_() == ("paused", "searching")

    bench.change(state="active")

    assert bench.is_() == ("active", "confirming")


def test_a_search_that_somebody_stopped_is_told_and_goes_on_with_its_comparison(bench):
    bench.create()
    bench.desk.change(name="c.b.1", state="stopped")
    bench.train()
    assert "Study c.b.1 is stopped" in bench.progress().waits_for

    bench.change(state="active")
    bench.train()

    assert bench.is_() == ("completed", "done")


def test_more_budget_reopens_every_search_and_confirms_anew_with_other_seeds(bench):
    bench.create()
    first = [leased for leased in bench.train() if "confirm" in leased.study]

    bench.change(budget={"trials": 3})
    assert bench.is_() == ("active", "searching")
    more = bench.train(loss=lambda _: -1.0)

    again = [leased for leased in more if "confirm" in leased.study]
    assert {leased.study for leased in again} == {"c.a.confirm-2", "c.b.confirm-2"}
    assert len(more) - len(again) == 4
    assert not {leased.seed for leased in first} & {leased.seed for leased in again}
    assert [run.trial for run in bench.arms()["a"].runs] == [2, 2, 2, 2]
    assert bench.is_() == ("completed", "done")


def test_more_replicates_are_searched_and_all_is_confirmed_anew(bench):
    bench.create()
    bench.train()

    bench.change(replicates=3)
    more = [leased.study for leased in bench.train()]

    assert sorted(set(more)) == ["c.a.3", "c.a.confirm-2", "c.b.3", "c.b.confirm-2"]
    assert len(bench.arms()["b"].runs) == 6
    assert [search.replicate for search in bench.arms()["b"].searches] == [1, 2, 3]


def test_what_confirms_is_given_up_when_there_is_more_to_search(bench):
    bench.create()
    bench.train(most=9)
    running = bench.desk.lease()
    assert "confirm" in running.study

    bench.change(budget={"trials": 3})

    assert bench.desk.beat(running).order == "stop"
    assert not {leased.study for leased in bench.train()} & {"c.a.confirm", "c.b.confirm"}
    assert bench.is_() == ("completed", "done")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"budget": {"trials": 1}}, "may spend 2 trials already"),
        ({"budget": {"seconds": 9}}, "counts trials, not seconds"),
        ({"replicates": 1}, "has 2 already"),
        ({"replicates": 1000}, "more than 1000 searches"),
    ],
)
def test_less_of_anything_is_refused(bench, changes, why):
    bench.create()

    with pytest.raises(InvalidRequest, match=why):
        bench.change(**changes)


def test_a_completed_comparison_goes_on_by_more_alone(bench):
    bench.create(confirm=None)
    bench.train()

    with pytest.raises(ComparisonEnded, match="extend its budget"):
        bench.change(state="paused")
    bench.change(notes="done", tags=["mine"])
    assert bench.progress().comparison.tags == ["mine"]


@pytest.mark.row(13)
@pytest.mark.parametrize(
    "act",
    [
        lambda desk: desk.change(name="c.a.1", max_trials=50),
        lambda desk: desk.enqueue({"x": 0.5, "kind": "a"}, name="c.a.1"),
        lambda desk: desk.retry(0, name="c.a.1"),
        lambda desk: desk.write(compare.changing.archive, name="c.a.1", who="ann"),
        lambda desk: desk.write(compare.changing.purge, name="c.a.1", who="ann"),
    ],
)
def test_no_search_is_treated_apart_from_the_others(bench, act):
    bench.create()

    with pytest.raises(StudyEnded, match="is a part of comparison 'c'"):
        act(bench.desk)


def test_an_archived_comparison_takes_its_studies_with_it_and_keeps_its_name(bench):
    bench.create()
    running = bench.desk.lease()

    bench.archive()

    assert bench.desk.lease() is None
    assert bench.desk.beat(running).order == "stop"
    assert bench.desk.read(comparison_progress.page, limit=9) == []
    assert bench.desk.read(submit.page, limit=9, comparison="c") == []
    with pytest.raises(ComparisonEnded, match="was deleted"):
        bench.create()


def test_a_purged_comparison_is_gone_with_its_studies_and_may_be_made_again(bench):
    bench.create()
    bench.train(most=9)

    bench.purge()

    with pytest.raises(StudyNotFound):
        bench.desk.read(submit.progress, name="c.a.1")
    assert bench.create()
    assert len(bench.train()) == 16


def test_a_study_that_has_taken_the_name_of_what_confirms_does_not_stop_the_comparison(bench):
    bench.create()
    bench.train(most=7)
    bench.desk.submit(name="c.a.confirm", task="other")
    bench.train()

    assert {name for name in bench.names() if "confirm" in name} == {"c.a.confirm-2", "c.b.confirm-2"}
    assert bench.is_() == ("completed", "done")


def test_lists_leave_its_studies_out_unless_it_is_named(bench):
    bench.desk.submit(name="mine")
    bench.create()

    def listed(**of):
        found = bench.desk.read(submit.page, limit=9, **of)
        return [each.study.spec.name for each in found]

    assert listed() == ["mine"]
    assert listed(comparison="c") == ["c.b.2", "c.a.2", "c.b.1", "c.a.1"]
    with pytest.raises(ComparisonNotFound):
        listed(comparison="d")


def test_progress_counts_what_is_done_of_searches_and_runs(bench):
    bench.create()
    shares = [bench.progress().share]
    for _ in range(16):
        bench.train(most=1)
        shares.append(bench.progress().share)

    assert shares == pytest.approx([done / 16 for done in range(17)])


def test_its_trials_keep_every_promise_of_the_database(bench, database):
    from app.storage.check import faults

    bench.create()
    bench.train(most=11)

    assert faults(database) == []
    assert (
        bench.desk.store.read(partial(studies.named, project="default", name="c.a.confirm")).standing.trials
        == 4
    )


@pytest.mark.parametrize("budget", [{"updates": 100}, {"seconds": 9.0}])
def test_a_grid_needs_levels_where_no_number_of_trials_gives_them(budget):
    spec = SPEC | {"budget": budget, "strategy": "grid"}

    with pytest.raises(
        InvalidRequest, match=r"arm 'a': grid has its levels from the number of trials.*`levels`"
    ):
        compare.searches(ComparisonSpec.model_validate(spec))

    with_levels = spec | {"strategy": {"name": "grid", "levels": 5}}
    assert len(compare.searches(ComparisonSpec.model_validate(with_levels))) == 4
    assert len(compare.searches(ComparisonSpec.model_validate(SPEC | {"strategy": "grid"}))) == 4


def test_a_comparison_that_was_extended_is_the_same_as_it_is_now_and_as_it_was_submitted(bench):
    bench.create()
    bench.change(replicates=3)

    assert not bench.create(replicates=3)
    assert not bench.create()
    with pytest.raises(ComparisonExists, match="replicates"):
        bench.create(replicates=4)
