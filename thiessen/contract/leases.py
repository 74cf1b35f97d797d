"""Leases: how a worker gets a trial, says that it lives, and ends its attempt."""

import math
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, FiniteFloat, JsonValue, model_validator

from thiessen.contract.space import AskedFor, Space
from thiessen.contract.words import (
    NO_NUL,
    Answer,
    Config,
    InProject,
    InStudy,
    Json,
    Label,
    Name,
    Request,
    Text,
    TrialNumber,
    Verdict,
)

Metric = FiniteFloat | Literal["NaN", "Infinity", "-Infinity"]


def metric(value: float) -> Metric:
    """Return a number as JSON can say it."""
    number = float(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return number


class Slot(Request):
    """A device, or several, on which one trial trains at a time."""

    name: Label = Field(description="cpu, mps, cuda:0, or cuda:0,cuda:1 where a slot spans devices.")
    gpus: Annotated[int, Field(ge=0, le=1024)] = Field(default=0, description="How many it has.")
    gpu_memory_gb: Annotated[FiniteFloat, Field(ge=0, le=1e6)] = Field(
        default=0.0, description="Memory of each of its GPUs, in 10**9 bytes; 0 where that is not known."
    )


LARGEST_OFFER: Final = 200_000  # characters of JSON


class OfferedTask(Request):
    """A task that a worker can train."""

    name: Name
    version: Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)] | None = Field(
        default=None, description="A study is held to the first that was leased; null: it has none."
    )
    description: Annotated[str, Field(max_length=2000, pattern=NO_NUL)] = Field(
        default="", description="What it trains, in a sentence or two."
    )
    config_schema: dict[Label, Json] = Field(
        default={},
        alias="schema",
        description="JSON Schema of its configs: the server refuses spaces that go beyond. Empty: anything.",
    )
    spaces: Annotated[dict[Label, Space], Field(max_length=100)] = Field(
        default={}, description="Spaces to begin a study with, by name, the usual one first."
    )

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if len(self.model_dump_json(by_alias=True)) > LARGEST_OFFER:
            raise ValueError(f"schema and spaces of a task are at most {LARGEST_OFFER} characters of JSON")
        return self


class WorkerSpec(Request):
    """A worker says what it has and what it can train."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "incarnation": "6f1c2a7e",
                    "slots": [{"name": "cuda:0", "gpus": 1, "gpu_memory_gb": 80.0}],
                    "labels": {"pool": "a100"},
                    "tasks": [
                        {
                            "name": "classifier",
                            "version": "0.1.0",
                            "schema": {
                                "type": "object",
                                "properties": {
                                    "lr": {"type": "number", "exclusiveMinimum": 0},
                                    "hidden": {"type": "integer", "minimum": 1},
                                },
                                "additionalProperties": False,
                            },
                            "spaces": {
                                "sgd": {"lr": {"type": "float", "low": 0.001, "high": 1.0, "log": True}}
                            },
                        }
                    ],
                }
            ]
        }
    )

    incarnation: Name = Field(description="New for each start of the worker process.")
    slots: Annotated[list[Slot], Field(max_length=1024)] = Field(
        default=[], description="For people to see; a lease request says for which slot it asks."
    )
    labels: Annotated[dict[Label, Label], Field(max_length=50)] = Field(
        default={}, description="What it says of itself by name, and studies may require."
    )
    tasks: Annotated[list[OfferedTask], Field(min_length=1, max_length=1000)] = Field(
        description="What it can train."
    )


class WorkerChanges(Request):
    """What a person changes of a worker."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"is_draining": True}]})

    is_draining: bool = Field(description="True: it finishes what it trains and leases no more.")


class WorkerAnswer(Answer):
    """A worker as the server knows it."""

    name: str = Field(description="The server knows one worker by each name.")
    incarnation: str = Field(description="New for each start of the worker process.")
    slots: list[dict[str, JsonValue]] = Field(
        description="Name, `gpus` and `gpu_memory_gb` of each, as it told them."
    )
    labels: dict[str, str] = Field(description="What it says of itself by name, and studies may require.")
    tasks: list[dict[str, JsonValue]] = Field(
        description="Name, version and description of each that it can train."
    )
    is_draining: bool = Field(description="True: it finishes what it trains and leases no more.")
    running: int = Field(description="Attempts under way.")
    registered_at: datetime = Field(description="When it first registered since its start.")
    seen_at: datetime = Field(description="When it last registered, asked for trials or sent a heartbeat.")


class Workers(Answer):
    """Every worker, the last seen first."""

    workers: list[WorkerAnswer] = Field(
        description="With a token of one project those that may work for it, with its attempts alone."
    )


class TaskAnswer(Answer):
    """A task that workers offer."""

    name: str = Field(description="What a study calls it.")
    versions: list[str] = Field(
        description="Those that workers have registered, sorted as texts; empty if it has none."
    )
    workers: int = Field(description="How many have registered it.")
    description: str = Field(description="By the worker that was seen last of those that told one.")
    config_schema: dict[str, JsonValue] = Field(
        default={},
        alias="schema",
        description="JSON Schema of its configs, by the worker that was seen last of those that told "
        "one. Empty: anything.",
    )
    spaces: dict[str, dict[str, JsonValue]] = Field(
        default={}, description="Spaces to begin a study with, by name, the usual one first."
    )


class Tasks(Answer):
    """Every task on offer."""

    tasks: list[TaskAnswer] = Field(description="In the order of their names.")


class LeaseRequest(Request):
    """A worker asks for trials to train."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "worker": "gpu-node-3",
                    "incarnation": "6f1c2a7e",
                    "request_id": "slot-0-17",
                    "tasks": ["classifier"],
                    "slot": {"name": "cuda:0", "gpus": 1, "gpu_memory_gb": 80.0},
                    "environment": {"python": "3.12.3", "torch": "2.13.0"},
                    "wait_seconds": 20.0,
                }
            ]
        }
    )

    worker: Name
    incarnation: Name = Field(description="New for each start of the worker process.")
    request_id: Name = Field(description="Asking again with the same id returns the same leases.")
    max: Annotated[int, Field(ge=1, le=100, description="How many trials at most.")] = 1
    tasks: Annotated[list[Name], Field(min_length=1, max_length=1000)] | None = Field(
        default=None,
        description="Only trials of these tasks; of all that the worker registered when left out.",
    )
    studies: Annotated[list[Name], Field(min_length=1, max_length=100)] | None = Field(
        default=None, description="Only trials of these studies; of any that is not open when left out."
    )
    lease_for: Annotated[FiniteFloat, Field(ge=1, le=30 * 24 * 3600)] | None = Field(
        default=None, description="Seconds; for people and instruments that send no heartbeat."
    )
    wait_seconds: Annotated[FiniteFloat, Field(ge=0, le=60)] = Field(
        default=0.0, description="How long the answer may wait for a trial."
    )
    slot: Slot = Field(
        default=Slot(name=""), description="On what it will be trained: a study may require some."
    )
    environment: Annotated[dict[Label, Label], Field(max_length=50)] = Field(
        default={}, description="Versions and the like, kept with the attempt."
    )


class Lease(Answer):
    """The right to run one attempt of a trial."""

    lease_id: str = Field(description="Names this attempt in every later call; keep it to yourself.")
    project: InProject = "default"
    study: InStudy
    trial: TrialNumber
    attempt: int = Field(description="The number of this attempt of the trial, from 1.")
    task: str = Field(description="What to train.")
    config: Config = Field(
        description="What to train with; of an open study what is proposed for the dimensions that it knows."
    )
    seed: int = Field(description="Decides the training: it is the same in every attempt of the trial.")
    space: dict[str, dict[str, JsonValue]] | None = Field(
        default=None, description="What is known of an open space by now; null where it was declared."
    )
    expires_at: datetime = Field(
        description="When its trial may be given to another, if there is no heartbeat before."
    )
    lease_seconds: float = Field(description="A heartbeat is due every third of this.")


class Leases(Answer):
    """What there is to train; nothing when it is empty."""

    leases: list[Lease] = Field(description="As many as were asked for at most.")


class Point(Request):
    """One point of a learning curve."""

    step: Annotated[int, Field(ge=0, lt=2**53)] = Field(
        description="How far the training is, in updates or what else the task counts."
    )
    metrics: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=100)], Metric], Field(min_length=1, max_length=50)
    ] = Field(
        description="What was measured there, by name; also `NaN`, `Infinity` and `-Infinity`, as texts."
    )


class Heartbeat(Request):
    """A worker lives, and may have new points of the learning curve."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"reports": [{"step": 10, "metrics": {"validation_loss": 0.41}}]}]}
    )

    reports: Annotated[list[Point], Field(max_length=1000)] = Field(
        default=[], description="New points only; a point sent twice counts once."
    )
    log_tail: Text | None = Field(default=None, description="The last lines of the log; the latest is kept.")

    @model_validator(mode="after")
    def _steps_rise(self) -> Self:
        steps = [point.step for point in self.reports]
        if any(later <= earlier for earlier, later in pairwise(steps)):
            raise ValueError("the steps of one batch of reports rise; send each step once, in order")
        return self


class HeartbeatAnswer(Answer):
    """The server's orders: go on; end early, as pruned; give the trial back; or finish and lease no more."""

    verdict: Verdict = Field(
        description="prune: end, and complete as pruned; stop: end, and release; drain: finish, and "
        "lease no more."
    )
    reason: str | None = Field(default=None, description="Why to prune or to stop, in a sentence; else null.")
    expires_at: datetime = Field(description="When the lease expires if there is no other heartbeat.")


class _End(Request):
    """How an attempt ended."""

    asked: AskedFor | None = Field(
        default=None,
        description="What it asked for, where the space is open: needed with a result; refused elsewhere.",
    )


class Loss(_End):
    """The attempt ended with a finite loss; smaller is better, whatever the study's direction."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"loss": 0.0731}]})

    loss: FiniteFloat = Field(description="What the trial is ranked by.")


class Value(_End):
    """The attempt ended with a finite value; the study's direction says whether large ones are good."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": 0.97}]})

    value: FiniteFloat = Field(description="What the trial is ranked by.")


class Diverged(_End):
    """The attempt ended without a finite loss: a fact about the config, not an error."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"diverged": "nan"}]})

    diverged: Literal["nan", "inf", "-inf", "too large"] = Field(
        description="What the loss was; `too large` is a verdict of the task."
    )


class Pruned(_End):
    """The attempt ended early because its curve was not worth going on with."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pruned": True, "value": 2.3}]})

    pruned: Literal[True] = Field(description="True: it tells this end from the others.")
    value: FiniteFloat | None = Field(
        default=None, description="Its last value; left out, the last one it reported of the study's metric."
    )


Outcome = Loss | Value | Diverged | Pruned


class Failure(_End):
    """The attempt ended by a fault; the trial is tried again while it has attempts left."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "error", "message": "KeyError: 'lr'", "traceback": ""}]}
    )

    kind: Literal["error", "out_of_memory", "stalled", "time_limit"] = Field(
        description="The study's `retry` names those after which a trial is tried again."
    )
    message: Text = Field(description="What happened, for people; it is kept with the attempt.")
    traceback: Text = Field(
        default="", description="Where in the code it happened; it is kept with the attempt."
    )
    retry: bool = Field(default=True, description="False when trying again cannot help.")
