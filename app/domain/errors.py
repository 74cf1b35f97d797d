"""What the server refuses, in sentences: what happened, to which thing, what to do.

Refusal
├── InvalidRequest
├── ForbiddenAddress
├── NotFound: ProjectNotFound, StudyNotFound, TrialNotFound, WebhookNotFound
└── Conflict: StudyExists, LeaseLost, ResultDiffers
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


class ForbiddenAddress(Refusal):
    """The server does not call this address on anyone's behalf."""

    type = "forbidden-address"

    def __init__(self, host: str, address: str) -> None:
        super().__init__(
            f"The webhook's host {host!r} is at {address}, which is not on the open Internet. "
            "Choose another, or set THIESSEN_ALLOW_PRIVATE_WEBHOOKS=true if whoever may create webhooks may "
            "also call every machine that this server reaches."
        )


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


class WebhookNotFound(NotFound):
    """No webhook has this number."""

    type = "webhook-not-found"

    def __init__(self, webhook_id: int) -> None:
        super().__init__(f"There is no webhook {webhook_id}. GET /api/v1/webhooks lists them.")


class Conflict(Refusal):
    """It would contradict what is already stored."""


class StudyExists(Conflict):
    """The name is taken by a study with another spec."""

    type = "study-exists"

    def __init__(self, name: str, differing: list[str]) -> None:
        super().__init__(
            f"A study {name!r} exists with another {', '.join(differing)}. "
            "Choose another name, or send the same spec to get the existing study."
        )


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
