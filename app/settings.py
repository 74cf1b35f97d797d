"""What can be set from outside: the environment, read once into one frozen object."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from typing import Final

PREFIX: Final = "THIESSEN_"


class WrongSetting(ValueError):  # noqa: N818 - says what happened
    """A setting that cannot be meant; the message names it and says what would do."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every setting of the server. `docs/reference/settings.md` lists them, and a test insists."""

    database: str = "sqlite:///thiessen.db"
    host: str = "127.0.0.1"
    port: int = 8000
    lease_seconds: float = 30.0  # how long a silent worker keeps its trial
    allowed_hosts: tuple[str, ...] = ()  # names to answer to, beside those of this machine
    insecure: bool = False  # serve beyond this machine without tokens
    allow_private_webhooks: bool = False  # tell addresses of one's own network too

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise WrongSetting(f"{PREFIX}PORT is a port from 0 (any free one) to 65535; got {self.port}.")
        if not 1 <= self.lease_seconds <= 30 * 24 * 3600:
            raise WrongSetting(f"{PREFIX}LEASE_SECONDS is from 1 to 2592000; got {self.lease_seconds:g}.")
        if not self.insecure and not _is_loopback(self.host):
            raise WrongSetting(
                f"Refusing to serve on {self.host}: this version has no tokens yet, so anyone who reaches it "
                "could read and write every study. Serve on 127.0.0.1, or say --insecure inside a network "
                "that you trust."
            )

    @property
    def lease_for(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)

    @property
    def known_hosts(self) -> list[str]:
        """The Host headers that are answered: a web page elsewhere cannot make a browser send them."""
        if self.insecure and not self.allowed_hosts:
            return ["*"]
        return ["127.0.0.1", "localhost", "[::1]", *self.allowed_hosts]


def read_settings(environment: Mapping[str, str], **given: object) -> Settings:
    """Return the settings of an environment; what is `given` and not None wins. Raises WrongSetting."""
    values: dict[str, object] = {}
    for name, kind in (("database", str), ("host", str), ("port", int), ("lease_seconds", float)):
        if text := environment.get(PREFIX + name.upper()):
            values[name] = _converted(name, text, kind)
    if hosts := environment.get(f"{PREFIX}ALLOWED_HOSTS"):
        values["allowed_hosts"] = tuple(host.strip() for host in hosts.split(",") if host.strip())
    for name in ("insecure", "allow_private_webhooks"):
        if text := environment.get(PREFIX + name.upper()):
            values[name] = _truth(name, text)
    values.update({name: value for name, value in given.items() if value is not None})
    return Settings(**values)  # type: ignore[arg-type] # converted above, one by one


def _converted(name: str, text: str, kind: type[str | int | float]) -> str | int | float:
    try:
        return kind(text)
    except ValueError:
        raise WrongSetting(f"{PREFIX}{name.upper()} is a number; got {text!r}.") from None


def _truth(name: str, text: str) -> bool:
    if text.lower() not in {"true", "false", "1", "0"}:
        raise WrongSetting(f"{PREFIX}{name.upper()} is true or false; got {text!r}.")
    return text.lower() in {"true", "1"}


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
