"""Tasks: what a worker knows how to train, found by their entry points."""

from thiessen.trial import Diverged, Pruned
from worker.config import read, schema, setting, settings_of, suggested, wrong
from worker.tasks.task import Checkpoint, Context, Released, Task, installed

__all__ = [
    "Checkpoint",
    "Context",
    "Diverged",
    "Pruned",
    "Released",
    "Task",
    "installed",
    "read",
    "schema",
    "setting",
    "settings_of",
    "suggested",
    "wrong",
]
