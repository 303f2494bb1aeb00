"""Rate limits of keys, the time of their last use, and the audit log of writes."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from whence.api.values import canonical_uuid
from whence.app import App
from whence.chat import Answer, Sources
from whence.errors import RateLimited
from whence.logs import request_id
from whence.models import now
from whence.store.keys import Caller
from whence.web.middleware import Scope

T = TypeVar("T")

KEY_USE = "the record of key use"
_RECORDED = 60.0
_CHARACTERS_PER_TOKEN = 4
_MINUTE = timedelta(minutes=1)


class Meter:
    """The usage of callers. Without limits, a request costs no statement."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._used: dict[UUID, datetime] = {}

    async def admit(self, caller: Caller) -> None:
        """Counts the request. Raises `RateLimited` if the key has reached its limit for this minute, summed over all processes
        and machines.
        """
        if caller.key_id is None:
            return
        self._used[caller.key_id] = moment = now()
        requests, tokens = self._choose_limits(caller)
        if not requests and not tokens:
            return
        used = await self._app.store.keys.use(caller.key_id, requests=1)
        for kind, limit, count in (
            ("requests", requests, used.requests),
            ("tokens", tokens, used.tokens + 1),
        ):
            if limit and count > limit:
                raise RateLimited(
                    f"This API key may use {limit} {kind} a minute",
                    details={"limit": limit, "of": kind, "retry_after": _count_seconds_left(moment)},
                )

    def _choose_limits(self, caller: Caller) -> tuple[int, int]:
        """Limits of requests and tokens per minute; 0 means no limit."""
        settings = self._app.settings
        requests, tokens = caller.requests_per_minute, caller.tokens_per_minute
        return (
            settings.key_requests_per_minute if requests is None else requests,
            settings.key_tokens_per_minute if tokens is None else tokens,
        )

    async def count(self, caller: Caller, answer: Answer) -> Answer:
        """Counts the tokens that the model reported for the answer."""
        await self.use(caller, (answer.prompt_tokens or 0) + (answer.completion_tokens or 0))
        return answer

    async def counted(self, caller: Caller, events: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        """Passes on the events of an answer and counts its tokens, or an estimate if the caller disconnects early."""
        characters = 0
        try:
            async for event in events:
                if isinstance(event, Answer):
                    await self.count(caller, event)
                    characters = 0
                elif isinstance(event, str):
                    characters += len(event)
                elif isinstance(event, Sources):
                    characters += sum(len(source.text) for source in event.sources)
                yield event
        finally:
            await events.aclose()
            await self.use(caller, characters // _CHARACTERS_PER_TOKEN)

    async def use(self, caller: Caller, tokens: int) -> None:
        """Counts tokens for the key's limit."""
        if tokens and caller.key_id is not None and self._choose_limits(caller)[1]:
            await self._app.store.keys.use(caller.key_id, tokens=tokens)

    async def record(self, scope: Scope, status: int) -> None:
        """Writes an answered request to the audit log if its route needs more than the scope `read`."""
        route, caller = scope.get("route"), scope.get("caller")
        if caller is None or getattr(route, "scope", "read") == "read" or not self._app.settings.audit_days:
            return
        path = " ".join(filter(None, (scope["path"], scope.get("created"))))
        named = canonical_uuid(str(scope.get("path_params", {}).get("project_id", "")))
        await self._app.store.audit.add(
            caller,
            action=getattr(route, "unique_id", ""),
            path=path[:500].replace("\0", ""),
            project_id=UUID(named) if named else None,
            status=status,
            request_id=request_id.get(),
        )

    async def note(self, caller: Caller, action: str, project_id: UUID) -> None:
        """Writes an action of another protocol to the audit log."""
        if self._app.settings.audit_days:
            await self._app.store.audit.add(
                caller,
                action=action,
                path="/mcp",
                project_id=project_id,
                status=200,
                request_id=request_id.get(),
            )

    async def flush(self) -> None:
        """Stores when keys were last used. After a failure, the next flush stores the same times."""
        if used := dict(self._used):
            await self._app.store.keys.note_use(used)
            self._used = {key: at for key, at in self._used.items() if used.get(key) != at}

    @asynccontextmanager
    async def flushing(self) -> AsyncIterator[None]:
        """Flushes once a minute while the block runs, and at its end."""
        stopping, background = asyncio.Event(), self._app.background
        repeating = asyncio.create_task(
            background.repeat(KEY_USE, self.flush, every=_RECORDED, stopping=stopping)
        )
        try:
            yield
        finally:
            stopping.set()
            await repeating
            with background.attempt(KEY_USE):
                await self.flush()


def _count_seconds_left(moment: datetime) -> int:
    """Seconds until the next minute begins."""
    begun = moment.replace(second=0, microsecond=0)
    return int((begun + _MINUTE - moment).total_seconds()) + 1
