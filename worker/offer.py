"""What a worker tells the server of a task."""

import logging

from pydantic import ValidationError

from thiessen.contract import OfferedTask
from worker.tasks import Task

log = logging.getLogger("thiessen.worker")


def offer(task: Task) -> OfferedTask:
    """Return name, version and what the task accepts, but not, said aloud, what a server would refuse."""
    told = {"name": task.name, "version": task.version, "description": task.description}
    try:
        return OfferedTask.model_validate({**told, "schema": dict(task.schema), "spaces": dict(task.spaces)})
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        log.warning("task %r is offered without its schema and spaces: %s %s", task.name, place, fault["msg"])
        return OfferedTask(name=task.name, version=task.version)
