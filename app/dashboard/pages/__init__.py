"""The pages: each asks for a summary and fills a template."""

from fastapi import APIRouter

from app.dashboard.pages import calls, home, static, study, trial

router = APIRouter(include_in_schema=False)
for page in (home, study, trial, calls, static):
    router.include_router(page.router)
