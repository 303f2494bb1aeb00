"""Connects commands to a remote server, with the Python client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

from whence.cli.api import ServerApi
from whence_client import APIError, AsyncClient, NoAnswer, Unauthorized, UnexpectedAnswer, WhenceClientError

if TYPE_CHECKING:
    from whence.settings import Secret

_RETRIES = 2


class ServerAway(click.ClickException):
    """No Whence server answers at this address."""

    exit_code = 3


@asynccontextmanager
async def opened(url: str, key: "Secret | None") -> AsyncIterator[ServerApi]:
    """Opens a client. Its errors become errors of the command line, each in one line."""
    try:
        async with AsyncClient(url, key.reveal() if key else "", retries=_RETRIES) as client:
            yield ServerApi(client)
    except WhenceClientError as exc:
        raise explained(exc, url) from exc


def explained(exc: WhenceClientError, url: str) -> click.ClickException:
    is_away = isinstance(exc, NoAnswer | UnexpectedAnswer)
    return (ServerAway if is_away else click.ClickException)(_explain(exc, url))


def _explain(exc: WhenceClientError, url: str) -> str:
    if isinstance(exc, Unauthorized):
        return f"{url} does not accept the key: {exc.message}. Set WHENCE_API_KEY, or give --key."
    if isinstance(exc, APIError) and (exc.code == "NOT_FOUND" or "known" in exc.details):
        return f"{url} may be older than this command: {exc.message}"
    return exc.message if isinstance(exc, APIError) else str(exc)
