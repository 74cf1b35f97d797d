"""The server keeps to its own OpenAPI document: thousands of requests, and a table of their answers."""

from tests.fuzz.interface import fuzzed, subject, succeeded, table

ENOUGH = 20  # answers of each call that are no refusal


def test_the_server_keeps_to_its_document(database, tmp_path, capsys):
    with subject(database, tmp_path) as client:
        answered = fuzzed(client, tmp_path, "--phases", "examples,coverage,fuzzing,stateful", "-n", "100")

    with capsys.disabled():
        print(f"\n{table(answered)}")  # noqa: T201 - the table of the proof
    assert all(succeeded(statuses) >= ENOUGH for statuses in answered.values())
