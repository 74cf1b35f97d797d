from hypothesis import given
from hypothesis import strategies as st

from app.domain.rate import Rates

PAUSES = st.lists(st.floats(0, 3), max_size=60)


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@given(pauses=PAUSES, rate=st.floats(0.1, 50), burst=st.integers(1, 20))
def test_in_no_span_of_time_pass_more_than_the_burst_and_what_has_filled_up_since(pauses, rate, burst):
    clock = Clock()
    rates = Rates(rate, burst, clock)
    passed = []
    for pause in pauses:
        clock.now += pause
        passed += [clock.now] if rates.draw("a") == 0 else []

    for first, begin in enumerate(passed):
        for last in range(first, len(passed)):
            assert last - first + 1 <= burst + rate * (passed[last] - begin) + 1e-6


@given(pauses=PAUSES, rate=st.floats(0.1, 50), burst=st.integers(1, 20))
def test_who_waits_as_long_as_told_passes(pauses, rate, burst):
    clock = Clock()
    rates = Rates(rate, burst, clock)
    for pause in pauses:
        clock.now += pause
        if wait := rates.draw("a"):
            clock.now += wait + 1e-6
            assert rates.draw("a") == 0


def test_a_whole_burst_passes_at_once_and_each_name_has_its_own():
    rates = Rates(rate=1, burst=3, clock=Clock())

    assert [rates.draw("a") for _ in range(4)] == [0, 0, 0, 1]
    assert rates.draw("b") == 0


def test_looking_takes_nothing():
    rates = Rates(rate=1, burst=1, clock=Clock())

    assert [rates.wait("a"), rates.wait("a"), rates.draw("a"), rates.wait("a")] == [0, 0, 0, 1]


def test_however_many_ask_only_the_latest_are_remembered():
    rates = Rates(rate=1, burst=1, clock=Clock(), most=100)

    for name in range(1000):
        rates.draw(str(name))

    assert len(rates._full_at) == 100
    assert rates.draw("999") == 1
