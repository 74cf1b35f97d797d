import pytest

from thiessen.errors import Refused, ServerFailed, ServerUnreachable
from thiessen.patience import Patience, Stopped


class Stop:
    """A stop that is set after so many pauses, and remembers them."""

    def __init__(self, after=1000):
        self.pauses = []
        self.after = after

    def is_set(self):
        return len(self.pauses) >= self.after

    def wait(self, seconds):
        self.pauses.append(seconds)


def failing(times, error=ServerUnreachable):
    """Return a call that fails so often, then answers."""
    answers = iter([*[error("away")] * times, "here"])

    def call():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return call


def test_it_says_under_its_own_name_that_it_waits(caplog):
    Patience(stop=Stop(), offline_seconds=60).until_answered(failing(3))

    assert {record.name for record in caplog.records} == {"thiessen.patience"}


@pytest.mark.parametrize("error", [ServerUnreachable, ServerFailed])
@pytest.mark.parametrize("longest", [0.3, 3.0])
def test_it_asks_until_there_is_an_answer_with_pauses_that_stay_short(longest, error):
    stop = Stop()

    answer = Patience(stop=stop, offline_seconds=60).until_answered(failing(20, error), longest_pause=longest)

    assert answer == "here"
    assert len(stop.pauses) == 20
    assert max(stop.pauses) <= 1.2 * longest


def test_a_refusal_is_an_answer():
    with pytest.raises(Refused):
        Patience(stop=Stop(), offline_seconds=60).until_answered(failing(1, Refused))


def test_a_stop_ends_it_after_one_more_try():
    stop = Stop(after=2)

    with pytest.raises(Stopped):
        Patience(stop=stop, offline_seconds=60).until_answered(failing(9))

    assert len(stop.pauses) == 2
    assert Patience(stop=Stop(after=0), offline_seconds=60).until_answered(failing(0)) == "here"


def test_an_outage_that_is_too_long_is_raised():
    with pytest.raises(ServerUnreachable):
        Patience(stop=Stop(), offline_seconds=-1).until_answered(failing(1))
