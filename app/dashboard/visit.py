"""Who looks at a page, of which project, and where the page stands among the others."""

import re
import shlex
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from app.domain.access import Principal, Scope
from app.domain.errors import ProjectNotFound
from app.domain.study import DEFAULT_PROJECT
from thiessen.contract.words import NAME


@dataclass(frozen=True)
class Visit:
    """What every page knows. Its addresses are relative, so they do not mind the prefix of a proxy."""

    project: str
    root: str  # the first page of the server, from here
    home: str  # the first page of the project
    api: str  # the calls that concern the project
    principal: Principal | None
    server: str  # where programs find it, as who looks has found it

    @property
    def worker(self) -> str:
        """The command that starts a worker for this server."""
        return f"thiessen worker --server {shlex.quote(self.server)}"

    def may(self, scope: str) -> bool:
        """Return whether who looks may do what needs this scope: else the page does not offer it."""
        return self.principal is not None and self.principal.may(Scope(scope))


async def _visit(request: Request) -> Visit:
    path: str = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    project: str = request.path_params.get("project", DEFAULT_PROJECT)
    if not re.fullmatch(NAME, project):
        raise ProjectNotFound(project)
    root = "../" * (path.count("/") - 1) or "./"
    is_named = "project" in request.path_params
    principal = getattr(request.state, "principal", None)
    return Visit(
        project=project,
        root=root,
        home=f"{root}projects/{project}/" if is_named else root,
        api=f"{root}api/v1/projects/{project}/" if is_named else f"{root}api/v1/",
        principal=cast("Principal | None", principal),
        server=str(request.base_url).rstrip("/"),
    )


TheVisit = Annotated[Visit, Depends(_visit)]
"""A page that asks for it gets the visit."""
