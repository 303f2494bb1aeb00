"""One line for each event, whoever reads it."""

import json
import logging
from collections.abc import Iterator

import pytest

from whence import logs


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    names = (None, "whence", "psycopg.pool", "procrastinate")
    before = {name: logging.getLogger(name).level for name in names}
    handlers = logging.getLogger().handlers
    yield
    logging.getLogger().handlers = handlers
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def request_id() -> Iterator[str]:
    token = logs.request_id.set("request-1")
    yield "request-1"
    logs.request_id.reset(token)


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "text")
    logging.getLogger("whence.web").info("It is %s", "done")
    out, said = capsys.readouterr()
    assert not out
    moment, rest = said.split(" ", 1)
    assert len(moment) == len("2024-01-01T00:00:00.000Z")
    assert rest == "INFO    whence.web It is done\n"


def test_text_with_a_request(capsys: pytest.CaptureFixture[str], request_id: str) -> None:
    logs.configure("info", "text")
    logging.getLogger("whence").warning("Slow")
    assert capsys.readouterr().err.endswith(f"WARNING whence Slow [{request_id}]\n")


def test_json(capsys: pytest.CaptureFixture[str], request_id: str) -> None:
    logs.configure("info", "json")
    try:
        int("no number\n")
    except ValueError:
        logging.getLogger("whence").exception('Ünïcödé "%s"', "\x1b[31m\n")
    (line,) = capsys.readouterr().err.splitlines()
    event = json.loads(line)
    assert event["time"].endswith("Z")
    assert (event["level"], event["logger"]) == ("error", "whence")
    assert event["message"] == 'Ünïcödé "\x1b[31m\n"'
    assert event["request_id"] == request_id
    assert "ValueError: invalid literal" in event["exception"]


def test_json_without_a_request(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "json")
    logging.getLogger("whence").info("Hello")
    assert set(json.loads(capsys.readouterr().err)) == {"time", "level", "logger", "message"}


def test_levels(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("debug", "text")
    logging.getLogger("whence.a").debug("ours")
    logging.getLogger("httpx").info("another's talk")
    logging.getLogger("httpx").warning("another's warning")
    logging.getLogger("psycopg.pool").error("tries again")
    said = capsys.readouterr().err
    assert "ours" in said
    assert "another's warning" in said
    assert "another's talk" not in said
    assert "tries again" not in said
    logs.configure("error", "text")
    logging.getLogger("whence.a").warning("unheard")
    assert not capsys.readouterr().err


def test_configured_twice_says_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "text")
    logs.configure("info", "text")
    logging.getLogger("whence").info("once")
    assert len(capsys.readouterr().err.splitlines()) == 1
