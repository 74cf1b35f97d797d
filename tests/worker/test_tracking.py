"""What trackers are told, read back with the packages that they write for; and what they cannot harm."""

import math
import sys
import threading

import pytest

from tests.conftest import wait_until
from tests.worker.conftest import a_lease
from thiessen.contract import Diverged, Failure, Point, Pruned, Value
from worker.child import GivenBack
from worker.tracking import Began, Ended, NoTracker, Reported, Tracking, chosen
from worker.tracking import tracking as module

CURVE = [
    Point(step=1, metrics={"loss": 0.5, "accuracy": 0.25}),
    Point(step=3, metrics={"loss": "NaN"}),
    Point(step=7, metrics={"loss": "Infinity"}),
    Point(step=8, metrics={"loss": 2.0}),
]
ENDINGS = [
    (Value(value=0.125), "succeeded", 0.125, ""),
    (Pruned(pruned=True, value=2.0), "pruned", 2.0, ""),
    (Pruned(pruned=True), "pruned", None, ""),
    (Diverged(diverged="nan"), "diverged", None, "nan"),
    (Failure(kind="error", message="KeyError: 'lr'"), "failed", None, "error: KeyError: 'lr'"),
    (GivenBack(), "released", None, ""),
    (None, "lost", None, ""),
]
NOBODY = "http://127.0.0.1:9"
CONFIG = {"lr": 0.1, "layers": 3, "act": "relu", "kept": True, "decay": None}


def told(tracking, number, ending, curve=CURVE, **lease):
    tracked = tracking.begin(a_lease(lease_id=f"{number}" * 32, trial=number, config=CONFIG, **lease))
    for point in curve:
        tracked.reached(point)
    tracked.end(ending)


@pytest.mark.filterwarnings("ignore")  # of TensorBoard
def runs(folder):
    """Return what TensorBoard reads: of each run its scalars, its hyperparameters and its texts."""
    from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    found = {}
    for name in multiplexer.Runs():
        accumulator = multiplexer.GetAccumulator(name)
        tags = accumulator.Tags()
        scalars = {tag: [(e.step, e.value) for e in accumulator.Scalars(tag)] for tag in tags["scalars"]}
        started = accumulator.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
        info = HParamsPluginData.FromString(started).session_start_info
        config = {key: getattr(value, value.WhichOneof("kind")) for key, value in info.hparams.items()}
        [text] = accumulator.Tensors("outcome/text_summary")
        found[name] = scalars, config, text.tensor_proto.string_val[0].decode()
    return found


def same(found, expected):
    """Return whether two curves are the same; NaN is NaN."""
    return [(step, repr(value)) for step, value in found] == [(step, repr(value)) for step, value in expected]


@pytest.mark.row(276)
def test_tensorboard_reads_config_curve_and_outcome_of_each_attempt(tmp_path):
    with Tracking(chosen([f"tensorboard:{tmp_path}"])) as tracking:
        for number, (ending, *_) in enumerate(ENDINGS):
            told(tracking, number, ending, attempt=number + 1)
        told(tracking, 9, Value(value=1.0), project="team", study="other")

    found = runs(tmp_path)
    assert found.keys() == {
        *(f"s/trial-{number}/attempt-{number + 1}" for number in range(len(ENDINGS))),
        "team/other/trial-9/attempt-1",
    }
    for number, (_, outcome, value, message) in enumerate(ENDINGS):
        scalars, config, text = found[f"s/trial-{number}/attempt-{number + 1}"]
        assert same(scalars.pop("loss"), [(1, 0.5), (3, math.nan), (7, math.inf), (8, 2.0)])
        assert scalars.pop("accuracy") == [(1, 0.25)]
        assert [each for _, each in scalars.pop("value", [])] == ([] if value is None else [value])
        assert not scalars
        assert config == CONFIG | {"decay": "None", "outcome": outcome}
        assert text == f"{outcome} {message}".rstrip()


@pytest.mark.row(276)
@pytest.mark.filterwarnings("ignore")  # of MLflow, which does without its server here
def test_mlflow_reads_params_curve_and_outcome_of_each_attempt(tmp_path):
    from mlflow.tracking import MlflowClient

    uri = f"sqlite:///{tmp_path}/mlflow.db"
    client = MlflowClient(uri)
    client.create_experiment("s")  # another worker was there before
    with Tracking(chosen([f"mlflow:{uri}"])) as tracking:
        for number, (ending, *_) in enumerate(ENDINGS):
            told(tracking, number, ending, attempt=number + 1)
        told(tracking, 9, Value(value=1.0), project="team", study="other")

    [of_a_project] = client.search_runs([client.get_experiment_by_name("team/other").experiment_id])
    assert of_a_project.info.run_name == "trial 9, attempt 1"
    found = client.search_runs([client.get_experiment_by_name("s").experiment_id])
    found = {int(run.data.tags["thiessen.trial"]): run for run in found}
    statuses = ["FINISHED", "FINISHED", "FINISHED", "FINISHED", "FAILED", "KILLED", "KILLED"]
    for number, (_, outcome, value, message) in enumerate(ENDINGS):
        run = found.pop(number)
        assert run.data.params == {name: str(each) for name, each in CONFIG.items()}
        history = [(each.step, each.value) for each in client.get_metric_history(run.info.run_id, "loss")]
        largest = 1.7976931348623157e308  # as its databases keep infinity
        assert same(sorted(history), [(1, 0.5), (3, math.nan), (7, largest), (8, 2.0)])
        assert run.data.metrics.get("value") == value
        assert run.data.metrics["accuracy"] == 0.25
        assert run.info.status == statuses[number]
        assert run.data.tags["thiessen.outcome"] == outcome
        assert run.data.tags.get("thiessen.message", "") == message
        assert run.data.tags["thiessen.attempt"] == str(number + 1)
        assert run.info.end_time >= run.info.start_time
    assert not found


class Broken:
    """Fails at whatever it is told."""

    def _fail(self, event):
        raise OSError(f"no room for {type(event).__name__}")

    begin = report = end = _fail


class Hanging:
    """Takes the first event, and is not heard of until it is let go."""

    def __init__(self):
        self.let_go = threading.Event()
        self.events = []

    def _hang(self, event):
        self.let_go.wait(60)
        self.events.append(event)

    begin = report = end = _hang


class Keeping:
    def __init__(self):
        self.events = []

    def _keep(self, event):
        self.events.append(event)

    begin = report = end = _keep


def test_a_tracker_that_fails_is_warned_of_once_an_attempt_and_harms_no_other(caplog):
    keeping = Keeping()
    with Tracking({"broken": Broken(), "keeping": keeping}) as tracking:
        told(tracking, 0, Value(value=1.0))
        told(tracking, 1, Value(value=1.0))
    assert [record.message for record in caplog.records] == [
        f"trial {number} of s, attempt 1: broken does not have all of it. OSError: no room for Began"
        for number in (0, 1)
    ]
    assert [type(event) for event in keeping.events] == [Began, *[Reported] * len(CURVE), Ended] * 2


@pytest.mark.row(276)
def test_a_tracker_that_hangs_holds_up_nobody_and_takes_a_bounded_room(caplog, monkeypatch):
    monkeypatch.setattr(module, "MOST_WAITING", 10)
    monkeypatch.setattr(module, "CLOSE_SECONDS", 0.05)
    hanging, keeping = Hanging(), Keeping()
    tracking = Tracking({"hanging": hanging, "keeping": keeping})
    told(tracking, 0, Value(value=1.0), curve=[])
    wait_until(lambda: len(keeping.events) == 2)
    for number in range(1, 30):
        told(tracking, number % 10, Value(value=1.0), curve=[])
        tracking.tell(Reported(a_lease(), CURVE[0]))
        wait_until(lambda number=number: len(keeping.events) == 2 + 3 * number)
    tracking.close()
    assert "hanging does not have all of it. it is behind by 10 entries" in caplog.text
    assert "hanging has not taken the last" in caplog.text
    hanging.let_go.set()
    wait_until(lambda: "tracker-hanging" not in {thread.name for thread in threading.enumerate()})
    assert len(hanging.events) <= 21
    assert len(keeping.events) == 2 + 3 * 29


def test_an_attempt_ends_once():
    keeping = Keeping()
    with Tracking({"keeping": keeping}) as tracking:
        tracked = tracking.begin(a_lease())
        tracked.end(Value(value=1.0))
        tracked.end(None)
    assert [event.outcome for event in keeping.events if isinstance(event, Ended)] == ["succeeded"]


def test_without_trackers_there_is_no_thread():
    before = threading.active_count()
    with Tracking() as tracking:
        told(tracking, 0, None)
        assert threading.active_count() == before


@pytest.mark.parametrize(
    ("wishes", "why"),
    [
        (["wandb:x"], "'wandb:x' is no tracker: write tensorboard:FOLDER, or mlflow:URI"),
        (["tensorboard"], "'tensorboard' is no tracker"),
        (["mlflow:"], "'mlflow:' is no tracker"),
        (["tensorboard:a", "tensorboard:b"], "two trackers of the kind tensorboard"),
    ],
)
def test_a_tracker_that_there_is_not_is_told(wishes, why):
    with pytest.raises(NoTracker, match=why):
        chosen(wishes)


def test_a_package_that_is_missing_is_told_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "worker.tracking.mlflow", None)
    with pytest.raises(NoTracker, match=r"pip install 'thiessen\[worker,mlflow\]'"):
        chosen(["mlflow:runs"])


def test_a_worker_writes_what_it_trains_whatever_becomes_of_a_tracker(server, work, a_study, tmp_path):
    space = {
        "x": {"type": "float", "low": 0.0, "high": 1.0},
        "seconds": {"type": "float", "low": 0.2, "high": 0.2},
    }
    server.create_study(a_study("takes", space=space))
    server.create_study(a_study("raises"))

    worker = work(
        server,
        *("--idle-exit", "0.5", "--track", f"tensorboard:{tmp_path}/runs", "--track", f"mlflow:{NOBODY}"),
        MLFLOW_HTTP_REQUEST_MAX_RETRIES="0",
    )

    assert worker.wait(120) == 0
    trial = server.trial("takes", 0)
    assert trial.state == "succeeded"
    found = runs(tmp_path / "runs")
    scalars, config, text = found["takes/trial-0/attempt-1"]
    assert [step for step, _ in scalars["x"]] == [0, 1]
    assert config["x"] == trial.config["x"]
    assert text == "succeeded"
    assert found["raises/trial-0/attempt-1"][2] == "failed error: KeyError: 'lr'"
    assert "mlflow does not have all of it" in worker.log.read_text()
