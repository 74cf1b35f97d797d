"""The page of a trial."""

from fastapi import APIRouter
from fastapi.responses import Response

from app.dashboard.pages.names import check_study, trial_number
from app.dashboard.rendering import missing, rendered
from app.dashboard.summaries.trial import read_trial
from app.dashboard.visit import TheVisit
from app.domain.errors import StudyNotFound, TrialNotFound
from app.gate import READ
from app.house import TheHouse

router = APIRouter(dependencies=[READ])


@router.get("/studies/{name}/trials/{said}")
def trial(name: str, said: str, house: TheHouse, visit: TheVisit) -> Response:
    number = trial_number(said)
    if number is None:
        return missing(f"“{said}” is no number of a trial.", visit)
    try:
        check_study(name)
        page = read_trial(house, visit.project, name, number)
    except StudyNotFound:
        return missing(f"There is no study named “{name}”.", visit)
    except TrialNotFound:
        return missing(f"Study “{name}” has no trial {number}.", visit)
    return rendered("trial.html", page, visit)
