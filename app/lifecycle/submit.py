"""Submit a study, and read studies back."""

from app.domain.errors import StudyExists
from app.domain.study import Progress, Spec, Study
from app.domain.trial import Trial
from app.storage import Store, Transaction, studies, trials


def submit(store: Store, spec: Spec) -> tuple[Progress, bool]:
    """Store the study, or find the same one; say whether it is new. Raises StudyExists."""

    def step(tx: Transaction) -> tuple[Progress, bool]:
        created = studies.add(tx, spec)
        study = created or studies.named(tx, spec.name)
        if differing := _differing(study.spec, spec):
            raise StudyExists(spec.name, differing)
        return _progress(tx, study), created is not None

    return store.write(step)


def progress(store: Store, name: str) -> Progress:
    """Return the study as it stands. Raises StudyNotFound."""
    return store.read(lambda tx: _progress(tx, studies.named(tx, name)))


def newest(store: Store, limit: int) -> list[Progress]:
    """Return the newest studies, as they stand."""
    return store.read(lambda tx: [_progress(tx, study) for study in studies.every(tx, limit)])


def trial(store: Store, name: str, number: int) -> Trial:
    """Return a trial with its attempts and reports. Raises StudyNotFound, TrialNotFound."""
    return store.read(lambda tx: trials.numbered(tx, studies.named(tx, name), number))


def _progress(tx: Transaction, study: Study) -> Progress:
    best = trials.best(tx, study, top=1)
    return Progress(study=study, counts=trials.counts(tx, study), best=best[0] if best else None)


def _differing(stored: Spec, sent: Spec) -> list[str]:
    return [field for field, value in vars(stored).items() if value != getattr(sent, field)]
