def test_a_healthy_server_says_so(api):
    assert (api.get("/healthz").text, api.get("/readyz").text) == ("alive\n", "ready\n")


def test_a_server_without_its_database_is_alive_but_not_ready(api, monkeypatch):
    from app.storage import DatabaseUnavailable

    async def gone(_):
        raise DatabaseUnavailable("The database does not answer: gone.")

    monkeypatch.setattr(api.app.state.house.store, "seen", gone)

    assert api.get("/healthz").status_code == 200
    answer = api.get("/readyz")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert "send it again" in answer.json()["detail"]
