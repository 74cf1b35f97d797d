"""Looks up what constraints.txt pins among the published vulnerabilities.

    python chores/audit.py [--strict]

A vulnerability that is found fails. Where nobody can be asked it says that nothing was audited and why, which
fails with --strict alone: a machine without a network can still check everything else.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PINNED = Path(__file__).parents[1] / "constraints.txt"
LONGEST_SECONDS = 300
ANSWER_SECONDS = 15


@dataclass(frozen=True)
class Audit:
    """What became of it."""

    audited: int = 0
    found: Sequence[str] = ()  # vulnerabilities, in a sentence each
    left_out: Mapping[str, int] | None = None  # how many packages for each reason


def main() -> int:
    """Print what was found and what was not looked at; return the exit code."""
    is_strict = "--strict" in sys.argv[1:]
    audit = asked()
    for sentence in audit.found:
        print(sentence)
    print(told(audit))
    is_whole = bool(audit.audited) and not audit.left_out
    return int(bool(audit.found) or (is_strict and not is_whole))


def asked() -> Audit:
    """Ask the advisory service about every pinned package."""
    options = ("--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json")
    command = [sys.executable, "-m", "pip_audit", "--requirement", PINNED, "--timeout", str(ANSWER_SECONDS)]
    try:
        ran = subprocess.run(
            [*command, *options], capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS
        )
    except subprocess.TimeoutExpired:
        return Audit(left_out={f"no answer within {LONGEST_SECONDS} seconds": 1})
    try:
        packages = json.loads(ran.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (ran.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1]
        return Audit(left_out={last: 1})
    return Audit(
        audited=sum("vulns" in each for each in packages),
        found=[sentence for each in packages for sentence in vulnerabilities(each)],
        left_out=Counter(reason(each) for each in packages if "vulns" not in each),
    )


def vulnerabilities(package: Mapping[str, Any]) -> list[str]:
    """Return what is known against a package."""
    return [
        f"{package['name']} {package['version']} has {each['id']}: "
        f"{'mended in ' + ', '.join(each['fix_versions']) if each.get('fix_versions') else 'not mended yet'}."
        for each in package.get("vulns", ())
    ]


def reason(package: Mapping[str, Any]) -> str:
    """Return why a package was not looked at, without its name: the reason of one is mostly that of all."""
    told_of_it: str = package.get("skip_reason", "no reason was given")
    return told_of_it.partition(": ")[0]


def told(audit: Audit) -> str:
    """Say what was audited, and what was not and why."""
    reasons = "; ".join(audit.left_out or ())
    if not audit.audited:
        return f"Nothing was audited for known vulnerabilities: {reasons or 'no package is pinned'}."
    known = f"{len(audit.found)} known vulnerabilities in {audit.audited} packages"
    if not audit.left_out:
        return f"{known}."
    return f"{known}; {sum(audit.left_out.values())} were not audited: {reasons}."


if __name__ == "__main__":
    sys.exit(main())
