"""Reads and checks the answers of chat endpoints, whole or streamed."""

import re
from collections.abc import Iterator
from typing import Any, Literal

import orjson

from whence.errors import ModelInvalid, ModelRefused, ModelUnavailable
from whence.providers.base import Completion

_DONE = b"[DONE]"
_BROKEN_OFF = "The chat endpoint broke off its answer"
_DECLINED = ("content_filter", "refusal")
_THOUGHTS = re.compile(
    r"(?:\s*<(think|thinking|thought|reasoning)\s*>.*?</\1\s*>)+\s*", re.IGNORECASE | re.DOTALL
)
_CLOSING_TAG = re.compile(r"</(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)
_LONGEST_TAG = 32
_OPEN_THOUGHT = re.compile(r"\s*<(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)
_MAY_BE_TAG = re.compile(r"\s*(?:<[a-z]{0,9}\s*)?\Z", re.IGNORECASE)


def require_text(completion: Completion) -> Completion:
    """The same completion; raises ModelError when its text is empty."""
    if completion.text.strip() or completion.tool_calls:
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


class WithoutThought:
    """Text as it arrives, without reasoning between tags at its beginning: `<think>` … `</think>`."""

    def __init__(self) -> None:
        self._held = ""
        self._is_thought = self._is_over = False

    def feed(self, text: str) -> str:
        if self._is_over:
            return text
        self._held += text
        # Only a closing tag ends it. To match all held text at each piece would take quadratic time.
        unread = max(0, len(self._held) - len(text) - _LONGEST_TAG)
        if self._is_thought and not _CLOSING_TAG.search(self._held, unread):
            return ""
        rest = self._drop_thoughts()
        self._is_thought = _OPEN_THOUGHT.match(rest) is not None
        self._is_over = not self._is_thought and not _MAY_BE_TAG.match(rest)
        return rest if self._is_over else ""

    def close(self) -> str:
        """The rest, after the last text. Reasoning without an end is dropped."""
        return "" if self._is_over or self._is_thought else self._drop_thoughts()

    def _drop_thoughts(self) -> str:
        thoughts = _THOUGHTS.match(self._held)
        return self._held[thoughts.end() :] if thoughts else self._held


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
        self._tool_calls: dict[int, dict[str, Any]] = {}
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
            yield from self._read_line(bytes(self._line + line))
            self._line.clear()
        self._line += rest

    def flush(self) -> Iterator[str]:
        """The pieces of a last event without its empty line, or the text of an answer that is no stream."""
        if self._body is not None:
            yield from self._read_event(bytes(self._body), "message")
        else:
            try:
                yield from self.feed(b"\n\n")
            except ModelInvalid as exc:
                raise ModelUnavailable(_BROKEN_OFF) from exc
        yield from self._keep(self._visible.close())

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
            tool_calls=tuple(self._tool_calls[index] for index in sorted(self._tool_calls)),
        )

    def _read_line(self, line: bytes) -> Iterator[str]:
        """An event is one or more lines of data; an empty line ends it. Other lines are ignored."""
        line = line.rstrip(b"\r")
        if line.startswith(b"data:"):
            self._data.append(line.removeprefix(b"data:"))
        elif not line and self._data:
            data = b"\n".join(self._data).strip()
            self._data.clear()
            self.done = self.done or data == _DONE
            if not self.done:
                yield from self._read_event(data, "delta")

    def _read_event(self, data: bytes, field: Literal["delta", "message"]) -> Iterator[str]:
        try:
            event = orjson.loads(data)
        except ValueError as exc:
            raise ModelInvalid("The chat endpoint's answer is not JSON") from exc
        if _pick(event, "error"):  # with status 200, because the stream had begun
            raise ModelUnavailable("The chat endpoint reported a failure instead of an answer")
        try:
            choice = (event.get("choices") or [None])[0]
            message = (choice.get(field) or {}) if choice else None
            text = message.get("content") or "" if message is not None else ""
        except (AttributeError, LookupError, TypeError) as exc:
            raise ModelInvalid("The chat endpoint's answer is not what the protocol says") from exc
        # An event of a stream may report the usage only, or keep the connection open; an answer has a message.
        if not isinstance(text, str) or (field == "message" and not message):
            raise ModelInvalid("The chat endpoint's answer is not what the protocol says")
        self._events += 1
        self._model = _pick(event, "model", kind=str) or self._model
        self._prompt_tokens = count_tokens(event, "prompt_tokens") or self._prompt_tokens
        self._completion_tokens = count_tokens(event, "completion_tokens") or self._completion_tokens
        finish = "refusal" if _pick(message, "refusal") else _pick(choice, "finish_reason", kind=str)
        self._finish = finish or self._finish
        for place, call in enumerate(_pick(message, "tool_calls", kind=list) or ()):
            self._read_tool_call(call, place)
        yield from self._keep(self._visible.feed(text))

    def _read_tool_call(self, part: Any, place: int) -> None:
        """The first part has the id and the name; the parts of the arguments add up."""
        index = _pick(part, "index", kind=int)
        function = {"name": "", "arguments": ""}
        call = self._tool_calls.setdefault(
            place if index is None else index, {"id": "", "type": "function", "function": function}
        )
        call["id"] = _pick(part, "id", kind=str) or call["id"]
        for name in function:
            call["function"][name] += _pick(part, "function", name, kind=str) or ""

    def _keep(self, text: str) -> Iterator[str]:
        if text:
            self._texts.append(text)
            yield text


def _pick(value: Any, *path: str, kind: type = object) -> Any:
    """The value at the path; None if there is none of this type."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, kind) else None


def count_tokens(event: dict[str, Any], field: str) -> int | None:
    # Some endpoints write 0 when they do not count; every text has a token.
    tokens = _pick(event, "usage", field, kind=int)
    return tokens if tokens and tokens > 0 else None
