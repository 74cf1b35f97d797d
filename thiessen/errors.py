"""What can go wrong between a program and the server, or the journal.

ThiessenError
├── JournalError          the file is no journal, is damaged, or cannot be written
│   ├── JournalInUse      another process writes it
│   └── JournalDiffers    it holds another study
├── Ended                 the study has no trial left to try
├── ServerUnreachable     no answer: wrong URL, no network, the server is down
├── ServerFailed          the server answered 5xx
└── Refused               the server said no, and why
    ├── InvalidRequest    a field is missing, unknown or out of its limits
    ├── Unauthorized      no token, or one that is not valid there
    ├── Forbidden         the token is for other things, or for other leases
    ├── TooManyRequests   ask again later
    ├── IdempotencyKeyReused   the key stands for another request
    ├── StudyNotFound
    ├── TrialNotFound
    ├── ProjectNotFound
    ├── TokenNotFound
    ├── WorkerNotFound
    ├── TaskNotFound
    ├── ForbiddenAddress  the server does not call this address
    ├── WebhookNotFound
    ├── StudyExists       the name is taken by a study with another spec
    ├── ComparisonNotFound
    ├── ComparisonExists  the name is taken by a comparison with another spec
    ├── ComparisonEnded   the comparison takes no more of this
    ├── StudyEnded        the study takes no more of this
    ├── ProjectExists     the name is taken by a project with other quotas
    ├── TokenExists       the name is, or was, that of another token
    ├── QuotaUsedUp       the project has as much of this as it may
    ├── MoveRefused       the trial is in no state for this
    ├── WorkerUnknown     the worker has not registered, so its tasks are not known
    ├── LeaseLost         the trial was given to somebody else, or has its result
    ├── ResultDiffers     this lease has already reported something else
    ├── TrialFinished     the trial of Optuna has finished and stays as it is
    └── DistributionDiffers    the parameter has another distribution in another trial of the study
"""


class ThiessenError(Exception):
    """The root: catch it to catch everything of ours."""


class JournalError(ThiessenError):
    """The file is no journal, is damaged, or cannot be written."""


class JournalInUse(JournalError):  # noqa: N818 - names say what happened, as on the server
    """Another process writes the journal."""


class JournalDiffers(JournalError):  # noqa: N818
    """The journal holds a study of another space, strategy or seed."""


class Ended(ThiessenError):  # noqa: N818
    """The study has no trial left to try: its budget is used up, or every config has its trial."""


class ServerUnreachable(ThiessenError):  # noqa: N818
    """No answer came."""


class ServerFailed(ThiessenError):  # noqa: N818
    """The server answered with a fault of its own."""


class Refused(ThiessenError):  # noqa: N818
    """The server understood and said no; the message says why and what to do."""


class InvalidRequest(Refused):
    """A field is missing, unknown or out of its limits."""


class Unauthorized(Refused):
    """The server wants a token, and got none or one that is not valid there."""


class Forbidden(Refused):
    """The token is for other things, or not the one that took this lease."""


class TooManyRequests(Refused):
    """The server was asked more often than it allows: ask again later."""


class IdempotencyKeyReused(Refused):
    """The Idempotency-Key stands for another request."""


class ForbiddenAddress(Refused):
    """The server does not call this address on anyone's behalf."""


class StudyNotFound(Refused):
    """No study has this name."""


class TrialNotFound(Refused):
    """The study has no trial of this number."""


class ProjectNotFound(Refused):
    """No project has this name, for this token."""


class TokenNotFound(Refused):
    """No token has this name."""


class WebhookNotFound(Refused):
    """No webhook has this number."""


class WorkerNotFound(Refused):
    """No worker has registered under this name."""


class TaskNotFound(Refused):
    """No worker has registered a task of this name."""


class StudyExists(Refused):
    """The name is taken by a study with another spec."""


class ComparisonNotFound(Refused):
    """No comparison has this name."""


class ComparisonExists(Refused):
    """The name is taken by a comparison with another spec."""


class ComparisonEnded(Refused):
    """The comparison takes no more of this."""


class StudyEnded(Refused):
    """The study takes no more of this."""


class ProjectExists(Refused):
    """The name is taken by a project with other quotas."""


class TokenExists(Refused):
    """The name is, or was, that of another token."""


class QuotaUsedUp(Refused):
    """The project has as much of this as it may."""


class MoveRefused(Refused):
    """The trial is in no state for this."""


class WorkerUnknown(Refused):
    """The worker has not registered, so its tasks are not known."""


class LeaseLost(Refused):
    """The trial was given to somebody else, or has its result: drop this attempt."""


class ResultDiffers(Refused):
    """This lease has already reported something else."""


class TrialFinished(Refused):
    """The trial of Optuna has finished and stays as it is."""


class DistributionDiffers(Refused):
    """The parameter has a distribution in another trial of the study that does not go with this one."""


_BY_TYPE: dict[str, type[Refused]] = {
    "invalid-request": InvalidRequest,
    "unauthorized": Unauthorized,
    "forbidden": Forbidden,
    "too-many-requests": TooManyRequests,
    "idempotency-key-reused": IdempotencyKeyReused,
    "study-not-found": StudyNotFound,
    "trial-not-found": TrialNotFound,
    "project-not-found": ProjectNotFound,
    "token-not-found": TokenNotFound,
    "forbidden-address": ForbiddenAddress,
    "webhook-not-found": WebhookNotFound,
    "worker-not-found": WorkerNotFound,
    "task-not-found": TaskNotFound,
    "comparison-not-found": ComparisonNotFound,
    "comparison-exists": ComparisonExists,
    "comparison-ended": ComparisonEnded,
    "study-exists": StudyExists,
    "study-ended": StudyEnded,
    "quota-used-up": QuotaUsedUp,
    "move-refused": MoveRefused,
    "worker-unknown": WorkerUnknown,
    "project-exists": ProjectExists,
    "token-exists": TokenExists,
    "lease-lost": LeaseLost,
    "result-differs": ResultDiffers,
    "trial-finished": TrialFinished,
    "distribution-differs": DistributionDiffers,
}


def refusal(problem_type: str, detail: str) -> Refused:
    """Return the error of a problem's type; a type this version does not know is a plain Refused."""
    return _BY_TYPE.get(problem_type, Refused)(detail)
