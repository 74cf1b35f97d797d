from dataclasses import fields

import pytest

from app.settings import Settings, WrongSetting, read_settings


def test_an_empty_environment_gives_the_defaults():
    assert read_settings({}) == Settings()


def test_every_setting_is_read_from_the_environment():
    environment = {
        "THIESSEN_DATABASE": "postgresql://host/x",
        "THIESSEN_HOST": "::1",
        "THIESSEN_PORT": "9000",
        "THIESSEN_LEASE_SECONDS": "2.5",
        "THIESSEN_ALLOWED_HOSTS": "lab.example, other",
        "THIESSEN_INSECURE": "true",
        "THIESSEN_WORKERS": "4",
        "THIESSEN_SHUTDOWN_SECONDS": "3",
        "THIESSEN_LOG_FORMAT": "json",
        "THIESSEN_LOG_LEVEL": "error",
        "THIESSEN_SQLITE_SYNCHRONOUS": "normal",
        "THIESSEN_REQUIRE_TOKENS": "true",
        "THIESSEN_REQUESTS_PER_SECOND": "0.5",
        "THIESSEN_ALLOW_PRIVATE_WEBHOOKS": "1",
        "THIESSEN_KEEP_EVENTS_DAYS": "90",
        "THIESSEN_KEEP_CURVES_DAYS": "0.5",
    }

    read = read_settings(environment)

    assert len(environment) == len(fields(Settings))
    assert read == Settings(
        database="postgresql://host/x",
        host="::1",
        port=9000,
        lease_seconds=2.5,
        allowed_hosts=("lab.example", "other"),
        insecure=True,
        workers=4,
        shutdown_seconds=3,
        log_format="json",
        log_level="error",
        sqlite_synchronous="normal",
        require_tokens=True,
        requests_per_second=0.5,
        allow_private_webhooks=True,
        keep_events_days=90,
        keep_curves_days=0.5,
    )


def test_what_is_given_wins_over_the_environment():
    assert read_settings({"THIESSEN_PORT": "1"}, port=2, host=None) == Settings(port=2)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"THIESSEN_PORT": "http"}, "THIESSEN_PORT is a number; got 'http'"),
        ({"THIESSEN_PORT": "70000"}, "THIESSEN_PORT is a port"),
        ({"THIESSEN_KEEP_EVENTS_DAYS": "-1"}, r"THIESSEN_KEEP_EVENTS_DAYS is from 0 \(for ever\)"),
        ({"THIESSEN_LEASE_SECONDS": "0"}, "THIESSEN_LEASE_SECONDS is from 1"),
        ({"THIESSEN_LEASE_SECONDS": "nan"}, "THIESSEN_LEASE_SECONDS is from 1"),
        ({"THIESSEN_WORKERS": "0"}, "THIESSEN_WORKERS is from 1 to 64"),
        (
            {"THIESSEN_WORKERS": "2"},
            "one process owns a SQLite file. Serve with one, or keep studies in Post",
        ),
        ({"THIESSEN_SHUTDOWN_SECONDS": "0"}, "THIESSEN_SHUTDOWN_SECONDS is from 1"),
        ({"THIESSEN_LOG_FORMAT": "xml"}, "THIESSEN_LOG_FORMAT is one of auto, human, json; got 'xml'"),
        ({"THIESSEN_SQLITE_SYNCHRONOUS": "off"}, "THIESSEN_SQLITE_SYNCHRONOUS is one of full, normal"),
        ({"THIESSEN_LOG_LEVEL": "loud"}, "THIESSEN_LOG_LEVEL is one of debug, info, warning, error"),
        ({"THIESSEN_INSECURE": "perhaps"}, "THIESSEN_INSECURE is true or false"),
        ({"THIESSEN_REQUIRE_TOKENS": "2"}, "THIESSEN_REQUIRE_TOKENS is true or false"),
        ({"THIESSEN_REQUESTS_PER_SECOND": "-1"}, "THIESSEN_REQUESTS_PER_SECOND is from 0"),
        ({"THIESSEN_REQUESTS_PER_SECOND": "nan"}, "THIESSEN_REQUESTS_PER_SECOND is from 0"),
    ],
)
def test_a_wrong_setting_is_named(environment, said):
    with pytest.raises(WrongSetting, match=said):
        read_settings(environment)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "lab.example"])  # noqa: S104 - wants tokens
def test_a_server_that_strangers_could_reach_wants_tokens_unless_it_is_told_otherwise(host):
    assert Settings(host=host).tokens_required
    assert not Settings(host=host, insecure=True).tokens_required
    assert Settings(host=host, insecure=True, require_tokens=True).tokens_required


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_a_server_of_this_machine_wants_no_tokens_and_knows_its_names_unless_it_is_told_otherwise(host):
    assert not Settings(host=host).tokens_required
    assert Settings(host=host).refuses_proxies
    assert "*" not in Settings(host=host).known_hosts
    assert Settings(host=host, require_tokens=True).tokens_required
    assert not Settings(host=host, require_tokens=True).refuses_proxies
    assert Settings(host=host, require_tokens=True).known_hosts == ["*"]


@pytest.mark.parametrize("told", [{"insecure": True}, {"require_tokens": True}])
def test_names_that_are_allowed_stay_the_only_ones(told):
    assert Settings(**told).known_hosts == ["*"]
    assert "*" not in Settings(**told, allowed_hosts=("server",)).known_hosts


def test_a_password_of_the_database_is_in_no_remedy():
    assert Settings(database="postgresql://a@b/c").database_option == " --database postgresql://a@b/c"
    assert not Settings(database="postgresql://a:secret@b/c").database_option
