"""Leases: how a worker gets a trial, says that it lives, and ends its attempt."""

from datetime import datetime
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, FiniteFloat, model_validator

from thiessen.contract.words import Answer, Config, Label, Name, Request, Text

Metric = FiniteFloat | Literal["NaN", "Infinity", "-Infinity"]


class LeaseRequest(Request):
    """A worker asks for a trial to train."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "worker": "gpu-node-3",
                    "incarnation": "6f1c2a7e",
                    "request_id": "6f1c2a7e-17",
                    "tasks": ["classifier"],
                    "device": "cuda:0",
                    "environment": {"python": "3.12.3", "torch": "2.13.0"},
                }
            ]
        }
    )

    worker: Name
    incarnation: Name = Field(description="New for each start of the worker process.")
    request_id: Name = Field(description="Asking again with the same id returns the same lease.")
    tasks: Annotated[list[Name], Field(min_length=1, max_length=100)]
    studies: Annotated[list[Name], Field(min_length=1, max_length=100)] | None = Field(
        default=None, description="Only trials of these studies; of any when left out."
    )
    device: Annotated[Label, Field(max_length=100)] = ""
    environment: Annotated[dict[Label, Label], Field(max_length=50)] = Field(
        default={}, description="Versions and the like, kept with the attempt."
    )


class Lease(Answer):
    """The right to run one attempt of a trial."""

    lease_id: str = Field(description="Names this attempt in every later call; keep it to yourself.")
    study: str
    trial: int
    attempt: int
    task: str
    config: Config
    seed: int
    expires_at: datetime
    lease_seconds: float = Field(description="A heartbeat is due every third of this.")


class Point(Request):
    """One point of a learning curve."""

    step: Annotated[int, Field(ge=0, lt=2**53)]
    metrics: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=100)], Metric], Field(min_length=1, max_length=50)
    ]


class Heartbeat(Request):
    """A worker lives, and may have new points of the learning curve."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"reports": [{"step": 10, "metrics": {"validation_loss": 0.41}}]}]}
    )

    reports: Annotated[list[Point], Field(max_length=1000)] = Field(
        default=[], description="New points only; a point sent twice counts once."
    )

    @model_validator(mode="after")
    def _steps_rise(self) -> Self:
        steps = [point.step for point in self.reports]
        if any(later <= earlier for earlier, later in pairwise(steps)):
            raise ValueError("the steps of one batch of reports rise; send each step once, in order")
        return self


class HeartbeatAnswer(Answer):
    """The server's orders."""

    verdict: Literal["continue"]
    expires_at: datetime


class Loss(Request):
    """The attempt ended with a finite loss; smaller is better."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"loss": 0.0731}]})

    loss: FiniteFloat


class Diverged(Request):
    """The attempt ended without a finite loss: a fact about the config, not an error."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"diverged": "nan"}]})

    diverged: Literal["nan", "inf", "-inf", "too large"]


Outcome = Loss | Diverged


class Failure(Request):
    """The attempt ended by a fault; the trial is tried again while it has attempts left."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "error", "message": "KeyError: 'lr'", "traceback": ""}]}
    )

    kind: Literal["error", "out_of_memory"]
    message: Text
    traceback: Text = ""
