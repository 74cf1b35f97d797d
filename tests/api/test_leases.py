from datetime import UTC, datetime


def test_a_lease_carries_all_that_training_needs(caller):
    caller.create(seed=5)

    leased = caller.leased()

    assert set(leased) == {
        "lease_id", "project", "study", "trial", "attempt", "task", "config", "seed", "expires_at",
        "lease_seconds", "space",
    }  # fmt: skip
    assert datetime.fromisoformat(leased["expires_at"]) > datetime.now(UTC)


def test_nothing_to_do_is_an_empty_list(caller):
    answer = caller.lease()

    assert (answer.status_code, answer.json()) == (200, {"leases": []})


def test_a_study_whose_strategy_cannot_propose_is_answered_with_the_reason(caller, monkeypatch):
    caller.create(strategy="optuna:random")
    monkeypatch.setattr("optuna.create_study", lambda **_: 1 / 0)

    answer = caller.lease()

    assert (answer.status_code, answer.json()["type"]) == (503, "urn:thiessen:strategy-unavailable")
    assert answer.headers["Retry-After"] == "2"
    assert "strategy of study 's' failed: ZeroDivisionError" in answer.json()["detail"]


def test_a_heartbeat_says_go_on_and_until_when(caller):
    caller.create()

    answer = caller.end(caller.leased(), "heartbeat").json()

    assert answer["verdict"] == "continue"
    assert datetime.fromisoformat(answer["expires_at"]) > datetime.now(UTC)


def test_a_released_trial_is_leased_again(caller):
    caller.create(max_trials=1)
    first = caller.leased()

    assert caller.end(first, "release").status_code == 204

    assert caller.leased()["attempt"] == 2


def test_a_second_different_result_is_a_conflict(caller):
    caller.create()
    leased = caller.leased()
    caller.end(leased, loss=1.0)

    answer = caller.end(leased, loss=2.0)

    assert (answer.status_code, answer.json()["type"]) == (409, "urn:thiessen:result-differs")
