from dataclasses import fields

import pytest

from app.settings import Settings, WrongSetting, read_settings


def test_an_empty_environment_gives_the_defaults():
    assert read_settings({}) == Settings()


def test_every_setting_is_read_from_the_environment():
    environment = {
        "THIESSEN_DATABASE": "sqlite:///x.db",
        "THIESSEN_HOST": "::1",
        "THIESSEN_PORT": "9000",
        "THIESSEN_LEASE_SECONDS": "2.5",
        "THIESSEN_ALLOWED_HOSTS": "lab.example, other",
        "THIESSEN_INSECURE": "true",
        "THIESSEN_ALLOW_PRIVATE_WEBHOOKS": "1",
    }

    read = read_settings(environment)

    assert len(environment) == len(fields(Settings))
    assert read == Settings(
        database="sqlite:///x.db",
        host="::1",
        port=9000,
        lease_seconds=2.5,
        allowed_hosts=("lab.example", "other"),
        insecure=True,
        allow_private_webhooks=True,
    )


def test_what_is_given_wins_over_the_environment():
    assert read_settings({"THIESSEN_PORT": "1"}, port=2, host=None) == Settings(port=2)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"THIESSEN_PORT": "http"}, "THIESSEN_PORT is a number; got 'http'"),
        ({"THIESSEN_PORT": "70000"}, "THIESSEN_PORT is a port"),
        ({"THIESSEN_LEASE_SECONDS": "0"}, "THIESSEN_LEASE_SECONDS is from 1"),
        ({"THIESSEN_LEASE_SECONDS": "nan"}, "THIESSEN_LEASE_SECONDS is from 1"),
        ({"THIESSEN_INSECURE": "perhaps"}, "THIESSEN_INSECURE is true or false"),
    ],
)
def test_a_wrong_setting_is_named(environment, said):
    with pytest.raises(WrongSetting, match=said):
        read_settings(environment)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "lab.example"])  # noqa: S104 - refused below
def test_a_server_that_strangers_could_reach_is_refused_unless_it_is_meant(host):
    with pytest.raises(WrongSetting, match="--insecure"):
        Settings(host=host)
    assert Settings(host=host, insecure=True).known_hosts == ["*"]


def test_names_that_are_allowed_stay_the_only_ones_when_insecure():
    assert "*" not in Settings(insecure=True, allowed_hosts=("server",)).known_hosts
