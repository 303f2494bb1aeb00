"""Three services, a model that tells each of them, and what a test has to wait for."""

import asyncio
import threading
from typing import Any

from tests.chat_endpoint import ChatEndpoint
from tests.extracting import replies, rows
from tests.loopback import Request

PARTS = ("Alpha is the first service.", "Beta is the second service.", "Gamma is the third service.")


def told(primary: str, known: dict[str, dict[str, Any]]) -> Any:
    """One object for each part, and each depends on the one before it."""
    names = [name for name in ("Alpha", "Beta", "Gamma", "Delta") if name in primary]
    name = min(names, key=primary.index)
    ties = [{"type": "depends_on", "source": name, "target": other} for other in known if other != name]
    new = {"type": "Component", "name": name, "description": f"{name} is a service"}
    return {"objects": [new], "relationships": ties}


class held:  # noqa: N801 - reads as what it does: `with held(model):`
    """The model does not answer for as long as the block lasts, or until it is let go."""

    def __init__(self, model: ChatEndpoint) -> None:
        self._model = model
        self._free = threading.Event()

    def __enter__(self) -> threading.Event:
        behaviour = replies(told)

        def reply(request: Request) -> Any:
            self._free.wait(100)
            return behaviour(request)

        self._model.default = reply
        return self._free

    def __exit__(self, *_: object) -> None:
        self._free.set()


async def until_idle(dsn: str) -> None:
    """No extraction waits, and none is under way."""
    async with asyncio.timeout(60):
        while rows(dsn, "SELECT FROM queue.procrastinate_jobs WHERE status IN ('todo', 'doing')"):  # noqa: ASYNC110 - nothing tells of it but asking
            await asyncio.sleep(0.05)


async def until_asked(model: ChatEndpoint, *, times: int = 1) -> None:
    async with asyncio.timeout(60):
        while True:
            if len(model.requests) >= times:
                return
            await asyncio.sleep(0.02)


def words(model: ChatEndpoint) -> int:
    """That the model was sent, all prompts together: what it counts for tokens."""
    return sum(len(message["content"].split()) for prompt in model.prompts for message in prompt)
