"""What paths and queries name, with their limits."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request

from app.domain.study import DEFAULT_PROJECT
from thiessen.contract.comparisons import ComparisonName
from thiessen.contract.words import Name, NeverNull

StudyName = Annotated[Name, Path(description="The study's name.")]
TheComparison = Annotated[ComparisonName, Path(description="The comparison's name.")]
InComparison = Annotated[
    ComparisonName | None,
    NeverNull(),
    Query(description="Studies of this comparison. Else those that belong to none."),
]
Number = Annotated[int, Path(ge=0, lt=2**31, description="The trial's number in its study.")]
TaskName = Annotated[Name, Path(description="The task's name.")]
WorkerName = Annotated[Name, Path(description="The worker's name.")]
Top = Annotated[int, Query(ge=1, le=1000, description="How many configs to list.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many to list at once.")]


async def _project(request: Request) -> str:
    project: str = request.path_params.get("project", DEFAULT_PROJECT)
    return project


Project = Annotated[str, Depends(_project)]
"""The project in the path; `default` where the path names none."""


async def in_project(project: Annotated[Name, Path(description="The project's name.")]) -> None:
    """Declare that the path names a project."""
    del project
