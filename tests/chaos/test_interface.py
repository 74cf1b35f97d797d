"""The server keeps to its own OpenAPI document: thousands of requests, and a table of their answers."""

import re

from tests.fuzz.interface import fuzzed, subject, succeeded, table

ENOUGH = 20  # answers of each call that are no refusal
LINKS = 10  # gone at least: a trial that was created is cancelled, a lease that was given is completed


def test_the_server_keeps_to_its_document(database, tmp_path, capsys):
    with subject(database, tmp_path) as client:
        answered, said = fuzzed(
            client, tmp_path, "--phases", "examples,coverage,fuzzing,stateful", "-n", "200"
        )

    [links] = re.findall(r"API Links: .*", said)  # from an answer to the calls that take what it names
    with capsys.disabled():
        print(f"\n{table(answered)}\n{links}")  # noqa: T201 - the table of the proof
    assert int(re.findall(r"\d+", links)[0]) >= LINKS
    assert all(succeeded(statuses) >= ENOUGH for statuses in answered.values())
