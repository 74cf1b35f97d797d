"""What studies must be after each call: the rules of a trial's life once more, without a database.

Where the server has a choice (whose turn it is, which config) the model takes its answer and insists that
it was permitted.
"""

from dataclasses import dataclass, field

EARLY = {"target", "deadline", "max_gpu_hours"}
STOPPING = {"deadline", "max_gpu_hours"}
KNOWN = {"succeeded", "diverged"}  # what a repeat of a config is given
RESULTS = KNOWN | {"pruned"}
POINTS = 6  # of the space of `machine.SPACE`
HOUR = 3600


@dataclass
class Attempt:
    lease_id: str
    trial: "Trial"
    length: int
    began: int
    gpus: int
    expires: int
    outcome: str | None = None
    ended: int | None = None
    told: tuple | None = None  # the result or fault that was acknowledged
    late: tuple | None = None
    counts: bool = False  # the late one
    last: float | None = None  # value reported

    def end(self, outcome, now):
        self.outcome, self.ended = outcome, now


@dataclass
class Trial:
    study: "Study"
    number: int
    config: dict
    origin: str
    most: int  # attempts
    state: str = "queued"
    loss: float | None = None
    attempts: list[Attempt] = field(default_factory=list)

    def has(self, attempt):
        return self.state == "running" and self.attempts[-1] is attempt

    def move(self, state, loss=None):
        self.state, self.loss = state, loss
        self.study.settle(loss if state == "succeeded" else None)

    def take_late(self):
        """End by a result that came late, if there is one."""
        late = next((attempt for attempt in self.attempts if attempt.late), None)
        if late is not None:
            late.counts = True
            self.move(late.late[0], late.late[1])
        return late is not None

    def queue_again(self):
        if not self.take_late():
            self.move("queued")

    def give_up(self):
        if not self.take_late():
            self.move("failed")


@dataclass
class Study:
    name: str
    project: "Project"
    sent: dict
    max_trials: int
    max_running: int | None
    max_gpu_hours: float | None
    deadline: int | None
    target: float | None  # as a loss
    state: str = "active"
    reason: str | None = None
    is_archived: bool = False
    trials: list[Trial] = field(default_factory=list)

    @property
    def retry(self):
        return self.sent["retry"]

    @property
    def numbered(self):
        return sum(trial.origin != "imported" for trial in self.trials)

    def loss(self, value):
        return value if value is None or self.sent["direction"] == "minimize" else -value

    def are(self, state):
        return sum(trial.state == state for trial in self.trials)

    def best(self):
        return min((trial.loss for trial in self.trials if trial.state == "succeeded"), default=None)

    def attempts(self):
        return [attempt for trial in self.trials for attempt in trial.attempts]

    def gpu_hours(self, now):
        return sum(a.gpus * ((now if a.ended is None else a.ended) - a.began) / HOUR for a in self.attempts())

    def is_over_time(self, now):
        if self.deadline is not None and self.deadline <= now:
            return "deadline"
        is_used_up = self.max_gpu_hours is not None and self.gpu_hours(now) >= self.max_gpu_hours
        return "max_gpu_hours" if is_used_up else None

    def settle(self, loss=None):
        if self.reason not in EARLY and None not in {loss, self.target} and loss <= self.target:
            self.reason = "target"
        if self.reason is None and self.numbered >= self.max_trials:
            self.reason = "max_trials"
        waits = self.are("queued") and self.reason not in EARLY
        is_done = self.reason is not None and not self.are("running") and not waits
        if is_done and self.state == "active":
            self.state = "completed"
        elif self.state == "completed" and not is_done:
            self.state = "active"

    def is_leasing(self, now):
        is_late = self.deadline is not None and self.deadline <= now
        return self.state == "active" and not self.is_archived and self.reason not in EARLY and not is_late

    def may_run_more(self, now):
        return (
            (self.max_running is None or self.are("running") < self.max_running)
            and (self.max_gpu_hours is None or self.gpu_hours(now) < self.max_gpu_hours)
            and (self.project.max_running is None or self.project.running() < self.project.max_running)
        )

    def proposes(self):
        return self.reason is None and self.numbered < self.max_trials

    def may_be_exhausted(self):
        configs = {tuple(trial.config.values()) for trial in self.trials}
        return self.sent["strategy"] == "grid" or (
            self.sent["duplicates"] == "forbid" and len(configs) == POINTS
        )

    def first_of(self, config):
        return next((trial for trial in self.trials if trial.config == config), None)

    def is_overdue(self, trial, now):
        return trial.state == "running" and trial.attempts[-1].expires <= now

    def may_be_taken_over(self, trial, now):
        is_free = self.is_overdue(trial, now) and not any(attempt.late for attempt in trial.attempts)
        return is_free and len(trial.attempts) < trial.most and "lost" in self.retry

    def bear(self, config, origin, state="queued", loss=None):
        trial = Trial(self, len(self.trials), config, origin, self.sent["max_attempts"])
        self.trials.append(trial)
        trial.move(state, loss)
        return trial


@dataclass
class Project:
    name: str
    max_running: int | None = None
    studies: list[Study] = field(default_factory=list)

    def running(self):
        return sum(study.are("running") for study in self.studies)


@dataclass
class Model:
    projects: list[Project]
    now: int = 0  # seconds
    deaf_until: int = 0

    @property
    def studies(self):
        return [study for project in self.projects for study in project.studies]

    def gives(self, study, gpus):
        """Say whether a slot with so many GPUs that asks for this study must be given something."""
        if not study.is_leasing(self.now) or study.sent["requires"]["gpus"] > gpus:
            return False
        if self.now >= self.deaf_until and any(study.may_be_taken_over(t, self.now) for t in study.trials):
            return True
        return (study.are("queued") > 0 or study.proposes()) and study.may_run_more(self.now)

    def lease(self, trial, lease_id, *, gpus, length):
        """Give a trial as the server says it has; insist that it might."""
        study = trial.study
        assert study.is_leasing(self.now), "a study that gives nothing has given a trial"
        assert gpus >= study.sent["requires"]["gpus"]
        if trial.state == "running":
            assert study.may_be_taken_over(trial, self.now), "a trial that somebody has was given again"
            assert self.now >= self.deaf_until, "the server was deaf, and took a trial away"
            trial.attempts[-1].end("lost", self.now)
        else:
            assert trial.state == "queued", f"a {trial.state} trial was given"
            assert study.may_run_more(self.now), "max_running, max_gpu_hours or a quota was overshot"
        attempt = Attempt(lease_id, trial, length, self.now, gpus, self.now + length)
        trial.attempts.append(attempt)
        trial.move("running")
        return attempt

    def beat(self, attempt):
        """Return the order, or None where the lease is lost; prune may take the place of continue."""
        trial, study = attempt.trial, attempt.trial.study
        if not trial.has(attempt):
            return None
        attempt.expires = self.now + attempt.length
        return "stop" if study.state == "stopped" or study.reason in STOPPING else "continue"

    def complete(self, attempt, result):
        """Return how it must be answered: None when well, else the type of the problem."""
        trial = attempt.trial
        if trial.has(attempt):
            attempt.told = result
            attempt.end(result[0], self.now)
            trial.move(result[0], result[1])
            return None
        if attempt.outcome not in {"lost", "cancelled"}:
            if attempt.outcome == "released":
                return "lease-lost"
            return None if attempt.told == result else "result-differs"
        return self._complete_late(attempt, result)

    def _complete_late(self, attempt, result):
        trial = attempt.trial
        if attempt.late is not None:
            if attempt.late != result:
                return "result-differs"
            return None if attempt.counts else "lease-lost"
        attempt.late, attempt.counts = result, trial.state in {"queued", "failed"}
        if not attempt.counts:
            return "lease-lost"
        trial.move(result[0], result[1])
        return None

    def fail(self, attempt, kind, message, *, retry):
        trial = attempt.trial
        if not trial.has(attempt):
            if attempt.outcome in {"lost", "released", "cancelled"}:
                return "lease-lost"
            return None if attempt.told == (kind, message) else "result-differs"
        attempt.told = (kind, message)
        attempt.end(kind, self.now)
        if retry and kind in trial.study.retry and len(trial.attempts) < trial.most:
            trial.queue_again()
        else:
            trial.give_up()
        return None

    def release(self, attempt):
        trial = attempt.trial
        if not trial.has(attempt):
            return None if attempt.outcome == "released" else "lease-lost"
        attempt.end("released", self.now)
        trial.queue_again()
        trial.most += trial.state == "queued"
        return None

    def cancel(self, trial):
        if trial.state == "cancelled":
            return None
        if trial.state not in {"queued", "running"}:
            return "move-refused"
        if trial.state == "running":
            trial.attempts[-1].end("cancelled", self.now)
        trial.move("cancelled")
        return None

    def retry(self, trial):
        if trial.study.is_archived:
            return "study-ended"
        if trial.state == "queued":
            return None
        if trial.state != "failed":
            return "move-refused"
        trial.most = len(trial.attempts) + trial.study.sent["max_attempts"]
        trial.move("queued")
        return None

    def add(self, study, config, result=None):
        """Return the number of the trial that the config gets; None when the budget is used up."""
        known = None if study.sent["duplicates"] == "allow" else study.first_of(config)
        if known is not None and study.sent["duplicates"] == "forbid":
            if result is not None and known.state in {"queued", "failed"}:
                known.move(*result)
            return known.number
        origin = "imported" if result else "enqueued"
        if known is not None and result is None and known.state in KNOWN:
            origin, result = "memoised", (known.state, known.loss)
        if origin != "imported" and study.numbered >= study.max_trials:
            return None
        return study.bear(config, origin, *(result or ())).number

    def change(self, study, changes):
        if study.is_archived:
            return "study-ended"
        budget = changes.keys() - {"state"}
        if study.state == "completed" and not budget and "state" in changes:
            return "study-ended"
        if changes.get("max_trials", study.max_trials) < study.numbered:
            return "invalid-request"
        ended_by = {"exhausted" if name == "max_trials" else name for name in budget} | budget
        if study.reason in ended_by:
            study.reason = None
        for name, value in changes.items():
            setattr(study, name, study.loss(value) if name == "target" else value)
        study.settle(study.best())
        return None

    def archive(self, study):
        if study.state in {"active", "paused"}:
            study.state = "stopped"
        study.is_archived = True

    def sweep(self):
        for study in self.studies:
            ending = study.is_over_time(self.now)
            if study.state in {"active", "paused"} and study.reason not in EARLY and ending:
                study.reason = ending
                study.settle()
        if self.now < self.deaf_until:
            return
        for trial in [trial for study in self.studies for trial in study.trials if self._is_hopeless(trial)]:
            is_retried = len(trial.attempts) < trial.most and "lost" in trial.study.retry
            trial.attempts[-1].end("lost", self.now)
            if is_retried:
                trial.queue_again()
            else:
                trial.give_up()

    def _is_hopeless(self, trial):
        study = trial.study
        return study.is_overdue(trial, self.now) and (
            study.reason in EARLY or study.state != "active" or not study.may_be_taken_over(trial, self.now)
        )
