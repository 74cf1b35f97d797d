"""Attempts in MLflow: a run each, in the experiment of its study."""

import os
from typing import Final

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # read when it is imported: it tells nobody of us

from mlflow.entities import Metric, Param, RunTag
from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient

from worker.tracking.tracking import Began, Ended, Reported, place

LONGEST_TAG: Final = 5000  # characters, as MLflow takes them
STATUSES: Final = {"failed": "FAILED", "released": "KILLED", "lost": "KILLED"}  # all others are results


class MLflow:
    """Writes runs: params, metrics as they come, tags that say whose attempt it was and what it came to."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._client: MlflowClient | None = None
        self._experiments: dict[str, str] = {}  # ids, by name
        self._runs: dict[str, str] = {}  # ids, by lease

    def begin(self, began: Began) -> None:
        lease = began.lease
        self._client = self._client or MlflowClient(self._uri)  # here, in the thread that may wait for it
        whose = {
            name: getattr(lease, name) for name in ("project", "study", "trial", "attempt", "task", "seed")
        }
        run = self._client.create_run(
            self._experiment(self._client, place(lease)),
            start_time=_milliseconds(began.at),
            run_name=f"trial {lease.trial}, attempt {lease.attempt}",
            tags={f"thiessen.{name}": str(each) for name, each in whose.items()},
        )
        self._runs[lease.lease_id] = run.info.run_id
        params = [Param(name, str(value)) for name, value in lease.config.items()]
        self._client.log_batch(run.info.run_id, params=params)

    def report(self, reported: Reported) -> None:
        run = self._runs.get(reported.lease.lease_id)
        if run is not None and self._client is not None:
            at, step = _milliseconds(reported.at), reported.point.step
            metrics = [Metric(name, float(each), at, step) for name, each in reported.point.metrics.items()]
            self._client.log_batch(run, metrics=metrics)

    def end(self, ended: Ended) -> None:
        run = self._runs.pop(ended.lease.lease_id, None)
        if run is None or self._client is None:
            return
        at = _milliseconds(ended.at)
        said = {"outcome": ended.outcome, "message": ended.message[:LONGEST_TAG]}
        self._client.log_batch(
            run,
            metrics=[] if ended.value is None else [Metric("value", ended.value, at, 0)],
            tags=[RunTag(f"thiessen.{name}", text) for name, text in said.items() if text],
        )
        self._client.set_terminated(run, STATUSES.get(ended.outcome, "FINISHED"), end_time=at)

    def _experiment(self, client: MlflowClient, name: str) -> str:
        if name not in self._experiments:
            try:
                self._experiments[name] = client.create_experiment(name)
            except MlflowException:  # it is there, or another worker was as quick
                found = client.get_experiment_by_name(name)
                if found is None:
                    raise
                self._experiments[name] = found.experiment_id
        return self._experiments[name]


def _milliseconds(at: float) -> int:
    return round(at * 1000)
