"""The pages: each asks for a summary and fills a template."""

from fastapi import APIRouter

from app.dashboard.pages import (
    calls,
    comparisons,
    fleet,
    home,
    new,
    new_comparison,
    settings,
    static,
    studies_compared,
    study,
    trial,
    writes,
)

PROJECT = "/projects/{project}"

router = APIRouter(include_in_schema=False)
for page in (home, study, trial, writes, fleet, studies_compared, comparisons, new, new_comparison):
    router.include_router(page.router)
    router.include_router(page.router, prefix=PROJECT)
for page in (calls, settings, static):
    router.include_router(page.router)
