"""A server with one promise switched off, for the proof to notice."""

import sys
import time
from dataclasses import replace
from secrets import token_hex

from app.domain.errors import LeaseLost
from app.domain.trial import TrialState
from app.lifecycle import lease, report
from app.storage import attempts, group
from thiessen.cli import main

WINDOW_SECONDS = 0.2  # between an answer and its commit


def no_fence():
    """Whoever has had the trial may end it while it runs."""
    report._is_current = lambda held, lease_id: held.state is TrialState.RUNNING


def forgotten_requests():
    """A request that is repeated is taken for a new one."""
    begin = attempts.begin
    lease._given_before = lambda tx, runner: []
    attempts.begin = lambda tx, trial_id, number, lease_id, runner, **more: begin(
        tx, trial_id, number, lease_id, replace(runner, request_id=token_hex(8)), **more
    )


def forgotten_results():
    """A result that is told again is taken for one that came too late."""

    def refuse(tx, lease_id, held, result):
        raise LeaseLost(lease_id, "its trial has ended")

    report._accept_repeat = refuse


def answer_first():
    """Who waits is told before the commit."""

    def commit(self):
        self.tell()
        time.sleep(WINDOW_SECONDS)
        commit_as_ever(self)

    commit_as_ever = group.Group.commit
    group.Group.commit = commit


MUTATIONS = {
    mutate.__name__: mutate for mutate in (no_fence, forgotten_requests, forgotten_results, answer_first)
}

if __name__ == "__main__":
    MUTATIONS[sys.argv.pop(1)]()
    main()
