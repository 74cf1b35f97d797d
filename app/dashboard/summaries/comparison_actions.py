"""What a person may do with a comparison, as it stands."""

from typing import Final

from app.dashboard.actions import Action, Field
from app.domain.comparison import Comparison
from app.domain.study import StudyState
from thiessen.contract import ComparisonSpec

DELETION: Final = (
    "It is stopped and taken out of every list, with all of its studies; their addresses go on showing them. "
    "This cannot be taken back."
)
STOPPING: Final = "Running trials are told to stop and go back to the queue. Resume goes on with them."
EXTENSION: Final = "It goes on from where it is. What was confirmed is confirmed anew."


def comparison_actions(comparison: Comparison, spec: ComparisonSpec) -> list[Action]:
    """Return what can be done now; nothing with what was deleted."""
    if comparison.archived_at is not None:
        return []
    state, offered = comparison.state, []
    if state is StudyState.ACTIVE:
        offered.append(Action("pause", "Pause", key="p"))
    elif state is not StudyState.COMPLETED:
        offered.append(Action("resume", "Resume", key="p"))
    offered += [_extend(spec), _note(comparison)]
    if state in {StudyState.ACTIVE, StudyState.PAUSED}:
        offered.append(Action("stop", "Stop", says=STOPPING))
    return [*offered, _delete(comparison)]


def _extend(spec: ComparisonSpec) -> Action:
    unit, most = spec.budget.unit, f"{spec.budget.most:.15g}"
    return Action(
        "extend",
        "Extend",
        says=EXTENSION,
        fields=[
            Field(
                "budget",
                f"{unit.capitalize()} of each search",
                "number",
                most,
                f"At least the {most} it has.",
            ),
            Field(
                "replicates",
                "Searches of each arm",
                "number",
                str(spec.replicates),
                f"At least the {spec.replicates} there are.",
            ),
        ],
    )


def _note(comparison: Comparison) -> Action:
    return Action(
        "note",
        "Notes",
        fields=[
            Field("notes", "Notes", "lines", comparison.notes),
            Field("tags", "Tags", value=" ".join(comparison.tags), hint="With spaces between them."),
        ],
        button="Save",
    )


def _delete(comparison: Comparison) -> Action:
    fields = [
        Field("name", "Type its name", hint=comparison.name),
        Field("purge", "Remove its history too, for good", "check", scope="admin"),
    ]
    return Action("delete", "Delete", says=DELETION, fields=fields, is_grave=True)
