"""An embedding endpoint on loopback that speaks OpenAI's protocol, and fails on demand.

    with Endpoint() as endpoint:
        endpoint.script(status(429, retry_after="1"), ok)     # then `ok` for ever
        ... endpoint.url, endpoint.requests

Its vectors are those of the hash embedder, three times as long: whoever wants length 1 has to see to it.
"""

import base64
import json
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any

from tests.loopback import Behaviour, Loopback, Reply, Request, closed_port, garbage, hang_up, status

from whence.providers.hashed import vector, words
from whence.search.background import reference_texts

__all__ = ["Behaviour", "Endpoint", "Reply", "Request", "closed_port", "garbage", "hang_up", "status"]

DIMENSIONS = 64
REFERENCES = frozenset(text for pairs in reference_texts() for pair in pairs for text in pair)

PATIENCE = 120
"""So many seconds a gate stays closed at most: a test that forgot it ends all the same."""


def embed(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    return [3 * float(value) for value in vector(words(text), dimensions)]


def answer(vectors: Sequence[Any], *, tokens: int | None) -> Reply:
    data = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
    body: dict[str, Any] = {"object": "list", "model": "test", "data": data}
    if tokens is not None:
        body["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Reply(body=json.dumps(body).encode())  # json writes NaN as such, like some endpoints


def ok(request: Request) -> Reply:
    dimensions = request.body.get("dimensions", DIMENSIONS)
    tokens = sum(len(words(text)) for text in request.inputs)
    return answer([embed(text, dimensions) for text in request.inputs], tokens=tokens)


def uncounted(request: Request) -> Reply:
    return answer([embed(text) for text in request.inputs], tokens=None)


def in_base64(request: Request) -> Reply:
    packed = [struct.pack(f"<{DIMENSIONS}f", *embed(text)) for text in request.inputs]
    return answer([base64.b64encode(one).decode() for one in packed], tokens=1)


def backwards(request: Request) -> Reply:
    """Right, but not in the order it was asked."""
    body = json.loads(ok(request).body)
    return Reply(body=json.dumps({**body, "data": body["data"][::-1]}).encode())


def of_size(dimensions: int) -> Behaviour:
    return lambda request: answer([embed(text, dimensions) for text in request.inputs], tokens=1)


def one_too_few(request: Request) -> Reply:
    return answer([embed(text) for text in request.inputs[1:]], tokens=1)


def filled_with(value: Any) -> Behaviour:
    """The first vector has this value in its last place, or everywhere if it is 0."""

    def reply(request: Request) -> Reply:
        vectors: list[list[Any]] = [embed(text) for text in request.inputs]
        vectors[0] = [0.0] * DIMENSIONS if value == 0 else [*vectors[0][:-1], value]
        return answer(vectors, tokens=1)

    return reply


def one_size_only(request: Request) -> Reply:
    """Refuses to be told the dimensions, as models do that cannot choose them."""
    if "dimensions" in request.body:
        return Reply(status=400, body=b'{"error": {"message": "dimensions is not supported by this model"}}')
    return ok(request)


def slow(seconds: float) -> Behaviour:
    def reply(request: Request) -> Reply:
        time.sleep(seconds)
        return ok(request)

    return reply


class Gate:
    """Holds answers until it is opened."""

    def __init__(self) -> None:
        self._opened = threading.Event()

    def __call__(self, request: Request) -> Reply:
        assert self._opened.wait(PATIENCE), "nobody opened the gate"
        return ok(request)

    def open(self) -> None:
        self._opened.set()


class Endpoint(Loopback):
    def __init__(self, default: Behaviour = ok) -> None:
        super().__init__("/v1/embeddings", default)

    def _answer(self, request: Request, handler: Any) -> None:
        """The reference texts come once, with the first document of a space. They are answered, and not recorded."""
        if request.inputs and REFERENCES.issuperset(request.inputs):
            handler.send(self.default(request))
        else:
            super()._answer(request, handler)
