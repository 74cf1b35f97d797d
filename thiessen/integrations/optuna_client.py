"""The calls of the HTTP interface that a storage of Optuna is made of."""

from collections.abc import Iterator

from thiessen.client import Client
from thiessen.contract import (
    AddedOptunaTrials,
    OptunaAttributes,
    OptunaStudies,
    OptunaStudy,
    OptunaStudySpec,
    OptunaTrial,
    OptunaTrialChanged,
    OptunaTrialChanges,
    OptunaTrialNumber,
    OptunaTrials,
    OptunaTrialSpec,
    OptunaTrialSpecs,
    StaleOptunaTrials,
)


class OptunaClient(Client):
    """Speaks of Optuna's studies to a server. A call with the key of an earlier one is that one again."""

    def create_optuna_study(self, spec: OptunaStudySpec, key: str) -> OptunaStudy:
        """Create a study. Raises StudyExists, ProjectNotFound, QuotaUsedUp, InvalidRequest."""
        return self._send(OptunaStudy, "POST", self._optuna("studies"), spec, key=key)

    def optuna_studies(
        self, *, name: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> OptunaStudies:
        """Return a page of the studies, oldest first, or the one of a name."""
        path = self._optuna("studies")
        return self._send(OptunaStudies, "GET", path, name=name, cursor=cursor, limit=limit)

    def each_optuna_study(self) -> Iterator[OptunaStudy]:
        """Yield every study, oldest first."""
        cursor = None
        while True:
            page = self.optuna_studies(cursor=cursor)
            yield from page.studies
            if page.next is None:
                return
            cursor = page.next

    def optuna_study(self, study_id: int) -> OptunaStudy:
        """Return a study. Raises StudyNotFound."""
        return self._send(OptunaStudy, "GET", self._optuna("studies", study_id))

    def describe_optuna_study(self, study_id: int, attributes: OptunaAttributes) -> None:
        """Set attributes of a study. Raises StudyNotFound, InvalidRequest."""
        self._request("PATCH", self._optuna("studies", study_id), attributes)

    def delete_optuna_study(self, study_id: int, key: str) -> None:
        """Remove a study for good. Raises StudyNotFound."""
        self._request("DELETE", self._optuna("studies", study_id), key=key)

    def add_optuna_trials(
        self, study_id: int, trials: list[OptunaTrialSpec], key: str
    ) -> list[OptunaTrialNumber]:
        """Add trials to a study, all or none. Raises StudyNotFound, DistributionDiffers, InvalidRequest."""
        path = self._optuna("studies", study_id, "trials")
        return self._send(AddedOptunaTrials, "POST", path, OptunaTrialSpecs(trials=trials), key=key).trials

    def optuna_trials(self, study_id: int, *, since: int = 0) -> OptunaTrials:
        """Return trials of a study that changed since a number, as many as fit. Raises StudyNotFound."""
        path = self._optuna("studies", study_id, "trials")
        return self._send(OptunaTrials, "GET", path, since=since)

    def stale_optuna_trials(self, study_id: int, seconds: int) -> list[int]:
        """Return the running trials whose heartbeats stopped so long ago. Raises StudyNotFound."""
        path = self._optuna("studies", study_id, "stale")
        return self._send(StaleOptunaTrials, "GET", path, seconds=seconds).trials

    def optuna_trial(self, trial_id: int) -> OptunaTrial:
        """Return a trial. Raises TrialNotFound."""
        return self._send(OptunaTrial, "GET", self._optuna("trials", trial_id))

    def change_optuna_trial(self, trial_id: int, changes: OptunaTrialChanges, key: str | None = None) -> bool:
        """Set what is told of a trial; False where it was to run and runs already.

        Raises TrialNotFound, TrialFinished, DistributionDiffers, InvalidRequest.
        """
        path = self._optuna("trials", trial_id)
        return self._send(OptunaTrialChanged, "PATCH", path, changes, key=key).is_changed

    def hear_optuna_trial(self, trial_id: int) -> None:
        """Say that a trial goes on. Raises TrialNotFound."""
        self._request("POST", self._optuna("trials", trial_id, "heartbeat"))

    def _optuna(self, *parts: str | int) -> str:
        return self._in_project("optuna", *map(str, parts))
