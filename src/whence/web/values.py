"""Single values as they come in, whatever they come in: a query, a form, a body or the command line.

Without the server's own libraries, which commands that only read such values need not wait for.
"""

import re
from typing import Any

from whence.errors import InvalidParameter

_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UUIDS = re.compile(f"{_UUID.pattern}(?:,{_UUID.pattern})*")
_TRUE = frozenset(("true", "1", "yes"))
_FALSE = frozenset(("false", "0", "no"))
FLAG_PATTERN = "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[Yy][Ee][Ss]|[Nn][Oo]|1|0)$"
FLAG_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "boolean"},
        {"type": "string", "pattern": FLAG_PATTERN},
        {"type": "integer", "minimum": 0, "maximum": 1},
    ],
    "default": False,
}


def storable(text: str) -> str:
    """Postgres keeps any text but NUL; lone surrogates are no text at all."""
    if "\x00" in text:
        raise ValueError("text without NUL characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("valid Unicode text") from None
    return text


def canonical_uuid(text: Any) -> str | None:
    """Any canonical UUID, of whatever version, in lower case; None for everything else."""
    return text.lower() if isinstance(text, str) and _UUID.fullmatch(text) else None


def all_canonical(items: list[Any]) -> list[str] | None:
    """The same for many, in one look; None when any is not."""
    try:
        joined = ",".join(items)
    except TypeError:
        return None
    found = joined.lower().split(",")
    return found if len(found) == len(items) and _UUIDS.fullmatch(joined) else None


def parse_flag(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    text = value.lower() if isinstance(value, str) else ""
    if isinstance(value, int | float) and value in (0, 1):  # 1.0 is an integer to JSON
        return bool(value)
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise InvalidParameter.of(
        name, provided=value, expected="true, false, 1, or 0", message=f"{name} must be a boolean"
    )


def snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()
