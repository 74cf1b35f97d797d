"""The server keeps to its own OpenAPI document: thousands of requests, and a table of their answers."""

from tests.fuzz.interface import fuzzed, subject, succeeded, table

ENOUGH = 20  # answers of each call that are no refusal
ALWAYS_THE_SAME = {"GET /api/v1/tasks", "GET /api/v1/workers"}  # take nothing, so there is nothing to vary


def test_the_server_keeps_to_its_document(database, tmp_path, capsys):
    with subject(database, tmp_path) as client:
        answered = fuzzed(client, tmp_path, "--phases", "examples,coverage,fuzzing,stateful", "-n", "150")

    with capsys.disabled():
        print(f"\n{table(answered)}")  # noqa: T201 - the table of the proof
    assert all(
        succeeded(statuses) >= (1 if call in ALWAYS_THE_SAME else ENOUGH)
        for call, statuses in answered.items()
    )
