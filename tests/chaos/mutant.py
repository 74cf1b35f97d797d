"""A server with one promise switched off, for the proof to notice."""

import asyncio
import sys
import time
from dataclasses import replace
from secrets import token_hex

from app.domain.errors import LeaseLost
from app.domain.trial import TrialState
from app.lifecycle import lease, report
from app.storage import attempts, postgresql, sqlite
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

    write_group_as_ever = sqlite.SQLiteStore._write_group

    def write_group(self, group):
        if not all(isinstance(waiter, asyncio.Future) for _, waiter in group):  # the start of the server
            write_group_as_ever(self, group)
            return
        rung = set()
        with self._kept_open().begin() as transaction:
            outcomes = [sqlite._in_savepoint(step, transaction.connection, rung) for step, _ in group]
            sqlite._tell(zip((waiter for _, waiter in group), outcomes, strict=True))
            time.sleep(WINDOW_SECONDS)
        for study_id in rung:
            self._listeners.call(study_id)

    async def written(self, step):
        loop = asyncio.get_running_loop()
        told = loop.create_future()

        def work():
            with self._engine.begin() as transaction:
                try:
                    answer = step(transaction)
                except BaseException as error:
                    loop.call_soon_threadsafe(told.set_exception, error)
                    raise
                loop.call_soon_threadsafe(told.set_result, answer)
                time.sleep(WINDOW_SECONDS)

        self._writers.submit(work)
        return await told

    sqlite.SQLiteStore._write_group = write_group
    postgresql.PostgresStore.written = written


MUTATIONS = {
    mutate.__name__: mutate for mutate in (no_fence, forgotten_requests, forgotten_results, answer_first)
}

if __name__ == "__main__":
    MUTATIONS[sys.argv.pop(1)]()
    main()
