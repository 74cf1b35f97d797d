"""The audit says what it has looked at: an answer of nobody is no clean bill."""

import json
import subprocess

import pytest

from chores import audit

CLEAN = {"name": "a", "version": "1", "vulns": []}
ILL = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"]}, {"id": "GHSA-2"}]}
UNKNOWN = {"name": "c", "skip_reason": "Dependency not found on PyPI and could not be audited: c (4)"}


@pytest.fixture
def answered(monkeypatch, capsys):
    """Runs the audit with an answer of pip-audit; returns its exit code and what it said."""

    def run(*packages, strict=False, stdout=None, stderr=""):
        text = json.dumps({"dependencies": packages, "fixes": []}) if stdout is None else stdout
        ran = subprocess.CompletedProcess((), 1, text, stderr)
        monkeypatch.setattr("chores.audit.subprocess.run", lambda *_, **__: ran)
        monkeypatch.setattr("sys.argv", ["audit.py", *(["--strict"] if strict else [])])
        return audit.main(), capsys.readouterr().out

    return run


@pytest.mark.parametrize("strict", [False, True])
def test_a_clean_answer_about_everything_passes(answered, strict):
    assert answered(CLEAN, CLEAN, strict=strict) == (0, "0 known vulnerabilities in 2 packages.\n")


@pytest.mark.parametrize("strict", [False, True])
def test_a_vulnerability_fails_always_and_says_what_mends_it(answered, strict):
    code, said = answered(CLEAN, ILL, UNKNOWN, strict=strict)

    assert code == 1
    assert "b 2 has PYSEC-1: mended in 3.\n" in said
    assert "b 2 has GHSA-2: not mended yet.\n" in said
    assert "2 known vulnerabilities in 2 packages; 1 were not audited" in said


@pytest.mark.parametrize(
    "answer",
    [
        {"packages": [UNKNOWN, UNKNOWN]},
        {"packages": [], "stdout": "", "stderr": "Traceback\nConnectionError: no route to pypi.org"},
        {"packages": [], "stdout": "<html>", "stderr": ""},
        {"packages": [], "stdout": "[]", "stderr": ""},
        {"packages": []},
    ],
    ids=["nothing is known", "no route", "another page", "another document", "nothing is pinned"],
)
def test_where_nobody_answers_it_says_so_and_only_a_strict_run_fails(answered, answer):
    packages = answer.pop("packages")

    code, said = answered(*packages, **answer)
    strict, _ = answered(*packages, **answer, strict=True)

    assert (code, strict) == (0, 1)
    assert said.startswith("Nothing was audited for known vulnerabilities: ")
    assert "no route to pypi.org" in said or "stderr" not in answer or not answer["stderr"]


def test_a_part_that_was_not_looked_at_is_counted_and_fails_a_strict_run(answered):
    code, said = answered(CLEAN, UNKNOWN)
    strict, _ = answered(CLEAN, UNKNOWN, strict=True)

    assert (code, strict) == (0, 1)
    assert said == (
        "0 known vulnerabilities in 1 packages; 1 were not audited: "
        "Dependency not found on PyPI and could not be audited.\n"
    )


def test_an_answer_that_never_comes_is_given_up(answered, monkeypatch, capsys):
    answered()

    def late(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr("chores.audit.subprocess.run", late)

    assert audit.main() == 0
    assert "no answer within 300 seconds" in capsys.readouterr().out
