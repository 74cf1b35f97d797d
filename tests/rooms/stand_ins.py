"""What the session of a page finds on its path in the place of programs that last, or that are not here.

A server and a worker are started and go on beside the session. `docker`, `kubectl`, `sbatch` and their like
look whether all that they are asked for is there, and run what they would run of ours.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

HOUSE = Path(__file__).parents[2]
OURS = [sys.executable, "-P", "-m", "thiessen.cli"]
STARTS = {"serve": "Serving at", "worker": "Working for"}  # and what a program says that has started
SECONDS = 120.0  # machines are busy
BATCH = {"job-name", "array", "gpus-per-task", "cpus-per-task", "mem", "time", "signal", "requeue", "output"}


def main() -> None:
    name, *given = sys.argv[1:]
    {
        "thiessen": thiessen,
        "make": make,
        "pip": pip,
        "git": git,
        "ssh": ssh,
        "docker": docker,
        "kubectl": kubectl,
        "sbatch": sbatch,
        "tensorboard": tensorboard,
    }[name](given)


PROGRAMS = ("thiessen", "make", "pip", "git", "ssh", "docker", "kubectl", "sbatch", "tensorboard")


def lasting() -> Path:
    folder = Path(os.environ["SESSION"]) / "lasting"
    folder.mkdir(exist_ok=True)
    return folder


def thiessen(given: list[str]) -> None:
    if any("cuda" in each for each in given):
        refused(given)
    elif given[0] == "fleet":
        parsed(given)
    elif given[0] in STARTS and not {"--help", "--idle-exit", "--max-trials"} & set(given):
        last(given)
    elif given[:2] == ["token", "create"]:
        made = subprocess.run([*OURS, *given], stdout=subprocess.PIPE, text=True, check=True).stdout
        Path(os.environ["SESSION"], "token").write_text(made.strip())
    else:
        os.execv(sys.executable, [*OURS, *given])


def refused(given: list[str]) -> None:
    """There are no GPUs here, and that is what is said of them."""
    tried = subprocess.run([*OURS, *given], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert tried.returncode == 1, tried
    assert re.match(r"Error: 'cuda:[0-9+]+' is not here; this machine has cpu", tried.stderr), tried


def parsed(given: list[str]) -> None:
    """There is no cluster here: what is said to it is understood, and that is all."""
    import typer

    from thiessen.cli.main import build

    context, name, command = None, "thiessen", typer.main.get_command(build())
    while hasattr(command, "commands"):
        context = command.make_context(name, given, parent=context)
        name, command, given = command.resolve_command(context, [*context._protected_args, *context.args])
    command.make_context(name, given, parent=context)


def last(given: list[str]) -> None:
    """Start it in the place of the one before, and return when it says that it has started."""
    if given[0] == "serve":
        kind = "serve-" + (
            given[given.index("--port") + 1] if "--port" in given else os.environ["THIESSEN_PORT"]
        )
    else:
        kind, given = "worker", [*given, "--log-format", "human"]  # as on a terminal
    for pid in sorted(lasting().glob(f"*-{kind}.pid")):
        stop(pid)
    name = lasting() / f"{len(list(lasting().glob('*.pid')))}-{kind}"
    with name.with_suffix(".log").open("wb") as log:
        subprocess.Popen(
            [
                "bash",
                "-c",
                '"$@" & echo $! > "$NAME.pid"; wait $!; echo $? > "$NAME.code"',
                "bash",
                *OURS,
                *given,
            ],
            env=os.environ | {"NAME": str(name)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    has_started = lambda: STARTS[given[0]] in name.with_suffix(".log").read_text()  # noqa: E731
    wait_until(lambda: has_started() or name.with_suffix(".code").exists())
    assert has_started(), name.with_suffix(".log").read_text()
    assert not name.with_suffix(".code").exists(), name.with_suffix(".log").read_text()


def stop(pid: Path) -> None:
    """Stop what has started, as Ctrl-C does; it ends well."""
    code = pid.with_suffix(".code")
    if not code.exists():
        os.kill(int(pid.read_text()), signal.SIGTERM)
    wait_until(code.exists)
    wait_until(code.read_text)
    assert code.read_text() == "0\n", pid.with_suffix(".log").read_text()


def wait_until(condition) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"not within {SECONDS:g} seconds"
        time.sleep(0.05)


def make(given: list[str]) -> None:
    subprocess.run(["/usr/bin/env", "-u", "MAKEFLAGS", REAL_MAKE, "-n", "-C", HOUSE, *given], check=True)
    if given[0] == "demo":
        os.execv(sys.executable, [*OURS, "demo", "--port", "0", "--trials", "5"])


def pip(given: list[str]) -> None:
    """Install a package of the page; of this house see that each extra is one, as it is installed already."""
    asked = argparse.ArgumentParser()
    asked.add_argument("verb", choices=["install"])
    asked.add_argument("--no-deps", action="store_true")
    asked.add_argument("-c", "--constraint", type=HOUSE.joinpath)
    asked.add_argument("-e", "--editable")
    asked.add_argument("package", nargs="?")
    wish = asked.parse_args(given)
    assert wish.constraint is None or wish.constraint.exists()
    if Path("pyproject.toml").exists():
        site = os.environ["PYTHONPATH"]
        options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", site]
        os.execv(
            sys.executable, [sys.executable, "-m", "pip", "install", *options, wish.editable or wish.package]
        )
    name, _, extras = wish.package.rstrip("]").partition("[")
    known = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert name in {".", "thiessen"}
    assert set(filter(None, extras.split(","))) <= known.keys(), extras


def git(given: list[str]) -> None:
    assert given == ["pull"]


def ssh(given: list[str]) -> None:
    """A tunnel to the very port that it begins at: here there is one already."""
    asked = argparse.ArgumentParser()
    asked.add_argument("-N", action="store_true", required=True)
    asked.add_argument("-L", required=True)
    asked.add_argument("machine")
    begins, host, ends = asked.parse_args(given).L.split(":")
    assert (begins, host) == (ends, "127.0.0.1")


def docker(given: list[str]) -> None:
    import yaml

    compose = (HOUSE / "docker-compose.yml").read_text()
    services = yaml.safe_load(compose)["services"]
    assert given.pop(0) == "compose"
    asked = argparse.ArgumentParser()
    verbs = asked.add_subparsers(dest="verb", required=True)
    up = verbs.add_parser("up")
    for flag in ("--detach", "--wait", "--build"):
        up.add_argument(flag, action="store_true")
    up.add_argument("--scale", type=lambda text: services[text.split("=")[0]] and int(text.split("=")[1]))
    verbs.add_parser("build")
    verbs.add_parser("stop").add_argument("services", nargs="+", choices=services)
    for verb, flag in (("exec", "-T"), ("run", "--rm")):
        inside = verbs.add_parser(verb)
        inside.add_argument(flag, action="store_true")
        inside.add_argument("service", choices=services)
        inside.add_argument("command", nargs=argparse.REMAINDER)
    wish = asked.parse_args(given)
    if wish.verb == "up":
        chosen = dict(line.split("=", 1) for line in Path(".env").read_text().splitlines())
        assert all(chosen[needed] for needed in re.findall(r"\$\{(\w+):\?", compose))
    if wish.verb in {"exec", "run"}:
        program = [] if wish.service == "postgres" else ["thiessen"]  # the entry point of our images
        subprocess.run([*program, *wish.command], check=True)


def kubectl(given: list[str]) -> None:
    import yaml

    kept = Path(os.environ["SESSION"], "secret")
    if given[:3] == ["create", "secret", "generic"]:
        name, literal = given[3:]
        kept.write_text(f"{name} {literal.removeprefix('--from-literal=')}")
        return
    assert given[:2] == ["apply", "--filename"]
    manifest = yaml.safe_load(Path(given[2]).read_text())
    assert (manifest["apiVersion"], manifest["kind"]) == ("apps/v1", "Deployment")
    template = manifest["spec"]["template"]
    assert manifest["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]
    (container,) = template["spec"]["containers"]
    mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounted.keys() == {volume["name"] for volume in template["spec"]["volumes"]}
    environment = {each["name"]: of_the_pod(each, kept) for each in container["env"]}
    arguments = []
    for argument in container["args"]:
        given_name = re.sub(r"\$\((\w+)\)", lambda found: environment[found[1]], argument)
        option, _, path = given_name.partition("=")
        arguments.append(
            f"{option}={os.environ['SESSION']}{path}" if path in mounted.values() else given_name
        )
    subprocess.run(["thiessen", *arguments], env=os.environ | environment, check=True)


def of_the_pod(variable: dict, kept: Path) -> str:
    if "value" in variable:
        return variable["value"]
    if "fieldRef" in variable["valueFrom"]:
        assert variable["valueFrom"]["fieldRef"] == {"fieldPath": "metadata.name"}
        return "worker-of-a-pod"
    name, literal = kept.read_text().split(" ", 1)
    key, _, secret = literal.partition("=")
    assert variable["valueFrom"]["secretKeyRef"] == {"name": name, "key": key}
    return secret


def sbatch(given: list[str]) -> None:
    (script,) = given
    wishes = dict(re.findall(r"^#SBATCH --([a-z-]+)=?(.*)$", Path(script).read_text(), re.MULTILINE))
    assert wishes.keys() <= BATCH, wishes
    job = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": wishes["array"].split("-")[0]}
    job |= {"SLURM_CPUS_PER_TASK": wishes["cpus-per-task"]}
    subprocess.run(["bash", script], env=os.environ | job, check=True)


def tensorboard(given: list[str]) -> None:
    """Look through the folder and end, once there is something in it."""
    folder = Path(given[given.index("--logdir") + 1])
    wait_until(lambda: list(folder.rglob("*tfevents*")))
    os.execv(sys.executable, [sys.executable, "-m", "tensorboard.main", "--inspect", *given])


if __name__ == "__main__":
    REAL_MAKE = os.environ["REAL_MAKE"]
    main()
