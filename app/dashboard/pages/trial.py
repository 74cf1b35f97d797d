"""The page of a trial."""

from fastapi import APIRouter
from fastapi.responses import Response

from app.dashboard.pages.names import check_study, trial_number
from app.dashboard.rendering import missing, rendered
from app.dashboard.summaries.trial import read_trial
from app.domain.errors import StudyNotFound, TrialNotFound
from app.gate import READ
from app.house import TheHouse

router = APIRouter(dependencies=[READ])


@router.get("/studies/{name}/trials/{said}")
def trial(name: str, said: str, house: TheHouse) -> Response:
    number = trial_number(said)
    if number is None:
        return missing(f"“{said}” is no number of a trial.", depth=3)
    try:
        check_study(name)
        page = read_trial(house, name, number)
    except StudyNotFound:
        return missing(f"There is no study named “{name}”.", depth=3)
    except TrialNotFound:
        return missing(f"Study “{name}” has no trial {number}.", depth=3)
    return rendered("trial.html", page, depth=3)
