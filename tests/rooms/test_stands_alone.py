import subprocess
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]


def texts():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        try:
            yield name, (HOUSE / name).read_text()
        except (UnicodeDecodeError, FileNotFoundError):
            continue


@pytest.mark.parametrize("outside", ["../" + "shared", "/wo" + "rk/", "/ro" + "ot/", "DESIGN" + ".md"])
def test_nothing_refers_to_a_path_outside_the_repository(outside):
    assert [name for name, text in texts() if outside in text] == []
