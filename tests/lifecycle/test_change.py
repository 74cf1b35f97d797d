from functools import partial

import pytest

from app.domain.errors import StudyEnded
from app.domain.study import DEFAULT_PROJECT
from app.domain.trial import TrialState
from app.lifecycle import change


def delete(desk):
    desk.store.write(partial(change.archive, project=DEFAULT_PROJECT, name="s", who="ann"))


def test_a_target_that_a_trial_has_reached_already_ends_the_study(desk):
    desk.submit()
    desk.complete(desk.lease(), 0.5)

    desk.change(target=0.7)

    assert (desk.standing().state, desk.standing().reason) == ("completed", "target")


def test_a_target_is_not_lifted_by_one_that_was_reached_too(desk):
    desk.submit(target=0.6)
    desk.complete(desk.lease(), 0.5)

    desk.change(target=0.7)
    assert desk.standing().state == "completed"
    desk.change(target=0.1)
    assert desk.standing().state == "active"


def test_the_events_of_a_deleted_study_say_that_it_is_stopped(desk):
    desk.submit()

    delete(desk)

    assert [(event.kind, event.data) for event in desk.events()][-1] == (
        "study.archived",
        {"state": "stopped"},
    )


def test_no_trial_of_a_deleted_study_is_tried_again(desk):
    desk.submit(max_attempts=1)
    desk.fail(desk.lease())
    delete(desk)

    with pytest.raises(StudyEnded, match="deleted"):
        desk.retry(0)
    assert desk.trial(0).state is TrialState.FAILED


def test_the_name_of_a_deleted_study_is_not_given_again_in_silence(desk):
    desk.submit()
    delete(desk)

    with pytest.raises(StudyEnded, match="was deleted; choose another name"):
        desk.submit()
