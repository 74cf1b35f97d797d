"""A process that has imported all that our programs need. Asked by a line, it becomes one of them in a fork.

Run by tests/forked.py. A line is JSON: the command, the environment, the folder to be in, and the files for
what the program prints and for how it ended. The answer is the program's process id.
"""

import importlib
import json
import os
import runpy
import signal
import sys
import tempfile
import threading
from pathlib import Path

from fastapi.testclient import TestClient

from app.main import build
from app.settings import Settings
from worker.tasks import installed

SPACE = {"x": {"type": "float", "low": 0, "high": 1}}


def main() -> None:
    """Answer until nobody asks any more. In a program, return when it is one."""
    warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who watched a program is not missed
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks has a Ctrl-C too, and ends what it began
    for line in sys.stdin:
        asked = json.loads(line)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            if (program := os.fork()) == 0:
                become(asked)
                return
            os.write(1, f"{program}\n".encode())
            _, status = os.waitpid(program, 0)
            ended = Path(asked["ended"])
            ended.with_suffix(".new").write_text(str(os.waitstatus_to_exitcode(status)))
            ended.with_suffix(".new").rename(ended)
            os._exit(0)


def warm_up() -> None:
    """Import all, and have a server answer once: much is made when it is first asked for."""
    for module in ("app.commands", "app.serving", "thiessen.cli.main", "worker.commands", "worker.daemon"):
        importlib.import_module(module)
    installed()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(database=f"sqlite:///{folder}/first.db")
        with TestClient(build(settings), base_url="http://127.0.0.1") as browser:
            study = {"name": "s", "task": "t", "space": SPACE, "max_trials": 1}
            assert browser.post("/api/v1/studies", json=study).is_success
            assert browser.get("/studies/s").is_success
    assert threading.active_count() == 1, "a fork has one thread only"


def become(asked: dict) -> None:
    """Have what a program has that was started by itself."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    printed = os.open(asked["log"], os.O_WRONLY | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in enumerate((nothing, printed, printed)):
        os.dup2(file, number)
    os.close(printed)
    os.close(nothing)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.path[:0] = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.argv = ["thiessen", *asked["command"]]


if __name__ == "__main__":
    main()
    if sys.argv[0] == "thiessen":
        runpy.run_module("thiessen.cli", run_name="__main__", alter_sys=True)
