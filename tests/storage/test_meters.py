import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text

from tests.conftest import wait_until


def counted():
    names = ("thiessen_write_steps_sum", "thiessen_write_steps_count", "thiessen_write_seconds_count")
    return [REGISTRY.get_sample_value(name) for name in names]


def write(tx):
    tx.execute(text("UPDATE clock SET offset_milliseconds = 0"))


def test_a_transaction_is_counted_once_with_the_steps_that_it_committed(store):
    before, is_under_way, may_end, queued = counted(), threading.Event(), threading.Event(), []

    def long(tx):
        write(tx)
        is_under_way.set()
        may_end.wait()

    with ThreadPoolExecutor(4) as threads:
        threads.submit(store.write, long)
        is_under_way.wait()
        for _ in range(3):
            threads.submit(lambda: (queued.append(1), store.write(write)))
        wait_until(lambda: len(queued) == 3)
        may_end.set()

    steps, transactions, timed = (after - then for after, then in zip(counted(), before, strict=True))
    assert steps == 4
    assert 1 < transactions <= 4
    assert timed == transactions


def test_a_transaction_that_is_not_committed_is_not_counted(store):
    before = counted()

    def broken(tx):
        tx.execute(text("SELECT * FROM nowhere"))

    with pytest.raises(Exception, match="nowhere"):
        store.write(broken)

    assert counted()[0] == before[0]
