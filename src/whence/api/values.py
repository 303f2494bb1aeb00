"""Types of single fields. Each reads a value, names the expected form, and documents itself for OpenAPI.

pydantic's own types accept too much (`"5"` as a number, `on` as a flag, a UUID in braces). Usage: `id: Ident | None`,
`limit: Annotated[int, whole(1, 100)]`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import orjson
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from whence.models import VISIBLE, is_blank
from whence.text.dates import read_moment

Kind = Literal["parameter", "request", "uuid", "flag", "too_long", "unknown"]
"""The kind of error to answer with, see `reading.error_for`."""
JSONSchema = dict[str, Any]

FLAG_PATTERN = "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[Yy][Ee][Ss]|[Nn][Oo]|1|0)$"
FLAG_SCHEMA: JSONSchema = {
    "anyOf": [
        {"type": "boolean"},
        {"type": "string", "pattern": FLAG_PATTERN},
        {"type": "integer", "minimum": 0, "maximum": 1},
    ]
}
UUID_SCHEMA: JSONSchema = {"type": "string", "format": "uuid"}
A_MOMENT = "a day or a time such as 2026-11-15 or 2026-11-15T20:11:45Z"
NOT_BLANK = "a text that is not blank"

_NO_NUL = "text without NUL characters"
_STORABLE = r"^[^\u0000]*$"
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_UUIDS = re.compile(f"{_UUID.pattern}(?:,{_UUID.pattern})*")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_DECIMAL = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?")
_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_DAY_LENGTH = len("2026-11-15")
_LAST_DAY = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)
"""The last day that has a day after it. "until 9999-12-31" means for ever."""


def wrong(expected: str, kind: Kind = "parameter", **more: Any) -> PydanticCustomError:
    """The error of a field; `reading` adds its name and the value."""
    return PydanticCustomError(kind, "{expected}", {"expected": expected, **more})


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity, because a schema is not hashable
class Value:
    """Metadata of a field: `read` checks its value, `schema` documents it."""

    read: Callable[[Any], Any]
    schema: JSONSchema

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JSONSchema:
        return dict(self.schema)


def _read_uuid(value: Any) -> UUID:
    found = str(value) if isinstance(value, UUID) else canonical_uuid(value)
    if found is None:
        raise wrong("a UUID", "uuid")
    return UUID(found)


def read_flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    is_bit = isinstance(value, int | float) and value in (0, 1)  # JSON may write 1 as 1.0
    text = str(int(value)) if is_bit else value.lower() if isinstance(value, str) else ""
    if text not in _FLAGS:
        raise wrong("true, false, 1, or 0", "flag")
    return _FLAGS[text]


Ident = Annotated[UUID, Value(_read_uuid, UUID_SCHEMA)]
"""Any canonical UUID, of any version."""
Flag = Annotated[bool, Value(read_flag, FLAG_SCHEMA)]
"""`true`, `1`, `yes`, `false`, `0` or `no`, in any case."""
SearchText = Annotated[
    str | None, Value(lambda value: storable(value) or None, {"type": "string", "pattern": _STORABLE})
]
"""A search text in a query parameter. An empty one is ignored."""


def whole(low: int, high: int, *, in_query: bool = False) -> Value:
    """An integer. JSON may write 2 as 2.0; a query has it as text."""

    def read(value: Any) -> int:
        if in_query:
            value = int(value) if _INTEGER.fullmatch(value) else None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise wrong(f"an integer from {low} to {high}" if low < high else f"{low}")
        return value

    return Value(read, {"type": "integer", "minimum": low, "maximum": high})


def number(low: float, high: float, *, in_query: bool = False) -> Value:
    def read(value: Any) -> float:
        if in_query:
            value = float(value) if _DECIMAL.fullmatch(value) else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not low <= value <= high:
            raise wrong(f"a number from {low:g} to {high:g}")
        return float(value)

    return Value(read, {"type": "number", "minimum": low, "maximum": high})


def text(most: int, *, blank: bool = False) -> Value:
    """A text that can be stored, of at most `most` characters. `blank` allows one without a visible character."""

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise wrong(f"a text, not {kind_of(value)}")
        if not blank and is_blank(value):
            raise wrong(NOT_BLANK)
        if len(storable(value)) > most:
            raise wrong(f"at most {most} characters", "too_long", provided=len(value))
        return value

    least: JSONSchema = {} if blank else {"minLength": 1}
    pattern = _STORABLE if blank else VISIBLE
    return Value(read, {"type": "string", **least, "maxLength": most, "pattern": pattern})


def content(*, stored: bool = True) -> Value:
    """A text of any length that is not blank; otherwise INVALID_REQUEST. If not `stored`, it may have any character."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or is_blank(value):
            raise wrong(NOT_BLANK, "request")
        return storable(value, "request") if stored else value

    return Value(read, {"type": "string", "minLength": 1, "pattern": VISIBLE})


def texts(most: int) -> Value:
    """A list of texts that are not blank."""

    def read(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise wrong("a list")
        if len(value) > most:
            raise wrong(f"at most {most} items", "too_long", provided=len(value))
        if not all(isinstance(item, str) and not is_blank(item) for item in value):
            raise wrong("a list of texts that are not blank")
        return tuple(storable(item).strip() for item in value)

    return Value(read, {"type": "array", "items": {"type": "string", "pattern": VISIBLE}, "maxItems": most})


def moment(*, end_of_day: bool = False) -> Value:
    """A day or a time; without a zone it is UTC. With `end_of_day` a day means its end."""

    def read(value: Any) -> datetime:
        found = read_moment(value)
        if found is None:
            raise wrong(A_MOMENT)
        is_day = end_of_day and len(value) <= _DAY_LENGTH
        return min(found, _LAST_DAY) + timedelta(days=1) if is_day else found

    return Value(read, {"type": "string", "format": "date-time"})


def json_object(
    *, max_depth: int | None = None, max_bytes: int | None = None, as_text: bool = False
) -> Value:
    """A JSON object whose texts can be stored. With `as_text` it may also be JSON text, as in a form or a query."""

    def read(value: Any) -> dict[str, Any]:
        if as_text and isinstance(value, str):
            try:
                value = orjson.loads(value)
            except orjson.JSONDecodeError as exc:
                raise wrong("a JSON object") from exc
        if not isinstance(value, dict):
            raise wrong("a JSON object")
        if max_depth is not None and not _is_shallow(value, max_depth):
            raise wrong(f"objects and lists at most {max_depth} deep")
        try:
            encoded = orjson.dumps(value)
        except orjson.JSONEncodeError:
            raise wrong("valid Unicode text") from None
        if b"\\u0000" in encoded.replace(rb"\\", b""):
            raise wrong(_NO_NUL)
        if max_bytes is not None and len(encoded) > max_bytes:
            raise wrong(f"at most {max_bytes} bytes of JSON", "too_long", provided="too long")
        return value

    return Value(read, {"type": "object", "additionalProperties": True})


def _is_shallow(value: Any, levels: int) -> bool:
    """Objects and lists are nested at most `levels` deep."""
    if not isinstance(value, dict | list):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(one, levels - 1) for one in inside)


def storable(text: str, kind: Kind = "parameter") -> str:
    """Postgres stores every text except NUL; a lone surrogate is not Unicode text."""
    if "\x00" in text:
        raise wrong(_NO_NUL, kind)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise wrong("valid Unicode text", kind) from None
    return text


def canonical_uuid(text: Any) -> str | None:
    """A canonical UUID of any version, in lower case; None for everything else."""
    return text.lower() if isinstance(text, str) and _UUID.fullmatch(text) else None


def all_canonical(items: list[Any]) -> list[str] | None:
    """Like `canonical_uuid`, for many texts with one match; None if any is invalid."""
    try:
        joined = ",".join(items)
    except TypeError:
        return None
    found = joined.lower().split(",")
    return found if len(found) == len(items) and _UUIDS.fullmatch(joined) else None


def snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()


def kind_of(value: Any) -> str:
    """The kind of a JSON value, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list) else "an object"
