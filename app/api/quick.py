"""Routes of which each trial takes several: the protocol of the workers.

FastAPI solves dependencies of every kind, and looks through nested routers, at each request; that costs more
than all that a worker asks for. These routes have a principal, the house, a body and parts of the path, and
nothing else. For the document and for whoever reads the code they are routes like any other.
"""

import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

from fastapi import Request, Response, params
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.types import Receive, Scope, Send

JSON: Final = re.compile(r"application/([\w.+-]+\+)?json\b", re.IGNORECASE)
Part = Callable[[Request], Coroutine[Any, Any, Any]]  # finds one argument of a route in its request


class Quick(APIRoute):
    """A route that finds its arguments itself; what they may be is in its signature, as ever."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        hints = get_type_hints(endpoint, include_extras=True)
        del hints["return"]
        found = {name: _part(name, hint) for name, hint in hints.items()}
        # Who may not is told that first, and nothing of what is wrong with the rest.
        self._parts = sorted(found.items(), key=lambda part: isinstance(part[1], _Body | _InPath))

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        request = Request(scope, receive, send)
        arguments = {name: await part(request) for name, part in self._parts}
        response: Response = await self.endpoint(**arguments)
        await response(scope, receive, send)


def _part(name: str, hint: Any) -> Part:
    """Return what finds the argument of this name and type."""
    if get_origin(hint) is Annotated:
        for note in get_args(hint)[1:]:
            if isinstance(note, params.Depends) and note.dependency is not None:
                found: Part = note.dependency
                return found
            if isinstance(note, params.Path):
                return _InPath(name, TypeAdapter(hint))
            if isinstance(note, params.Param):
                raise TypeError(f"A quick route takes nothing from headers or the query: {name}.")
    return _Body(TypeAdapter(hint))


class _Body:
    def __init__(self, kind: TypeAdapter[Any]) -> None:
        self._kind = kind

    async def __call__(self, request: Request) -> Any:
        if not JSON.match(request.headers.get("content-type", "")):
            raise RequestValidationError([{"type": "not_json", "loc": ("body",), "msg": "JSON is wanted"}])
        try:
            return self._kind.validate_json(await request.body())
        except ValidationError as error:
            raise _invalid(error, "body") from None


class _InPath:
    def __init__(self, name: str, kind: TypeAdapter[Any]) -> None:
        self._name = name
        self._kind = kind

    async def __call__(self, request: Request) -> Any:
        values: Mapping[str, str] = request.path_params
        try:
            return self._kind.validate_python(values[self._name])
        except ValidationError as error:
            raise _invalid(error, "path", self._name) from None


def _invalid(error: ValidationError, *where: str) -> RequestValidationError:
    faults = error.errors(include_url=False)
    return RequestValidationError([{**fault, "loc": (*where, *fault["loc"])} for fault in faults])
