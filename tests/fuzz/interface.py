"""Runs schemathesis on a server of ours and counts what it was answered."""

import os
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from tests.fuzz.conftest import X, serving

HOUSE = Path(__file__).parents[2]


@contextmanager
def subject(database, folder):
    """A server on which there is something in every state."""
    with serving(database, folder) as client:
        seed(client)
        yield client


def post(client, path, **body):
    answer = client.post(f"/api/v1{path}", json=body)
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


def seed(client):
    post(client, "/projects", name="vision", max_running=3, max_studies=5)
    for name, project in {"paused": "", "stopped": "", "ended": "", "alive": "/projects/vision"}.items():
        post(client, f"{project}/studies", name=name, task="t", space={"x": X}, max_trials=2)
    for name in ("paused", "stopped"):
        client.patch(f"/api/v1/studies/{name}", json={"state": name}).raise_for_status()
    wish = {"worker": "w", "incarnation": "i", "max": 2, "tasks": ["t"]}
    leases = post(client, "/leases", request_id="1", studies=["ended"], **wish)["leases"]
    post(client, f"/leases/{leases[0]['lease_id']}/complete", loss=0.5)
    post(client, f"/leases/{leases[1]['lease_id']}/fail", kind="error", message="m", retry=False)
    post(client, "/leases", request_id="2", studies=["alive"], **wish)
    post(client, "/webhooks", url="http://127.0.0.1:9/")
    post(client, "/tokens", name="reader", scopes=["read"], project="vision")


def fuzzed(client, folder, *options):
    """Run schemathesis; return how often each call was answered with each status, and what it printed."""
    answers = folder / "answers"
    answers.touch()
    url, token = str(client.base_url).rstrip("/"), client.headers["authorization"].split()[-1]
    environment = os.environ | {
        "PYTHONPATH": str(HOUSE),
        "THIESSEN_URL": url,
        "THIESSEN_TOKEN": token,
        "THIESSEN_ANSWERS": str(answers),
    }
    config = ["--config-file", str(HOUSE / "tests/fuzz/schemathesis.toml")]
    ran = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", *config, "run", f"{url}/openapi.json", "--seed", "1",
         "--no-color", "-c", "all", *options],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-10_000:] + ran.stderr[-2000:]
    counted = Counter(tuple(line.rsplit(" ", 1)) for line in answers.read_text().splitlines())
    calls = {
        f"{method.upper()} {path}"
        for path, methods in client.get("/openapi.json").json()["paths"].items()
        for method in methods
    }
    answered = {
        call: {status: number for (asked, status), number in counted.items() if asked == call}
        for call in sorted(calls)
    }
    return answered, ran.stdout


def table(answered):
    lines = [f"{call}: {dict(sorted(statuses.items()))}" for call, statuses in answered.items()]
    return "\n".join([*lines, f"{sum(map(sum, (s.values() for s in answered.values())))} requests in all"])


def succeeded(statuses):
    return sum(number for status, number in statuses.items() if status.startswith("2"))
