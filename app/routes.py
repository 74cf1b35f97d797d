"""Every route of the server, in the order in which they are tried."""

from functools import cache
from typing import Final

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from app.api import (
    best,
    comparisons,
    events,
    export,
    figures,
    health,
    history,
    leases,
    metrics,
    optuna,
    projects,
    replay,
    studies,
    tokens,
    trials,
    webhooks,
    workers,
)
from app.api.paths import in_project
from app.api.problems import TURNED_AWAY
from app.dashboard import login, pages

VERSIONED: Final = "/api/v1"
IN_PROJECT: Final = f"{VERSIONED}/projects/{{project}}"
CALLS: Final = (
    *(studies, trials, export, figures, history, replay, events, best, comparisons, optuna),
    *(workers, projects, tokens, webhooks),
)
OF_A_PROJECT: Final = (studies, trials, export, figures, history, replay, events, comparisons, optuna)


@cache
def routes() -> list[BaseRoute]:
    """Return the same ones for every application: what a call takes is worked out once in a process."""
    every = APIRouter(generate_unique_id_function=_name)
    every.routes.extend(leases.router.routes)  # first, and not in a router of their own: see `quick`
    for router in CALLS:
        every.include_router(router.router, prefix=VERSIONED, responses=TURNED_AWAY)
    for router in OF_A_PROJECT:
        every.include_router(
            router.router,
            prefix=IN_PROJECT,
            dependencies=[Depends(in_project)],
            responses=TURNED_AWAY,
        )
    for router in (health, metrics, login, pages):
        every.include_router(router.router)
    return every.routes


def _name(route: APIRoute) -> str:
    """Return the name of a call, which generated clients take for that of a function."""
    return f"{route.name}_in_project" if route.path_format.startswith(f"{IN_PROJECT}/") else route.name
