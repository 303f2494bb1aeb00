"""Asks a LightRAG server beside the search. What it does not give becomes a note: the answer is made without it.

`/query/data` has the chunks with their ids, and the keywords of the question; `/query` has the answer. With the keywords the second
call asks LightRAG's model only for the answer, and what the first gave is there even if the second fails.
"""

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import md5
from http import HTTPStatus
from typing import Any, TypeVar
from uuid import UUID

from whence.errors import FetchFailed, PayloadTooLarge, URLRefused, WhenceError
from whence.fetch import Allowed, FetchRules
from whence.settings import Secret, Settings
from whence.store import Store
from whence.text.prompt_escaping import LIGHTRAG_ID

SWITCHED_OFF = "off"
"""Instead of a URL: the project asks no server, not even the one in the settings."""
_MAX_BYTES = 8 << 20
_MAX_TEXT = 20_000
_MAX_ANSWER = 8_000
_MAX_NAME = 1_000
_MAX_CHUNKS = 100
_NO_CONTEXT = "[no-context]"
"""LightRAG ends its answer with this if it found nothing."""
_OWN_ID = re.compile(LIGHTRAG_ID)
_ABOUT_THE_KEY = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LightragServer:
    url: str
    key: Secret | None
    seconds: float
    """For everything."""
    allow: Allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class LightragChunk:
    id: str
    text: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LightragReply:
    answer: str | None = None
    chunks: tuple[LightragChunk, ...] = ()
    notes: tuple[str, ...] = ()


class _Failure(Exception):
    """Why it is not used, worded to follow a colon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LightragServers:
    """The server of each project."""

    default: LightragServer | None
    seconds: float
    allow: Allowed
    """Allowed addresses of servers that projects name. The default server may have any address."""

    @classmethod
    def of(cls, settings: Settings) -> "LightragServers":
        url, seconds, default = settings.lightrag_url, settings.lightrag_timeout, None
        if url is not None:
            import httpx  # a search does not need it

            here = Allowed(hosts=frozenset([httpx.URL(url).raw_host.decode("ascii").lower()]))
            default = LightragServer(url=url, key=settings.lightrag_api_key, seconds=seconds, allow=here)
        return cls(default=default, seconds=seconds, allow=FetchRules.of(settings).allow)

    async def server(
        self, store: Store, project_id: UUID, config: Mapping[str, Any]
    ) -> LightragServer | None:
        url = config.get("lightragUrl")
        if url is None or url == SWITCHED_OFF:
            return self.default if url is None else None
        key = await store.lightrag.key(project_id, url)
        return LightragServer(
            url=url, key=Secret(key) if key else None, seconds=self.seconds, allow=self.allow
        )


@asynccontextmanager
async def beside_search(work: Awaitable[T]) -> AsyncIterator["asyncio.Task[T]"]:
    """Runs it as a task, which ends with the block."""
    task = asyncio.ensure_future(work)
    assert isinstance(task, asyncio.Task)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def ask_lightrag(server: LightragServer, query: str) -> LightragReply:
    chunks: tuple[LightragChunk, ...] = ()
    try:
        async with asyncio.timeout(server.seconds):
            found = await _retrieve(server, query)
            chunks = _chunks(found.get("data", {}).get("chunks"))
            if found.get("status") == "failure":  # it has nothing about this
                return LightragReply()
            said = await _post(server, "query", _question(query, found))
    except TimeoutError:
        return _without(chunks, f"it did not answer within {server.seconds:g} s")
    except _Failure as exc:
        return _without(chunks, str(exc))
    answer = said.get("response")
    if not isinstance(answer, str):
        return _without(chunks, "its answer has another form than LightRAG's")
    chunks = _joined(chunks, said)
    is_answer = said.get("llm_generated", True) and not answer.rstrip().endswith(_NO_CONTEXT)
    return LightragReply(answer=_text(answer, _MAX_ANSWER) or None if is_answer else None, chunks=chunks)


async def _retrieve(server: LightragServer, query: str) -> dict[str, Any]:
    """Empty for a server that has no `/query/data`."""
    try:
        found = await _post(server, "query/data", {"query": query, "mode": "mix"})
    except _NoSuchPath:
        return {}
    if not isinstance(found.get("data"), dict) or not isinstance(found.get("metadata", {}), dict):
        raise _Failure("its answer has another form than LightRAG's")
    return found


class _NoSuchPath(_Failure):
    """The server answered 404."""


def _question(query: str, found: Mapping[str, Any]) -> dict[str, Any]:
    asked = {"query": query, "mode": "mix", "include_references": True, "include_chunk_content": True}
    keywords = found.get("metadata", {}).get("keywords")
    for name, level in (("hl_keywords", "high_level"), ("ll_keywords", "low_level")):
        words = keywords.get(level) if isinstance(keywords, dict) else None
        if isinstance(words, list) and all(isinstance(word, str) for word in words):
            asked[name] = words
    return asked


async def _post(server: LightragServer, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    from whence.fetch.run import post  # loads an HTTP client, which a search does not need

    headers = {} if server.key is None else {"X-API-Key": server.key.reveal()}
    url = f"{server.url.rstrip('/')}/{path}"
    try:
        sent = await post(
            url, json.dumps(body).encode(), headers=headers, allow=server.allow, max_bytes=_MAX_BYTES
        )
        answer = json.loads(sent)
    except (WhenceError, ValueError, RecursionError) as exc:
        # Neither the log nor the note has the server's words or address: they may repeat the key or reveal internal addresses.
        failure = _explain(exc, server)
        _log.warning("LightRAG was asked /%s: %s", path, failure)
        raise failure from exc
    if not isinstance(answer, dict):
        raise _Failure("its answer has another form than LightRAG's")
    return answer


def _explain(exc: Exception, server: LightragServer) -> _Failure:
    match exc:
        case URLRefused():
            why = f"its URL is refused ({exc.details['reason']}; see WHENCE_FETCH_ALLOW)"
        case PayloadTooLarge():
            why = f"its answer is larger than {_MAX_BYTES >> 20} MB"
        case FetchFailed():
            return _explain_status(exc.details.get("status"), server)
        case _:
            why = "its answer is not JSON"
    return _Failure(why)


def _explain_status(status: int | None, server: LightragServer) -> _Failure:
    """None if it gave no answer."""
    if status is None:
        return _Failure("it cannot be reached")
    if status in _ABOUT_THE_KEY:
        return _Failure(f"its key {'was refused' if server.key else 'is needed and not set'} ({status})")
    kind = _NoSuchPath if status == HTTPStatus.NOT_FOUND else _Failure
    return kind(
        "it redirects"
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
        else f"it answered {status}"
    )


def _without(chunks: tuple[LightragChunk, ...], why: str) -> LightragReply:
    what = "LightRAG's passages are used without its answer" if chunks else "LightRAG was not used"
    return LightragReply(chunks=chunks, notes=(f"{what}: {why}",))


def _joined(chunks: tuple[LightragChunk, ...], said: Mapping[str, Any]) -> tuple[LightragChunk, ...]:
    """Also those that only the references have, which name no ids."""
    known, references = {one.text for one in chunks}, said.get("references")
    items = [
        {"content": text, "file_path": one.get("file_path")}
        for one in (references if isinstance(references, list) else ())
        if isinstance(one, dict) and isinstance(one.get("content"), list)
        for text in one["content"]
    ]
    return chunks + tuple(one for one in _chunks(items) if one.text not in known)


def _chunks(items: object) -> tuple[LightragChunk, ...]:
    """Each text once. An id of another form than LightRAG's own cannot be cited: LightRAG's name for the text takes its place."""
    found: dict[str, LightragChunk] = {}
    for item in items[:_MAX_CHUNKS] if isinstance(items, list) else ():
        text = _text(item.get("content"), _MAX_TEXT) if isinstance(item, dict) else ""
        if not text:
            continue
        ident, file = item.get("chunk_id"), " ".join(_text(item.get("file_path"), _MAX_NAME).split())
        if not isinstance(ident, str) or not _OWN_ID.fullmatch(ident):
            ident = f"chunk-{md5(text.encode(), usedforsecurity=False).hexdigest()}"
        found.setdefault(text, LightragChunk(id=ident, text=text, file=file or "LightRAG"))
    return tuple({one.id: one for one in found.values()}.values())


def _text(value: object, most: int) -> str:
    """The text without characters that cannot be stored or sent."""
    if not isinstance(value, str):
        return ""
    return value[:most].replace("\0", "").encode("utf-8", "replace").decode().strip()
