"""What people do with a comparison: create it, pause it, give it more to spend, delete it. Each is a step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from app.domain.comparison import Comparison, Part, Place
from app.domain.errors import ComparisonEnded, ComparisonExists, InvalidRequest, StudyOfName
from app.domain.study import Study, StudyState
from app.lifecycle import change as changing
from app.lifecycle import register
from app.lifecycle.draft import part
from app.storage import Transaction, audit, bell, comparisons, studies
from thiessen.comparison import plan
from thiessen.contract import ComparisonChanges, ComparisonSpec
from thiessen.integrations import KNOWN
from thiessen.search.settings import strategy_from_json, strategy_to_json
from thiessen.search.strategy import StrategyError
from thiessen.space import SpaceError

ANYBODY: Final = 0  # the bell of no study: who waits for any trial hears it


def searches(spec: ComparisonSpec, *, after: int = 0) -> list[Part]:
    """Return the searches that a comparison is made of, those of later replicates only when told.

    Raises InvalidRequest.
    """
    try:
        planned = list(plan.searches(spec))
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise InvalidRequest(f"a search of it cannot be: {place}: {fault['msg']}") from error
    return [_search(each) for each in planned if each.replicate > after]


def _search(planned: plan.Planned) -> Part:
    try:
        draft = part(planned.study, Place(planned.label, replicate=planned.replicate))
        if planned.study.max_updates or planned.study.max_seconds:
            _must_not_ask_for_trials(planned.study.strategy, draft)
    except SpaceError as error:
        raise InvalidRequest(f"space of arm {planned.label!r}: {error}") from error
    except StrategyError as error:
        raise InvalidRequest(f"strategy of arm {planned.label!r}: {error}") from error
    return draft


def _must_not_ask_for_trials(strategy: Any, draft: Part) -> None:
    """Raise StrategyError where a strategy has its settings from a number of trials, and there is none."""
    if strategy_to_json(strategy_from_json(strategy, KNOWN)) != draft.spec.strategy:
        raise StrategyError(
            f"{draft.spec.strategy['name']} has its levels from the number of trials, and this comparison "
            "counts something else. Give it `levels`."
        )


def create(tx: Transaction, project: str, sent: ComparisonSpec, parts: Sequence[Part], who: str) -> bool:
    """Store a comparison with its searches, or find the same one; say whether it is new.

    Raises ComparisonExists, ComparisonEnded, StudyOfName, ProjectNotFound, QuotaUsedUp, and InvalidRequest
    for a space that its task refuses.
    """
    reserved = len(sent.arms) if sent.confirm else 0
    known = comparisons.find(tx, project, sent.name)
    if known is None:
        project_id = studies.room_for(tx, project, len(parts) + reserved)
        written = sent.model_dump(mode="json", exclude_unset=True)
        remarks = {"priority": sent.priority, "tags": sent.tags, "notes": sent.notes}
        if comparisons.add(tx, project_id, sent.name, written, **remarks):
            made = comparisons.named(tx, project, sent.name)
            if sent.confirm:
                _must_be_free(tx, made, [plan.confirmation(sent, arm, 1).name for arm in sent.arms])
            _add(tx, made, parts, who)
            return True
        known = comparisons.named(tx, project, sent.name)  # somebody was quicker
    if known.archived_at is not None:
        raise ComparisonEnded(sent.name, "was deleted; choose another name, or have an admin purge it")
    if differing := _differing(known, sent):
        raise ComparisonExists(sent.name, differing)
    return False


def change(tx: Transaction, project: str, name: str, sent: ComparisonChanges, who: str) -> None:
    """Pause, resume, stop, extend, or write remarks.

    Raises ComparisonNotFound, ComparisonEnded, InvalidRequest, StudyOfName, QuotaUsedUp.
    """
    comparison = _locked(tx, project, name)
    if comparison.archived_at is not None:
        raise ComparisonEnded(name, "was deleted; nothing of it changes any more")
    before = ComparisonSpec.model_validate(comparison.spec)
    after = _changed(comparison, before, sent)
    is_extended = (after.budget, after.replicates) != (before.budget, before.replicates)
    state = _restated(comparison, sent.state, is_extended=is_extended)
    around = comparison.around
    if is_extended and comparisons.is_confirming(tx, comparison.id, around):
        _give_up(tx, comparison, who)
        around += 1
    values: dict[str, Any] = {"priority": after.priority, "tags": after.tags, "notes": after.notes}
    if state is not StudyState.COMPLETED:
        values["completed_at"] = None
    written = after.model_dump(mode="json", exclude_unset=True)
    comparisons.change(tx, comparison.id, spec=written, state=state, around=around, **values)
    budget = {} if after.budget == before.budget else {plan.LIMITS[after.budget.unit]: after.budget.most}
    _change_studies(tx, replace(comparison, state=state, around=around), budget, after.priority, who)
    if after.replicates > before.replicates:
        more = [replace(each, state=state) for each in searches(after, after=before.replicates)]
        studies.room_for(tx, project, len(more))
        _add(tx, comparison, more, who)
    bell.ring(tx, ANYBODY)


def archive(tx: Transaction, project: str, name: str, who: str) -> None:
    """Stop a comparison and take it out of every list, with its studies. Raises ComparisonNotFound."""
    comparison = _locked(tx, project, name)
    if comparison.archived_at is not None:
        return
    is_ended = comparison.state is StudyState.COMPLETED
    comparisons.archive(tx, comparison.id, StudyState.COMPLETED if is_ended else StudyState.STOPPED)
    for study in _studies(tx, comparison):
        changing.put_away(tx, study, who)


def purge(tx: Transaction, project: str, name: str, who: str) -> None:
    """Remove a comparison and its studies with all that is known of them. Raises ComparisonNotFound."""
    comparison = _locked(tx, project, name)
    for study in _studies(tx, comparison):
        studies.remove(tx, study.id)
    comparisons.remove(tx, comparison.id)
    audit.append(tx, who, "comparison.purged", f"{project}/{name}", None)


def _locked(tx: Transaction, project: str, name: str) -> Comparison:
    """Lock what belongs to a comparison, its studies first, and return it. Raises ComparisonNotFound."""
    found = comparisons.named(tx, project, name)
    comparisons.lock_studies(tx, found.id)
    return comparisons.lock(tx, found.id)


def _studies(tx: Transaction, comparison: Comparison) -> Iterator[Study]:
    """Yield each study of a comparison, also those made since they were locked."""
    for study_id in comparisons.lock_studies(tx, comparison.id):
        yield studies.numbered(tx, study_id)


def _must_be_free(tx: Transaction, comparison: Comparison, names: Sequence[str]) -> None:
    if taken := studies.taken(tx, comparison.project_id, names):
        raise StudyOfName(comparison.name, taken)


def _add(tx: Transaction, comparison: Comparison, parts: Sequence[Part], who: str) -> None:
    """Store searches. Raises StudyOfName, and InvalidRequest for a space that its task refuses."""
    for each in {each.place.arm: each for each in parts}.values():  # of an arm all have the same space
        register.must_be_trainable(tx, comparison.project, each.spec.task, each.spec.space)
    names = [each.spec.name for each in parts]
    _must_be_free(tx, comparison, names)
    if not studies.add_parts(tx, comparison.project_id, comparison.id, parts, who):
        _must_be_free(tx, comparison, names)  # somebody was quicker
    bell.ring(tx, ANYBODY)


def _differing(known: Comparison, sent: ComparisonSpec) -> list[str]:
    """Return what is neither as it was submitted, nor all as it is since it was changed."""
    now = ComparisonSpec.model_validate(known.spec)
    if now == sent:
        return []
    submitted = ComparisonSpec.model_validate(known.submitted)
    return [name for name in ComparisonSpec.model_fields if getattr(submitted, name) != getattr(sent, name)]


def _changed(comparison: Comparison, before: ComparisonSpec, sent: ComparisonChanges) -> ComparisonSpec:
    """Return the comparison with what is sent, which is never less. Raises InvalidRequest."""
    if sent.budget is not None:
        if sent.budget.unit != before.budget.unit:
            raise InvalidRequest(
                f"budget: comparison {comparison.name!r} counts {before.budget.unit}, not {sent.budget.unit}."
            )
        if sent.budget.most < before.budget.most:
            raise InvalidRequest(
                f"budget: each search of {comparison.name!r} may spend {before.budget.most:g} "
                f"{before.budget.unit} already; give at least as many."
            )
    if sent.replicates is not None and sent.replicates < before.replicates:
        raise InvalidRequest(
            f"replicates: comparison {comparison.name!r} has {before.replicates} already; "
            "give at least as many."
        )
    told = sent.model_dump(mode="json", exclude_unset=True, exclude={"state"})
    try:
        return ComparisonSpec.model_validate({**comparison.spec, **told})
    except ValidationError as error:
        raise InvalidRequest(f"{error.errors()[0]['msg'].removeprefix('Value error, ')}.") from error


def _restated(comparison: Comparison, wanted: str | None, *, is_extended: bool) -> StudyState:
    """Return the state that a comparison gets; one that is completed only goes on with more to do."""
    is_over = comparison.state is StudyState.COMPLETED
    if is_over and not is_extended:
        if wanted is None:
            return comparison.state
        raise ComparisonEnded(comparison.name, "is completed; extend its budget or its replicates to go on")
    if wanted is not None:
        return StudyState(wanted)
    return StudyState.ACTIVE if is_over else comparison.state


def _give_up(tx: Transaction, comparison: Comparison, who: str) -> None:
    """End what confirms in this round: what it confirms may not be the best any more."""
    for study_id, around in comparisons.rounds(tx, comparison.id):
        if around == comparison.around:
            study = studies.numbered(tx, study_id)
            if study.standing.state is not StudyState.COMPLETED:
                changing.apply(tx, study, {"state": StudyState.STOPPED}, who)


def _change_studies(
    tx: Transaction, comparison: Comparison, budget: Mapping[str, Any], priority: int, who: str
) -> None:
    """Give the searches their budget, and whatever goes on its state and its priority."""
    for study_id, around in comparisons.rounds(tx, comparison.id):
        if around not in {None, comparison.around}:
            continue
        study = studies.numbered(tx, study_id)
        changes = dict(budget) if around is None else {}
        goes_on = study.standing.state is not StudyState.COMPLETED or bool(changes)
        if goes_on and comparison.state is not study.standing.state:
            changes["state"] = comparison.state
        if priority != study.remarks.priority:
            changes["priority"] = priority
        if changes:
            changing.apply(tx, study, changes, who)
