import pytest
from fastapi.testclient import TestClient

from app.dashboard import static_files
from app.domain.access import CONSOLE, Scope
from app.gate import COOKIE
from app.lifecycle import access
from app.main import build
from app.settings import Settings
from app.storage import open_store
from app.storage.schema import prepare

PAGE = {"accept": "text/html,*/*;q=0.8"}


@pytest.fixture
def tokens(database):
    """A token of each scope, by scope."""
    store = open_store(database)
    prepare(store)
    made = {
        scope: store.write(
            lambda tx, scope=scope: access.create(tx, CONSOLE, name=f"an-{scope}", scopes=[scope])
        )[1]
        for scope in Scope
    }
    store.close()
    return made


@pytest.fixture
def browser(database, tokens):
    """A browser before a server that wants tokens."""
    del tokens
    app = build(Settings(database=database, require_tokens=True))
    with TestClient(app, base_url="http://127.0.0.1", headers=PAGE, follow_redirects=False) as client:
        yield client


def sign_in(browser, token, **form):
    return browser.post("/login", data={"token": token} | form)


def test_a_page_leads_to_the_login_and_from_there_back_to_itself(browser, tokens):
    asked = browser.get("/studies/s")
    assert (asked.status_code, asked.headers["location"]) == (303, "../login?next=/studies/s")
    form = browser.get("/login?next=/studies/s")
    assert 'name="next" type="hidden" value="/studies/s"' in form.text

    answer = sign_in(browser, tokens[Scope.READ], next="/studies/s")

    assert (answer.status_code, answer.headers["location"]) == (303, "./studies/s")
    assert browser.get("/").status_code == 200
    assert browser.get("/api/v1/projects").status_code == 200


def test_the_form_has_its_looks_before_anybody_is_let_in(browser):
    assert browser.get(f"/{static_files.address('style.css')}").status_code == 200


def test_the_cookie_is_for_this_server_this_session_and_no_script(browser, tokens):
    plain = sign_in(browser, tokens[Scope.READ]).headers["set-cookie"]
    encrypted = TestClient(browser.app, base_url="https://127.0.0.1", follow_redirects=False)
    secure = sign_in(encrypted, tokens[Scope.READ]).headers["set-cookie"]

    assert plain == f"{COOKIE}={tokens[Scope.READ]}; HttpOnly; Path=/; SameSite=strict"
    assert secure == f"{plain}; Secure"


def test_a_program_that_asks_for_a_page_is_told_instead_of_led(browser):
    assert browser.get("/", headers={"accept": "*/*"}).status_code == 401
    assert browser.get("/metrics", headers={"accept": "text/plain"}).status_code == 401


@pytest.mark.parametrize("token", ["thiessen_wrong", "", "x" * 20_000, "\0"])
def test_a_wrong_token_gives_the_form_again_and_says_so(browser, token):
    answer = sign_in(browser, token)

    assert answer.status_code == 401
    assert 'role="alert"' in answer.text
    assert "wrong</" not in answer.text
    assert "set-cookie" not in answer.headers


def test_guessing_at_the_form_is_stopped(browser):
    browser.app.state.gate._wrong._clock = lambda: 1000.0

    assert [sign_in(browser, f"guess-{guess}").status_code for guess in range(11)] == [401] * 10 + [429]


@pytest.mark.parametrize("scope", [Scope.WORK, Scope.SUBMIT])
def test_a_token_that_may_not_read_does_not_sign_in(browser, tokens, scope):
    answer = sign_in(browser, tokens[scope])

    assert answer.status_code == 403
    assert "needs the scope read" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "target", ["https://evil.example", "//evil.example", "/\\evil.example", "x", "/\r\nX: y"]
)
def test_the_login_leads_nowhere_else(browser, tokens, target):
    assert sign_in(browser, tokens[Scope.READ], next=target).headers["location"] == "./"
    browser.cookies.clear()
    assert 'value="/"' in browser.get("/login", params={"next": target}).text


def test_a_cookie_reads_and_changes_nothing(browser, tokens):
    sign_in(browser, tokens[Scope.ADMIN])

    assert browser.get("/api/v1/projects").status_code == 200
    assert browser.post("/api/v1/projects", json={"name": "lab"}).status_code == 401


def test_signing_out_forgets_the_token(browser, tokens):
    sign_in(browser, tokens[Scope.READ])
    assert "an-read" in browser.get("/login").text

    answer = browser.post("/logout")

    assert (answer.status_code, answer.headers["location"]) == (303, "./login")
    assert browser.get("/").status_code == 303
    assert "Sign in" in browser.get("/login").text


def test_a_revoked_token_leads_to_the_form_again(browser, tokens):
    browser.cookies.set(COOKIE, tokens[Scope.READ])
    store = browser.app.state.house.store
    store.write(lambda tx: access.revoke(tx, CONSOLE, "an-read"))

    assert browser.get("/").headers["location"] == "./login?next=/"
    assert "Sign in" in browser.get("/login").text


def test_an_open_server_asks_for_nothing_and_does_not_mind_the_cookie_of_another_port(api):
    api.cookies.set(COOKIE, "thiessen_of_another_server")
    assert "asks for no token" in api.get("/login").text
    assert api.get("/").status_code == 200


@pytest.mark.parametrize("path", ["/", "/login"])
def test_forms_go_to_this_server_only_and_say_where_they_come_from(api, path):
    headers = api.get(path).headers

    assert "form-action 'self'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "same-origin"
