"""Figures of a study, of several, or of comparisons, as plotly draws them."""

from http import HTTPStatus
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Header, Path, Query, Response
from pydantic import Field

from app.api.comparisons import HERE, Over, Profiled, profiled
from app.api.paths import Project, StudyName, TheComparison
from app.api.studies import WRONG
from app.domain.access import Principal, Scope
from app.gate import needs
from app.house import TheHouse
from app.lifecycle.figures import Drawn
from thiessen import contract
from thiessen.contract.words import NO_NUL, Name, NeverNull
from thiessen.figures import MOST_CANDIDATES, MOST_TOLD, Colour, Others, Theme, Wanted
from thiessen.figures.arms import MOST_ARMS

router = APIRouter()

Reader = Annotated[Principal, needs(Scope.READ)]
Kind = Literal[
    "history",
    "landscape",
    "slice",
    "parallel",
    "importance",
    "curves",
    "timeline",
    "distribution",
    "interaction",
]
MOST_NUMBER: Final = 2**31 - 1  # of trials: what the databases count with
Compared = Literal["arms", "interaction"]
Reported = Literal["expected", "ends", "training", "sensitivity"]
Word = Annotated[str, Field(min_length=1, max_length=100, pattern=NO_NUL)]


@router.get(
    "/studies/{name}/figures/{figure}",
    response_model=contract.Figure,
    responses={304: {"description": "It is the one that `If-None-Match` names."}, **WRONG},
    tags=["studies"],
)
async def read_figure(
    name: StudyName,
    figure: Annotated[Kind, Path(description="Which figure.", examples=["landscape"])],
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    x: Annotated[
        Word | None, NeverNull(), Query(description="A dimension, of figures that have two.")
    ] = None,
    y: Annotated[Word | None, NeverNull(), Query(description="The other one.")] = None,
    others: Annotated[
        Others,
        Query(description="Where a landscape has the other dimensions: at the best config, or nowhere."),
    ] = "best",
    candidates: Annotated[
        int,
        Query(ge=0, le=MOST_CANDIDATES, description="Of how many of the latest proposals they are marked."),
    ] = 1,
    after: Annotated[
        int | None,
        NeverNull(),
        Query(ge=0, le=MOST_NUMBER, description="As the study was when so many trials had finished."),
    ] = None,
    colour: Annotated[Colour, Query(description="What colours go by.")] = "loss",
    metric: Annotated[Word | None, NeverNull(), Query(description="What curves are of.")] = None,
    trials: Annotated[
        list[Annotated[int, Field(ge=0, le=MOST_NUMBER)]],
        Query(max_length=MOST_TOLD, description="Of the curves, those of these trials stand out."),
    ] = [],  # noqa: B006 - FastAPI gives each call its own
    theme: Annotated[Theme, Query(description="For a light or for a dark page.")] = "light",
    if_none_match: Annotated[str | None, Header(description="The `ETag` of the one that is known.")] = None,
) -> Response:
    """Return a figure of a study as the JSON that plotly draws."""
    del who
    wanted = Wanted(
        x=x,
        y=y,
        others=others,
        candidates=candidates,
        after=after,
        colour=colour,
        metric=metric,
        trials=tuple(trials),
        theme=theme,
    )
    drawn = await house.figures.drawn(house.store, house.histories, project, name, figure, wanted)
    return _answered(drawn, if_none_match)


@router.get(
    "/compare/{figure}",
    response_model=contract.Figure,
    responses={304: {"description": "It is the one that `If-None-Match` names."}, **WRONG},
    tags=["studies"],
)
async def read_comparison(
    figure: Annotated[Compared, Path(description="Which figure.", examples=["arms"])],
    study: Annotated[list[Name], Query(min_length=2, max_length=MOST_ARMS, description="Two or more.")],
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    x: Annotated[
        Word | None, NeverNull(), Query(description="A dimension, of figures that have two.")
    ] = None,
    y: Annotated[Word | None, NeverNull(), Query(description="The other one.")] = None,
    theme: Annotated[Theme, Query(description="For a light or for a dark page.")] = "light",
    if_none_match: Annotated[str | None, Header(description="The `ETag` of the one that is known.")] = None,
) -> Response:
    """Return a figure of several studies side by side as the JSON that plotly draws."""
    del who
    wanted = Wanted(x=x, y=y, theme=theme)
    names = list(dict.fromkeys(study))
    drawn = await house.figures.compared(house.store, house.histories, project, names, figure, wanted)
    return _answered(drawn, if_none_match)


@router.get(
    "/comparisons/{name}/figures/{figure}",
    response_model=contract.Figure,
    responses={304: {"description": "It is the one that `If-None-Match` names."}, **WRONG},
    tags=["comparisons"],
)
async def read_figure_of_comparison(
    name: TheComparison,
    figure: Annotated[Reported, Path(description="Which figure.", examples=["expected"])],
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    theme: Annotated[Theme, Query(description="For a light or for a dark page.")] = "light",
    if_none_match: Annotated[str | None, Header(description="The `ETag` of the one that is known.")] = None,
) -> Response:
    """Return a figure of a comparison as the JSON that plotly draws."""
    del who
    report, moment = await house.reports.report(house.store, project, name)
    return _answered(await house.figures.reported(figure, report, moment, theme), if_none_match)


@router.get(
    "/profile/figure",
    response_model=contract.Figure,
    responses={304: {"description": "It is the one that `If-None-Match` names."}, **HERE},
    tags=["comparisons"],
)
async def read_figure_of_profile(
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    comparison: Profiled,
    over: Over = "updates",
    theme: Annotated[Theme, Query(description="For a light or for a dark page.")] = "light",
    if_none_match: Annotated[str | None, Header(description="The `ETag` of the one that is known.")] = None,
) -> Response:
    """Return the performance profiles over several comparisons as the JSON that plotly draws."""
    del who
    found, moment = await profiled(house, project, comparison, over)
    return _answered(await house.figures.profiled(found, moment, theme), if_none_match)


def _answered(drawn: Drawn, known: str | None) -> Response:
    headers = {"ETag": f'"{drawn.tag}"', "Cache-Control": "private, no-cache"}
    if known is not None and drawn.tag in known:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(drawn.written, media_type="application/json", headers=headers)
