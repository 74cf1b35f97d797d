"""The script and the manifest of the how-to pages start workers, with options that workers have."""

import re
import subprocess
from pathlib import Path

import typer
import yaml

from thiessen.cli.main import build

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


def block(page, kind):
    """Return the first block of code of this kind."""
    return re.search(rf"^```{kind}\n(.*?)^```", (HOW_TO / page).read_text(), re.MULTILINE | re.DOTALL)[1]


def options():
    command = typer.main.get_command(build()).commands["worker"]
    return {option for parameter in command.params for option in parameter.opts}


def test_the_slurm_script_is_a_script_that_ends_as_a_worker():
    script = block("slurm.md", "sh")

    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert "exec thiessen worker" in script
    assert set(re.findall(r"^  (--[a-z-]+)", script, re.MULTILINE)) <= options()


def test_the_kubernetes_manifest_is_a_deployment_of_workers():
    manifest = yaml.safe_load(block("kubernetes.md", "yaml"))

    assert (manifest["apiVersion"], manifest["kind"]) == ("apps/v1", "Deployment")
    template = manifest["spec"]["template"]
    assert manifest["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]
    (container,) = template["spec"]["containers"]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in template["spec"]["volumes"]}
    command, *given = container["args"]
    assert command == "worker"
    assert {argument.partition("=")[0] for argument in given} <= options()
