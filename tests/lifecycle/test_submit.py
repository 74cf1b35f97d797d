import pytest

from app.domain.errors import StudyExists, StudyNotFound, TrialNotFound
from app.lifecycle.submit import page
from thiessen.space import Categorical, Float, Space


def test_a_study_is_stored_as_it_was_sent(desk):
    sent = desk.spec()

    stored, is_new = desk.submitted()

    assert is_new
    assert desk.progress().study == stored.study
    assert stored.study.spec == sent


def test_the_same_spec_again_is_the_same_study(desk):
    first = desk.submit()

    again, is_new = desk.submitted()

    assert (again.study, is_new) == (first, False)


def test_the_same_space_written_differently_is_the_same_study_and_stays_as_it_was_declared_first(desk):
    first = desk.submit(space=Space(b=Categorical(("y", "x")), a=Float(0, 1)))

    again, is_new = desk.submitted(space=Space(a=Float(0, 1), b=Categorical(("x", "y"))))

    assert (again.study, is_new) == (first, False)
    assert list(again.study.spec.space.dimensions) == ["b", "a"]
    assert again.study.spec.space.dimensions["b"].choices == ("y", "x")


@pytest.mark.row(7)
def test_another_spec_under_a_taken_name_is_refused_naming_what_differs(desk):
    desk.submit()
    with pytest.raises(StudyExists, match="another space, seed"):
        desk.submit(seed=2, space=Space(x=Float(0.0, 2.0)))


def test_a_study_keeps_the_settings_of_its_strategy(desk):
    grid = {"name": "grid", "version": 1, "levels": {"x": 5}, "order": "shuffled"}

    desk.submit(strategy=grid)

    assert desk.progress().study.spec.strategy == grid
    assert desk.submit(strategy=grid)
    with pytest.raises(StudyExists, match="another strategy"):
        desk.submit(strategy=grid | {"order": "row_major"})


def test_what_is_not_there_is_said_by_name(desk):
    with pytest.raises(StudyNotFound, match="'nobody'"):
        desk.progress("nobody")
    desk.submit()
    with pytest.raises(TrialNotFound, match="no trial 3; it has 0"):
        desk.trial(3)


def test_the_newest_studies_come_first(desk):
    for name in ("a", "b", "c"):
        desk.submit(name=name)

    assert [found.study.spec.name for found in desk.read(page, limit=2)] == ["c", "b"]
