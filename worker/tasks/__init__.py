"""Tasks: what a worker knows how to train, found by their entry points."""

from worker.tasks.task import Checkpoint, Context, Diverged, Pruned, Released, Task, installed, wrong

__all__ = ["Checkpoint", "Context", "Diverged", "Pruned", "Released", "Task", "installed", "wrong"]
