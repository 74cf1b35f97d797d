from datetime import timedelta

from fastapi.testclient import TestClient

from app.main import build
from app.settings import Settings
from tests.api.conftest import Caller
from tests.conftest import MovableClock, wait_until


def served(database, **settings):
    return TestClient(build(Settings(database=database, **settings)), base_url="http://127.0.0.1")


def test_a_restarted_server_lets_silent_workers_speak_up_first(database):
    with served(database) as api:
        first = Caller(api)
        first.create(max_trials=1, max_attempts=1)
        leased = first.leased()
        MovableClock(api.app.state.house.store).advance(timedelta(hours=1))
    with served(database) as api:
        again = Caller(api)
        assert again.lease(request_id="other").json()["leases"] == []

        assert again.end(leased, "heartbeat").status_code == 200
        assert again.end(leased, loss=0.5).status_code == 204


def test_a_study_ends_although_its_last_worker_died_and_nobody_asks(database):
    with served(database, lease_seconds=1) as api:
        caller = Caller(api)
        caller.create(max_trials=1, max_attempts=1)
        caller.lease()

        wait_until(lambda: caller.get("/studies/s").json()["state"] == "completed", seconds=10)

        assert caller.get("/studies/s/trials/0").json()["cause"] == "attempts_used_up"
