"""A LightRAG server on loopback that plays what the real one answered (`make lightrag-exchange`), and fails on demand."""

import json
from pathlib import Path
from typing import Any

from tests.loopback import Behaviour, Loopback, Reply, Request

EXCHANGE = Path(__file__).parent / "files" / "lightrag.json"
KEY = "lightrag-key"


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(EXCHANGE.read_text())
    return found


def plays(exchange: dict[str, Any]) -> Behaviour:
    def reply(request: Request) -> Reply:
        if request.headers.get("x-api-key") != KEY:
            return Reply(status=403, body=json.dumps(exchange["refused"]).encode())
        return Reply(body=json.dumps(exchange[request.path]).encode())

    return reply


class LightragEndpoint(Loopback):
    def __init__(self, default: Behaviour | None = None) -> None:
        super().__init__(("/query/data", "/query"), default or plays(recorded()))

    @property
    def url(self) -> str:
        return super().url.removesuffix("/v1")
