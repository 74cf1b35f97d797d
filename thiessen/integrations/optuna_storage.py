"""A storage of Optuna that is our server: an Optuna program keeps its studies there by one argument."""

import copy
import json
import os
import threading
import uuid
import weakref
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from typing import Any, Final, TypeVar

from optuna.distributions import BaseDistribution, distribution_to_json, json_to_distribution
from optuna.exceptions import DuplicatedStudyError, UpdateFinishedTrialError
from optuna.storages import BaseStorage
from optuna.storages._base import DEFAULT_STUDY_NAME_PREFIX
from optuna.storages._heartbeat import BaseHeartbeat
from optuna.study import Study, StudyDirection
from optuna.study._frozen import FrozenStudy
from optuna.trial import FrozenTrial, TrialState
from pydantic import ValidationError

from thiessen.contract import (
    OptunaAttributes,
    OptunaIntermediate,
    OptunaParam,
    OptunaStudy,
    OptunaStudySpec,
    OptunaTrial,
    OptunaTrialChanges,
    OptunaTrialSpec,
)
from thiessen.contract.faults import faults
from thiessen.contract.leases import metric
from thiessen.errors import (
    DistributionDiffers,
    InvalidRequest,
    StudyExists,
    StudyNotFound,
    TrialFinished,
    TrialNotFound,
)
from thiessen.integrations.optuna_client import OptunaClient
from thiessen.patience import Patience
from thiessen.study import DEFAULT_PROJECT

OFFLINE_SECONDS: Final = 3600.0
FINISHED: Final = tuple(state for state in TrialState if state.is_finished())

T = TypeVar("T")
StaleCallback = Callable[[Study, FrozenTrial], None]


@dataclass
class _Known:
    """What this program knows of the trials of a study: finished ones never change."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    seq: int = 0
    trials: dict[int, FrozenTrial] = field(default_factory=dict)  # by number
    unfinished: dict[int, FrozenTrial] = field(default_factory=dict)

    def learn(self, trial: FrozenTrial) -> None:
        self.trials[trial.number] = trial
        if trial.state.is_finished():
            self.unfinished.pop(trial.number, None)
        else:
            self.unfinished[trial.number] = trial

    def told(self, states: Container[TrialState] | None) -> list[FrozenTrial]:
        """Return the trials in these states by their numbers; in unfinished ones there are few to look at."""
        if states is None:
            return [self.trials[number] for number in sorted(self.trials)]
        looked_at = self.trials if any(state in states for state in FINISHED) else self.unfinished
        return [looked_at[number] for number in sorted(looked_at) if looked_at[number].state in states]


class _Here:
    """What one process has: connections, and what it knows. A forked one begins anew."""

    def __init__(self, client: OptunaClient) -> None:
        self.pid = os.getpid()
        self.client = client
        self.studies: dict[int, _Known] = {}
        self.finished: dict[int, FrozenTrial] = {}  # by id
        self.described: dict[int, tuple[str, list[StudyDirection]]] = {}  # which stay as they are


class ThiessenStorage(BaseStorage, BaseHeartbeat):
    """Keeps Optuna's studies on a server of ours.

    >>> study = optuna.create_study(storage=ThiessenStorage("http://127.0.0.1:8000"))

    An outage of the server is borne for an hour, or as long as `offline_seconds` say. With
    `heartbeat_interval` the trials of programs that vanish fail, as by `optuna.storages.RDBStorage`. A copy
    by pickle speaks to the same server, with the same token.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        project: str = DEFAULT_PROJECT,
        offline_seconds: float = OFFLINE_SECONDS,
        heartbeat_interval: int | None = None,
        grace_period: int | None = None,
        heartbeat_stale_trial_callback: StaleCallback | None = None,
    ) -> None:
        """Take the address of a server. Raises ServerUnreachable, Unauthorized, whatever is wrong there."""
        for name, seconds in (("heartbeat_interval", heartbeat_interval), ("grace_period", grace_period)):
            if seconds is not None and seconds <= 0:
                raise ValueError(f"{name} is a whole number of seconds above 0, not {seconds}.")
        self._url = url
        self._token = token if token is not None else os.environ.get("THIESSEN_TOKEN") or None
        self._project = project
        self._offline_seconds = offline_seconds
        self._heartbeat_interval = heartbeat_interval
        self._grace_period = grace_period
        self._stale_callback = heartbeat_stale_trial_callback
        self._begin()
        self._here.client.optuna_studies(limit=1)  # what is wrong is said now, and not borne for an hour

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in {"_kept", "_patience"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def _begin(self) -> None:
        self._patience = Patience(stop=threading.Event(), offline_seconds=self._offline_seconds)
        self._kept = _Here(OptunaClient(self._url, token=self._token, project=self._project))
        weakref.finalize(self, self._kept.client.close)  # programs do not close a storage

    @property
    def _here(self) -> _Here:
        if self._kept.pid != os.getpid():
            self._begin()
        return self._kept

    def close(self) -> None:
        """Close the kept connections."""
        self._here.client.close()

    def _call(self, call: Callable[[OptunaClient], T]) -> T:
        """Call until the server answers, and refuse as a storage of Optuna does."""
        client = self._here.client
        with _refusing():
            return self._patience.until_answered(lambda: call(client))

    def create_new_study(self, directions: Sequence[StudyDirection], study_name: str | None = None) -> int:
        name = f"{DEFAULT_STUDY_NAME_PREFIX}{uuid.uuid4()}" if study_name is None else study_name
        with _refusing():
            spec = OptunaStudySpec(name=name, directions=[_word(each) for each in directions])
        key = token_hex(16)
        return self._call(lambda client: client.create_optuna_study(spec, key)).id

    def delete_study(self, study_id: int) -> None:
        key = token_hex(16)
        self._call(lambda client: client.delete_optuna_study(study_id, key))
        self._forget(study_id)

    def set_study_user_attr(self, study_id: int, key: str, value: Any) -> None:
        self._describe(study_id, user_attributes={key: json.dumps(value)})

    def set_study_system_attr(self, study_id: int, key: str, value: Any) -> None:
        self._describe(study_id, system_attributes={key: json.dumps(value)})

    def _describe(self, study_id: int, **told: dict[str, str]) -> None:
        with _refusing():
            attributes = OptunaAttributes(**told)
        self._call(lambda client: client.describe_optuna_study(study_id, attributes))

    def get_study_id_from_name(self, study_name: str) -> int:
        found = self._call(lambda client: client.optuna_studies(name=study_name)).studies
        if not found:
            raise KeyError(f"No study of Optuna has the name {study_name!r} on {self._url}.")
        return found[0].id

    def get_study_name_from_id(self, study_id: int) -> str:
        return self._described(study_id)[0]

    def get_study_directions(self, study_id: int) -> list[StudyDirection]:
        return list(self._described(study_id)[1])

    def _described(self, study_id: int) -> tuple[str, list[StudyDirection]]:
        described = self._here.described
        if study_id not in described:
            study = self._study(study_id)
            described[study_id] = study.name, [StudyDirection[each.upper()] for each in study.directions]
        return described[study_id]

    def _study(self, study_id: int) -> OptunaStudy:
        return self._call(lambda client: client.optuna_study(study_id))

    def get_study_user_attrs(self, study_id: int) -> dict[str, Any]:
        return _loaded(self._study(study_id).user_attributes)

    def get_study_system_attrs(self, study_id: int) -> dict[str, Any]:
        return _loaded(self._study(study_id).system_attributes)

    def get_all_studies(self) -> list[FrozenStudy]:
        return [
            FrozenStudy(
                study_name=each.name,
                direction=None,
                directions=[StudyDirection[direction.upper()] for direction in each.directions],
                user_attrs=_loaded(each.user_attributes),
                system_attrs=_loaded(each.system_attributes),
                study_id=each.id,
            )
            for each in self._call(lambda client: list(client.each_optuna_study()))
        ]

    def create_new_trial(self, study_id: int, template_trial: FrozenTrial | None = None) -> int:
        with _refusing():
            spec = OptunaTrialSpec() if template_trial is None else trial_spec(template_trial)
        return self.add_trials(study_id, [spec])[0]

    def add_trials(self, study_id: int, specs: list[OptunaTrialSpec]) -> list[int]:
        """Add trials, all of them or none; return their ids."""
        key = token_hex(16)
        added = self._call(lambda client: client.add_optuna_trials(study_id, specs, key))
        return [each.id for each in added]

    def set_trial_param(
        self, trial_id: int, param_name: str, param_value_internal: float, distribution: BaseDistribution
    ) -> None:
        param = {
            "value": metric(param_value_internal),
            "distribution": distribution_to_json(distribution),
        }
        self._change(trial_id, params={param_name: param})

    def set_trial_state_values(
        self, trial_id: int, state: TrialState, values: Sequence[float] | None = None
    ) -> bool:
        told = {} if values is None else {"values": [metric(each) for each in values]}
        # With a key: sent again after a lost answer, who won is told so again, and the end is no second one.
        return self._change(trial_id, token_hex(16), state=_word(state), **told)

    def set_trial_intermediate_value(self, trial_id: int, step: int, intermediate_value: float) -> None:
        point = {"step": int(step), "value": metric(intermediate_value)}
        self._change(trial_id, intermediate_values=[point])

    def set_trial_user_attr(self, trial_id: int, key: str, value: Any) -> None:
        self._change(trial_id, user_attributes={key: json.dumps(value)})

    def set_trial_system_attr(self, trial_id: int, key: str, value: Any) -> None:
        self._change(trial_id, system_attributes={key: json.dumps(value)})

    def _change(self, trial_id: int, key: str | None = None, **told: Any) -> bool:
        with _refusing():
            changes = OptunaTrialChanges(**told)
        return self._call(lambda client: client.change_optuna_trial(trial_id, changes, key))

    def get_trial(self, trial_id: int) -> FrozenTrial:
        known = self._here.finished.get(trial_id)
        if known is not None:
            return known
        return _frozen(self._call(lambda client: client.optuna_trial(trial_id)))

    def get_all_trials(
        self, study_id: int, deepcopy: bool = True, states: Container[TrialState] | None = None
    ) -> list[FrozenTrial]:
        here = self._here
        known = here.studies.setdefault(study_id, _Known())
        with known.lock:
            try:
                self._catch_up(here, study_id, known)
            except KeyError:
                self._forget(study_id)
                raise
            trials = known.told(states)
        return copy.deepcopy(trials) if deepcopy else trials

    def _catch_up(self, here: _Here, study_id: int, known: _Known) -> None:
        """Ask for what changed since the last time, a page after the other."""
        is_all = False
        while not is_all:
            page = self._call(partial(OptunaClient.optuna_trials, study_id=study_id, since=known.seq))
            for each in page.trials:
                trial = _frozen(each)
                known.learn(trial)
                if trial.state.is_finished():
                    here.finished[each.id] = trial
            known.seq, is_all = page.seq, page.is_all

    def _forget(self, study_id: int) -> None:
        """Let go of what is known of a study that is gone."""
        here = self._here
        here.described.pop(study_id, None)
        known = here.studies.pop(study_id, _Known())
        for trial in known.trials.values():
            here.finished.pop(trial._trial_id, None)  # noqa: SLF001 - it has no other name

    def record_heartbeat(self, trial_id: int) -> None:
        self._call(lambda client: client.hear_optuna_trial(trial_id))

    def _get_stale_trial_ids(self, study_id: int) -> list[int]:
        seconds = self._grace_period or 2 * (self._heartbeat_interval or 0)
        return self._call(lambda client: client.stale_optuna_trials(study_id, seconds))

    def get_heartbeat_interval(self) -> int | None:
        return self._heartbeat_interval

    def get_heartbeat_stale_trial_callback(self) -> StaleCallback | None:
        return self._stale_callback


def trial_spec(trial: FrozenTrial) -> OptunaTrialSpec:
    """Return a trial as it is sent; its number and its id are given anew."""
    params = {
        name: OptunaParam(
            value=metric(each.to_internal_repr(trial.params[name])), distribution=distribution_to_json(each)
        )
        for name, each in trial.distributions.items()
        if name in trial.params
    }
    steps = trial.intermediate_values.items()
    return OptunaTrialSpec(
        state=_word(trial.state),
        values=None if trial.values is None else [metric(each) for each in trial.values],
        started_at=_aware(trial.datetime_start),
        completed_at=_aware(trial.datetime_complete),
        params={name: params[name] for name in trial.params},
        user_attributes=_dumped(trial.user_attrs),
        system_attributes=_dumped(trial.system_attrs),
        intermediate_values=[OptunaIntermediate(step=step, value=metric(value)) for step, value in steps],
    )


def _frozen(trial: OptunaTrial) -> FrozenTrial:
    distributions = {name: json_to_distribution(each.distribution) for name, each in trial.params.items()}
    return FrozenTrial(
        trial_id=trial.id,
        number=trial.number,
        state=TrialState[trial.state.upper()],
        value=None,
        values=None if trial.values is None else [float(each) for each in trial.values],
        datetime_start=_naive(trial.started_at),
        datetime_complete=_naive(trial.completed_at),
        params={
            name: distributions[name].to_external_repr(float(each.value))
            for name, each in trial.params.items()
        },
        distributions=distributions,
        user_attrs=_loaded(trial.user_attributes),
        system_attrs=_loaded(trial.system_attributes),
        intermediate_values={each.step: float(each.value) for each in trial.intermediate_values},
    )


@contextmanager
def _refusing() -> Iterator[None]:
    """Raise what other storages of Optuna raise."""
    try:
        yield
    except (StudyNotFound, TrialNotFound) as error:
        raise KeyError(str(error)) from error
    except StudyExists as error:
        raise DuplicatedStudyError(str(error)) from error
    except TrialFinished as error:
        raise UpdateFinishedTrialError(str(error)) from error
    except DistributionDiffers as error:
        raise ValueError(str(error)) from error
    except ValidationError as error:
        raise InvalidRequest(f"The server takes no such thing: {faults(error)}.") from error


def _word(each: StudyDirection | TrialState) -> Any:
    return each.name.lower()


def _dumped(attributes: dict[str, Any]) -> dict[str, str]:
    return {name: json.dumps(value) for name, value in attributes.items()}


def _loaded(attributes: dict[str, str]) -> dict[str, Any]:
    return {name: json.loads(text) for name, text in attributes.items()}


def _aware(time: datetime | None) -> datetime | None:
    """Return the instant of a time that Optuna has by the clock on this machine's wall."""
    return None if time is None else time.astimezone(UTC)


def _naive(time: datetime | None) -> datetime | None:
    return None if time is None else time.astimezone().replace(tzinfo=None)
