"""Calls of the real HTTP interface in any order, beside a model of what must come of them."""

import itertools
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

from fastapi.testclient import TestClient
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app import main
from app.lifecycle.expire import expire
from app.main import build
from app.settings import Settings
from tests.conftest import MovableClock
from tests.folds import check_memory, check_study
from tests.model import Model, Project, Study

SPACE = {"n": {"type": "int", "low": 1, "high": 3}, "b": {"type": "boolean"}}
OPEN_SPACE = SPACE | {"x": {"type": "float", "low": 0, "high": 1}}
LEASE, LONG_LEASE, JUMP = 3000, 31000, 2000  # seconds; no sum of jumps comes near to a lease's end
USUAL = ["error", "out_of_memory", "stalled", "lost"]  # after which trials are tried again
FAULTS = ("error", "out_of_memory", "stalled", "time_limit")

NUMBERS = st.integers(0, 40)
LOSSES = st.sampled_from([-1.5, 0.0, 0.5, 1.0, 7.0])
CONFIGS = st.fixed_dictionaries({"n": st.integers(1, 3), "b": st.booleans()})
OUTCOMES = st.one_of(
    st.builds(lambda loss: {"loss": loss}, LOSSES),
    st.builds(lambda value: {"value": value}, LOSSES),
    st.sampled_from(["nan", "inf", "too large"]).map(lambda how: {"diverged": how}),
    st.builds(lambda value: {"pruned": True, "value": value}, LOSSES),
    st.just({"pruned": True}),
)
OPTIONS = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(["random", "biased_random", "grid", "quasi_random"]),
        "max_trials": st.integers(1, 8),
        "max_attempts": st.integers(1, 3),
        "direction": st.sampled_from(["minimize", "maximize"]),
        "duplicates": st.sampled_from(["forbid", "allow", "memoise"]),
        "failures_repel": st.booleans(),
        "retry": st.sampled_from([USUAL, USUAL, USUAL, ["lost"], ["error"], []]),
        "requires": st.sampled_from([{"gpus": 0}, {"gpus": 0}, {"gpus": 0}, {"gpus": 1}]),
        "is_open": st.booleans(),
    },
    optional={
        "max_running": st.integers(1, 3),
        "max_gpu_hours": st.sampled_from([3000 / 3600, 25000 / 3600]),
        "deadline": st.sampled_from([5000, 41000]),
        "target": st.sampled_from([-1.0, 0.25]),
        "priority": st.sampled_from([1, 10, 100]),
        "stopping": st.just({"rule": "threshold", "metric": "m", "threshold": 0.7}),
    },
)
BUDGETS = st.fixed_dictionaries(
    {},
    optional={
        "max_trials": st.integers(1, 12),
        "max_running": st.sampled_from([None, 1, 2]),
        "max_gpu_hours": st.sampled_from([None, 53000 / 3600]),
        "deadline": st.sampled_from([None, 5000]),
        "target": st.sampled_from([None, -2.0, 0.25, 0.75]),
        "state": st.sampled_from(["active", "paused", "stopped"]),
    },
).filter(bool)


class Rig:
    """A server in this process that can be started again, on one database, and the clock of that."""

    def __init__(self, database, patch) -> None:
        patch.setattr(main, "SWEEP_SECONDS", 3600.0)  # the machine sweeps when the model does
        self.database = database
        self.runs = itertools.count()
        self.jumped = 0
        self._stack = ExitStack()
        self.start()

    def start(self):
        self._stack.close()
        app = build(Settings(database=self.database, lease_seconds=LEASE, requests_per_second=0))
        client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
        self.api = self._stack.enter_context(client)
        self.house = app.state.house

    def close(self):
        self._stack.close()

    def jump(self, seconds):
        MovableClock(self.house.store).advance(timedelta(seconds=seconds))
        self.jumped += seconds

    def sweep(self):
        expire(self.house.store, self.api.portal.call(self.house.hearing.deaf_until))


class Life(RuleBasedStateMachine):
    """Projects of its own on the rig's server; the model is told of every call and checks every answer."""

    def __init__(self, rig) -> None:
        super().__init__()
        self.rig = rig
        run = next(rig.runs)
        self.task = f"t{run}"
        self.model = Model([Project(f"p{run}a"), Project(f"p{run}b")], now=rig.jumped)
        self.attempts = []
        self.requests = []  # what was asked, and the attempts it was answered with
        rig.start()
        self.model.deaf_until = rig.jumped + LEASE

    # Calls

    def call(self, method, path, expected=None, **sent):
        """Send it; insist on the status, or on the type of the problem."""
        answer = self.rig.api.request(method, f"/api/v1{path}", **sent)
        if method != "GET":
            note(f"{method} {path} {sent} -> {answer.status_code} {answer.text[:300]}")
        assert answer.status_code < 500, answer.text
        if isinstance(expected, str):
            assert answer.status_code >= 400, f"{expected} was due"
            assert answer.json()["type"] == f"urn:thiessen:{expected}", answer.text
        else:
            assert answer.status_code in (expected or (200, 201, 204)), answer.text
        return answer.json() if answer.content else None

    def path(self, study, rest=""):
        return f"/projects/{study.project.name}/studies/{study.name}{rest}"

    def instant(self, offset):
        now = datetime.now(UTC) + timedelta(seconds=self.rig.jumped + offset)
        return now.isoformat()

    def wire(self, changes):
        """Return budgets as they are sent: a deadline is an instant."""
        if changes.get("deadline") is None:
            return changes
        return changes | {"deadline": self.instant(changes["deadline"] - self.model.now)}

    @initialize(options=OPTIONS)
    def a_study_in_one_of_two_projects(self, options):
        for project in self.model.projects:
            self.call("POST", "/projects", json={"name": project.name})
        self.create(options, in_second=False)

    @precondition(lambda self: len(self.model.studies) < 3)
    @rule(options=OPTIONS, in_second=st.booleans())
    def another_study(self, options, in_second):
        self.create(options, in_second)

    def create(self, options, in_second):
        project = self.model.projects[in_second]
        sent = {"name": f"{self.task}-{len(self.model.studies)}", "task": self.task, "seed": 7, **options}
        if "deadline" in sent:
            sent["deadline"] += self.model.now
        sent["space"] = OPEN_SPACE if sent.pop("is_open") else SPACE
        body = self.wire(sent)
        study = Study(
            name=sent["name"], project=project, sent=sent, max_trials=sent["max_trials"],
            max_running=sent.get("max_running"), max_gpu_hours=sent.get("max_gpu_hours"),
            deadline=sent.get("deadline"), target=None,
        )  # fmt: skip
        study.target = study.loss(sent.get("target"))
        self.call("POST", f"/projects/{project.name}/studies", (201,), json=body)
        self.call("POST", f"/projects/{project.name}/studies", (200,), json=body)
        project.studies.append(study)

    # Workers

    def has_attempts(self):
        return bool(self.attempts)

    def has_trials(self):
        return any(study.trials for study in self.model.studies)

    @rule(
        worker=st.sampled_from("uvw"), most=st.integers(1, 3), gpus=st.integers(0, 1), is_long=st.booleans(),
        only=st.one_of(st.none(), st.integers(0, 2)),
    )  # fmt: skip
    def lease(self, worker, most, gpus, is_long, only):
        studies = self.model.studies if only is None else self.model.studies[only : only + 1]
        if not studies:
            return
        request = {
            "worker": worker, "incarnation": "i", "request_id": f"{self.task}-{len(self.requests)}",
            "max": most, "tasks": [self.task], "slot": {"name": "d", "gpus": gpus},
        }  # fmt: skip
        if only is not None:
            request["studies"] = [study.name for study in studies]
        if is_long:
            request["lease_for"] = LONG_LEASE
        answer = self.call("POST", "/leases", json=request)
        self.requests.append((request, self.given(request, answer["leases"])))

    def given(self, request, leases):
        """Follow the server through an answer, trial by trial."""
        gpus, length = request["slot"]["gpus"], request.get("lease_for", LEASE)
        given = []
        for lease in leases:
            study = next(study for study in self.model.studies if study.name == lease["study"])
            while lease["trial"] >= len(study.trials):
                self.born(study)
            trial = study.trials[lease["trial"]]
            assert lease["config"] == trial.config
            assert lease["attempt"] == len(trial.attempts) + 1
            given.append(self.model.lease(trial, lease["lease_id"], gpus=gpus, length=length))
        asked = [s for s in self.model.studies if s.name in request.get("studies", (s.name,))]
        for study in asked:
            self.catch_up(study)
        self.attempts += given
        if len(given) < request["max"]:
            for study in asked:
                assert not self.model.gives(study, gpus), "a trial that could be given was not"
        return given

    def catch_up(self, study):
        """Learn what a lease request has done beside giving trials: repeats, and that nothing is left."""
        seen = self.call("GET", self.path(study))
        while len(study.trials) < sum(seen["counts"].values()):
            self.born(study)
        if seen["reason"] == "exhausted" != study.reason:
            assert study.may_be_exhausted()
            assert study.proposes()
            study.reason = "exhausted"
            study.settle()

    def born(self, study):
        """Learn of the next trial that the strategy has proposed."""
        seen = self.call("GET", self.path(study, f"/trials/{len(study.trials)}"))
        assert study.proposes(), "max_trials was overshot"
        known = None if study.sent["duplicates"] == "allow" else study.first_of(seen["config"])
        assert known is None or study.sent["duplicates"] == "memoise", "a config was proposed twice"
        if known is not None and known.state in {"succeeded", "diverged"}:
            assert (seen["origin"], seen["state"], seen["loss"]) == ("memoised", known.state, known.loss)
            study.bear(seen["config"], "memoised", known.state, known.loss)
        else:
            assert seen["origin"] == "proposed"
            study.bear(seen["config"], "proposed")

    @rule(most=st.integers(1, 3), kind=st.sampled_from(FAULTS[:2]))
    def lease_and_fail(self, most, kind):
        """Else no trial would fail often enough to be given up."""
        before = len(self.attempts)
        self.lease("u", most, gpus=1, is_long=False, only=None)
        for which in range(len(self.attempts) - before):
            self.fail(which, kind, retry=True, message="a")

    @rule(most=st.integers(1, 3), outcome=OUTCOMES)
    def lease_and_complete(self, most, outcome):
        before = len(self.attempts)
        self.lease("v", most, gpus=1, is_long=False, only=None)
        for which in range(len(self.attempts) - before):
            self.complete(which, outcome, is_repeated=False)

    @rule(gpus=st.integers(0, 1), outcome=OUTCOMES, comes_late=st.booleans(), fails_then=st.booleans())
    def lease_and_lose(self, gpus, outcome, comes_late, fails_then):
        """A worker falls silent, and another one asks when its lease has expired; then it speaks up."""
        silent = len(self.attempts)
        self.lease("w", 1, gpus, is_long=False, only=None)
        self.jump(2)
        self.lease("u", 2, gpus, is_long=False, only=None)
        if comes_late and len(self.attempts) > silent:
            self.complete(len(self.attempts) - 1 - silent, outcome, is_repeated=True)
        if fails_then and len(self.attempts) > silent + 1:
            self.fail(len(self.attempts) - 2 - silent, "error", retry=True, message="b")

    @rule(kind=st.sampled_from(FAULTS), is_known=st.booleans())
    def lease_give_up_and_retry(self, kind, is_known):
        """Else no server would have to unlearn what it knows of a trial that has ended."""
        before = len(self.attempts)
        self.lease("u", 1, gpus=1, is_long=False, only=None)
        if len(self.attempts) == before:
            return
        self.fail(0, kind, retry=False, message="a")
        trial = self.attempts[-1].trial
        if is_known:
            check_memory(self.rig.house, trial.study.name)
        self.intervene(trial, "queued", None, self.model.retry)
        check_memory(self.rig.house, trial.study.name)

    @precondition(lambda self: bool(self.requests))
    @rule(which=NUMBERS)
    def ask_again(self, which):
        index = len(self.requests) - 1 - which % len(self.requests)
        request, given = self.requests[index]
        live = [attempt.lease_id for attempt in given if attempt.trial.has(attempt)]
        if given and not live:
            self.call("POST", "/leases", "lease-lost", json=request)
            return
        answer = self.call("POST", "/leases", json=request)["leases"]
        if given:
            assert [lease["lease_id"] for lease in answer] == live
        else:
            self.requests[index] = request, self.given(request, answer)

    def attempt(self, which):
        return self.attempts[-1 - which % len(self.attempts)]

    @precondition(has_attempts)
    @rule(which=NUMBERS, points=st.lists(LOSSES, max_size=2))
    def heartbeat(self, which, points):
        attempt = self.attempt(which)
        order = self.model.beat(attempt)
        step = 0 if attempt.last is None else 10 * len(self.attempts)
        reports = [{"step": step + i, "metrics": {"m": value}} for i, value in enumerate(points)]
        path = f"/leases/{attempt.lease_id}/heartbeat"
        answer = self.call("POST", path, None if order else "lease-lost", json={"reports": reports})
        if order is None:
            return
        assert answer["verdict"] == order or (answer["verdict"] == "prune" and order == "continue" and points)
        if points and attempt.last is None:
            attempt.last = points[-1]

    @precondition(has_attempts)
    @rule(which=NUMBERS, outcome=OUTCOMES, is_repeated=st.booleans())
    def complete(self, which, outcome, is_repeated):
        attempt = self.attempt(which)
        result = self.result(attempt.trial.study, outcome, attempt)
        for _ in range(1 + is_repeated):
            refused = self.model.complete(attempt, result)
            self.call("POST", f"/leases/{attempt.lease_id}/complete", refused, json=outcome)

    def result(self, study, outcome, attempt=None):
        if "diverged" in outcome:
            return "diverged", None, outcome["diverged"]
        if "pruned" in outcome:
            reported = attempt.last if attempt and "stopping" in study.sent else None
            return "pruned", study.loss(outcome.get("value", reported)), None
        return "succeeded", outcome.get("loss", study.loss(outcome.get("value"))), None

    @precondition(has_attempts)
    @rule(which=NUMBERS, kind=st.sampled_from(FAULTS), retry=st.booleans(), message=st.sampled_from("ab"))
    def fail(self, which, kind, retry, message):
        attempt = self.attempt(which)
        refused = self.model.fail(attempt, kind, message, retry=retry)
        body = {"kind": kind, "message": message, "retry": retry}
        self.call("POST", f"/leases/{attempt.lease_id}/fail", refused, json=body)

    @precondition(has_attempts)
    @rule(which=NUMBERS)
    def release(self, which):
        attempt = self.attempt(which)
        self.call("POST", f"/leases/{attempt.lease_id}/release", self.model.release(attempt))

    # People

    def study(self, which):
        return self.model.studies[which % len(self.model.studies)]

    def trial(self, which):
        trials = [trial for study in self.model.studies for trial in study.trials]
        return trials[-1 - which % len(trials)]

    @precondition(has_trials)
    @rule(which=NUMBERS, notes=st.sampled_from([None, "seen"]))
    def cancel(self, which, notes):
        self.intervene(self.trial(which), "cancelled", notes, self.model.cancel)

    @precondition(has_trials)
    @rule(which=NUMBERS, notes=st.sampled_from([None, "again"]))
    def retry(self, which, notes):
        self.intervene(self.trial(which), "queued", notes, self.model.retry)

    def intervene(self, trial, state, notes, step):
        body = {"state": state} | ({} if notes is None else {"notes": notes})
        refused = step(trial)
        seen = self.call("PATCH", self.path(trial.study, f"/trials/{trial.number}"), refused, json=body)
        if not refused:
            assert seen["state"] == trial.state
            assert notes in {None, seen["notes"]}

    @rule(which=NUMBERS, configs=st.lists(CONFIGS, min_size=1, max_size=3), outcome=OUTCOMES,
          imports=st.booleans())  # fmt: skip
    def add(self, which, configs, outcome, imports):
        study = self.study(which)
        sent = [config | ({"x": 0.5} if "x" in study.sent["space"] else {}) for config in configs]
        extra = {"outcome": outcome} if imports else {}
        body = {"trials": [{"config": config, **extra} for config in sent]}
        path = self.path(study, "/trials")
        if study.is_archived:
            self.call("POST", path, "study-ended", json=body)
            return
        result = self.result(study, outcome)[:2] if imports else None
        before = len(study.trials), study.state, study.reason
        numbers = [self.model.add(study, config, result) for config in sent]
        if None in numbers:  # all or none
            del study.trials[before[0] :]
            study.state, study.reason = before[1:]
            self.call("POST", path, "study-ended", json=body)
            return
        answer = self.call("POST", path, json=body)["trials"]
        assert [added["trial"] for added in answer] == numbers
        assert [added["is_new"] for added in answer] == [
            number >= before[0] and number not in numbers[:index] for index, number in enumerate(numbers)
        ]

    @rule(which=NUMBERS, changes=BUDGETS)
    def change(self, which, changes):
        self.patch(self.study(which), changes)

    @rule(which=NUMBERS, state=st.sampled_from(["active", "active", "paused", "stopped"]))
    def pause_resume_or_stop(self, which, state):
        self.patch(self.study(which), {"state": state})

    def patch(self, study, changes):
        if changes.get("deadline") is not None:
            changes = changes | {"deadline": changes["deadline"] + self.model.now}
        sent = self.wire(changes)
        self.call("PATCH", self.path(study), self.model.change(study, changes), json=sent)

    @rule(which=NUMBERS, is_meant=st.integers(0, 3))
    def delete(self, which, is_meant):
        if is_meant == 3:  # or few studies would live long
            self.model.archive(self.study(which))
            self.call("DELETE", self.path(self.study(which)))

    @rule(in_second=st.booleans(), quota=st.sampled_from([None, None, 1, 2]))
    def limit(self, in_second, quota):
        project = self.model.projects[in_second]
        self.call("PATCH", f"/projects/{project.name}", json={"max_running": quota})
        project.max_running = quota

    # Weather

    @rule(jumps=st.sampled_from([1, 1, 2, 20]))
    def jump(self, jumps):
        self.rig.jump(JUMP * jumps)
        self.model.now += JUMP * jumps

    @rule()
    def sweep(self):
        self.model.sweep()
        self.rig.sweep()

    @rule()
    def restart(self):
        self.rig.start()
        self.model.deaf_until = self.model.now + LEASE

    @invariant()
    def the_studies_are_as_the_model_says(self):
        for study in self.model.studies:
            seen = self.call("GET", self.path(study))
            counts = {state: study.are(state) for state in seen["counts"]}
            assert (seen["state"], seen["reason"], seen["counts"]) == (study.state, study.reason, counts)
            assert seen["imported"] == len(study.trials) - study.numbered
            assert (seen["best"] and seen["best"]["loss"]) == study.best()
            assert abs(seen["gpu_hours"] - study.gpu_hours(self.model.now)) < 0.1

    def teardown(self):
        for study in self.model.studies:
            self.rig.house.store.read(lambda tx, study=study: check_study(tx, study))
            check_memory(self.rig.house, study.name)
