import pytest


def test_a_created_study_is_read_back(caller):
    created = caller.create(seed=7)

    assert created.status_code == 201
    assert created.json()["strategy"]["name"] == "biased_random"
    assert caller.get("/studies/s").json() == created.json()


def test_creating_twice_gives_the_existing_study(caller):
    first = caller.create()

    again = caller.create()

    assert (again.status_code, again.json()) == (200, first.json())


def test_a_strategy_comes_back_with_its_version_and_every_setting(caller):
    created = caller.create(strategy={"name": "grid", "levels": 5})

    assert created.json()["strategy"] == {"name": "grid", "version": 1, "levels": 5, "order": "row_major"}


def test_the_same_strategy_written_differently_is_the_same_study(caller):
    first = caller.create(strategy="random")

    assert caller.create(strategy={"name": "random"}).status_code == 200
    assert caller.create(strategy=first.json()["strategy"]).status_code == 200
    assert caller.create(strategy="quasi_random").status_code == 409


def test_a_grid_without_levels_takes_them_once_from_the_budget(caller):
    space = {name: {"type": "float", "low": 0, "high": 1} for name in "xy"}

    created = caller.create(strategy="grid", space=space, max_trials=30)

    assert created.json()["strategy"]["levels"] == 5
    assert caller.create(strategy="grid", space=space, max_trials=30).status_code == 200


@pytest.mark.parametrize("name", ["optuna:tpe", "optuna:cmaes"])
def test_a_study_may_borrow_its_strategy(caller, name):
    caller.create(strategy=name)
    for loss in (0.5, 0.25, 0.125):
        assert caller.end(caller.leased(), loss=loss).status_code == 204

    assert caller.get("/studies/s").json()["state"] == "completed"
    assert caller.get("/studies/s/trials/2").json()["reasons"]["strategy"] == name


def test_a_strategy_whose_package_is_missing_is_refused_with_the_command_that_installs_it(
    caller, monkeypatch
):
    monkeypatch.setattr("thiessen.integrations.optuna.find_spec", lambda _: None)

    refused = caller.create(strategy="optuna:tpe")

    assert refused.status_code == 422
    assert "pip install 'thiessen[optuna]'" in refused.json()["detail"]


def test_the_space_is_stored_as_it_was_written(caller):
    space = {
        "opt": {"type": "categorical", "choices": ["sgd", "kfac"]},
        "damping": {"type": "float", "low": 0.001, "high": 1, "log": True, "when": {"opt": ["kfac"]}},
        "layers": {"type": "int", "low": 1, "high": 9, "step": 2},
        "width": {"type": "ordinal", "choices": [8, 16, 32]},
        "bias": {"type": "boolean"},
    }

    assert caller.create(space=space).json()["space"] == space


def test_the_best_configs_come_with_what_repeats_them(caller):
    caller.create()
    leases = [caller.leased() for _ in range(3)]
    for leased, loss in zip(leases, (0.3, 0.1, 0.2), strict=True):
        assert caller.end(leased, loss=loss).status_code == 204

    best = caller.get("/studies/s/best?top=2").json()["best"]

    assert [(found["rank"], found["trial"], found["loss"]) for found in best] == [(1, 1, 0.1), (2, 2, 0.2)]
    assert best[0]["config"] == leases[1]["config"]
    assert best[0]["seed"] == leases[1]["seed"]


def test_a_study_tells_how_far_it_is(caller):
    caller.create()
    caller.end(caller.leased(), loss=0.5)
    caller.end(caller.leased(), diverged="nan")
    caller.lease()

    study = caller.get("/studies/s").json()

    finished = {"succeeded": 1, "diverged": 1, "pruned": 0, "failed": 0, "cancelled": 0}
    assert study["counts"] == {"queued": 0, "running": 1, **finished}
    assert study["best"]["loss"] == 0.5
    assert study["state"] == "active"


def test_a_trial_explains_itself(caller):
    caller.create(strategy={"name": "biased_random", "preset": "thesis"})
    for loss in (0.5, 0.4):
        caller.end(caller.leased(), loss=loss)
    leased = caller.leased(slot={"name": "cuda:0"}, environment={"torch": "2.13.0"})
    curve = [{"step": 1, "metrics": {"loss": 0.5}}, {"step": 2, "metrics": {"loss": "NaN"}}]
    caller.end(leased, "heartbeat", reports=curve)
    caller.end(leased, "fail", kind="error", message="boom", traceback="line 1")

    trial = caller.get("/studies/s/trials/2").json()

    assert trial["state"] == "queued"
    reasons = trial["reasons"]
    assert (reasons["nearest_trial"], reasons["watermark"], reasons["draw"]) == (1, 2, "uniform")
    assert reasons["explanation"].startswith(
        "A uniform draw, kept with probability 1: the nearest finished trial, 1"
    )
    assert [each["acceptance"] for each in reasons["last_refused"]] == [0.0] * min(reasons["refused"], 3)
    attempt = trial["attempts"][0]
    assert (attempt["reports"], attempt["device"], attempt["message"]) == (curve, "cuda:0", "boom")


def test_trials_that_are_sent_again_with_their_key_are_added_once_even_where_repeats_are_allowed(caller):
    caller.create(duplicates="allow")
    body = {"trials": [{"config": {"x": 0.5}}]}
    first, again = (
        caller.api.post("/api/v1/studies/s/trials", json=body, headers={"Idempotency-Key": "k"})
        for _ in range(2)
    )

    assert (first.status_code, again.json()) == (201, first.json())
    assert caller.get("/studies/s").json()["counts"]["queued"] == 1
    assert caller.api.post("/api/v1/studies/s/trials", json=body).json()["trials"][0]["trial"] == 1


def test_a_study_that_is_sent_again_with_its_key_is_answered_the_same(caller):
    headers = {"Idempotency-Key": "k"}
    study = {"name": "s", "task": "t", "space": {"x": {"type": "float", "low": 0, "high": 1}}}

    answers = [caller.api.post("/api/v1/studies", json=study, headers=headers) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [201, 201]
    other = caller.api.post("/api/v1/studies", json=study | {"seed": 9}, headers=headers)
    assert other.json()["type"] == "urn:thiessen:idempotency-key-reused"


def test_a_study_made_after_a_purge_has_nothing_of_the_purged_one(caller):
    """Not even in the memory of the server, which knows studies by their ids."""
    caller.create()
    caller.end(caller.leased(), loss=0.5)
    caller.leased()

    assert caller.api.delete("/api/v1/studies/s", params={"purge": True}).status_code == 204
    caller.create(name="next", space={"y": {"type": "int", "low": 1, "high": 9}})

    leased = caller.leased()
    assert (leased["study"], leased["trial"], list(leased["config"])) == ("next", 0, ["y"])
    assert caller.get("/studies/next").json()["counts"]["succeeded"] == 0
    assert caller.get("/studies/s").status_code == 404
