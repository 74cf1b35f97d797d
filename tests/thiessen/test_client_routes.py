"""The client has every route, and a name for every refusal."""

import pytest

from app.domain.errors import Conflict, NotFound
from thiessen import errors
from thiessen.client import Client
from thiessen.contract import (
    ComparisonChanges,
    ComparisonSpec,
    LeaseRequest,
    Loss,
    NewTrial,
    OfferedTask,
    Point,
    Slot,
    StudyChanges,
    StudySpec,
    TrialChanges,
    Value,
    WorkerChanges,
    WorkerSpec,
)

SPACE = {"x": {"type": "float", "low": 0.0, "high": 1.0}}
TASK = OfferedTask.model_validate({"name": "t", "version": "1", "schema": {"properties": {"x": {}}}})
WORKER = WorkerSpec(incarnation="i", slots=[Slot(name="cpu")], labels={"a": "b"}, tasks=[TASK])


def a_study(name="s", **changed):
    return StudySpec.model_validate({"name": name, "task": "t", "space": SPACE, "max_trials": 3} | changed)


def test_studies_are_listed_changed_and_deleted(server):
    for name in ("one", "two", "three"):
        server.create_study(a_study(name, tags=[name]))

    page = server.studies(limit=2)
    rest = server.studies(limit=2, cursor=page.next)
    paused = server.change_study("one", StudyChanges(state="paused"))
    server.delete_study("two")

    assert [study.name for study in page.studies + rest.studies] == ["three", "two", "one"]
    assert [study.name for study in server.studies(tag="three").studies] == ["three"]
    assert paused.state == "paused"
    assert [study.name for study in server.studies().studies] == ["three", "one"]
    assert [study.name for study in server.studies(state="paused").studies] == ["one"]


def test_what_is_left_out_of_a_change_stays(server):
    server.create_study(a_study(notes="first", target=0.5))

    changed = server.change_study("s", StudyChanges(target=None, priority=20))

    assert (changed.notes, changed.target, changed.priority) == ("first", None, 20)


def test_trials_are_added_read_and_changed(server):
    server.create_study(a_study(direction="maximize"))

    added = server.add_trials(
        "s", [NewTrial(config={"x": 0.1}), NewTrial(config={"x": 0.2}, outcome=Value(value=0.9))]
    )
    cancelled = server.change_trial("s", 0, TrialChanges(state="cancelled", notes="a slip"))

    assert [(each.trial, each.state, each.is_new) for each in added] == [
        (0, "queued", True),
        (1, "succeeded", True),
    ]
    assert (cancelled.state, cancelled.notes) == ("cancelled", "a slip")
    assert (server.trial("s", 1).value, server.trial("s", 1).loss) == (0.9, -0.9)
    with pytest.raises(errors.MoveRefused):
        server.change_trial("s", 0, TrialChanges(state="queued"))


def test_the_best_of_all_studies_are_listed(server):
    for name, loss in (("one", 0.5), ("two", 0.25)):
        server.create_study(a_study(name))
        server.add_trials(name, [NewTrial(config={"x": 0.5}, outcome=Loss(loss=loss))])

    assert {(best.study, best.loss) for best in server.best_of_all()} == {("one", 0.5), ("two", 0.25)}


def test_a_history_comes_as_columns_all_of_it_or_some(server):
    server.create_study(a_study())
    trials = [NewTrial(config={"x": each / 4}, outcome=Loss(loss=each)) for each in (3.0, 1.0, 2.0)]
    server.add_trials("s", trials)

    history = server.history("s")
    assert (history.finished, history.columns.value) == (3, [3.0, 1.0, 2.0])
    assert history.columns.config == {"x": [0.75, 0.25, 0.5]}
    assert len(server.history("s", most=2).columns.number) == 2


def test_a_worker_registers_leases_what_it_has_registered_and_is_drained(server):
    request = LeaseRequest(worker="w", incarnation="i", request_id="1", max=2)
    with pytest.raises(errors.WorkerUnknown):
        server.lease(request)
    server.create_study(a_study())

    server.register("w", WORKER)
    leases = server.lease(request)
    drained = server.change_worker("w", WorkerChanges(is_draining=True))

    assert [lease.trial for lease in leases] == [0, 1]
    assert server.heartbeat(leases[0].lease_id, []).verdict == "drain"
    assert drained.is_draining
    assert server.lease(request.model_copy(update={"request_id": "2"})) == []
    assert [(each.name, each.running, each.labels) for each in server.workers()] == [("w", 2, {"a": "b"})]
    assert [(each.name, each.versions, each.workers) for each in server.tasks()] == [("t", ["1"], 1)]
    assert server.task("t").config_schema == {"properties": {"x": {}}}
    with pytest.raises(errors.TaskNotFound):
        server.task("u")
    with pytest.raises(errors.WorkerNotFound):
        server.change_worker("nobody", WorkerChanges(is_draining=True))


def test_a_client_of_a_project_speaks_of_the_studies_of_that_project(server):
    server.create_study(a_study())

    with Client(server.url, project="elsewhere") as client, pytest.raises(errors.StudyNotFound):
        client.study("s")


def test_a_request_may_wait_for_longer_than_the_client_waits_for_other_answers(server):
    request = LeaseRequest(worker="w", incarnation="i", request_id="1", tasks=["t"], wait_seconds=1.5)

    with Client(server.url, timeout_seconds=0.5, retry_pauses=()) as client:
        assert client.lease(request) == []


def a_comparison(name="c", **changed):
    arms = [{"label": label, "settings": {"kind": label}} for label in "ab"]
    spec = {"name": name, "task": "t", "space": SPACE, "arms": arms, "budget": {"trials": 1}, "replicates": 2}
    return ComparisonSpec.model_validate(spec | {"strategy": "random", "confirm": {"seeds": 1}} | changed)


def train(server):
    """Train everything that is leased."""
    request = LeaseRequest(worker="w", incarnation="i", request_id="0", tasks=["t"], max=50)
    for turn in range(50):
        leases = server.lease(request.model_copy(update={"request_id": str(turn)}))
        if not leases:
            return
        for lease in leases:
            server.heartbeat(lease.lease_id, [Point(step=7, metrics={"validation_loss": lease.config["x"]})])
            server.complete(lease.lease_id, Loss(loss=lease.config["x"]))


def test_a_comparison_is_planned_created_trained_and_reported(server):
    cost = server.plan_comparison(a_comparison())
    with pytest.raises(errors.ComparisonNotFound):
        server.comparison("c")

    created = server.create_comparison(a_comparison())
    train(server)

    assert (cost.searches, cost.trials, cost.runs) == (4, 4, 4)
    assert (created.stage, created.planned) == ("searching", cost)
    done = server.comparison("c")
    assert (done.stage, done.spent.updates) == ("done", 8 * 7)
    assert [arm.confirmation.finished for arm in done.arms] == [2, 2]
    report = server.report("c")
    assert (report.is_complete, report.unit, [arm.label for arm in report.arms]) == (
        True,
        "trials",
        ["a", "b"],
    )
    assert server.report_as("c", "markdown").startswith("# c")
    assert "\\begin{tabular}" in server.report_as("c", "latex")
    assert server.report_as("c", "csv").startswith("table,arm,")
    assert server.profile(["c"]).comparisons == ["c"]
    drawn = server.comparison_figure("c", "expected", theme="dark")
    assert drawn["data"]
    assert (
        drawn
        == server.comparison_figure("c", "expected", theme="dark")
        != server.comparison_figure("c", "expected")
    )


def test_comparisons_are_listed_changed_and_deleted(server):
    for name in ("one", "two", "three"):
        server.create_comparison(a_comparison(name))

    page = server.comparisons(limit=2)
    rest = server.comparisons(limit=2, cursor=page.next)
    paused = server.change_comparison("one", ComparisonChanges(state="paused"))
    server.delete_comparison("two")

    assert [each.name for each in page.comparisons + rest.comparisons] == ["three", "two", "one"]
    assert [arm.searches for arm in page.comparisons[0].arms] == [[], []]
    assert (paused.state, paused.waits_for) == ("paused", "It is paused; resume it.")
    assert [each.name for each in server.comparisons(state="paused").comparisons] == ["one"]
    with pytest.raises(errors.ComparisonEnded):
        server.change_comparison("two", ComparisonChanges(state="active"))
    server.delete_comparison("two", purge=True)
    with pytest.raises(errors.ComparisonNotFound):
        server.report("two")


def test_a_comparison_that_cannot_be_is_refused_in_the_words_of_the_client(server):
    server.create_comparison(a_comparison())

    with pytest.raises(errors.ComparisonExists, match="another seed"):
        server.create_comparison(a_comparison(seed=3))
    with pytest.raises(errors.StudyEnded, match="part of comparison 'c'"):
        server.change_study("c.a.1", StudyChanges(max_trials=9))
    server.create_study(a_study("d.a.1"))
    with pytest.raises(errors.StudyExists, match=r"d\.a\.1"):
        server.create_comparison(a_comparison("d"))


def test_every_refusal_of_the_server_has_a_name_here():
    refusals = {
        kind.type: kind.__name__ for family in (NotFound, Conflict) for kind in family.__subclasses__()
    }

    assert {kind: type(errors.refusal(kind, "")).__name__ for kind in refusals} == refusals
