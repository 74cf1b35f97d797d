"""Makes .venv hold this project with the extras named on the command line.

    python chores/environment.py server worker

Runs under any Python 3, to be able to say that it is too old. A second run with nothing to do takes no time.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile

HOUSE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOME = os.path.join(HOUSE, ".venv")
STAMP = os.path.join(HOME, "thiessen.json")
CONSTRAINTS = os.path.join(HOUSE, "constraints.txt")
OLDEST = (3, 11)
# Megabytes to download, measured with `pip download` on Linux; they are told before anything is fetched.
MEGABYTES = {"torch": 190, "cuda": 2900, "dev": 110, "rest": 110}
CPU_BUILD = "https://download.pytorch.org/whl/cpu"


def main():
    """Bring .venv up to date, or say why not and exit with 1."""
    wanted = set(sys.argv[1:])
    if sys.version_info[:2] < OLDEST:
        give_up(
            f"Thiessen needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}.",
            "Install a newer one and name it, for example: make demo PYTHON=python3.12",
        )
    installed = read_stamp()
    if wanted <= installed:
        return
    is_new = not os.path.exists(os.path.join(HOME, "bin", "python"))
    if is_new:
        create()
    extras = sorted(wanted | installed)
    target = f"{HOUSE}[{','.join(extras)}]"
    try:
        announce(plan(target), extras)
        pip("install", "--editable", target)
    except BaseException:
        if is_new:
            shutil.rmtree(HOME, ignore_errors=True)
        raise
    with open(STAMP, "w", encoding="utf-8") as stamp:
        json.dump({"fingerprint": fingerprint(), "extras": extras}, stamp)


def fingerprint():
    """Return what an environment depends on: a change of it means installing again."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {HOUSE}".encode())
    for name in ("pyproject.toml", "constraints.txt"):
        with open(os.path.join(HOUSE, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def read_stamp():
    """Return the extras that are installed and up to date."""
    try:
        with open(STAMP, encoding="utf-8") as file:
            stamp = json.load(file)
    except (OSError, ValueError):
        return set()
    return set(stamp["extras"]) if stamp["fingerprint"] == fingerprint() else set()


def create():
    """Create an empty virtual environment."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    remedy = (
        f"On Debian or Ubuntu: apt install python{version}-venv. Elsewhere install a Python that has pip, "
        "and name it: make demo PYTHON=/path/to/python3"
    )
    if not importlib.util.find_spec("venv") or not importlib.util.find_spec("ensurepip"):
        give_up(f"{sys.executable} cannot make virtual environments: venv or ensurepip is missing.", remedy)
    print(f"Creating {HOME} with Python {version}", flush=True)
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", HOME], capture_output=True, text=True)
    if made.returncode != 0:
        shutil.rmtree(HOME, ignore_errors=True)
        give_up(f"python -m venv failed: {(made.stderr or made.stdout).strip()[-500:]}", remedy)


def plan(target):
    """Return what pip would install, as its report; nothing is installed."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        pip("install", "--dry-run", "--quiet", "--report", report, "--editable", target)
        with open(report, encoding="utf-8") as file:
            return [package["metadata"] for package in json.load(file)["install"]]


def announce(packages, extras):
    """Say how much is about to be fetched, and how to fetch less."""
    coming = {package["name"].lower(): package["version"] for package in packages}
    parts = ["rest"] + (["dev"] if "dev" in extras else [])
    with_cuda = any(name.startswith(("nvidia-", "cuda-")) for name in coming)
    if "torch" in coming:
        parts += ["cuda" if with_cuda else "torch"]
    total = sum(MEGABYTES[part] for part in parts)
    print(f"Installing {len(coming)} packages, about {total} MB unless pip has them cached.", flush=True)
    if with_cuda:
        print(
            f"Most of it is torch {coming['torch']} with CUDA. For the CPU build, {MEGABYTES['torch']} MB, "
            f"press Ctrl-C and run: PIP_EXTRA_INDEX_URL={CPU_BUILD} make demo",
            flush=True,
        )
    elif "torch" in coming:
        print(f"torch {coming['torch']} comes without CUDA, in {MEGABYTES['torch']} of these.", flush=True)


def pip(*arguments):
    """Run the environment's pip, which reads the user's own settings; give up when it fails."""
    quiet = () if sys.stdout.isatty() else ("--quiet",)
    command = [os.path.join(HOME, "bin", "python"), "-m", "pip", *arguments, "--constraint", CONSTRAINTS]
    ran = subprocess.run([*command, "--disable-pip-version-check", *quiet], stderr=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        lines = [line for line in ran.stderr.splitlines() if line.startswith("ERROR")]
        give_up(
            "pip could not install Thiessen: " + " ".join(lines or ran.stderr.strip().splitlines()[-3:]),
            "Without a network, or behind a proxy or mirror, pip needs its own settings "
            "(pip config, PIP_INDEX_URL, HTTPS_PROXY); they are used as they are. Then run the same command again.",
        )


def give_up(what, remedy):
    """Print what happened and what to do; exit with 1."""
    print(f"Error: {what}\n{remedy}", file=sys.stderr)
    sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped. Run the same command to go on.")
