"""What a storage of Optuna asks for, over HTTP."""

import asyncio
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from app import wire
from app.api.answers import answer, nothing, replied
from app.api.keys import TheKey
from app.api.paging import Cursor
from app.api.paths import Limit, Project
from app.api.problems import documented
from app.domain.access import Principal, Scope
from app.domain.reply import Reply
from app.gate import needs
from app.house import TheHouse
from app.lifecycle import optuna
from app.lifecycle.once import once
from app.storage import Transaction
from app.storage import optuna as stored
from thiessen import contract
from thiessen.contract.optuna import OptunaName
from thiessen.contract.words import NeverNull

router = APIRouter(prefix="/optuna", tags=["optuna"])

Reader = Annotated[Principal, needs(Scope.READ)]
Submitter = Annotated[Principal, needs(Scope.SUBMIT)]
Worker = Annotated[Principal, needs(Scope.WORK)]
StudyId = Annotated[int, Path(ge=0, lt=2**53, description="The id of the study.")]
TrialId = Annotated[int, Path(ge=0, lt=2**53, description="The id of the trial.")]
WRONG = documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
REFUSED = documented(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)


@router.post(
    "/studies", status_code=HTTPStatus.CREATED, response_model=contract.OptunaStudy, responses=REFUSED
)
async def create_optuna_study(
    sent: contract.OptunaStudySpec, house: TheHouse, project: Project, who: Submitter, key: TheKey
) -> Response:
    """Create a study of Optuna."""
    attributes = wire.optuna_attributes(sent)

    def step(tx: Transaction) -> Reply:
        made = optuna.create(tx, project, sent.name, sent.directions, attributes, who.name)
        return Reply(HTTPStatus.CREATED, wire.optuna_study(made).model_dump_json())

    return replied(await house.store.written(lambda tx: once(tx, who, key, step)))


@router.get("/studies", response_model=contract.OptunaStudies, responses=WRONG)
async def list_optuna_studies(
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    cursor: Cursor = None,
    limit: Limit = 100,
    name: Annotated[OptunaName | None, NeverNull(), Query(description="Only the study of this name.")] = None,
) -> Response:
    """List the studies of Optuna in a project with their attributes, oldest first."""
    del who
    after = 0 if cursor is None else int(cursor)
    step = partial(stored.page, project=project, limit=limit, after=after, name=name)
    found, is_all = await house.store.seen(step)
    studies = [wire.optuna_study(each) for each in found]
    return answer(contract.OptunaStudies(studies=studies, next=None if is_all else str(found[-1].id)))


@router.get("/studies/{study_id}", response_model=contract.OptunaStudy, responses=WRONG)
async def read_optuna_study(study_id: StudyId, house: TheHouse, project: Project, who: Reader) -> Response:
    """Return a study of Optuna with its attributes."""
    del who
    step = partial(stored.read, project=project, study_id=study_id)
    return answer(wire.optuna_study(await house.store.seen(step)))


@router.patch("/studies/{study_id}", status_code=HTTPStatus.NO_CONTENT, responses=WRONG)
async def describe_optuna_study(
    study_id: StudyId, sent: contract.OptunaAttributes, house: TheHouse, project: Project, who: Worker
) -> Response:
    """Set attributes of a study of Optuna; those that are not told stay."""
    del who
    attributes = wire.optuna_attributes(sent)
    step = partial(optuna.describe, project=project, study_id=study_id, attributes=attributes)
    await house.store.written(step)
    return nothing()


@router.delete("/studies/{study_id}", status_code=HTTPStatus.NO_CONTENT, responses=WRONG)
async def delete_optuna_study(
    study_id: StudyId, house: TheHouse, project: Project, who: Submitter, key: TheKey
) -> Response:
    """Remove a study of Optuna for good, with its trials."""

    def step(tx: Transaction) -> Reply:
        optuna.remove(tx, project, study_id, who.name)
        return Reply(HTTPStatus.NO_CONTENT, "")

    # it may take seconds
    await asyncio.to_thread(house.store.write, lambda tx: once(tx, who, key, step))
    return nothing()


@router.post(
    "/studies/{study_id}/trials",
    status_code=HTTPStatus.CREATED,
    response_model=contract.AddedOptunaTrials,
    responses=REFUSED,
)
async def add_optuna_trials(
    study_id: StudyId,
    sent: contract.OptunaTrialSpecs,
    house: TheHouse,
    project: Project,
    who: Worker,
    key: TheKey,
) -> Response:
    """Add trials to a study of Optuna: all of them, or none."""
    drafts = [wire.optuna_draft(each) for each in sent.trials]

    def step(tx: Transaction) -> Reply:
        added = optuna.add(tx, project, study_id, drafts, who.name)
        numbers = [contract.OptunaTrialNumber(id=each.id, number=each.number) for each in added]
        return Reply(HTTPStatus.CREATED, contract.AddedOptunaTrials(trials=numbers).model_dump_json())

    whole = partial(once, who=who, key=key, step=step)
    if len(drafts) == 1:
        return replied(await house.store.written(whole))
    return replied(await asyncio.to_thread(house.store.write, whole))  # there may be a thousand of them


@router.get("/studies/{study_id}/trials", response_model=contract.OptunaTrials, responses=WRONG)
async def list_optuna_trials(
    study_id: StudyId,
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    since: Annotated[int, Query(ge=0, lt=2**53, description="`seq` of the answer before.")] = 0,
    limit: Limit = 500,
) -> Response:
    """Return the trials of a study of Optuna that were added or changed since a number."""
    del who
    step = partial(stored.changed, project=project, study_id=study_id, since=since, limit=limit)
    found, is_all = await house.store.seen(step)
    trials = [wire.optuna_trial(each) for each in found]
    return answer(contract.OptunaTrials(trials=trials, seq=found[-1].seq if found else since, is_all=is_all))


@router.get("/studies/{study_id}/stale", response_model=contract.StaleOptunaTrials, responses=WRONG)
async def list_stale_optuna_trials(
    study_id: StudyId,
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    seconds: Annotated[int, Query(ge=1, le=10**7, description="For how long nothing was heard of them.")],
) -> Response:
    """List the running trials of a study of Optuna whose heartbeats stopped."""
    del who
    step = partial(
        stored.stale, project=project, study_id=study_id, silent_for=timedelta(seconds=seconds), limit=1000
    )
    return answer(contract.StaleOptunaTrials(trials=await house.store.seen(step)))


@router.get("/trials/{trial_id}", response_model=contract.OptunaTrial, responses=WRONG)
async def read_optuna_trial(trial_id: TrialId, house: TheHouse, project: Project, who: Reader) -> Response:
    """Return a trial of Optuna."""
    del who
    step = partial(stored.trial, project=project, trial_id=trial_id)
    return answer(wire.optuna_trial(await house.store.seen(step)))


@router.patch("/trials/{trial_id}", response_model=contract.OptunaTrialChanged, responses=REFUSED)
async def change_optuna_trial(
    trial_id: TrialId,
    sent: contract.OptunaTrialChanges,
    house: TheHouse,
    project: Project,
    who: Worker,
    key: TheKey,
) -> Response:
    """Set params, attributes, intermediate values, values or the state of a trial of Optuna."""
    draft = wire.optuna_draft(sent)

    def step(tx: Transaction) -> Reply:
        is_changed = optuna.change(tx, project, trial_id, draft, who.name)
        return Reply(HTTPStatus.OK, contract.OptunaTrialChanged(is_changed=is_changed).model_dump_json())

    return replied(await house.store.written(lambda tx: once(tx, who, key, step)))


@router.post("/trials/{trial_id}/heartbeat", status_code=HTTPStatus.NO_CONTENT, responses=WRONG)
async def hear_optuna_trial(trial_id: TrialId, house: TheHouse, project: Project, who: Worker) -> Response:
    """Note that a trial of Optuna goes on."""
    del who
    await house.store.written(partial(stored.hear, project=project, trial_id=trial_id))
    return nothing()
