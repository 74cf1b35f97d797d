"""The page that says how to verify a signature is taken at its word."""

import re
import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.lifecycle.deliver import signature

PAGE = Path(__file__).parents[2] / "docs/how-to/webhooks.md"
BODY = b'{"webhook": 1, "project": "default", "study": "s", "events": [{"seq": 1, "kind": "study.created"}]}'
REFUSED = {
    "another secret": lambda now: (signature("other", now, BODY), BODY),
    "another body": lambda now: (signature("secret", now, BODY), BODY + b" "),
    "long ago": lambda now: (signature("secret", now - 3600, BODY), BODY),
    "another time": lambda now: (signature("secret", now, BODY).replace(f"t={now}", f"t={now + 1}"), BODY),
    "no signature": lambda now: (f"t={now},v1=", BODY),
    "no hexadecimal signature": lambda now: (f"t={now},v1=ä", BODY),
    "no time": lambda _: ("t=²,v1=00", BODY),
    "nothing": lambda _: ("", BODY),
    "no value": lambda _: ("v1", BODY),
}


@pytest.fixture(scope="module")
def example():
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(block, names)  # noqa: S102 - what the reader would paste
    return names


@pytest.mark.row(258)
def test_what_the_server_signs_is_accepted(example):
    assert example["is_from_thiessen"]("secret", signature("secret", round(time.time()), BODY), BODY)


@pytest.mark.parametrize("sent", REFUSED.values(), ids=REFUSED)
def test_what_it_did_not_sign_or_long_ago_is_refused(example, sent):
    header, body = sent(round(time.time()))

    assert not example["is_from_thiessen"]("secret", header, body)


def test_the_receiver_of_the_page_takes_what_is_signed_and_nothing_else(example, monkeypatch, capsys):
    monkeypatch.setenv("WEBHOOK_SECRET", "secret")
    receiver = TestClient(example["app"])

    def post(header):
        return receiver.post("/thiessen", content=BODY, headers={"Thiessen-Signature": header}).status_code

    assert post(signature("other", round(time.time()), BODY)) == 403
    assert capsys.readouterr().out == ""
    assert post(signature("secret", round(time.time()), BODY)) == 204
    assert capsys.readouterr().out == "1 study.created\n"
