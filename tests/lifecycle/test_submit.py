import pytest

from app.domain.errors import StudyExists, StudyNotFound, TrialNotFound
from app.lifecycle.submit import newest, progress, submit, trial
from thiessen.space import Float, Space


def test_a_study_is_stored_as_it_was_sent(desk):
    sent = desk.spec()

    stored, is_new = submit(desk.store, sent)

    assert is_new
    assert progress(desk.store, "s").study == stored.study
    assert stored.study.spec == sent


def test_the_same_spec_again_is_the_same_study(desk):
    first = desk.submit()

    again, is_new = submit(desk.store, desk.spec())

    assert (again.study, is_new) == (first, False)


@pytest.mark.row(7)
def test_another_spec_under_a_taken_name_is_refused_naming_what_differs(desk):
    desk.submit()
    with pytest.raises(StudyExists, match="another space, seed"):
        desk.submit(seed=2, space=Space(x=Float(0.0, 2.0)))


def test_a_study_keeps_the_settings_of_its_strategy(desk):
    grid = {"name": "grid", "version": 1, "levels": {"x": 5}, "order": "shuffled"}

    desk.submit(strategy=grid)

    assert progress(desk.store, "s").study.spec.strategy == grid
    assert desk.submit(strategy=grid)
    with pytest.raises(StudyExists, match="another strategy"):
        desk.submit(strategy=grid | {"order": "row_major"})


def test_what_is_not_there_is_said_by_name(desk):
    with pytest.raises(StudyNotFound, match="'nobody'"):
        progress(desk.store, "nobody")
    desk.submit()
    with pytest.raises(TrialNotFound, match="no trial 3; it has 0"):
        trial(desk.store, "s", 3)


def test_the_newest_studies_come_first(desk):
    for name in ("a", "b", "c"):
        desk.submit(name=name)

    assert [found.study.spec.name for found in newest(desk.store, 2)] == ["c", "b"]
