"""The client's connection, for routes that wait or stream."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request


@dataclass(frozen=True, slots=True)
class ClientConnection:
    """Lets a route ask about the client without handling the request itself."""

    request: Request

    async def is_gone(self) -> bool:
        return await self.request.is_disconnected()

    async def wait_until_gone(self) -> None:
        while (await self.request.receive())["type"] != "http.disconnect":
            continue

    @property
    def server_stops(self) -> bool:
        stops: bool = self.request.app.state.stopping()
        return stops

    @property
    def is_head(self) -> bool:
        return self.request.method == "HEAD"

    def accepts(self, media_type: str) -> bool:
        return media_type in self.request.headers.get("accept", "").lower()

    def prefers(self, media_type: str) -> bool:
        return self.request.headers.get("accept", "").lower().startswith(media_type)


async def _connection(request: Request) -> ClientConnection:
    return ClientConnection(request)


Connected = Annotated[ClientConnection, Depends(_connection)]
