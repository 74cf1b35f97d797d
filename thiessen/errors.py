"""What can go wrong between a program and the server.

ThiessenError
├── ServerUnreachable     no answer: wrong URL, no network, the server is down
├── ServerFailed          the server answered 5xx
└── Refused               the server said no, and why
    ├── InvalidRequest    a field is missing, unknown or out of its limits
    ├── ProjectNotFound
    ├── StudyNotFound
    ├── TrialNotFound
    ├── WorkerNotFound
    ├── StudyExists       the name is taken by a study with another spec
    ├── StudyEnded        the study takes no more of this
    ├── LeaseLost         the trial was given to somebody else, or has its result
    ├── ResultDiffers     this lease has already reported something else
    ├── MoveRefused       the trial is in no state for this
    └── WorkerUnknown     a worker that leases registers first
"""


class ThiessenError(Exception):
    """The root: catch it to catch everything of ours."""


class ServerUnreachable(ThiessenError):  # noqa: N818 - names say what happened, as on the server
    """No answer came."""


class ServerFailed(ThiessenError):  # noqa: N818
    """The server answered with a fault of its own."""


class Refused(ThiessenError):  # noqa: N818
    """The server understood and said no; the message says why and what to do."""


class InvalidRequest(Refused):
    """A field is missing, unknown or out of its limits."""


class ProjectNotFound(Refused):
    """No project has this name."""


class StudyNotFound(Refused):
    """No study has this name."""


class TrialNotFound(Refused):
    """The study has no trial of this number."""


class WorkerNotFound(Refused):
    """No worker has registered under this name."""


class StudyExists(Refused):
    """The name is taken by a study with another spec."""


class StudyEnded(Refused):
    """The study takes no more of this."""


class LeaseLost(Refused):
    """The trial was given to somebody else, or has its result: drop this attempt."""


class ResultDiffers(Refused):
    """This lease has already reported something else."""


class MoveRefused(Refused):
    """The trial is in no state for this."""


class WorkerUnknown(Refused):
    """The server does not know this start of the worker: register first."""


_BY_TYPE: dict[str, type[Refused]] = {
    "invalid-request": InvalidRequest,
    "project-not-found": ProjectNotFound,
    "study-not-found": StudyNotFound,
    "trial-not-found": TrialNotFound,
    "worker-not-found": WorkerNotFound,
    "study-exists": StudyExists,
    "study-ended": StudyEnded,
    "lease-lost": LeaseLost,
    "result-differs": ResultDiffers,
    "move-refused": MoveRefused,
    "worker-unknown": WorkerUnknown,
}


def refusal(problem_type: str, detail: str) -> Refused:
    """Return the error of a problem's type; a type this version does not know is a plain Refused."""
    return _BY_TYPE.get(problem_type, Refused)(detail)
