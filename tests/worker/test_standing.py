import io

import pytest
from rich.console import Console

from thiessen.contract import Point
from worker import standing
from worker.standing import Standing, lines, shown


@pytest.fixture
def now(monkeypatch):
    """A clock that the test moves."""
    clock = [100.0]
    monkeypatch.setattr(standing.time, "monotonic", lambda: clock[0])
    return clock


def text_of(*standings):
    out = io.StringIO()
    Console(file=out, width=200).print(lines(standings))
    return " ".join(out.getvalue().split())


def a_point(step, **metrics):
    return Point(step=step, metrics=metrics)


def test_a_slot_without_a_trial_waits():
    assert text_of(Standing("0 cpu")) == "0 cpu waits for a trial"


def test_a_line_has_study_trial_attempt_step_metric_and_time(now):
    slot = Standing("0 cuda:1")
    slot.begin(study="digits", trial=12, attempt=2)
    now[0] += 65
    slot.reached(a_point(3, loss=0.123456789, other=1.0))

    assert text_of(slot) == "0 cuda:1 digits trial 12 attempt 2 step 3 loss 0.12346 1:05"


def test_the_time_left_is_that_of_the_steps_left_at_the_pace_of_this_attempt(now):
    slot = Standing("0 cpu")
    slot.begin(study="s", trial=0, attempt=2)
    slot.steps = 100
    slot.reached(a_point(40, loss="NaN"))  # it went on from a checkpoint
    assert slot.seconds_left() is None
    now[0] += 20
    slot.reached(a_point(50, loss=1.0))

    assert slot.seconds_left() == 100.0
    assert text_of(slot).endswith("step 50 of 100 loss 1 0:20 1:40 left")


@pytest.mark.usefixtures("now")
def test_the_next_trial_begins_without_what_was_known_of_the_last():
    slot = Standing("0 cpu")
    slot.begin(study="s", trial=0, attempt=1)
    slot.steps = 9
    slot.reached(a_point(1, loss=1.0))
    slot.begin(study="s", trial=1, attempt=1)

    assert text_of(slot) == "0 cpu s trial 1 attempt 1 0:00"


@pytest.mark.parametrize(
    ("is_terminal", "form", "lives"), [(True, "auto", True), (True, "json", False), (False, "auto", False)]
)
def test_lines_live_on_a_terminal_only(is_terminal, form, lives):
    out = io.StringIO()

    with shown([Standing("0 cpu")], Console(file=out, force_terminal=is_terminal), form):
        pass

    assert ("waits for a trial" in out.getvalue()) == lives
