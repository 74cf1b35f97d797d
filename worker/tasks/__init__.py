"""Tasks: what a worker knows how to train, found by their entry points."""

from worker.tasks.task import Context, Diverged, Pruned, Task, installed, wrong

__all__ = ["Context", "Diverged", "Pruned", "Task", "installed", "wrong"]
