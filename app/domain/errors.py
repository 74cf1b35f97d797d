"""What the server refuses, in sentences: what happened, to which thing, what to do.

Refusal
├── InvalidRequest
├── NotFound: ProjectNotFound, StudyNotFound, TrialNotFound, WorkerNotFound
└── Conflict: StudyExists, StudyEnded, LeaseLost, ResultDiffers, MoveRefused, WorkerUnknown, NotReplayable
"""


class Refusal(Exception):  # noqa: N818 - names say what happened, as in thiessen.errors
    """The root of what the server refuses."""

    type = "refused"


class InvalidRequest(Refusal):
    """A field has the right shape and no meaning."""

    type = "invalid-request"


class StrategyUnavailable(Exception):  # noqa: N818
    """No refusal: the strategy of a study cannot propose now."""

    def __init__(self, study: str, why: str) -> None:
        super().__init__(f"The strategy of study {study!r} {why}.")


class NotFound(Refusal):
    """Nothing has this name."""


class ProjectNotFound(NotFound):
    """No project has this name."""

    type = "project-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no project {name!r}. Check the name; POST /api/v1/projects creates one.")


class StudyNotFound(NotFound):
    """No study has this name."""

    type = "study-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is no study {name!r}. Check the name; "
            "`thiessen study create FILE` or POST /api/v1/studies creates one."
        )


class TrialNotFound(NotFound):
    """The study has no trial of this number."""

    type = "trial-not-found"

    def __init__(self, study: str, number: int, trials: int) -> None:
        super().__init__(f"Study {study!r} has no trial {number}; it has {trials}, numbered from 0.")


class WorkerNotFound(NotFound):
    """No worker has registered under this name."""

    type = "worker-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"No worker {name!r} has registered. Check the name; GET /api/v1/workers lists them."
        )


class Conflict(Refusal):
    """It would contradict what is already stored."""


class StudyExists(Conflict):
    """The name is taken by a study with another spec."""

    type = "study-exists"

    def __init__(self, name: str, differing: list[str]) -> None:
        super().__init__(
            f"A study {name!r} exists with another {', '.join(differing)}. Choose another name, or send the "
            "same spec to get the existing study; budgets of a study are changed by PATCH."
        )


class StudyEnded(Conflict):
    """The study takes no more of this."""

    type = "study-ended"

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"Study {name!r} {why}.")


class LeaseLost(Conflict):
    """The lease no longer holds."""

    type = "lease-lost"

    def __init__(self, lease_id: str, why: str) -> None:
        super().__init__(f"Lease {lease_id[:8]}… no longer holds: {why}. Drop this attempt and lease again.")


class ResultDiffers(Conflict):
    """The lease has already reported something else."""

    type = "result-differs"

    def __init__(self, lease_id: str, study: str, trial: int) -> None:
        super().__init__(
            f"Lease {lease_id[:8]}… has already reported another result for trial {trial} of study "
            f"{study!r}; the first one counts. Report a result once, or repeat it unchanged."
        )


class MoveRefused(Conflict):
    """The trial is in no state for this."""

    type = "move-refused"

    def __init__(self, study: str, trial: int, state: str, wanted: str) -> None:
        super().__init__(f"Trial {trial} of study {study!r} is {state}, so it cannot be {wanted}.")


class WorkerUnknown(Conflict):
    """A lease request leaves out what only a registered worker may leave out."""

    type = "worker-unknown"

    def __init__(self, worker: str, incarnation: str) -> None:
        super().__init__(
            f"Worker {worker!r} has not registered as incarnation {incarnation!r}, so its tasks are not known. "
            f"PUT /api/v1/workers/{worker} first, or name the tasks in the request."
        )
