"""Loads what other distributions offer by entry points: chunking strategies, answerers, extractors."""

from importlib.metadata import EntryPoint
from typing import Any

from whence.errors import WhenceError


def load_offered(found: EntryPoint, protocol: type, kind: str, error: type[WhenceError]) -> Any:
    """The entry point's object, or an instance of its class. Raises `error` unless it has the entry point's name and fits the protocol."""
    try:
        loaded = found.load()
        made = loaded() if isinstance(loaded, type) else loaded
    except Exception as exc:
        # A foreign import may raise anything. Its message goes to the log with the cause, not to the client.
        raise error(f"The {kind} {found.name!r} ({found.value}) cannot be loaded") from exc
    if not isinstance(made, protocol) or getattr(made, "name", None) != found.name:
        raise error(f"{found.value} is no {kind} named {found.name!r}")
    return made
