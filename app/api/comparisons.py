"""Comparisons over HTTP."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Response

from app import wire
from app.api.answers import answer, nothing, replied
from app.api.keys import TheKey
from app.api.paging import Cursor
from app.api.paths import Project, TheComparison
from app.api.problems import documented
from app.api.studies import PURGING, REFUSED, WRONG, Reader, Submitter
from app.domain.errors import InvalidRequest
from app.domain.reply import Reply
from app.domain.study import StudyState
from app.house import House, TheHouse
from app.lifecycle import compare, comparison_progress
from app.lifecycle.once import once
from app.storage import Transaction
from thiessen import contract
from thiessen.comparison import plan, written
from thiessen.comparison.profile import profile
from thiessen.contract.comparisons import ComparisonName
from thiessen.contract.words import NeverNull
from thiessen.contract.words import StudyState as StateName

router = APIRouter(tags=["comparisons"])

MOST_PROFILED: Final = 50
Profiled = Annotated[
    list[ComparisonName],
    Query(min_length=1, max_length=MOST_PROFILED, description="Each is a workload; repeat it."),
]
Over = Annotated[Literal["updates", "seconds"], Query(description="What reaching the target takes.")]
HERE: Final = documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)


class Form(StrEnum):
    """How a report is written."""

    JSON = "json"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"


WRITTEN: Final[Mapping[Form, tuple[str, Callable[[contract.ComparisonReport], str]]]] = {
    Form.MARKDOWN: ("text/markdown", written.markdown),
    Form.LATEX: ("application/x-latex", written.latex),
    Form.CSV: ("text/csv", written.csv),
}


@router.post(
    "/comparisons",
    status_code=HTTPStatus.CREATED,
    response_model=contract.Comparison,
    responses={
        200: {
            "model": contract.Comparison | contract.Cost,
            "description": "The same comparison exists; here it is. With `plan`: what it would cost.",
        },
        **REFUSED,
    },
)
async def create_comparison(
    sent: contract.ComparisonSpec,
    house: TheHouse,
    project: Project,
    who: Submitter,
    key: TheKey,
    *,
    plan_only: Annotated[
        bool, Query(alias="plan", description="Only tell what it would cost; create nothing.")
    ] = False,
) -> Response:
    """Create a comparison with all of its searches; the same name and spec again is the existing one."""
    parts = await asyncio.to_thread(compare.searches, sent)
    if plan_only:
        return answer(plan.cost(sent))

    def step(tx: Transaction) -> Reply:
        is_new = compare.create(tx, project, sent, parts, who.name)
        status = HTTPStatus.CREATED if is_new else HTTPStatus.OK
        return Reply(
            status, wire.comparison(comparison_progress.progress(tx, project, sent.name)).model_dump_json()
        )

    # there may be a thousand of them
    return replied(await asyncio.to_thread(house.store.write, lambda tx: once(tx, who, key, step)))


@router.get("/comparisons", response_model=contract.Comparisons, responses=WRONG)
async def list_comparisons(
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=100, description="How many to list at once.")] = 20,
    state: Annotated[
        StateName | None, NeverNull(), Query(description="Only comparisons in this state.")
    ] = None,
) -> Response:
    """List the comparisons of a project, newest first, without their searches."""
    del who
    step = partial(
        comparison_progress.page,
        project=project,
        limit=limit + 1,
        before=None if cursor is None else int(cursor),
        state=None if state is None else StudyState(state),
    )
    found = await house.store.seen(step)
    following = str(found[limit - 1].comparison.id) if len(found) > limit else None
    listed = [wire.comparison(each, has_searches=False) for each in found[:limit]]
    return answer(contract.Comparisons(comparisons=listed, next=following))


@router.get("/comparisons/{name}", response_model=contract.Comparison, responses=WRONG)
async def show_comparison(name: TheComparison, house: TheHouse, project: Project, who: Reader) -> Response:
    """Return a comparison as it stands, with each of its searches."""
    del who
    found = await house.store.seen(partial(comparison_progress.progress, project=project, name=name))
    return answer(wire.comparison(found))


@router.patch("/comparisons/{name}", response_model=contract.Comparison, responses=REFUSED)
async def change_comparison(
    name: TheComparison,
    sent: contract.ComparisonChanges,
    house: TheHouse,
    project: Project,
    who: Submitter,
) -> Response:
    """Pause, resume or stop all of it, give it more to spend or more replicates, or write remarks on it."""
    step = partial(compare.change, project=project, name=name, sent=sent, who=who.name)
    await asyncio.to_thread(house.store.write, step)
    found = await house.store.seen(partial(comparison_progress.progress, project=project, name=name))
    return answer(wire.comparison(found))


@router.delete("/comparisons/{name}", status_code=HTTPStatus.NO_CONTENT, responses=REFUSED)
async def delete_comparison(
    name: TheComparison,
    house: TheHouse,
    project: Project,
    who: Submitter,
    *,
    purge: Annotated[
        bool,
        Query(
            description="Remove it and its studies for good, with their history.",
            json_schema_extra=PURGING.told,
        ),
    ] = False,
) -> Response:
    """Stop a comparison and take it out of every list, with its studies. Their history is kept."""
    if purge:
        PURGING.insist(who)
    verb = compare.purge if purge else compare.archive
    step = partial(verb, project=project, name=name, who=who.name)
    await asyncio.to_thread(house.store.write, step)  # it may take seconds
    return nothing()


@router.get(
    "/comparisons/{name}/report",
    response_model=contract.ComparisonReport,
    responses={
        200: {
            "content": {kind: {"schema": {"type": "string"}} for kind, _ in WRITTEN.values()},
            "description": "As JSON, or written for people.",
        },
        **WRONG,
    },
)
async def report_comparison(
    name: TheComparison,
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    form: Annotated[Form, Query(alias="format", description="How it is written.")] = Form.JSON,
) -> Response:
    """Return what came of a comparison: verdicts, numbers and curves."""
    del who
    found, _ = await house.reports.report(house.store, project, name)
    if form is Form.JSON:
        return Response(await asyncio.to_thread(found.model_dump_json), media_type="application/json")
    kind, write = WRITTEN[form]
    return Response(await asyncio.to_thread(write, found), media_type=f"{kind}; charset=utf-8")


@router.get("/profile", response_model=contract.Profile, responses=HERE)
async def profile_comparisons(
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    comparison: Profiled,
    over: Over = "updates",
) -> Response:
    """Return on which share of several comparisons each arm is how much slower than the fastest."""
    del who
    found, _ = await profiled(house, project, comparison, over)
    return answer(found)


async def profiled(
    house: House, project: str, names: Sequence[str], over: Literal["updates", "seconds"]
) -> tuple[contract.Profile, str]:
    """Return performance profiles, and a text that others do not have. Raises InvalidRequest."""
    found = [await house.reports.report(house.store, project, name) for name in names]
    try:
        made = await asyncio.to_thread(profile, [report for report, _ in found], over)
    except ValueError as error:
        raise InvalidRequest(f"comparison: {error}") from error
    return made, " ".join([over, *(moment for _, moment in found)])
