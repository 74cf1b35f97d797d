"""With `parquet`, on a server: an export in that format."""

import io
import subprocess
import sys
from pathlib import Path

import httpx
import pyarrow.parquet

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
    with thiessen.connect(address) as client:
        study = client.open_study("lines", thiessen.Space(lr=thiessen.Float(0, 1)), trials=3)
        study.optimize(lambda trial: trial["lr"])
    export = httpx.get(f"{address}/api/v1/studies/lines/export", params={"format": "parquet"})
    assert pyarrow.parquet.read_table(io.BytesIO(export.content)).num_rows == 3
finally:
    server.terminate()
    server.wait(20)
