"""Settings: every parser, every error with the variable, what was given and what is expected; secrets stay secret."""

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict
from pathlib import Path
from typing import Any

import pytest

from whence.errors import SettingsError
from whence.settings import Secret, Settings, describe, env_name, unknown

GIVEN: list[tuple[str, str, str, Any]] = [
    ("WHENCE_CONFIG", "/etc/whence.toml", "config", Path("/etc/whence.toml")),
    ("WHENCE_DATA_DIR", "/var/lib/whence", "data_dir", Path("/var/lib/whence")),
    ("WHENCE_DATA_DIR", "relative dir", "data_dir", Path.cwd() / "relative dir"),
    ("WHENCE_DATA_DIR", "~/data", "data_dir", Path.home() / "data"),
    ("WHENCE_DATABASE_URL", "postgresql://u:p@h/d", "database_url", Secret("postgresql://u:p@h/d")),
    ("WHENCE_DATABASE_URL", "postgres://h", "database_url", Secret("postgres://h")),
    ("WHENCE_ANSWERER", "extractive", "answerer", "extractive"),
    ("WHENCE_POSTGRES_BIN", "/usr/lib/postgresql/17/bin", "postgres_bin", Path("/usr/lib/postgresql/17/bin")),
    ("WHENCE_STORAGE_URL", "s3://bucket/folder", "storage_url", "s3://bucket/folder"),
    ("WHENCE_HOST", "::1", "host", "::1"),
    ("WHENCE_PORT", "0", "port", 0),
    ("WHENCE_PORT", " 65535 ", "port", 65535),
    ("WHENCE_AUTH", "Required", "auth", "required"),
    ("WHENCE_POOL_SIZE", "1", "pool_size", 1),
    ("WHENCE_SEARCH_MEMORY_MB", "0", "search_memory_mb", 0),
    (
        "WHENCE_CORS_ORIGINS",
        "https://App.corp, http://[::1]:3000,*",
        "cors_origins",
        ("https://app.corp", "http://[::1]:3000", "*"),
    ),
    ("WHENCE_MCP_WRITES", "on", "mcp_writes", "on"),
    ("WHENCE_EF_SEARCH", "400", "ef_search", 400),
    ("WHENCE_MAX_UPLOAD_MB", "1000", "max_upload_mb", 1000),
    ("WHENCE_MAX_CONNECTIONS", "50", "max_connections", 50),
    ("WHENCE_MAX_URL_KB", "8", "max_url_kb", 8),
    ("WHENCE_MAX_HEADER_KB", "32", "max_header_kb", 32),
    ("WHENCE_BODY_SECONDS", "5", "body_seconds", 5),
    ("WHENCE_BODY_MEMORY_MB", "64", "body_memory_mb", 64),
    ("WHENCE_KEY_REQUESTS_PER_MINUTE", "60", "key_requests_per_minute", 60),
    ("WHENCE_KEY_TOKENS_PER_MINUTE", "0", "key_tokens_per_minute", 0),
    ("WHENCE_AUDIT_DAYS", "30", "audit_days", 30),
    ("WHENCE_WORKER_CONCURRENCY", "8", "worker_concurrency", 8),
    ("WHENCE_EXTRACTION_CONCURRENCY", "2", "extraction_concurrency", 2),
    (
        "WHENCE_FETCH_ALLOW",
        " Wiki.corp, *.docs.corp,10.1.0.0/16 , 127.0.0.1,FD00::/8, ",
        "fetch_allow",
        ("wiki.corp", "*.docs.corp", "10.1.0.0/16", "127.0.0.1/32", "fd00::/8"),
    ),
    ("WHENCE_FETCH_MAX_MB", "10000", "fetch_max_mb", 10_000),
    ("WHENCE_FETCH_SECONDS", "1", "fetch_seconds", 1),
    ("WHENCE_PARSE_PROCESSES", "4", "parse_processes", 4),
    ("WHENCE_PARSE_MEMORY_MB", "1000", "parse_memory_mb", 1000),
    ("WHENCE_PARSE_SECONDS", "60", "parse_seconds", 60),
    ("WHENCE_PARSE_CPU_SECONDS", "30", "parse_cpu_seconds", 30),
    ("WHENCE_PARSE_TEXT_MB", "10", "parse_text_mb", 10),
    ("WHENCE_EMBEDDER", "OpenAI", "embedder", "openai"),
    ("WHENCE_EMBEDDING_BASE_URL", "http://[::1]:11434/v1", "embedding_base_url", "http://[::1]:11434/v1"),
    ("WHENCE_EMBEDDING_API_KEY", " sk-hunter2\n", "embedding_api_key", Secret("sk-hunter2")),
    ("WHENCE_EMBEDDING_MODEL", "nomic-embed-text", "embedding_model", "nomic-embed-text"),
    ("WHENCE_EMBEDDING_DIMENSIONS", "768", "embedding_dimensions", 768),
    ("WHENCE_EMBEDDING_MAX_BYTES", "24000", "embedding_max_bytes", 24000),
    ("WHENCE_EMBEDDING_BATCH", "16", "embedding_batch", 16),
    ("WHENCE_EMBEDDING_CONCURRENCY", "8", "embedding_concurrency", 8),
    ("WHENCE_EMBEDDING_TIMEOUT", "5", "embedding_timeout", 5),
    ("WHENCE_EMBEDDING_ATTEMPTS", "1", "embedding_attempts", 1),
    ("WHENCE_EMBEDDING_THREADS", "2", "embedding_threads", 2),
    ("WHENCE_LLM_BASE_URL", "http://localhost:11434/v1", "llm_base_url", "http://localhost:11434/v1"),
    ("WHENCE_LLM_API_KEY", "sk-hunter2\n", "llm_api_key", Secret("sk-hunter2")),
    ("WHENCE_PUBLIC_URL", "https://kb.example.org/", "public_url", "https://kb.example.org"),
    ("WHENCE_URL", "https://kb.example.org/", "url", "https://kb.example.org"),
    ("WHENCE_API_KEY", "wh_1\n", "api_key", Secret("wh_1")),
    ("WHENCE_CONVERSATION_DAYS", "90", "conversation_days", 90),
    ("WHENCE_VERIFY", "ON", "verify", "on"),
    ("WHENCE_LLM_MODEL", "llama3.2", "llm_model", "llama3.2"),
    ("WHENCE_RERANK_BASE_URL", "http://127.0.0.1:8080", "rerank_base_url", "http://127.0.0.1:8080"),
    ("WHENCE_RERANK_MODEL", "bge-reranker", "rerank_model", "bge-reranker"),
    ("WHENCE_RERANK_API_KEY", "sk-1", "rerank_api_key", Secret("sk-1")),
    ("WHENCE_RERANK_TIMEOUT", "7", "rerank_timeout", 7),
    ("WHENCE_LIGHTRAG_URL", "http://127.0.0.1:9621", "lightrag_url", "http://127.0.0.1:9621"),
    ("WHENCE_LIGHTRAG_API_KEY", "k", "lightrag_api_key", Secret("k")),
    ("WHENCE_LIGHTRAG_TIMEOUT", "7", "lightrag_timeout", 7),
    ("WHENCE_LLM_CONTEXT", "131072", "llm_context", 131_072),
    ("WHENCE_LLM_MAX_TOKENS", "500", "llm_max_tokens", 500),
    ("WHENCE_EXTRACTION_MAX_TOKENS", "4000", "extraction_max_tokens", 4000),
    ("WHENCE_LLM_TIMEOUT", "30", "llm_timeout", 30),
    ("WHENCE_LLM_ATTEMPTS", "1", "llm_attempts", 1),
    ("WHENCE_LLM_PROMPT_PRICE", "0.15", "llm_prompt_price", 0.15),
    ("WHENCE_LLM_COMPLETION_PRICE", " 12 ", "llm_completion_price", 12.0),
    ("WHENCE_LOG_LEVEL", "DEBUG", "log_level", "debug"),
    ("WHENCE_LOG_FORMAT", "json", "log_format", "json"),
]
WRONG = [
    (
        "WHENCE_PORT",
        "a whole number from 0 to 65535",
        ("abc", "-1", "65536", "1.5", "²", "--5", "٣", "9" * 5000),
    ),
    ("WHENCE_POOL_SIZE", "a whole number from 1 to 1000", ("0", "1001", "many")),
    ("WHENCE_SEARCH_MEMORY_MB", "a whole number from 0 to 100000", ("-1", "100001", "much")),
    (
        "WHENCE_FETCH_ALLOW",
        "hosts (wiki.corp, *.corp) and networks (10.1.0.0/16), separated by commas",
        (
            "10.1.0.1/16",
            "10.1",
            "http://wiki.corp",
            "wiki.corp:80",
            "*",
            "*.*.corp",
            "wiki.corp/x",
            "0x7f000001",
            "a b",
            "a..b",
            "bücher.de",
            "wiki.corp.",
            "999.1.1.1",
        ),
    ),
    (
        "WHENCE_CORS_ORIGINS",
        "origins (https://app.corp, http://localhost:3000), separated by commas, or *",
        ("app.corp", "https://app.corp/", "https://*.corp", "ftp://app.corp", "null"),
    ),
    ("WHENCE_FETCH_MAX_MB", "a whole number from 1 to 10000", ("0", "10001")),
    ("WHENCE_FETCH_SECONDS", "a whole number from 1 to 3600", ("0", "3601", "1.5")),
    ("WHENCE_PARSE_PROCESSES", "a whole number from 1 to 64", ("0", "65")),
    ("WHENCE_PARSE_MEMORY_MB", "a whole number from 100 to 100000", ("99", "1e9")),
    ("WHENCE_AUTH", "one of auto, required, off", ("yes", "none")),
    ("WHENCE_EMBEDDER", "one of minilm, openai, hash", ("ollama",)),
    (
        "WHENCE_EMBEDDING_BASE_URL",
        "a URL that begins with http:// or https://, without a user in it",
        ("localhost:11434", "ftp://host", "https://", "https://me:key@host/v1", "http://[::1/v1"),
    ),
    ("WHENCE_EMBEDDING_DIMENSIONS", "a whole number from 1 to 4000", ("0", "4001")),
    ("WHENCE_EMBEDDING_MAX_BYTES", "a whole number from 200 to 1000000", ("199",)),
    ("WHENCE_EMBEDDING_BATCH", "a whole number from 1 to 2048", ("0",)),
    ("WHENCE_EMBEDDING_CONCURRENCY", "a whole number from 1 to 64", ("65",)),
    ("WHENCE_EMBEDDING_TIMEOUT", "a whole number from 1 to 600", ("0.5",)),
    ("WHENCE_EMBEDDING_ATTEMPTS", "a whole number from 1 to 20", ("0",)),
    ("WHENCE_EMBEDDING_THREADS", "a whole number from 1 to 256", ("0",)),
    (
        "WHENCE_LLM_BASE_URL",
        "a URL that begins with http:// or https://, without a user in it",
        ("localhost:11434", "https://me:key@host/v1"),
    ),
    ("WHENCE_LLM_CONTEXT", "a whole number from 2048 to 100000000", ("2047", "8k")),
    ("WHENCE_LLM_MAX_TOKENS", "a whole number from 16 to 1000000", ("15",)),
    ("WHENCE_LLM_TIMEOUT", "a whole number from 1 to 3600", ("0", "3601")),
    ("WHENCE_LLM_ATTEMPTS", "a whole number from 1 to 20", ("0",)),
    ("WHENCE_LLM_PROMPT_PRICE", "a number such as 0.15", ("-1", "free", "1e9", "nan", "1,5")),
    ("WHENCE_LOG_LEVEL", "one of debug, info, warning, error", ("loud",)),
    ("WHENCE_LOG_FORMAT", "one of text, json", ("xml",)),
    ("WHENCE_DATA_DIR", "a path; there is no such home directory", ("~nobody-of-that-name/x",)),
]


@pytest.mark.parametrize(("name", "text", "attribute", "value"), GIVEN)
def test_what_is_given(name: str, text: str, attribute: str, value: Any) -> None:
    assert getattr(Settings.from_environment({name: text}), attribute) == value


def test_every_setting_is_tried() -> None:
    assert {name for name, *_ in GIVEN} == {info.name for info in describe()}


@pytest.mark.parametrize(
    ("name", "expected", "given"),
    [(name, expected, text) for name, expected, texts in WRONG for text in texts],
)
def test_what_is_wrong(name: str, expected: str, given: str) -> None:
    with pytest.raises(SettingsError) as error:
        Settings.from_environment({name: given})
    assert error.value.message == f"{name} must be {expected}, not {given!r}."
    assert error.value.details == {"setting": name, "provided": given, "expected": expected}


def test_a_wrong_secret_is_not_repeated() -> None:
    with pytest.raises(SettingsError) as error:
        Settings.from_environment({"WHENCE_DATABASE_URL": "mysql://u:hunter2@h"})
    assert error.value.message == "WHENCE_DATABASE_URL must be a URL that begins with postgresql://, not '…'."
    assert "hunter2" not in repr(error.value.details)


@pytest.mark.parametrize("name", ["WHENCE_API_KEY", "WHENCE_EMBEDDING_API_KEY", "WHENCE_LLM_API_KEY"])
@pytest.mark.parametrize("given", ["hunter2 hunter2", "hunter2\r\nX-Evil: 1", "hünter2", " "])
def test_a_wrong_key_is_not_repeated(given: str, name: str) -> None:
    with pytest.raises(SettingsError) as error:
        Settings.from_environment({name: given})
    assert error.value.message == f"{name} must be a key of visible ASCII characters, not '…'."


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    settings = Settings.from_environment({})
    assert settings == Settings()
    assert settings.data_dir == Path("/home/me/.local/share/whence")
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    assert Settings().data_dir == Path("/elsewhere/whence")


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(SettingsError, match="WHENCE_DATA_DIR"):
        Settings.from_environment({})
    assert Settings.from_environment({"WHENCE_DATA_DIR": "/data"}).data_dir == Path("/data")


def test_an_empty_variable_is_none() -> None:
    assert Settings.from_environment({"WHENCE_PORT": "", "WHENCE_DATABASE_URL": ""}) == Settings()


def test_the_command_line_goes_before_the_environment() -> None:
    environ = {"WHENCE_PORT": "1", "WHENCE_HOST": "::1"}
    settings = Settings.from_environment(environ, port=0, host=None)
    assert (settings.port, settings.host) == (0, "::1")


def test_settings_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().port = 1  # type: ignore[misc]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_loopback(host: str) -> None:
    assert Settings(host=host).loopback
    assert not Settings(host=host).auth_required
    assert Settings(host=host, auth="required").auth_required


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.evil.org", ""])  # noqa: S104 - the point
def test_other_addresses(host: str) -> None:
    assert not Settings(host=host).loopback
    assert Settings(host=host).auth_required
    assert not Settings(host=host, auth="off").auth_required


def test_unknown_variables() -> None:
    environ = {"WHENCE_PORT": "1", "WHENCE_PROT": "1", "WHENCE_A": "", "HOME": "/", "whence_port": "1"}
    assert unknown(environ) == {
        "WHENCE_A": "is not a setting; it is ignored",
        "WHENCE_PROT": "is not a setting; it is ignored. Did you mean WHENCE_PORT?",
    }


def test_variables_of_a_cluster_are_near_to_nothing() -> None:
    injected = [
        "WHENCE_SERVICE_HOST",
        "WHENCE_SERVICE_PORT",
        "WHENCE_PORT_8420_TCP",
        "WHENCE_PORT_8420_TCP_ADDR",
    ]
    assert not [says for says in unknown(dict.fromkeys(injected, "1")).values() if "mean" in says]


def test_the_table_is_complete() -> None:
    table = {info.name: info for info in describe()}
    assert all(info.help.endswith((".", "`.")) for info in table.values())
    assert table["WHENCE_PORT"].default == "8420"
    assert table["WHENCE_DATABASE_URL"].default == ""
    assert env_name("log_level") == "WHENCE_LOG_LEVEL"


def test_a_secret_shows_itself_only_when_asked() -> None:
    secret = Secret("hunter2")
    settings = Settings(database_url=secret)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret!r:>20}", "%s" % secret, repr([secret])]  # noqa: UP031 - a way logs go
    shown += [repr(settings), str(settings), repr(asdict(settings)), repr(copy.deepcopy(secret))]
    assert not [text for text in shown if "hunter2" in text]
    assert secret.reveal() == "hunter2"
    assert secret == Secret("hunter2")
    assert secret != Secret("other")
    assert secret != "hunter2"  # noqa: S105 - the point
    assert len({secret, Secret("hunter2")}) == 1
    assert pickle.loads(pickle.dumps(secret)) == secret  # noqa: S301 - our own
