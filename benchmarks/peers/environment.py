"""Environments of their own for what we are measured beside, so that nobody's pins disturb anybody's."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HOME = HERE.parent / ".peers"


def environment(name: str) -> Path:
    """Return the Python of the environment that holds benchmarks/peers/<name>.txt, made when first asked for.

    A changed pin makes it again. Raises CalledProcessError when pip fails, and leaves nothing half made.
    """
    home = HOME / name
    stamp, wanted = home / "requirements.sha256", _fingerprint(HERE / f"{name}.txt")
    if not stamp.exists() or stamp.read_text() != wanted:
        _make(home, HERE / f"{name}.txt")
        stamp.write_text(wanted)
    return home / "bin" / "python"


def _make(home: Path, requirements: Path) -> None:
    print(f"installing {requirements.name} into {home}", file=sys.stderr, flush=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        pip = [home / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--requirement", requirements], check=True)
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise


def _fingerprint(requirements: Path) -> str:
    """Return a digest of the pins, those of included files too."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}".encode())
    for line in requirements.read_text().splitlines():
        if line.startswith("--requirement "):
            digest.update(_fingerprint(requirements.with_name(line.split()[1])).encode())
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()
