"""With `server`: a server that is ready, shows its pages, and keeps a study in a file."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import httpx

import thiessen

server = subprocess.Popen(
    [Path(sys.prefix) / "bin" / "thiessen", "serve", "--port", "0"],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
)
try:
    said = server.stdout.readline()
    assert "Serving at" in said, said + server.stdout.read()
    address = said.split()[2]
    assert httpx.get(f"{address}/healthz").status_code == 200
    with thiessen.connect(address) as client:
        study = client.open_study("lines", thiessen.Space(lr=thiessen.Float(0, 1)), trials=5)
        study.optimize(lambda trial: trial["lr"])
    page = httpx.get(f"{address}/studies/lines")
    assert page.status_code == 200
    assert "completed" in page.text
finally:
    server.terminate()
    server.wait(20)

with thiessen.connect("sqlite:///thiessen.db") as client:  # what it kept, without a server
    assert client.study("lines").counts.succeeded == 5
for group in ("thiessen.commands", "thiessen.checks", "thiessen.local"):
    for entry in entry_points(group=group):
        if entry.value.startswith("app."):
            entry.load()
