"""Sees to a browser for the tests of the dashboard: Chromium as the system packages it.

Where there is none, and we may install, Debian and Ubuntu give one. Elsewhere this says what to do.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (  # it runs as root in a container too, and speaks to nobody but us
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
REMEDY = (
    "The tests of the dashboard need Chromium or Chrome, and there is none on the path. "
    "On Debian or Ubuntu: sudo apt-get install chromium. Elsewhere install it from its own site; then run "
    "the same command again."
)


def main() -> None:
    """Install a browser if there is none and we may; else exit with 1 and say what to do."""
    if any(map(shutil.which, NAMES)):
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing chromium for the tests of the dashboard", flush=True)
        quiet = {"env": os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
        for command in (("update", "-qq"), ("install", "-y", "-qq", "--no-install-recommends", "chromium")):
            subprocess.run(["apt-get", *command], check=False, **quiet)
    if not any(map(shutil.which, NAMES)):
        sys.exit(REMEDY)


if __name__ == "__main__":
    main()
