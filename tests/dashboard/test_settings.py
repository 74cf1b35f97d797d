import html
import re

import pytest

from app.dashboard.summaries.settings import SCOPES
from app.domain.access import Scope
from app.lifecycle import access


def text_of(answer):
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", answer.text)).split())


def make(visitor, **form):
    return visitor.post("/settings/tokens", data=form)


def tokens_of(api):
    return api.app.state.house.store.read(lambda tx: access.every(tx, after=0, limit=100))


def test_every_scope_has_words():
    assert set(SCOPES) == set(Scope)


def test_a_token_is_shown_once_and_lets_in(visitor):
    admin = visitor("admin")

    answer = make(admin, name="node-7", scopes=["work", "read"], project="lab", days="1.5")

    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    [secret] = re.findall(r'<code id="secret">(thiessen_[\w-]{43})</code>', answer.text)
    assert "location" not in answer.headers
    page = admin.get("/settings/tokens")
    assert secret not in page.text
    told = text_of(page)
    assert "node-7 see studies, trials and the fleet (read) train trials, as a worker does (work) lab" in told
    [made] = [each for each in tokens_of(admin) if each.name == "node-7"]
    assert (made.expires_at - made.created_at).total_seconds() == 1.5 * 86400
    assert made.created_by == "a-admin"
    admin.headers["authorization"] = f"Bearer {secret}"
    assert admin.get("/projects/lab/").status_code == 200
    deeds = visitor("admin").get("/api/v1/audit").json()["audit"]
    assert (deeds[0]["action"], deeds[0]["who"]) == ("token.created", "a-admin")


@pytest.mark.parametrize(
    ("form", "field", "said"),
    [
        ({"name": "", "scopes": "read"}, "name", "This is needed."),
        ({"name": "no name", "scopes": "read"}, "name", "Letters, digits, dot"),
        ({"name": "a-admin", "scopes": "read"}, "name", "There is or was a token 'a-admin'."),
        ({"name": "console", "scopes": "read"}, "name", "that name is the server's own"),
        ({"name": "n"}, "scopes", "At least 1 is needed."),
        ({"name": "n", "scopes": "all"}, "scopes", "One of 'read', 'submit', 'work' or 'admin'."),
        ({"name": "n", "scopes": "read", "days": "soon"}, "days", "A number is needed."),
        ({"name": "n", "scopes": "read", "days": "0"}, "days", "Above 0"),
        ({"name": "n", "scopes": "read", "project": "nobody"}, "name", "no project 'nobody'"),
    ],
)
def test_what_is_wrong_is_told_at_its_field_and_nothing_typed_is_lost(visitor, form, field, said):
    admin = visitor("admin")
    before = len(tokens_of(admin))

    answer = make(admin, **form)

    assert answer.status_code in {409, 422}
    page = html.unescape(answer.text)
    assert f'<a href="#{field}">' in page.split('id="faults"')[1].split("</section>")[0]
    assert said in page.split(f'id="wrong-{field}">')[1].split("</p>")[0]
    assert f'value="{form["name"]}"' in page
    if form.get("scopes") == "read":
        assert 'value="read" checked' in page
    assert len(tokens_of(admin)) == before


def test_a_token_is_revoked_by_whoever_writes_its_name(visitor):
    admin = visitor("admin")
    make(admin, name="old", scopes="read")
    told = {"incarnation": "i", "tasks": [{"name": "t"}]}
    visitor("work").put("/api/v1/workers/w7", json=told)

    refused = admin.post("/settings/tokens/old/revoke", data={"name": "odl"})
    assert refused.status_code == 422
    assert "Write old to revoke it" in refused.text
    assert "1 worker will be turned away" in text_of(refused)  # of the other token
    assert not any(each.revoked_at for each in tokens_of(admin))

    answer = admin.post("/settings/tokens/old/revoke", data={"name": "old"})
    assert (answer.status_code, answer.headers["location"]) == (303, "../../../settings/tokens")
    assert [each.name for each in tokens_of(admin) if each.revoked_at] == ["old"]
    assert "every one" in text_of(admin.get("/settings/tokens"))
    assert "revoked" in text_of(admin.get("/settings/tokens"))
    assert admin.post("/settings/tokens/nobody/revoke", data={"name": "nobody"}).status_code == 404


def test_projects_are_listed_and_made(visitor):
    admin = visitor("admin")

    answer = admin.post("/settings/projects", data={"name": "vision", "max_running": "8", "max_studies": ""})

    assert (answer.status_code, answer.headers["location"]) == (303, "../settings/projects")
    page = admin.get("/settings/projects")
    assert "vision 8 any number" in text_of(page)
    assert 'href="../projects/vision/"' in page.text
    again = admin.post("/settings/projects", data={"name": "vision", "max_running": "9", "max_studies": "x"})
    assert (again.status_code, 'value="9"' in again.text) == (422, True)
    assert "A whole number is needed." in again.text
    other = admin.post("/settings/projects", data={"name": "vision", "max_running": "9"})
    assert (other.status_code, "exists with other quotas" in other.text) == (409, True)


@pytest.mark.parametrize(
    ("scopes", "project"), [(["read"], None), (["read", "submit"], None), (["admin"], "lab")]
)
def test_settings_are_for_who_manages_the_server(visitor, scopes, project):
    other = visitor(*scopes, project=project)
    home = f"/projects/{project}/" if project else "/"

    assert "Settings" not in other.get(home).text
    for path in ("/settings/tokens", "/settings/projects"):
        answer = other.get(path)
        assert answer.status_code == 403
        assert ("bound to project" if project else "needs the scope admin") in answer.text
        assert other.post(path, data={"name": "n", "scopes": "admin"}).status_code == 403
    assert other.post("/settings/tokens/a-admin/revoke", data={"name": "a-admin"}).status_code == 403
    assert 'settings/tokens" >Settings' in visitor("admin").get("/").text


@pytest.mark.row(265)
def test_a_form_of_another_site_makes_and_revokes_nothing(visitor):
    admin = visitor("admin")
    forged = {"sec-fetch-site": "cross-site"}

    for path in ("/settings/tokens", "/settings/projects", "/settings/tokens/a-admin/revoke"):
        answer = admin.post(path, data={"name": "a-admin", "scopes": "admin"}, headers=forged)
        assert answer.status_code == 403
        assert "This is not allowed" in answer.text
    assert [each.name for each in tokens_of(admin)] == ["a-admin"]


def test_a_form_has_a_limit_and_what_it_says_is_never_markup(visitor):
    admin = visitor("admin")
    many = "&".join(f"f{at}=1" for at in range(5000))
    answer = admin.post("/settings/tokens", content=many)
    assert (answer.status_code, "at most 4,000 fields" in answer.text) == (422, True)

    evil = '"><script>alert(1)</script>'
    page = make(admin, name=evil, scopes="read", days=evil).text
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;") >= 2


def test_the_page_of_access_says_what_the_token_is_for(visitor):
    bound = visitor("read", "submit", project="lab")
    bound.cookies.set("thiessen_token", bound.headers.pop("authorization").split()[1])

    told = text_of(bound.get("/login"))

    assert "for the project lab alone" in told
    assert "It is to see studies, trials and the fleet (read) create studies, change them, add trials" in told
