import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fetch.site import Fetching, Site, opened

Names = Callable[..., list[str]]


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with opened() as running:
        yield running


@pytest.fixture
def fetching(tmp_path: Path) -> Fetching:
    return Fetching(into=tmp_path / "fetched")


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Stands where the operating system resolves names: `names(host, first answer, second answer, …)`.

    Each answer is a tuple of addresses; the last one is repeated. What is returned lists the look-ups.
    """
    table: dict[str, list[tuple[str, ...]]] = {}
    asked: list[str] = []

    def getaddrinfo(host: str, port: int | None, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        if host not in table:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        answers = table[host]
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port or 0, 0, 0))
            if ":" in address
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port or 0))
            for address in addresses
        ]

    def say(host: str, *answers: tuple[str, ...]) -> list[str]:
        table[host] = list(answers)
        return asked

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return say
