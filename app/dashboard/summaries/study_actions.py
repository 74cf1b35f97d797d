"""What a person may do with a study, as it stands."""

from typing import Final

from app.dashboard.actions import Action, Field
from app.dashboard.values import many
from app.domain.study import Study, StudyState
from app.lifecycle.intervene import MOST_RETRIED

DELETION: Final = (
    "It is stopped and taken out of every list; its address goes on showing it, and its history is kept. "
    "This cannot be taken back."
)


def study_actions(study: Study) -> list[Action]:
    """Return what can be done now. Of a mirror only remarks change, and nothing of what was deleted.

    How far a search of a comparison goes, its comparison alone says.
    """
    if study.archived_at is not None:
        return []
    if study.comparison is not None:
        return [_note(study)]
    state, is_mirror = study.standing.state, study.mirrors is not None
    offered = []
    if not is_mirror:
        if state is StudyState.ACTIVE:
            offered.append(Action("pause", "Pause", key="p"))
        elif state is not StudyState.COMPLETED:
            offered.append(Action("resume", "Resume", key="p"))
        offered += [_extend(study), _enqueue()]
        offered += [_retry(study)] if study.standing.failed else []
    offered.append(_note(study))
    if not is_mirror and state in {StudyState.ACTIVE, StudyState.PAUSED}:
        told = "Running trials are told to stop and go back to the queue. Resume goes on with them."
        offered.append(Action("stop", "Stop", says=told))
    return [*offered, _delete(study)]


def _extend(study: Study) -> Action:
    standing = study.standing
    numbered = standing.trials - standing.imported
    hint = (
        f"It is {standing.max_trials:,} now, and {numbered:,} are numbered; what was imported is not counted."
    )
    field = Field("max_trials", "Trials in all", "number", str(standing.max_trials), hint)
    return Action("extend", "Extend", fields=[field])


def _enqueue() -> Action:
    hint = "JSON or YAML, one in each line, or one written over several lines."
    return Action("enqueue", "Add trials", fields=[Field("configs", "Configs to try", "lines", hint=hint)])


def _retry(study: Study) -> Action:
    failed = study.standing.failed
    told = f"{many(failed, 'trial')} failed in all attempts. Each is queued again, with as many as at first."
    most = f" The first {MOST_RETRIED} at once." if failed > MOST_RETRIED else ""
    return Action("retry", "Retry failed", says=told + most)


def _note(study: Study) -> Action:
    return Action(
        "note",
        "Notes",
        fields=[
            Field("notes", "Notes", "lines", study.remarks.notes),
            Field("tags", "Tags", value=" ".join(study.remarks.tags), hint="With spaces between them."),
        ],
        button="Save",
    )


def _delete(study: Study) -> Action:
    name = study.spec.name
    fields = [
        Field("name", "Type its name", hint=name),
        Field("purge", "Remove its history too, for good", "check", scope="admin"),
    ]
    return Action("delete", "Delete", says=DELETION, fields=fields, is_grave=True)
