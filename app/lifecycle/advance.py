"""A comparison goes on when a study of it ends: what was found is trained again, and then it is complete.

All in the transaction that ends the study: it is either before that or after it, whoever is killed. Who comes
here holds the lock of a study and takes that of the comparison, so that of two studies which end at once the
second sees what the first has done.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app import failpoint
from app.domain.comparison import Comparison, Found, Part, Place
from app.domain.study import ComparisonId, Ending, StudyState
from app.lifecycle.draft import part
from app.storage import Transaction, bell, comparisons, studies, trials
from app.storage.trials import Queued
from thiessen.comparison import plan
from thiessen.contract import ComparisonSpec


def advance(tx: Transaction, of: ComparisonId, who: str) -> None:
    """Do what is due in a comparison of which a study, whose row is locked, has just ended."""
    comparison = comparisons.lock(tx, of)
    if comparison.state is StudyState.COMPLETED or comparison.archived_at is not None:
        return
    if not comparisons.is_searched(tx, of):
        return
    if comparisons.is_confirming(tx, of, comparison.around):
        if not comparisons.is_confirmed(tx, of, comparison.around):
            return
    elif _confirm(tx, comparison, who):
        return
    comparisons.complete(tx, of)


def _confirm(tx: Transaction, comparison: Comparison, who: str) -> bool:
    """Make the studies that train what was found again; say whether there are any."""
    spec = ComparisonSpec.model_validate(comparison.spec)
    if spec.confirm is None:
        return False
    found = {arm.label: chosen(tx, comparison.id, spec, arm.label) for arm in spec.arms}
    if not any(found.values()):
        return False
    around = comparison.around
    while not (parts := _made(tx, comparison, spec, found, around, who)):
        around += 1  # somebody else has a study of such a name
    comparisons.change(tx, comparison.id, around=around)
    failpoint.reached("half-a-confirmation")
    for each in parts:
        study = studies.named(tx, comparison.project, each.spec.name)
        queued = [
            Queued(one.config, {"replicate": one.replicate, "trial": one.trial, "run": run})
            for one in found[each.place.arm]
            for run in range(1, spec.confirm.seeds + 1)
        ]
        trials.add_queued(tx, study.id, each.spec.seed, each.spec.max_attempts, queued, who)
        studies.change(tx, study.id, reason=Ending.MAX_TRIALS)
        bell.ring(tx, study.id)
    return True


def chosen(tx: Transaction, of: ComparisonId, spec: ComparisonSpec, label: str) -> list[Found]:
    """Return the configs of an arm that are trained again: the best of each search, or the best of all.

    Of the best of all those of different searches come first: one search that was lucky is not the arm.
    """
    if spec.confirm is None:
        return []
    most = spec.confirm.configs
    found = comparisons.best(tx, of, label, most or 1, spec.budget.unit, spec.budget.most)
    if most is None:
        return found
    return sorted(found, key=lambda each: (each.rank > 1, each.loss, each.replicate, each.trial))[:most]


def _made(
    tx: Transaction,
    comparison: Comparison,
    spec: ComparisonSpec,
    found: dict[str, list[Found]],
    around: int,
    who: str,
) -> Sequence[Part]:
    """Store the studies of a round; return them, none where the name of one is taken."""
    parts = []
    for arm in spec.arms:
        if not found[arm.label]:
            continue
        confirms: list[list[Any]] = [[one.replicate, one.trial, one.loss] for one in found[arm.label]]
        made = part(plan.confirmation(spec, arm, around), Place(arm.label, around=around, confirms=confirms))
        runs = len(confirms) * (0 if spec.confirm is None else spec.confirm.seeds)
        budget = replace(made.budget, max_trials=runs)
        parts.append(replace(made, budget=budget, state=comparison.state))
    is_free = studies.add_parts(tx, comparison.project_id, comparison.id, parts, who)
    return parts if is_free else []
