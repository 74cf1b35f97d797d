"""Makes .venv hold this project with the extras named on the command line.

    python chores/environment.py server worker

Runs under any Python 3, to be able to say that it is too old. A second run with nothing to do takes no time.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys

HOUSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
HOME = os.path.realpath(os.path.join(HOUSE, ".venv"))
CONFIG = os.path.join(HOME, "pyvenv.cfg")
PYTHON = os.path.join(HOME, "bin", "python")
STAMP = os.path.join(HOME, "thiessen.json")
CONSTRAINTS = os.path.join(HOUSE, "constraints.txt")
LOCK = os.open(CONSTRAINTS, os.O_RDONLY)  # any file that is always there
OLDEST = (3, 11)
VERSION = "{}.{}".format(*sys.version_info[:2])
# What an extra fetches in megabytes, and the distribution that shows that it is there. Measured on Linux:
# pip download --dest FOLDER --constraint constraints.txt REQUIREMENTS && du -sb FOLDER, where REQUIREMENTS are
# those of pyproject.toml: its own with server and worker, without torch (93.2 MB); then dev as well (478.7 MB).
# torch with what it needs takes 202 MB as CPU build.
FETCHED = {"server": ("fastapi", 93), "dev": ("mypy", 385)}
VENV_REMEDY = (
    f"On Debian or Ubuntu: apt install python{VERSION}-venv. Elsewhere install a Python that has pip, "
    "and name it: make demo PYTHON=/path/to/python3"
)
TORCH = """torch comes on top: about 200 MB as CPU build, about 2,900 MB with CUDA, which plain PyPI gives on Linux.
To choose the CPU build press Ctrl-C and run: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make demo
pip's own settings are used as they are; they may choose it already."""


def main():
    """Bring .venv up to date, or say why not and exit with 1."""
    wanted = set(sys.argv[1:])
    if sys.version_info[:2] < OLDEST:
        give_up(
            f"Thiessen needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}.",
            "Install a newer one and name it, for example: make demo PYTHON=python3.12",
        )
    wait_for_others()
    if os.path.lexists(HOME) and not os.path.isfile(CONFIG):
        give_up(
            f"{HOME} is not a virtual environment: it has no pyvenv.cfg.",
            "Thiessen is installed there. Move it away or remove it, then run the same command again.",
        )
    installed = read_stamp()
    if wanted <= installed:
        return
    is_new = not is_usable()
    if is_new:
        require_venv()
    with contextlib.suppress(FileNotFoundError):
        os.remove(STAMP)
    extras = sorted(wanted | installed)
    try:
        if is_new:
            create()
        announce(extras)
        install(extras)
    except BaseException:
        if is_new:
            remove()
        raise
    write_stamp(extras)


def wait_for_others():
    """Wait for another run, and for what a killed one left behind: a child keeps the lock until it ends."""
    try:
        fcntl.flock(LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Waiting for another run that prepares .venv", flush=True)
        fcntl.flock(LOCK, fcntl.LOCK_EX)
    except OSError:
        pass  # a file system without locks


def fingerprint():
    """Return what an environment depends on: a change of it means installing again."""
    digest = hashlib.sha256(f"{VERSION} {HOUSE}".encode())
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
    is_valid = stamp["fingerprint"] == fingerprint() and os.path.exists(PYTHON)
    return set(stamp["extras"]) if is_valid else set()


def write_stamp(extras):
    """Record what is installed: whole, or not at all."""
    with open(STAMP + ".new", "w", encoding="utf-8") as file:
        json.dump({"fingerprint": fingerprint(), "extras": extras}, file)
    os.replace(STAMP + ".new", STAMP)


def is_usable():
    """Ask .venv whether it has pip and is of this Python and at this place: the scripts of a moved one are dead."""
    try:
        code, said, _ = run(os.path.join(HOME, "bin", "pip"), "--version", stdout=subprocess.PIPE)
    except OSError:
        return False
    return code == 0 and f" from {HOME}{os.sep}" in said and said.strip().endswith(f"(python {VERSION})")


def require_venv():
    """Give up when this Python cannot make virtual environments."""
    if not importlib.util.find_spec("venv") or not importlib.util.find_spec("ensurepip"):
        give_up(f"{sys.executable} makes no virtual environments: venv or ensurepip is missing.", VENV_REMEDY)


def create():
    """Create an empty virtual environment in the place of whatever was there."""
    print(f"{'Rebuilding' if os.path.exists(HOME) else 'Creating'} {HOME} with Python {VERSION}", flush=True)
    remove()
    os.mkdir(HOME)
    with open(CONFIG, "w", encoding="utf-8"):
        pass  # venv fills it; from now on the folder is known as an environment
    # When .venv is active, sys.executable has just been removed with it.
    base = getattr(sys, "_base_executable", sys.executable)
    code, said, complaint = run(base, "-m", "venv", HOME, stdout=subprocess.PIPE)
    if code != 0:
        give_up(f"python -m venv failed: {(complaint or said).strip()[-500:]}", VENV_REMEDY)


def remove():
    """Remove .venv. pyvenv.cfg goes last, so that the remains of an interruption are known as an environment."""
    if not os.path.isdir(HOME):
        return
    for entry in os.scandir(HOME):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        elif entry.path != CONFIG:
            os.remove(entry.path)
    shutil.rmtree(HOME)


def announce(extras):
    """Say how much is about to be fetched, and how to fetch less."""
    megabytes = sum(size for extra, (sign, size) in FETCHED.items() if extra in extras and lacks(sign))
    needs_torch = "worker" in extras and lacks("torch")
    if megabytes:
        print(f"Fetching about {megabytes} MB of packages, less what pip has cached.", flush=True)
    if needs_torch:
        print(TORCH, flush=True)
    if not megabytes and not needs_torch:
        print("Refreshing .venv", flush=True)


def lacks(distribution):
    """Return whether the pinned version of a distribution is missing from .venv."""
    with open(CONSTRAINTS, encoding="utf-8") as file:
        pinned = re.search(rf"^{distribution}==(\S+)", file.read(), re.MULTILINE).group(1)
    packages = os.listdir(os.path.join(HOME, "lib", f"python{VERSION}", "site-packages"))
    return not any(name.startswith(f"{distribution}-{pinned}") for name in packages)


def install(extras):
    """Install this project with .venv's pip, which reads the user's own settings; give up when it fails."""
    target = ("--editable", f"{HOUSE}[{','.join(extras)}]", "--constraint", CONSTRAINTS)
    quiet = () if sys.stdout.isatty() else ("--quiet",)
    code, _, complaint = run(PYTHON, "-m", "pip", "install", "--disable-pip-version-check", *quiet, *target)
    if code != 0:
        lines = [line.strip() for line in complaint.splitlines() if line.strip().startswith("ERROR")]
        give_up(
            "pip could not install Thiessen: " + " ".join(lines or complaint.strip().splitlines()[-3:]),
            "Without a network, or behind a proxy or mirror, pip needs its own settings "
            "(pip config, PIP_INDEX_URL, HTTPS_PROXY); they are used as they are. Then run the same command again.",
        )


def run(*command, stdout=None):
    """Run a command to its end. When this one is stopped, so is all that the command started."""
    process = subprocess.Popen(
        command, stdout=stdout, stderr=subprocess.PIPE, text=True, start_new_session=True, pass_fds=[LOCK]
    )
    try:
        said, complaint = process.communicate()
    except BaseException:
        for number in (signal.SIGINT, signal.SIGKILL):  # pip clears up at the first, none survives the second
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, number)
                process.wait(timeout=5)
        raise
    return process.returncode, said, complaint


def give_up(what, remedy):
    """Print what happened and what to do; exit with 1."""
    print(f"Error: {what}\n{remedy}", file=sys.stderr)
    sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped. Run the same command to go on.")
