"""Studies and their trials over HTTP."""

import asyncio
from functools import partial
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app import wire
from app.api.answers import answer, nothing, replied
from app.api.keys import TheKey
from app.api.paging import Cursor
from app.api.paths import InComparison, Limit, Number, Project, StudyName, Top
from app.api.problems import documented
from app.domain.access import Principal, Scope
from app.domain.reply import Reply
from app.domain.study import StudyState
from app.gate import Allowed, needs
from app.house import TheHouse
from app.lifecycle import change, draft, enqueue, intervene, rank, submit
from app.lifecycle.once import once
from app.storage import Transaction
from thiessen import contract
from thiessen.contract.words import Name, NeverNull
from thiessen.contract.words import StudyState as StateName

router = APIRouter(tags=["studies"])

Reader = Annotated[Principal, needs(Scope.READ)]
Submitter = Annotated[Principal, needs(Scope.SUBMIT)]
PURGING = Allowed(Scope.ADMIN)
WRONG = documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
REFUSED = documented(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)


@router.post(
    "/studies",
    status_code=HTTPStatus.CREATED,
    response_model=contract.Study,
    responses={
        200: {"model": contract.Study, "description": "The same study exists; here it is."},
        **REFUSED,
    },
)
async def create_study(
    sent: contract.StudySpec, house: TheHouse, project: Project, who: Submitter, key: TheKey
) -> Response:
    """Create a study; the same name and spec again is the existing one."""
    spec, budget, remarks = draft.spec(sent), draft.budget(sent), draft.remarks(sent)

    def step(tx: Transaction) -> Reply:
        progress, is_new = submit.submit(tx, project, spec, budget, remarks, who.name)
        status = HTTPStatus.CREATED if is_new else HTTPStatus.OK
        return Reply(status, wire.study(progress).model_dump_json())

    return replied(await house.store.written(lambda tx: once(tx, who, key, step)))


@router.get("/studies", response_model=contract.Studies, responses=WRONG)
async def list_studies(
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    cursor: Cursor = None,
    limit: Limit = 50,
    state: Annotated[StateName | None, NeverNull(), Query(description="Only studies in this state.")] = None,
    tag: Annotated[Name | None, NeverNull(), Query(description="Only studies with this tag.")] = None,
    q: Annotated[Name | None, NeverNull(), Query(description="Only studies whose name begins so.")] = None,
    archived: Annotated[bool, Query(description="Those that were deleted, in place of the others.")] = False,
    comparison: InComparison = None,
) -> Response:
    """List the studies of a project, newest first."""
    del who
    step = partial(
        submit.page,
        project=project,
        limit=limit + 1,
        before=None if cursor is None else int(cursor),
        state=None if state is None else StudyState(state),
        tag=tag,
        prefix=q or "",
        is_archived=archived,
        comparison=comparison,
    )
    found = await house.store.seen(step)
    following = str(found[limit - 1].study.id) if len(found) > limit else None
    return answer(contract.Studies(studies=[wire.study(each) for each in found[:limit]], next=following))


@router.get("/studies/{name}", response_model=contract.Study, responses=WRONG)
async def read_study(name: StudyName, house: TheHouse, project: Project, who: Reader) -> Response:
    """Return a study as it stands."""
    del who
    return answer(wire.study(await house.store.seen(partial(submit.progress, project=project, name=name))))


@router.patch("/studies/{name}", response_model=contract.Study, responses=REFUSED)
async def change_study(
    name: StudyName, sent: contract.StudyChanges, house: TheHouse, project: Project, who: Submitter
) -> Response:
    """Pause, resume, stop or extend a study, or write remarks on it."""
    step = partial(change.change, project=project, name=name, changes=wire.changes(sent), who=who.name)
    await house.store.written(step)
    return answer(wire.study(await house.store.seen(partial(submit.progress, project=project, name=name))))


@router.delete("/studies/{name}", status_code=HTTPStatus.NO_CONTENT, responses=REFUSED)
async def delete_study(
    name: StudyName,
    house: TheHouse,
    project: Project,
    who: Submitter,
    *,
    purge: Annotated[
        bool, Query(description="Remove it for good, with its history.", json_schema_extra=PURGING.told)
    ] = False,
) -> Response:
    """Stop a study and take it out of every list. Its history is kept unless it is purged."""
    if purge:
        PURGING.insist(who)
        step = partial(change.purge, project=project, name=name, who=who.name)
        await asyncio.to_thread(house.store.write, step)  # it may take seconds
    else:
        await house.store.written(partial(change.archive, project=project, name=name, who=who.name))
    return nothing()


@router.get("/studies/{name}/best", response_model=contract.Best, responses=WRONG)
async def best(name: StudyName, house: TheHouse, project: Project, who: Reader, top: Top = 10) -> Response:
    """Return the best configs of a study, best first."""
    del who
    found = await house.store.seen(partial(rank.best, project=project, name=name, top=top))
    return answer(contract.Best(best=[wire.best_config(each) for each in found]))


@router.post(
    "/studies/{name}/trials",
    status_code=HTTPStatus.CREATED,
    response_model=contract.AddedTrials,
    responses=REFUSED,
)
async def add_trials(
    name: StudyName,
    sent: contract.NewTrials,
    house: TheHouse,
    project: Project,
    who: Submitter,
    key: TheKey,
) -> Response:
    """Add configs to try, and finished trials to learn from: all of them, or none."""
    candidates = [wire.candidate(each) for each in sent.trials]

    def step(tx: Transaction) -> Reply:
        added = enqueue.enqueue(tx, project, name, candidates, who.name)
        body = contract.AddedTrials(trials=[wire.added(each) for each in added])
        return Reply(HTTPStatus.CREATED, body.model_dump_json())

    # there may be a thousand of them
    return replied(await asyncio.to_thread(house.store.write, lambda tx: once(tx, who, key, step)))


@router.get("/studies/{name}/trials/{number}", response_model=contract.Trial, responses=WRONG)
async def read_trial(
    name: StudyName, number: Number, house: TheHouse, project: Project, who: Reader
) -> Response:
    """Return a trial: its config, why it was proposed, its attempts and learning curves."""
    del who
    step = partial(submit.trial, project=project, name=name, number=number)
    return answer(wire.trial(await house.store.seen(step)))


@router.patch("/studies/{name}/trials/{number}", response_model=contract.Trial, responses=REFUSED)
async def change_trial(
    name: StudyName,
    number: Number,
    sent: contract.TrialChanges,
    house: TheHouse,
    project: Project,
    who: Submitter,
) -> Response:
    """Cancel a trial, try a failed one again, or write on it."""
    step = partial(
        intervene.intervene,
        project=project,
        name=name,
        number=number,
        changes=wire.changes(sent),
        who=who.name,
    )
    await house.store.written(step)
    read = partial(submit.trial, project=project, name=name, number=number)
    return answer(wire.trial(await house.store.seen(read)))
