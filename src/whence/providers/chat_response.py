"""Reads and checks the answers of chat endpoints, whole or streamed."""

from collections.abc import Iterator
from typing import Any, Literal

import orjson

from whence.errors import ModelInvalid, ModelRefused, ModelUnavailable
from whence.providers.base import Completion
from whence.providers.reasoning_tags import WithoutThought

_DONE = b"[DONE]"
_BROKEN_OFF = "The chat endpoint broke off its answer"
_DECLINED = ("content_filter", "refusal")


def require_text(completion: Completion) -> Completion:
    """The same completion; raises ModelError when its text is empty."""
    if completion.text.strip():
        return completion
    details = {"finish": completion.finish}
    if completion.finish in _DECLINED:
        raise ModelRefused("The model declined to answer", details=details)
    if completion.finish == "length":
        raise ModelInvalid(
            "The model used up all its tokens before it wrote a word: see WHENCE_LLM_MAX_TOKENS",
            details=details,
        )
    raise ModelInvalid("The model gave an empty answer", details=details)


class CompletionReader:
    """Reads an answer from chunks of bytes of any size: a stream of server-sent events, or a whole completion.

    Some endpoints answer a request for a stream with a whole completion, which begins with a brace. Raises ModelError.
    """

    def __init__(self, *, model: str, is_stream: bool = True) -> None:
        self.done = False
        """The endpoint has sent its end mark."""
        self._model = model
        self._body: bytearray | None = None if is_stream else bytearray()
        """The bytes of an answer that is not a stream."""
        self._has_begun = not is_stream
        self._line = bytearray()
        self._data: list[bytes] = []
        self._texts: list[str] = []
        self._visible = WithoutThought()
        self._events = 0
        self._finish: str | None = None
        self._prompt_tokens: int | None = None
        self._completion_tokens: int | None = None

    def feed(self, chunk: bytes) -> Iterator[str]:
        """The pieces of text that the chunk completes."""
        if not self._has_begun and (begun := chunk.lstrip()):
            self._has_begun = True
            self._body = bytearray() if begun.startswith(b"{") else None
        if self._body is not None:
            self._body += chunk
            return
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            piece = self._read_line(bytes(self._line + line))
            self._line.clear()
            if piece:
                yield piece
        self._line += rest

    def flush(self) -> Iterator[str]:
        """The pieces of a last event without its empty line, or the text of an answer that is no stream."""
        try:
            if self._body is not None:
                yield from filter(None, [self._read_event(bytes(self._body), "message")])
            else:
                yield from self.feed(b"\n\n")
        except ModelInvalid as exc:
            if self._body is not None:
                raise
            raise ModelUnavailable(_BROKEN_OFF) from exc
        yield from filter(None, [self._keep(self._visible.close())])

    def end(self) -> Completion:
        """The completion, after the last chunk. The text may be empty, see `require_text`."""
        if not self._events and not self.done:
            raise ModelInvalid("The chat endpoint's answer is not the stream that the protocol says")
        if self._body is None and self._finish is None and not self.done:
            raise ModelUnavailable(_BROKEN_OFF)
        return Completion(
            text="".join(self._texts),
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
            model=self._model,
            finish=self._finish,
        )

    def _read_line(self, line: bytes) -> str:
        """An event is one or more lines of data; an empty line ends it. Other lines are ignored."""
        line = line.rstrip(b"\r")
        if line.startswith(b"data:"):
            self._data.append(line.removeprefix(b"data:"))
        elif not line and self._data:
            data = b"\n".join(self._data).strip()
            self._data.clear()
            if not self.done and data != _DONE:
                return self._read_event(data, "delta")
            self.done = True
        return ""

    def _read_event(self, data: bytes, field: Literal["delta", "message"]) -> str:
        event = _parse(data)
        self._events += 1
        self._model = _name(event) or self._model
        prompt_tokens, completion_tokens = _usage(event)
        self._prompt_tokens = prompt_tokens or self._prompt_tokens
        self._completion_tokens = completion_tokens or self._completion_tokens
        choice = _first_choice(event)
        message = choice.get(field) if choice else None
        if field == "message" and not isinstance(message, dict):
            raise ModelInvalid("The chat endpoint's answer holds no message")
        if choice is None:  # an event with the usage only, or one that keeps the connection open
            return ""
        if not isinstance(message or {}, dict):
            raise ModelInvalid("The chat endpoint's answer is not what the protocol says")
        self._finish = _finish(choice, message or {}) or self._finish
        return self._keep(self._visible.feed(_text(message or {})))

    def _keep(self, text: str) -> str:
        self._texts.append(text)
        return text


def _parse(data: bytes) -> dict[str, Any]:
    try:
        answer = orjson.loads(data)
    except ValueError as exc:
        raise ModelInvalid("The chat endpoint's answer is not JSON") from exc
    if not isinstance(answer, dict):
        raise ModelInvalid("The chat endpoint's answer is not what the protocol says")
    if answer.get("error"):  # with status 200, because the stream had begun
        raise ModelUnavailable("The chat endpoint reported a failure instead of an answer")
    return answer


def _first_choice(answer: dict[str, Any]) -> dict[str, Any] | None:
    choices = answer.get("choices")
    if not choices and isinstance(choices, list | None):
        return None
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise ModelInvalid("The chat endpoint's answer is not what the protocol says")
    return choices[0]


def _text(message: dict[str, Any]) -> str:
    text = message.get("content")
    if text is not None and not isinstance(text, str):
        raise ModelInvalid("The chat endpoint's answer holds something else than text")
    return text or ""


def _finish(choice: dict[str, Any], message: dict[str, Any]) -> str | None:
    if message.get("refusal"):
        return "refusal"
    finish = choice.get("finish_reason")
    return finish if isinstance(finish, str) and finish else None


def _name(answer: dict[str, Any]) -> str | None:
    name = answer.get("model")
    return name if isinstance(name, str) and name else None


def _usage(answer: dict[str, Any]) -> tuple[int | None, int | None]:
    usage = answer.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))


def _count(tokens: Any) -> int | None:
    # Some endpoints write 0 when they do not count; every text has a token.
    return tokens if type(tokens) is int and tokens > 0 else None
