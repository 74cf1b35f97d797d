import json

import pytest

from app.api.limits import LARGEST_BODY

X = {"type": "float", "low": 0, "high": 1}
LEASE = {"worker": "w", "incarnation": "i", "request_id": "r", "tasks": ["t"]}
UNKNOWN_LEASE = "/api/v1/leases/" + "0" * 32


def is_a_problem(answer, status, kind, said):
    document = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, document["status"], document["type"]) == (
        status,
        status,
        f"urn:thiessen:{kind}",
    )
    assert said in document["detail"], document["detail"]
    return True


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"space": {}}, "space"),
        ({"space": {"x": {**X, "low": 2}}}, "low 2 is above high 1; swap them"),
        ({"space": {"x": {**X, "log": True}}}, "needs low > 0"),
        ({"space": {"x": {**X, "scale": "log"}}}, "space.x.float.scale"),
        ({"space": {"x": {"type": "complex"}}}, "space.x"),
        ({"space": {"x": {"type": "categorical", "choices": ["a", "a"]}}}, "repeat"),
        ({"space": {"x": {**X, "when": {"y": [1]}}}}, "'y', which is not a dimension"),
        ({"space": {f"x{i}": X for i in range(300)}}, "space"),
        ({"name": "../etc"}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "täsk"}, "name"),
        ({"strategy": "gird"}, "The strategy is wrong: its name is 'biased_random', 'grid'"),
        ({"strategy": 5}, "strategy.settings"),
        ({"strategy": {"levels": 3}}, "The strategy is wrong: its name is"),
        ({"strategy": {"name": "grid", "level": 3}}, "grid has no setting 'level' (did you mean 'levels'?)"),
        (
            {"strategy": {"name": "grid", "levels": {"y": 3}}},
            "grid.levels: 'y' has levels but is no dimension",
        ),
        ({"strategy": {"name": "grid", "version": 7}}, "grid.version is 1 here; got 7"),
        ({"max_trials": 0}, "max_trials"),
        ({"max_trials": 10**9}, "max_trials"),
        ({"max_trials": "many"}, "max_trials"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**53}, "seed"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_wrong_study_is_refused_by_field_and_nothing_is_stored(caller, changed, said):
    assert is_a_problem(caller.create(**changed), 422, "invalid-request", said)
    assert caller.get("/studies/s").status_code == 404


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'{"name": NaN}', b"\xff\xfe", b'{"a":' * 100_000, b'"' + b"x" * 10_000],
)
def test_what_is_not_a_study_at_all_is_refused(api, body):
    answer = api.post("/api/v1/studies", content=body, headers={"content-type": "application/json"})

    assert is_a_problem(answer, 422, "invalid-request", "")


@pytest.mark.parametrize("loss", ["NaN", "Infinity", "-Infinity", "1e999", '"0.5"', "null", "true", "[1]"])
def test_a_loss_is_a_finite_number(api, caller, loss):
    caller.create()
    lease_id = caller.leased()["lease_id"]

    answer = api.post(
        f"/api/v1/leases/{lease_id}/complete",
        content=f'{{"loss": {loss}}}',
        headers={"content-type": "application/json"},
    )

    assert is_a_problem(answer, 422, "invalid-request", "loss")
    assert caller.get("/studies/s").json()["counts"]["running"] == 1


def test_the_largest_finite_losses_are_kept_exactly(caller):
    caller.create()
    for loss in (1.7976931348623157e308, -1.7976931348623157e308, 5e-324):
        assert caller.end(caller.leased(), loss=loss).status_code == 204

    losses = [found["loss"] for found in caller.get("/studies/s/best").json()["best"]]
    assert losses == [-1.7976931348623157e308, 5e-324, 1.7976931348623157e308]


@pytest.mark.row(255)
@pytest.mark.parametrize(
    ("method", "path", "status", "kind", "said"),
    [
        ("get", "/api/v1/studies/nobody", 404, "study-not-found", "POST /api/v1/studies"),
        ("get", "/api/v1/studies/nobody/best", 404, "study-not-found", "'nobody'"),
        ("get", "/api/v1/studies/s/trials/9", 404, "trial-not-found", "no trial 9"),
        ("get", "/api/v1/studies/s/best?top=0", 422, "invalid-request", "top"),
        ("get", "/api/v1/studies/s/best?top=x", 422, "invalid-request", "top"),
        ("get", "/api/v1/nowhere", 404, "not-found", "/docs"),
        ("put", "/api/v1/studies/s", 405, "method-not-allowed", "PUT"),
        ("post", f"{UNKNOWN_LEASE}/release", 409, "lease-lost", "never given"),
        ("post", "/api/v1/leases/not-a-lease/release", 422, "invalid-request", "lease_id"),
    ],
)
def test_every_refusal_is_a_problem_document(caller, method, path, status, kind, said):
    caller.create()

    assert is_a_problem(getattr(caller.api, method)(path), status, kind, said)


@pytest.mark.parametrize(
    "changed", [{"worker": ""}, {"tasks": []}, {"max": 101}, {"tasks": ["t"] * 1001}, {"request_id": "a b"}]
)
def test_a_wrong_lease_request_is_refused(caller, changed):
    assert is_a_problem(caller.lease(**changed), 422, "invalid-request", next(iter(changed)))


@pytest.mark.parametrize(
    "changed", [{"slot": {"name": "a\0b"}}, {"environment": {"a\0": "b"}}, {"environment": {"a": "b\0"}}]
)
def test_a_nul_in_a_lease_request_is_refused_on_both_databases(caller, changed):
    assert is_a_problem(caller.lease(**changed), 422, "invalid-request", next(iter(changed)))


@pytest.mark.parametrize("field", ["message", "traceback"])
def test_a_nul_in_a_failure_is_refused_on_both_databases(caller, field):
    caller.create()
    failure = {"kind": "error", "message": "m", "traceback": "t"} | {field: "a\0b"}

    assert is_a_problem(caller.end(caller.leased(), "fail", **failure), 422, "invalid-request", field)


def test_the_steps_of_a_report_rise(caller):
    caller.create()
    points = [{"step": step, "metrics": {"loss": 1.0}} for step in (2, 1)]

    answer = caller.end(caller.leased(), "heartbeat", reports=points)

    assert is_a_problem(answer, 422, "invalid-request", "rise")


def test_a_body_beyond_the_limit_is_refused(api):
    body = json.dumps({"name": "x" * LARGEST_BODY})

    answer = api.post("/api/v1/studies", content=body, headers={"content-type": "application/json"})

    assert is_a_problem(answer, 413, "body-too-large", "bytes")


@pytest.mark.parametrize("headers", [{"content-type": "text/plain"}, {}])
def test_a_body_that_is_not_json_by_its_header_is_refused(api, headers):
    answer = api.post("/api/v1/leases", content=json.dumps(LEASE), headers=headers)

    assert is_a_problem(answer, 422, "invalid-request", "Content-Type is application/json")


@pytest.mark.parametrize(
    ("path", "said"),
    [("studies", "Expecting value at character 6"), ("leases", "expected value at line 1 column 7")],
)
def test_where_a_body_stops_being_json_is_said(api, path, said):
    answer = api.post(f"/api/v1/{path}", content='{"a": }', headers={"content-type": "application/json"})

    assert is_a_problem(answer, 422, "invalid-request", f"The body is not JSON: {said}")


def test_a_page_of_another_site_cannot_reach_the_server_under_its_own_name(api):
    answer = api.get("/api/v1/studies/s", headers={"host": "evil.example"})

    assert is_a_problem(answer, 400, "unknown-host", "THIESSEN_ALLOWED_HOSTS")


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000", "[::1]", "LOCALHOST"])
def test_a_server_answers_to_the_names_of_its_own_machine(api, host):
    assert api.get("/healthz", headers={"host": host}).status_code == 200


def test_a_fault_of_the_server_says_no_secret(api, monkeypatch):
    monkeypatch.setattr("app.lifecycle.rank.best", lambda *_: 1 / 0)

    answer = api.get("/api/v1/studies/s/best")

    assert is_a_problem(answer, 500, "internal-error", "log says why")
    assert "division" not in answer.text


def test_a_method_that_a_path_is_not_for_is_told_all_that_it_is_for(api):
    answer = api.put("/api/v1/studies/s")

    assert is_a_problem(answer, 405, "method-not-allowed", "PUT is not for")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "PATCH", "DELETE"}


def test_a_refusal_repeats_only_the_beginning_of_what_was_sent(caller):
    answer = caller.create(space={"x": {"type": "x" * 100_000}})

    assert is_a_problem(answer, 422, "invalid-request", "space.x")
    assert len(answer.json()["detail"]) < 11_000


def test_what_is_wrong_with_a_field_that_may_be_left_out_is_said_once(caller):
    caller.create()

    answer = caller.api.patch("/api/v1/studies/s", json={"max_trials": "many"})

    assert is_a_problem(answer, 422, "invalid-request", 'max_trials: is an integer; got "many". See')
