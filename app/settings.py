"""What can be set from outside: the environment, read once into one frozen object."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from app.logs import FORMATS, LEVELS

PREFIX: Final = "THIESSEN_"
MOST_WORKERS: Final = 64
MOST_DAYS: Final = 36_500
SYNCHRONOUS: Final = ("full", "normal")
KINDS: Final[dict[str, type[str | int | float]]] = {
    "database": str,
    "host": str,
    "port": int,
    "lease_seconds": float,
    "workers": int,
    "shutdown_seconds": float,
    "log_format": str,
    "log_level": str,
    "requests_per_second": float,
    "sqlite_synchronous": str,
    "keep_events_days": float,
    "keep_curves_days": float,
}


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
    workers: int = 1  # processes; more than one on PostgreSQL only
    shutdown_seconds: float = 10.0  # how long stopping may take
    log_format: str = "auto"  # for people on a terminal, else JSON
    log_level: str = "info"
    require_tokens: bool = False  # on this machine too
    requests_per_second: float = 2000.0  # of each token or address; 0: any number
    sqlite_synchronous: str = "full"  # what is acknowledged survives a power cut; `normal`: a crash only
    allow_private_webhooks: bool = False  # tell addresses of one's own network too
    keep_events_days: float = 0.0  # of studies that rest; 0: for ever
    keep_curves_days: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise WrongSetting(f"{PREFIX}PORT is a port from 0 (any free one) to 65535; got {self.port}.")
        if not 1 <= self.lease_seconds <= 30 * 24 * 3600:
            raise WrongSetting(f"{PREFIX}LEASE_SECONDS is from 1 to 2592000; got {self.lease_seconds:g}.")
        self._check_workers()
        if not 1 <= self.shutdown_seconds <= 3600:
            raise WrongSetting(f"{PREFIX}SHUTDOWN_SECONDS is from 1 to 3600; got {self.shutdown_seconds:g}.")
        self._check_one_of("log_format", FORMATS)
        self._check_one_of("log_level", LEVELS)
        self._check_one_of("sqlite_synchronous", SYNCHRONOUS)
        if not 0 <= self.requests_per_second <= 1e6:
            raise WrongSetting(
                f"{PREFIX}REQUESTS_PER_SECOND is from 0 (no limit) to 1000000; "
                f"got {self.requests_per_second:g}."
            )

        for name in ("keep_events_days", "keep_curves_days"):
            if not 0 <= (days := getattr(self, name)) <= MOST_DAYS:
                raise WrongSetting(
                    f"{PREFIX}{name.upper()} is from 0 (for ever) to {MOST_DAYS}; got {days:g}."
                )

    def _check_workers(self) -> None:
        if not 1 <= self.workers <= MOST_WORKERS:
            raise WrongSetting(f"{PREFIX}WORKERS is from 1 to {MOST_WORKERS}; got {self.workers}.")
        if self.workers > 1 and self.database.startswith("sqlite"):
            raise WrongSetting(
                f"{self.workers} processes cannot share {self.database}: one process owns a SQLite file. "
                "Serve with one, or keep studies in PostgreSQL: --database postgresql://user@host/database."
            )

    def _check_one_of(self, name: str, known: Collection[str]) -> None:
        if (value := getattr(self, name)) not in known:
            raise WrongSetting(f"{PREFIX}{name.upper()} is one of {', '.join(known)}; got {value!r}.")

    @property
    def lease_for(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)

    @property
    def keep_events(self) -> timedelta | None:
        return timedelta(days=self.keep_events_days) or None

    @property
    def keep_curves(self) -> timedelta | None:
        return timedelta(days=self.keep_curves_days) or None

    @property
    def tokens_required(self) -> bool:
        return self.require_tokens or not (self.insecure or _is_loopback(self.host))

    @property
    def refuses_proxies(self) -> bool:
        """Whether what a proxy passes on is refused: nobody has said that strangers may come."""
        return not (self.tokens_required or self.insecure)

    @property
    def database_option(self) -> str:
        """How a command names this database; one with a password is best left to the environment."""
        return "" if urlsplit(self.database).password else f" --database {self.database}"

    @property
    def known_hosts(self) -> list[str]:
        """The Host headers that are answered: a web page elsewhere cannot make a browser send them."""
        if (self.insecure or self.tokens_required) and not self.allowed_hosts:
            return ["*"]
        return ["127.0.0.1", "localhost", "[::1]", *self.allowed_hosts]


def read_settings(environment: Mapping[str, str], **given: object) -> Settings:
    """Return the settings of an environment; what is `given` and not None wins. Raises WrongSetting."""
    values: dict[str, object] = {}
    for name, kind in KINDS.items():
        if text := environment.get(PREFIX + name.upper()):
            values[name] = _converted(name, text, kind)
    if hosts := environment.get(f"{PREFIX}ALLOWED_HOSTS"):
        values["allowed_hosts"] = tuple(host.strip() for host in hosts.split(",") if host.strip())
    for name in ("insecure", "require_tokens", "allow_private_webhooks"):
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
