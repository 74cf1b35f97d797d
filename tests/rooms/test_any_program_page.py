"""What the page on programs of any language shows, a newcomer can type."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/how-to/any-program.md"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_page_run_and_the_first_says_what_it_shows(tmp_path):
    [program], [shown] = blocks("python"), blocks("text")
    (tmp_path / "train.py").write_text(program)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    said = [
        subprocess.run(
            ["sh", "-ec", command],
            cwd=tmp_path,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for command in blocks("sh")
    ]

    assert said[0] == shown
    assert "train: 40 of 40 trials have ended" in said[1]
    assert len(said) == 5
