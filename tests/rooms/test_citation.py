"""What is cited is what is built."""

import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from thiessen.version import __version__

ROOT = Path(__file__).parents[2]


def test_the_citation_is_of_this_version_as_the_package_describes_itself():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert cited["version"] == __version__
    assert cited["license"] == project["license"]
    assert cited["abstract"] == project["description"]
    assert cited["keywords"] == project["keywords"]
    assert cited["authors"] == project["authors"]


def test_the_citation_is_written_as_its_format_has_it():
    tool = Path(sys.executable).with_name("check-jsonschema")
    command = [tool, "--builtin-schema", "vendor.citation-file-format", "CITATION.cff"]

    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout
