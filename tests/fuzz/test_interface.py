"""The server keeps to its own OpenAPI document: a few hundred requests that schemathesis makes of it."""

import pytest

from tests.fuzz.interface import fuzzed, subject, succeeded, table


@pytest.mark.row(255)
def test_the_server_keeps_to_its_document(database, tmp_path):
    with subject(database, tmp_path) as client:
        answered, _ = fuzzed(client, tmp_path, "--phases", "fuzzing", "-n", "8")

    assert all(succeeded(statuses) for statuses in answered.values()), table(answered)
