"""A chat endpoint on loopback that speaks OpenAI's protocol, whole and streamed, and fails on demand.

    with ChatEndpoint(says("Wheat is a grass [1].")) as endpoint:
        endpoint.script(status(429, retry_after="1"), cut(after=2))     # then the default for ever
        ... endpoint.url, endpoint.requests, endpoint.prompts

What it says may be a function of the messages. It counts words where others count tokens.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, TypeAlias

from tests.loopback import Behaviour, HangUp, Loopback, Reply, Request, Stream, status

Messages: TypeAlias = list[dict[str, str]]
Script: TypeAlias = str | Callable[[Messages], str]
Split: TypeAlias = Callable[[str], Sequence[str]]

MODEL = "test-1"
DONE = b"data: [DONE]\n\n"


def in_words(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text)


def in_characters(text: str) -> list[str]:
    return list(text)


def at_once(text: str) -> list[str]:
    return [text]


def says(
    script: Script, *, split: Split = in_words, finish: str | None = "stop", counted: bool = True
) -> Behaviour:
    """Streamed where that is asked for. Tokens of a stream are told only to who asks, as OpenAI has it."""

    def reply(request: Request) -> Reply | Stream:
        messages = request.body["messages"]
        text = script(messages) if callable(script) else script
        counts = usage(messages, text) if counted else None
        if not request.body.get("stream"):
            return completion({"role": "assistant", "content": text}, finish=finish, usage=counts)
        asked = request.body.get("stream_options", {}).get("include_usage")
        return Stream(chunks=events(split(text), finish=finish, usage=counts if asked else None))

    return reply


def echo(messages: Messages) -> str:
    return f"You said: {messages[-1]['content']}"


def usage(messages: Messages, text: str) -> dict[str, int]:
    prompt, answer = sum(len((one["content"] or "").split()) for one in messages), len(text.split())
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def completion(
    message: Any, *, finish: str | None = "stop", usage: dict[str, int] | None = None, **more: Any
) -> Reply:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    body = {"object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage, **more}
    return Reply(body=json.dumps(body).encode())


def event(delta: Any, *, finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"object": "chat.completion.chunk", "model": MODEL, "choices": [choice], **more}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def events(
    pieces: Sequence[str], *, finish: str | None = "stop", usage: dict[str, int] | None = None
) -> Iterator[bytes]:
    yield event({"role": "assistant", "content": ""})
    for piece in pieces:
        yield event({"content": piece})
    yield event({}, finish=finish)
    if usage:
        yield event({}, choices=[], usage=usage)
    yield DONE


def sends(*chunks: bytes, content_type: str = "text/event-stream") -> Behaviour:
    """These bytes, whatever was asked."""
    return lambda _: Stream(chunks=iter(chunks), content_type=content_type)


def answers(message: Any, **more: Any) -> Behaviour:
    """This message, whole, whatever was asked."""
    return lambda _: completion(message, **more)


def slow(first: float = 0, between: float = 0, text: str = "one two three") -> Behaviour:
    """So many seconds before the first byte, and so many between pieces."""

    def reply(request: Request) -> Reply | Stream:
        time.sleep(first)
        if request.body.get("stream"):
            return Stream(chunks=dawdling())
        time.sleep(between)
        return completion({"role": "assistant", "content": text})

    def dawdling() -> Iterator[bytes]:
        for chunk in events(in_words(text)):
            yield chunk
            time.sleep(between)

    return reply


def cut(*, after: int, cleanly: bool = False, text: str = "one two three four") -> Behaviour:
    """Stops after so many pieces: by hanging up, or as if it were the end."""

    def chunks() -> Iterator[bytes]:
        for piece in in_words(text)[:after]:
            yield event({"content": piece})
        if not cleanly:
            raise HangUp

    return lambda _: Stream(chunks=chunks())


def endless(_: Request) -> Stream:
    """It never comes to an end, whole or streamed."""
    return Stream(chunks=(event({"content": f"{n} "}) for n in count()))


def without_schemas(*, knows: str | None = None) -> Behaviour:
    """Answers 400 to every response format but the one it knows."""

    def reply(request: Request) -> Reply | Stream | None:
        wanted = request.body.get("response_format", {}).get("type")
        refused = wanted is not None and wanted != knows
        return (status(400, message="unknown response_format") if refused else says('{"a": 1}'))(request)

    return reply


def refusing(parameter: str, *, instead: str = "") -> Behaviour:
    """Answers 400 to a request that has the parameter, and names the one to use instead."""

    def reply(request: Request) -> Reply | Stream | None:
        message = f"Unsupported parameter: '{parameter}'. {instead}"
        return (status(400, message=message) if parameter in request.body else says(echo))(request)

    return reply


class ChatEndpoint(Loopback):
    def __init__(self, default: Behaviour | None = None) -> None:
        super().__init__("/v1/chat/completions", default or says(echo))

    @property
    def prompts(self) -> list[Messages]:
        """The messages of each request."""
        return [request.body["messages"] for request in self.requests]
