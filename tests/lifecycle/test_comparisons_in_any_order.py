"""Whatever is done with a comparison, in whatever order, beside a model of what must come of it."""

import itertools
import math
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run

from app.domain.errors import ComparisonEnded
from app.lifecycle import compare, comparison_progress, comparison_reports
from app.storage.check import faults
from thiessen.contract import ComparisonChanges, ComparisonSpec

LOSSES = st.sampled_from([-1.0, 0.0, 0.5, 2.0, None])  # None diverges
MOST_ATTEMPTS = 3
FEW = settings(
    max_examples=25,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
_numbers = itertools.count()


class Search:
    """One search: its trials that ended, as config and loss, and the lease of the next."""

    def __init__(self) -> None:
        self.ended = []
        self.held = None

    def best(self, most):
        """Return its best trials: rank, loss, number, config."""
        ended = enumerate(self.ended)
        succeeded = [(loss, number, config) for number, (config, loss) in ended if loss is not None]
        return [(rank, *each) for rank, each in enumerate(sorted(succeeded, key=lambda e: e[:2])[:most], 1)]


class Round:
    """What confirms once: the configs of each arm, each as often as there are seeds."""

    def __init__(self, best, seeds) -> None:
        self.configs = {
            arm: [each for each in configs for _ in range(seeds)] for arm, configs in best.items()
        }
        self.free = {arm: set(range(len(runs))) for arm, runs in self.configs.items()}
        self.ended = 0

    @property
    def is_over(self):
        return self.ended == sum(map(len, self.configs.values()))


class Comparing(RuleBasedStateMachine):
    """A comparison of two arms on a desk; the model is told of all that is done."""

    def __init__(self, desk, database) -> None:
        super().__init__()
        self.desk, self.database = desk, database
        self.name = f"c{next(_numbers)}"

    @initialize(
        trials=st.integers(1, 3),
        replicates=st.integers(1, 2),
        configs=st.sampled_from([None, None, 1, 3]),
        seeds=st.integers(0, 2),
    )
    def a_comparison(self, trials, replicates, configs, seeds):
        sent = {
            "name": self.name, "task": self.name, "budget": {"trials": trials}, "replicates": replicates,
            "space": {"x": {"type": "float", "low": 0, "high": 1}}, "strategy": "random", "seed": 5,
            "arms": [{"label": label, "settings": {"kind": label}} for label in "ab"],
            "confirm": {"seeds": seeds, "configs": configs} if seeds else None,
        }  # fmt: skip
        self.trials, self.replicates, self.configs, self.seeds = trials, replicates, configs, seeds
        spec = ComparisonSpec.model_validate(sent)
        self.desk.write(compare.create, sent=spec, parts=compare.searches(spec), who="ann")
        self.state, self.around, self.round = "active", 1, None
        self.searches = {(arm, 1 + at): Search() for at in range(replicates) for arm in "ab"}
        self.held = []  # leases and what they are of

    # What must come of it

    def is_searched(self):
        return all(len(search.ended) == self.trials for search in self.searches.values())

    def advance(self):
        """Do what is due when something has ended, or goes on."""
        if self.state != "active" or not self.is_searched():
            return
        if self.round is None and self.seeds:
            found = {arm: configs for arm in "ab" if (configs := self.found(arm))}
            self.round = Round(found, self.seeds) if found else None
            if self.round:
                return
        if self.round is None or self.round.is_over:
            self.state = "completed"

    def found(self, arm):
        ranked = [
            (rank > 1, loss, replicate, number, config)
            for (label, replicate), search in self.searches.items()
            if label == arm
            for rank, loss, number, config in search.best(self.configs or 1)
        ]
        if self.configs is None:
            return [each[-1] for each in sorted(ranked, key=lambda each: each[2])]
        return [each[-1] for each in sorted(ranked, key=lambda each: each[:4])[: self.configs]]

    def may_lease(self):
        if self.state != "active":
            return False
        if self.round is not None:
            return any(self.round.free.values())
        return any(not each.held and len(each.ended) < self.trials for each in self.searches.values())

    # Workers

    def lease(self):
        leased = self.desk.lease(tasks=(self.name,), lease_for=timedelta(hours=1))
        assert (leased is not None) == self.may_lease()
        if leased is None:
            return
        _, arm, place = leased.study.split(".")
        if place.startswith("confirm"):
            assert place == ("confirm" if self.around == 1 else f"confirm-{self.around}")
            assert leased.config == self.round.configs[arm][leased.number]
            self.round.free[arm].remove(leased.number)
            self.held.append((leased, self.round, arm))
        else:
            search = self.searches[arm, int(place)]
            assert search.held is None
            assert leased.number == len(search.ended) < self.trials
            assert leased.config["kind"] == arm
            search.held = leased
            self.held.append((leased, search, arm))

    @rule()
    def hold(self):
        self.lease()

    @rule(losses=st.lists(LOSSES, min_size=1, max_size=5), most=st.sampled_from([1, 3, 20]))
    def train(self, losses, most):
        for loss in itertools.islice(itertools.cycle(losses), most):
            before = len(self.held)
            self.lease()
            if len(self.held) > before:
                self.end(-1, loss)

    @precondition(lambda self: self.held)
    @rule(which=st.integers(0, 9), loss=LOSSES)
    def end_what_is_held(self, which, loss):
        self.end(which % len(self.held), loss)

    def end(self, which, loss):
        leased, of, _ = self.held.pop(which)
        if loss is None:
            self.desk.diverge(leased)
        else:
            self.desk.complete(leased, loss)
        if isinstance(of, Round):
            of.ended += 1
        else:
            of.held = None
            of.ended.append((leased.config, loss))
        self.advance()

    @precondition(lambda self: self.held)
    @rule(which=st.integers(0, 9))
    def fail(self, which):
        leased, of, arm = self.held.pop(which % len(self.held))
        self.desk.fail(leased)
        if isinstance(of, Round):
            of.ended += leased.attempt == MOST_ATTEMPTS
            of.free[arm] |= {leased.number} if leased.attempt < MOST_ATTEMPTS else set()
        else:
            of.held = None
            if leased.attempt == MOST_ATTEMPTS:
                of.ended.append((leased.config, None))
        self.advance()

    # People

    def change(self, **changes):
        sent = ComparisonChanges.model_validate(changes)
        self.desk.write(compare.change, name=self.name, sent=sent, who="ann")

    @rule(state=st.sampled_from(["active", "active", "paused", "stopped"]))
    def restate(self, state):
        if self.state == "completed":
            with pytest.raises(ComparisonEnded):
                self.change(state=state)
            return
        self.change(state=state)
        self.state = state
        self.advance()

    @precondition(lambda self: self.trials < 5 and self.replicates < 3)
    @rule(trials=st.integers(0, 1), replicates=st.integers(0, 1))
    def extend(self, trials, replicates):
        self.trials, self.replicates = self.trials + trials, self.replicates + replicates
        self.change(budget={"trials": self.trials}, replicates=self.replicates)
        if not trials and not replicates:
            return
        if self.state == "completed":
            self.state = "active"
        if self.round is not None:
            self.round, self.around = None, self.around + 1
        if replicates:
            self.searches |= {(arm, self.replicates): Search() for arm in "ab"}

    @invariant()
    def it_stands_as_the_model_says(self):
        found = self.desk.read(comparison_progress.progress, name=self.name)
        stage = "done" if self.state == "completed" else "confirming" if self.round else "searching"
        assert (found.comparison.state.value, found.stage) == (self.state, stage)

    def teardown(self):
        """Whatever was done, it comes to its end, and the report is of what was trained."""
        if self.state != "completed":
            self.change(state="active")
            self.state = "active"
            self.advance()
        while self.held:
            self.end(0, 1.0)
        for _ in range(20):
            if self.state == "completed":
                break
            self.train([0.25, 0.5], most=20)
        self.it_stands_as_the_model_says()
        assert faults(self.database) == []
        _, told = self.desk.read(comparison_reports._read, name=self.name)
        for arm in told.arms:
            for search in arm.searches:
                losses = [loss for _, loss in self.searches[arm.label, search.replicate].ended]
                assert [each.loss for each in search.trials] == [
                    math.inf if loss is None else loss for loss in losses
                ]


@pytest.mark.row(13)
def test_a_comparison_comes_to_its_end_whatever_is_done_with_it(desk, database):
    run(lambda: Comparing(desk, database), settings=FEW)
