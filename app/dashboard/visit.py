"""Who looks at a page, of which project, and where the page stands among the others."""

import re
import shlex
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request
from starlette.types import Scope as Asked

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

    @property
    def may_manage(self) -> bool:
        """Whether who looks may change what concerns the whole server."""
        return self.may(Scope.ADMIN) and self.principal is not None and self.principal.project is None

    @property
    def is_elsewhere(self) -> bool:
        """Whether the project is one that has to be named."""
        return self.project != DEFAULT_PROJECT


def visit_of(asked: Asked) -> Visit:
    """Return the visit of a request. Raises ProjectNotFound."""
    path: str = asked["path"].removeprefix(asked.get("root_path", ""))
    named: str | None = asked.get("path_params", {}).get("project")
    if named is not None and not re.fullmatch(NAME, named):
        raise ProjectNotFound(named)
    root = "../" * (path.count("/") - 1) or "./"
    principal = asked.get("state", {}).get("principal")
    return Visit(
        project=named or DEFAULT_PROJECT,
        root=root,
        home=f"{root}projects/{named}/" if named else root,
        api=f"{root}api/v1/projects/{named}/" if named else f"{root}api/v1/",
        principal=cast("Principal | None", principal),
        server=str(Request(asked).base_url).rstrip("/"),
    )


async def _visit(request: Request) -> Visit:
    return visit_of(request.scope)


TheVisit = Annotated[Visit, Depends(_visit)]
"""A page that asks for it gets the visit."""
