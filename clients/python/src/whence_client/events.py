"""The events of a streamed answer, and their decoding from server-sent events."""

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from whence_client.errors import UnexpectedAnswer, api_error
from whence_client.types import ChatAnswer, ChatCitation, ChatSource


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesFound:
    """First: the chunks that the answer is made from."""

    sources: list[ChatSource]
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A piece of the answer. A citation is never split."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The whole answer."""

    answer: ChatAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """After the answer, with `verify`: the citations again, with the model's judgements."""

    citations: list[ChatCitation]
    notes: list[str]


AnswerEvent = SourcesFound | Token | Done | Verified

ANSWER = ("response", "sources", "citations")
"""Fields that every answer has."""
EVENTS = {
    "sources": ("sources", "model"),
    "token": ("text",),
    "done": ANSWER,
    "verified": ("citations", "notes"),
}
"""Fields that every event of a kind has."""


def read_event(name: str, body: Any) -> AnswerEvent | None:
    """The event; None for one of a newer server."""
    if name == "sources":
        return SourcesFound(sources=body["sources"], model=body["model"])
    if name == "token":
        return Token(text=body["text"])
    if name == "done":
        return Done(answer=body)
    if name == "verified":
        return Verified(citations=body["citations"], notes=body["notes"])
    return None


def _read(name: str, data: str) -> tuple[str, Any]:
    try:
        body: Any = json.loads(data)
    except ValueError as exc:
        raise UnexpectedAnswer("The stream has an event that is not JSON") from exc
    if name == "error":
        raise api_error(body, status=None) or UnexpectedAnswer(f"The stream has an unknown error: {data}")
    return name, body


@dataclass(slots=True)
class EventDecoder:
    """Cuts bytes into events. Only line feeds end a line: JSON may hold other separators of lines."""

    _decode: Any = field(default_factory=lambda: getincrementaldecoder("utf-8")("replace").decode)
    _rest: str = ""

    def feed(self, part: bytes) -> Iterator[tuple[str, Any]]:
        """The name and the JSON of each event that is complete. Raises APIError for the event `error`."""
        text = (self._rest + self._decode(part)).replace("\r\n", "\n")
        *blocks, self._rest = text.split("\n\n")
        for block in blocks:
            lines = [line.partition(":") for line in block.split("\n")]
            data = [value.removeprefix(" ") for name, _, value in lines if name == "data"]
            names = [value.strip() for name, _, value in lines if name == "event"]
            if data:
                yield _read((names or ["message"])[-1], "\n".join(data))
