import pytest

from thiessen.spelling import nearest


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("momentun", {"lr", "momentum"}, "the nearest is 'momentum'"),
        ("x", {"lr", "momentum"}, "there are lr, momentum"),
        ("x", (), "there are none"),
        ("x", [f"name{number:02}" for number in range(32)], "name29 and 2 more"),
    ],
)
def test_the_nearest_name_is_told_or_those_there_are(name, known, said):
    assert said in nearest(name, known)


def test_what_is_told_stays_short():
    assert len(nearest("x", ["y" * 10_000 + str(number) for number in range(1000)])) < 4000
