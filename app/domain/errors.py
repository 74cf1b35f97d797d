"""What the server refuses, in sentences: what happened, to which thing, what to do.

Refusal
├── InvalidRequest
├── Unauthorized
├── Forbidden
├── TooManyRequests
├── IdempotencyKeyReused
├── ForbiddenAddress
├── NotFound: ProjectNotFound, StudyNotFound (OptunaStudyNotFound), TrialNotFound (OptunaTrialNotFound),
│   ComparisonNotFound, WorkerNotFound, TaskNotFound, TokenNotFound, WebhookNotFound
└── Conflict: StudyExists (OptunaStudyExists), StudyEnded (StudyIsMirror, StudyIsCompared), ComparisonExists,
    ComparisonEnded, ProjectExists, TokenExists, LeaseLost, ResultDiffers, MoveRefused, WorkerUnknown,
    QuotaUsedUp, TrialFinished, DistributionDiffers
"""

from collections.abc import Collection
from math import ceil

from app.domain.access import Principal, Scope
from thiessen.spelling import nearest


class Refusal(Exception):  # noqa: N818 - names say what happened, as in thiessen.errors
    """The root of what the server refuses."""

    type = "refused"


class InvalidRequest(Refusal):
    """A field has the right shape and no meaning."""

    type = "invalid-request"


class Unauthorized(Refusal):
    """Who asks is not known here."""

    type = "unauthorized"


class Forbidden(Refusal):
    """Who asks is known and may not."""

    type = "forbidden"


class ScopeMissing(Forbidden):
    """The token is for other things."""

    def __init__(self, who: Principal, scope: Scope) -> None:
        super().__init__(
            f"This needs the scope {scope}; token {who.name!r} has {', '.join(sorted(who.scopes))}. "
            f"An admin makes one that may: thiessen token create NAME --scope {scope}"
        )


class BoundElsewhere(Forbidden):
    """The token is for one project, and this is about all of them."""

    def __init__(self, who: Principal) -> None:
        super().__init__(
            f"This concerns the whole server; token {who.name!r} is bound to project {who.project!r}. "
            "Use a token that is bound to no project."
        )


class LeaseOfAnother(Forbidden):
    """The lease was taken with another token. Says nothing of its trial."""

    def __init__(self, lease_id: str, who: Principal) -> None:
        super().__init__(
            f"Lease {lease_id[:8]}… was not taken with token {who.name!r}, so that cannot speak for it. Send "
            "this with the token that took it or with an admin's; once that token is revoked or has expired, "
            "any will do that may work in the project."
        )


class WorkerOfAnother(Forbidden):
    """Another token speaks for the worker of this name."""

    def __init__(self, name: str, who: Principal) -> None:
        super().__init__(
            f"Worker {name!r} was registered with another token than {who.name!r}. Choose another name with "
            "`--name`, or come with that token. The name is free once that token is revoked or has expired, "
            "or nothing was heard of the worker for five minutes."
        )


class TooManyRequests(Refusal):
    """Somebody asks more often than they may."""

    type = "too-many-requests"

    def __init__(self, why: str, seconds: float) -> None:
        super().__init__(f"{why}. Nothing of this request was done; send it again in {ceil(seconds)} s.")
        self.seconds = ceil(seconds)


class IdempotencyKeyReused(Refusal):
    """The key stands for another request."""

    type = "idempotency-key-reused"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"Idempotency-Key {key!r} was sent with another request before. Take a new key for each new "
            "request; repeat a request with its own key, unchanged."
        )


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


class ReplayUnavailable(Exception):  # noqa: N818
    """No refusal: a study cannot be replayed here now."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}.")


class NotFound(Refusal):
    """Nothing has this name."""


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


class OptunaStudyNotFound(StudyNotFound):
    """No study of Optuna has this id."""

    def __init__(self, study_id: int) -> None:
        Refusal.__init__(
            self,
            f"No study of Optuna has the id {study_id} here. GET /api/v1/optuna/studies lists them.",
        )


class OptunaTrialNotFound(TrialNotFound):
    """No trial of Optuna has this id."""

    def __init__(self, trial_id: int) -> None:
        Refusal.__init__(
            self, f"There is no trial of Optuna with the id {trial_id} here. Its study may have been deleted."
        )


class ComparisonNotFound(NotFound):
    """No comparison has this name."""

    type = "comparison-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is no comparison {name!r}. Check the name; "
            "`thiessen compare FILE` or POST /api/v1/comparisons creates one."
        )


class WorkerNotFound(NotFound):
    """No worker has registered under this name."""

    type = "worker-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"No worker {name!r} has registered. Check the name; GET /api/v1/workers lists them."
        )


class TaskNotFound(NotFound):
    """No worker has registered a task of this name."""

    type = "task-not-found"

    def __init__(self, name: str, known: Collection[str]) -> None:
        super().__init__(f"No worker has registered a task {name!r}; {nearest(name, known)}.")


class ProjectNotFound(NotFound):
    """No project has this name, for this token."""

    type = "project-not-found"

    def __init__(self, name: str, who: Principal | None = None) -> None:
        if who is None or who.project is None:
            remedy = "Check the name; POST /api/v1/projects creates one."
        else:
            remedy = (
                f"Token {who.name!r} is bound to project {who.project!r}: "
                f"its studies are under /api/v1/projects/{who.project}."
            )
        super().__init__(f"There is no project {name!r}. {remedy}")


class TokenNotFound(NotFound):
    """No token has this name."""

    type = "token-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is no token {name!r}. `thiessen token list` or GET /api/v1/tokens lists them."
        )


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
            f"A study {name!r} exists with another {', '.join(differing)}. Choose another name, or send the "
            "same spec to get the existing study; budgets of a study are changed by PATCH."
        )


class StudyOfName(StudyExists):
    """A comparison needs the name of a study that there is."""

    def __init__(self, comparison: str, name: str) -> None:
        Refusal.__init__(
            self,
            f"Comparison {comparison!r} needs a study {name!r}, and there is one already that it has not "
            "made. Choose another name for the comparison.",
        )


class ComparisonExists(Conflict):
    """The name is taken by a comparison with another spec."""

    type = "comparison-exists"

    def __init__(self, name: str, differing: list[str]) -> None:
        super().__init__(
            f"A comparison {name!r} exists with another {', '.join(differing)}. Choose another name, or send "
            "the same spec to get the existing one; its budget and replicates are changed by PATCH."
        )


class ComparisonEnded(Conflict):
    """The comparison takes no more of this."""

    type = "comparison-ended"

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"Comparison {name!r} {why}.")


class OptunaStudyExists(StudyExists):
    """The name is taken by another study of Optuna."""

    def __init__(self, name: str) -> None:
        Refusal.__init__(
            self,
            f"A study of Optuna {name!r} exists. Choose another name, or go on with it: load_if_exists=True.",
        )


class TrialFinished(Conflict):
    """A trial of Optuna that has finished stays as it is."""

    type = "trial-finished"

    def __init__(self, number: int, state: str) -> None:
        super().__init__(f"Trial {number} has finished ({state}), so it stays as it is. Ask for a new one.")


class DistributionDiffers(Conflict):
    """Another trial of the study has the parameter with a distribution that does not go with this one."""

    type = "distribution-differs"

    def __init__(self, name: str, known: str) -> None:
        super().__init__(
            f"The parameter {name!r} has {known}, in another trial of this study. Give it another name."
        )


class StudyEnded(Conflict):
    """The study takes no more of this."""

    type = "study-ended"

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"Study {name!r} {why}.")


class StudyIsMirror(StudyEnded):
    """Only programs of Optuna add to the study, and only they end it."""

    def __init__(self, name: str) -> None:
        super().__init__(
            name,
            "mirrors a study of Optuna, whose programs alone add trials; remarks may be written on it. "
            "Create a study of your own to have configs proposed or tried",
        )


class StudyIsCompared(StudyEnded):
    """Only its comparison says how far the study goes."""

    def __init__(self, name: str, comparison: str) -> None:
        super().__init__(
            name,
            f"is a part of comparison {comparison!r}, which is fair only while all of its searches are "
            f"treated alike; change that instead: PATCH /api/v1/comparisons/{comparison}",
        )


class ProjectExists(Conflict):
    """The name is taken by a project with other quotas."""

    type = "project-exists"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"A project {name!r} exists with other quotas. PATCH /api/v1/projects/{name} changes them."
        )


class TokenExists(Conflict):
    """The name is taken; it stays so after a revocation, as the audit tells deeds by it."""

    type = "token-exists"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is or was a token {name!r}. Choose another name.")


class QuotaUsedUp(Conflict):
    """The project has as many studies as it may."""

    type = "quota-used-up"

    def __init__(self, project: str, most: int, more: int = 1) -> None:
        has = f"has its {most} studies" if more == 1 else f"may have {most} studies, and no {more} more"
        super().__init__(
            f"Project {project!r} {has}. Delete one, or have an admin raise max_studies: "
            f"PATCH /api/v1/projects/{project}."
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
            f"Worker {worker!r} has not registered as {incarnation!r}, so its tasks are not known. "
            f"PUT /api/v1/workers/{worker} first, or name the tasks in the request."
        )
