"""What must be true of a database after any number of kills, beside the ledgers of its workers."""

from collections import Counter

from sqlalchemy import select

from app.storage import open_store
from app.storage.check import faults
from app.storage.tables import attempts, events, observations, studies, trials
from tests.chaos.ledger_worker import INCARNATION
from thiessen.search import Observed, Proposed, replay
from thiessen.search.settings import strategy_from_json
from thiessen.space import Space

RESULTS = {"succeeded", "diverged", "pruned"}
UNHELD = {"lost", "cancelled"}  # how an attempt ended whose result may come yet
OBSERVED = ("seq", "trial", "outcome", "loss", "cause")
TABLES = (studies, trials, attempts, observations, events)


class Verdict:
    """Every contradiction found, and what there is to count."""

    def __init__(self, database, ledgers, cancelled, names=None):
        """Judge all studies, or those of these names; the others must only agree with themselves."""
        self._rows = _rows(database, names)
        self._ledgers = ledgers
        self._cancelled = cancelled
        self._trials = {trial.id: trial for trial in self._rows["trials"]}
        self._attempts = {attempt.lease_id: attempt for attempt in self._rows["attempts"]}
        self.contradictions = [
            *faults(database),
            *self._of_answers(),
            *self._of_leases(),
            *self._of_endings(),
            *self._of_results(),
            *self._of_cancellations(),
            *self._of_studies(),
        ]

    @property
    def counts(self):
        """What the run has led to, in numbers."""
        states = Counter(trial.state for trial in self._trials.values())
        outcomes = Counter(attempt.outcome for attempt in self._attempts.values())
        return {
            "attempts lost": outcomes["lost"],
            "trials succeeded": states["succeeded"],
            "trials diverged": states["diverged"],
            "trials pruned": states["pruned"],
            "trials cancelled": states["cancelled"],
            "late results": sum(attempt.late is not None for attempt in self._attempts.values()),
            "results of daemons": self._told_by_daemons(),
        }

    def _told_by_daemons(self):
        ledgers = [ledger for name, ledger in self._ledgers.items() if name.startswith("daemon")]
        return len({line["told"] for ledger in ledgers for line in ledger if line.get("status") == 204})

    def _of_answers(self):
        for name, ledger in self._ledgers.items():
            yield from (f"{name}: {line['wrong']}" for line in ledger if "wrong" in line)

    def _of_leases(self):
        """A lease that was answered is stored; one that is stored was asked for, and answered to a repeat."""
        for name, ledger in self._ledgers.items():
            wished = {_request(line, "ask") for line in ledger if "ask" in line}
            answered = {_request(line, "asked"): line["given"] for line in ledger if "asked" in line}
            for request, given in answered.items():
                for lease_id in given:
                    if lease_id not in self._attempts:
                        yield f"{name}: the lease {lease_id} of request {request} was given and is not stored"
            for lease_id, attempt in self._attempts.items():
                request = attempt.incarnation, attempt.request_id
                # An empty answer to a repeat may be overtaken by the twin that went before.
                if attempt.worker == name and answered.get(request, []) not in ([], [lease_id]):
                    yield f"{name}: request {request} has lease {lease_id} that it was not given"
                if attempt.worker == name and request not in wished:
                    yield f"{name}: request {request} of lease {lease_id} was never made"

    def _of_endings(self):
        """What was acknowledged is stored, what was refused is not; every ending got one or the other."""
        for name, ledger in self._ledgers.items():
            if missing := {line["tell"] for line in ledger if "tell" in line} - {
                line["told"] for line in ledger if "told" in line
            }:
                yield f"{name}: how {missing} ended was never answered"
            for line in ledger:
                if "told" in line and (wrong := self._wrong_ending(line, self._attempts.get(line["told"]))):
                    yield f"{name}: {line} is {wrong}"

    def _wrong_ending(self, line, attempt):
        if attempt is None:
            return "of no attempt"
        ending, is_agreed = line["ending"], line["status"] == 204
        if ending["verb"] != "complete":
            outcome = "released" if ending["verb"] == "release" else "error"
            return None if (attempt.outcome == outcome) == is_agreed else attempt.outcome
        expected = _result(ending)
        if not is_agreed:
            late = attempt.late or {}
            is_kept = attempt.outcome in UNHELD and (late.get("state"), late.get("loss")) == expected
            return None if is_kept else "refused, and not kept as a late one"
        seen = [(each.outcome, each.loss) for each in self._observations(attempt) if each.outcome in RESULTS]
        trial = self._trials[attempt.trial_id]
        if seen != [expected] or (trial.state, trial.loss) != expected:
            return f"stored as {seen}, and its trial as {(trial.state, trial.loss)}"
        return None

    def _observations(self, attempt):
        trial = self._trials[attempt.trial_id]
        return [
            each
            for each in self._seen.get((trial.study_id, trial.number), [])
            if each.attempt == attempt.number
        ]

    def _of_results(self):
        """Each result is observed once, and some worker has told it."""
        told = {line["told"] for ledger in self._ledgers.values() for line in ledger if "told" in line}
        counted = Counter(
            (each.study_id, each.trial) for each in self._rows["observations"] if each.outcome in RESULTS
        )
        for at, times in counted.items():
            if times != 1:
                yield f"trial {at} has {times} results"
        for lease_id, attempt in self._attempts.items():
            counts = attempt.outcome in RESULTS or (attempt.late and attempt.late["counts"])
            if counts and lease_id not in told:
                yield f"the result of lease {lease_id} was told by nobody"

    def _of_cancellations(self):
        """A trial is cancelled when a person was told so, and then has no result; no other one is."""
        names = {study.id: study.name for study in self._rows["studies"]}
        for trial in self._trials.values():
            at = names[trial.study_id], trial.number
            seen = [each.outcome for each in self._seen.get((trial.study_id, trial.number), [])]
            if at in self._cancelled and (trial.state, seen[-1:]) != ("cancelled", ["cancelled"]):
                yield f"trial {at} was cancelled, and is {trial.state} after {seen}"
            if "cancelled" in seen and RESULTS & {*seen}:
                yield f"trial {at} was cancelled, and has a result: {seen}"
            if trial.state == "cancelled" and at not in self._cancelled:
                yield f"trial {at} was cancelled by nobody"
        for lease_id, attempt in self._attempts.items():
            if attempt.outcome == "cancelled" and attempt.late and attempt.late["counts"]:
                yield f"the late result of lease {lease_id} counts, and its trial was cancelled"

    def _of_studies(self):
        for study in self._rows["studies"]:
            own = [trial for trial in self._rows["trials"] if trial.study_id == study.id]
            if study.state != "completed" or len(own) != study.max_trials:
                yield f"study {study.name} is {study.state} with {len(own)} of {study.max_trials} trials"
            unfinished = [trial.number for trial in own if trial.state in {"queued", "running"}]
            if unfinished:
                yield f"study {study.name} has not ended {unfinished}"
            seen = [each for each in self._rows["observations"] if each.study_id == study.id]
            yield from _replayed(study, own, seen)

    @property
    def _seen(self):
        if not hasattr(self, "_by_trial"):
            self._by_trial = {}
            for each in self._rows["observations"]:
                self._by_trial.setdefault((each.study_id, each.trial), []).append(each)
        return self._by_trial


def _request(line, verb):
    return line.get("incarnation", INCARNATION), line[verb]


def _result(ending):
    """Return what a worker told as state and loss."""
    body = ending["body"]
    if "diverged" in body:
        return "diverged", None
    if "pruned" in body:
        return "pruned", body.get("value", ending.get("last"))
    return "succeeded", body.get("loss", body.get("value"))


def _replayed(study, own, seen):
    """Compute each proposal again from what was observed before it."""
    stored = [
        Proposed(
            number=trial.number,
            config=trial.config,
            watermark=trial.watermark,
            turn=trial.turn,
            reasons=trial.reasons,
        )
        for trial in own
    ]
    told = [Observed(**{name: getattr(each, name) for name in OBSERVED}) for each in seen]
    strategy = strategy_from_json({"name": study.strategy, **study.strategy_settings})
    for mismatches in replay(Space.from_json(study.space), strategy, study.seed, stored, told):
        yield from map(str, mismatches)


def _rows(database, names):
    store = open_store(database)
    try:
        rows = store.read(
            lambda tx: {
                table.name: tx.execute(select(table).order_by(*table.primary_key)).all() for table in TABLES
            }
        )
    finally:
        store.close()
    return rows if names is None else _of_studies(rows, names)


def _of_studies(rows, names):
    """Leave out what is of other studies."""
    ids = {study.id for study in rows["studies"] if study.name in names}
    own = {trial.id for trial in rows["trials"] if trial.study_id in ids}
    kept = {
        name: [each for each in rows[name] if each.study_id in ids]
        for name in ("trials", "observations", "events")
    }
    kept["studies"] = [study for study in rows["studies"] if study.id in ids]
    kept["attempts"] = [attempt for attempt in rows["attempts"] if attempt.trial_id in own]
    return kept
