"""What a person may do with a trial, as it stands."""

from app.dashboard.actions import Action, Field
from app.domain.study import Study
from app.domain.trial import UNFINISHED, Trial, TrialState


def trial_actions(study: Study, trial: Trial) -> list[Action]:
    """Return what can be done now; programs of Optuna alone move the trials of a mirror."""
    offered = []
    if study.mirrors is None:
        if trial.state is TrialState.FAILED and study.archived_at is None:
            offered.append(Action("retry", "Retry"))
        if trial.state in UNFINISHED:
            told = "It ends for good: a worker that trains it is told to stop. This cannot be taken back."
            offered.append(Action("cancel", "Cancel trial", says=told, is_grave=True))
    notes = [Field("notes", "Notes", "lines", trial.notes)]
    return [*offered, Action("note", "Notes", fields=notes, button="Save")]
