import pytest


def create(api, **changed):
    study = {
        "name": "s",
        "task": "t",
        "space": {"x": {"type": "float", "low": 0, "high": 1}},
        "max_trials": 2,
    }
    assert api.post("/api/v1/studies", json=study | changed).status_code == 201


def finish_one(api, loss):
    request = {"worker": "w", "incarnation": "i", "request_id": f"r{loss}", "tasks": ["t"]}
    lease_id = api.post("/api/v1/leases", json=request).json()["leases"][0]["lease_id"]
    assert api.post(f"/api/v1/leases/{lease_id}/complete", json={"loss": loss}).status_code == 204


def test_an_empty_dashboard_says_what_to_do_next(api):
    page = api.get("/").text

    assert "thiessen study create" in page


def test_the_home_page_lists_studies_with_their_progress(api):
    create(api)
    finish_one(api, 0.25)

    page = api.get("/").text

    assert 'href="/studies/s"' in page
    assert "1 of 2" in page
    assert "0.25" in page


def test_the_pages_name_the_strategy_with_the_settings_that_are_not_the_usual_ones(api):
    create(api, strategy={"name": "grid", "levels": 5})

    for path in ("/", "/studies/s"):
        assert "grid (levels 5)" in api.get(path).text


def test_a_study_page_ranks_its_configs(api):
    create(api)
    finish_one(api, 0.5)
    finish_one(api, 0.125)

    page = api.get("/studies/s").text

    assert page.index("0.125") < page.index("0.5<")
    assert "completed" in page


def test_a_page_refreshes_itself_only_while_its_study_is_active(api):
    create(api, max_trials=1)
    assert "refresh" in api.get("/studies/s").headers

    finish_one(api, 0.5)

    assert "refresh" not in api.get("/studies/s").headers


def test_an_unknown_study_is_a_page_too_and_escapes_what_was_asked(api):
    answer = api.get("/studies/<script>alert(1)</script>")

    assert answer.status_code == 404
    assert "<script>" not in api.get("/studies/%3Cscript%3E").text
    assert api.get("/studies/%00").status_code == 404


def test_the_page_of_the_api_shows_every_call_with_an_example(api):
    page = api.get("/docs").text

    for path, operations in api.get("/openapi.json").json()["paths"].items():
        for method in operations:
            assert f"<code>{method.upper()} {path}</code>" in page
    with_body = [
        operation
        for operations in api.get("/openapi.json").json()["paths"].values()
        for operation in operations.values()
        if "requestBody" in operation
    ]
    assert page.count("<pre>") == len(with_body) > 5


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_load_nothing_from_elsewhere(api, path):
    answer = api.get(path)

    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "http://" not in answer.text.replace("http://127.0.0.1", "")
    assert api.get("/style.css").headers["content-type"].startswith("text/css")
