"""The only module that reads the environment; `config_file.py` adds the config file to it. `describe()` is the table in the docs and in `whence doctor`."""

import ipaddress
import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args
from urllib.parse import urlsplit

from whence.errors import SettingsError

AuthMode = Literal["auto", "required", "off"]
EmbedderName = Literal["minilm", "openai", "hash"]
LogFormat = Literal["text", "json"]
Switch = Literal["on", "off"]
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


def _price(text: str) -> float:
    if not re.fullmatch(r"\s*[0-9]{1,9}(\.[0-9]{1,9})?\s*", text):
        raise ValueError("a number such as 0.15")
    return float(text)


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


def _origins(text: str) -> tuple[str, ...]:
    return tuple(_origin(entry.strip().lower()) for entry in text.split(",") if entry.strip())


def _origin(entry: str) -> str:
    if entry != "*" and not re.fullmatch(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?", entry):
        raise ValueError("origins (https://app.corp, http://localhost:3000), separated by commas, or *")
    return entry


def path_of(text: str) -> Path:
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


def _setting(parse: Callable[[str], Any], default: Any, help_text: str) -> Any:
    return field(default=default, metadata={"parse": parse, "help": help_text})


def _number(default: int | None, low: int, high: int, help_text: str) -> Any:
    def parse(text: str) -> int:
        value = int(text) if re.fullmatch(r"\s*[0-9]{1,9}\s*", text) else None
        if value is None or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return _setting(parse, default, help_text)


def _choice(choices: Any, default: str, help_text: str) -> Any:
    def parse(text: str) -> str:
        if text.lower() not in get_args(choices):
            raise ValueError("one of " + ", ".join(get_args(choices)))
        return text.lower()

    return _setting(parse, default, help_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each setting with its parser, its default and its help; docs/settings.md says more."""

    config: Path | None = _setting(path_of, None, "A TOML file with settings; the environment wins.")
    data_dir: Path = field(
        default_factory=_default_data_dir,
        metadata={"parse": path_of, "help": "The folder of the embedded database and the originals."},
    )
    database_url: Secret | None = _setting(
        _postgres_url,
        None,
        "A PostgreSQL server (15 or newer, pgvector 0.8 or newer) instead of the embedded one.",
    )
    postgres_bin: Path | None = _setting(path_of, None, "The folder with the PostgreSQL programs to run.")
    storage_url: str | None = _setting(str, None, "The storage of originals: S3, GCS, Azure or `file:///…`.")
    host: str = _setting(str, "127.0.0.1", "The address that `whence serve` listens on.")
    port: int = _number(8420, 0, 65535, "The port that `whence serve` listens on.")
    public_url: str | None = _setting(
        lambda text: _http_url(text).rstrip("/"),
        None,
        "The address of this server in links; on a loopback address, its own.",
    )
    auth: AuthMode = _choice(
        AuthMode, "auto", "API keys: `required`, `off`, or `auto`: off on a loopback address."
    )
    cors_origins: tuple[str, ...] = _setting(
        _origins, (), "Origins of web pages elsewhere that may use the API; `*` for all, with keys only."
    )
    mcp_writes: Switch = _choice(
        Switch, "off", "`on`: assistants with a key that may write may add documents over MCP."
    )
    url: str | None = _setting(
        lambda text: _http_url(text).rstrip("/"),
        None,
        "A server elsewhere that commands talk to; `--server`.",
    )
    api_key: Secret | None = _setting(_key, None, "The key to that server; `--key`.")
    max_upload_mb: int = _number(200, 1, 100_000, "Largest upload, all files together, in MB.")
    max_connections: int = _number(1000, 1, 60_000, "Most open connections of one server process.")
    max_url_kb: int = _number(16, 1, 1000, "Longest URL of a request, in KB.")
    max_header_kb: int = _number(64, 1, 1000, "Largest headers of a request, all together, in KB.")
    body_seconds: int = _number(
        30, 1, 3600, "Seconds that a client may pause while it sends a request or reads an answer."
    )
    body_memory_mb: int = _number(256, 16, 100_000, "Memory of one process for JSON bodies, in MB.")
    key_requests_per_minute: int = _number(
        0, 0, 1_000_000, "Requests a minute of one API key, unless it has its own limit; 0: no limit."
    )
    key_tokens_per_minute: int = _number(
        0, 0, 1_000_000_000, "Chat tokens a minute of one API key, unless it has its own limit; 0: no limit."
    )
    audit_days: int = _number(90, 0, 36_500, "Days that the audit log of writes is kept; 0: there is none.")
    worker_concurrency: int = _number(8, 1, 64, "Documents that one worker ingests at once.")
    extraction_concurrency: int = _number(4, 1, 64, "Documents that one worker extracts at once.")
    pool_size: int = _number(16, 1, 1000, "Most database connections of one process.")
    search_memory_mb: int = _number(256, 0, 100_000, "Memory for projects that are searched, in MB.")
    ef_search: int = _number(
        200, 80, 1000, "Vectors that the index of large projects compares; half of it up to 200,000 vectors."
    )
    fetch_allow: tuple[str, ...] = _setting(
        _hosts_and_networks, (), "Hosts and networks inside your own network that URLs may be fetched from."
    )
    fetch_max_mb: int = _number(100, 1, 10_000, "Largest file fetched from a URL, in MB.")
    fetch_seconds: int = _number(60, 1, 3_600, "Time to fetch a URL, redirects included.")
    parse_processes: int = _number(
        2, 1, 64, "Documents parsed at once, each in its own process; one project uses all but one."
    )
    parse_memory_mb: int = _number(400, 100, 100_000, "Memory of a parsing process, in MB.")
    parse_seconds: int = _number(300, 1, 86_400, "Time to parse one document.")
    parse_cpu_seconds: int = _number(240, 1, 86_400, "CPU time to parse one document.")
    parse_text_mb: int = _number(64, 1, 500, "Longest text of one document, in MB of UTF-8.")
    embedder: EmbedderName = _choice(
        EmbedderName, "minilm", "`minilm` on this machine, `openai` for an endpoint, `hash` for tests."
    )
    embedding_base_url: str = _setting(
        _http_url, "https://api.openai.com/v1", "The embedding endpoint, up to and without `/embeddings`."
    )
    embedding_api_key: Secret | None = _setting(_key, None, "The key for the embedding endpoint.")
    embedding_model: str | None = _setting(str, None, "The model at the embedding endpoint.")
    embedding_dimensions: int | None = _number(None, 1, 4000, "Dimensions of the vectors.")
    embedding_max_bytes: int = _number(
        6000, 200, 1_000_000, "Longest input of the endpoint's model, in bytes; longer texts are split."
    )
    embedding_batch: int = _number(64, 1, 2048, "Most texts in one request.")
    embedding_concurrency: int = _number(4, 1, 64, "Most requests of one process at once.")
    embedding_timeout: int = _number(60, 1, 600, "Seconds that a request may take.")
    embedding_attempts: int = _number(5, 1, 20, "Attempts before a request has failed.")
    embedding_threads: int | None = _number(None, 1, 256, "Threads of `minilm`; one per core.")
    rerank_base_url: str | None = _setting(_http_url, None, "The rerank endpoint, without `/rerank`.")
    rerank_api_key: Secret | None = _setting(_key, None, "The key for the rerank endpoint.")
    rerank_model: str | None = _setting(str, None, "The model at the rerank endpoint.")
    rerank_timeout: int = _number(5, 1, 600, "Seconds that a search waits for the rerank endpoint.")
    answerer: str | None = _setting(str, None, "`extractive`, or the name of an installed answerer.")
    llm_base_url: str | None = _setting(_http_url, None, "The chat endpoint, without `/chat/completions`.")
    llm_api_key: Secret | None = _setting(_key, None, "The key for the chat endpoint.")
    llm_model: str | None = _setting(str, None, "The model at the chat endpoint.")
    llm_context: int = _number(
        8192, 2048, 100_000_000, "Tokens that the chat model takes in, its answer included."
    )
    llm_max_tokens: int = _number(
        1024, 16, 1_000_000, "Longest answer in tokens, at most half of `WHENCE_LLM_CONTEXT`."
    )
    extraction_max_tokens: int = _number(
        16_384, 16, 1_000_000, "Longest reply in tokens that is asked for when one was cut off."
    )
    llm_timeout: int = _number(120, 1, 3600, "Seconds that the chat endpoint may be silent.")
    llm_attempts: int = _number(3, 1, 20, "Attempts before a question has failed.")
    llm_prompt_price: float | None = _setting(
        _price, None, "Price of a million prompt tokens, for estimates."
    )
    llm_completion_price: float | None = _setting(_price, None, "Price of a million tokens of answers.")
    lightrag_url: str | None = _setting(_http_url, None, "A LightRAG server that chat asks, too.")
    lightrag_api_key: Secret | None = _setting(_key, None, "The key for the LightRAG server.")
    lightrag_timeout: int = _number(30, 1, 600, "Seconds that chat waits for the LightRAG server.")
    conversation_days: int | None = _number(
        None, 1, 36_500, "Days without an answer after which a conversation is deleted; unset keeps all."
    )
    verify: Switch = _choice(Switch, "off", "`on`: the chat model judges the citations of each answer.")
    log_level: LogLevel = _choice(LogLevel, "info", "`debug`, `info`, `warning` or `error`.")
    log_format: LogFormat = _choice(LogFormat, "text", "`text` for people, `json` for machines.")

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> "Settings":
        """Reads the environment. `overrides`, from the command line, take precedence; None overrides nothing."""
        environ = os.environ if environ is None else environ
        values: dict[str, Any] = {}
        for f in fields(cls):
            name = env_name(f.name)
            if given := environ.get(name):
                try:
                    values[f.name] = f.metadata["parse"](given)
                except ValueError as exc:
                    shown = "…" if f.type == Secret | None else given
                    raise SettingsError.of(name, provided=shown, expected=str(exc)) from exc
        return cls(**values | {key: value for key, value in overrides.items() if value is not None})

    @property
    def loopback(self) -> bool:
        return _is_loopback(self.host)

    @property
    def link_base(self) -> str | None:
        """The prefix of links; None makes no links."""
        if self.public_url is not None or not self.loopback or not self.port:
            return self.public_url
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

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


def unknown(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables with our prefix that are no settings, each with a sentence that names the setting that may be meant."""
    names = {info.name.removeprefix(PREFIX) for info in describe()}
    given = os.environ if environ is None else environ
    found = sorted(name.removeprefix(PREFIX) for name in given if name.startswith(PREFIX))
    return {PREFIX + name: _explain_unknown(name, names) for name in found if name not in names}


def _explain_unknown(name: str, names: Collection[str]) -> str:
    near = get_close_matches(name, names, n=1, cutoff=0.7)
    return "is not a setting; it is ignored" + (f". Did you mean {PREFIX}{near[0]}?" if near else "")


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
