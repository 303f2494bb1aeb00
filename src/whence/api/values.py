"""Types of single fields. Each reads a value, says what it expected, and documents itself for OpenAPI.

Use them in `Annotated`: `limit: Annotated[int, Whole(1, 100)] = 10`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import orjson
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from whence.errors import InvalidParameter
from whence.models import VISIBLE, is_blank

Kind = Literal["parameter", "request", "uuid", "flag", "too_long", "unknown"]
"""How an error is answered: see `reading.error_for`."""
JSONSchema = dict[str, Any]

FLAG_PATTERN = "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[Yy][Ee][Ss]|[Nn][Oo]|1|0)$"
FLAG_SCHEMA: JSONSchema = {
    "anyOf": [
        {"type": "boolean"},
        {"type": "string", "pattern": FLAG_PATTERN},
        {"type": "integer", "minimum": 0, "maximum": 1},
    ]
}
FLAG_EXPECTED = "true, false, 1, or 0"
UUID_SCHEMA: JSONSchema = {"type": "string", "format": "uuid"}
NOT_BLANK = "a text that is not blank"

_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_UUIDS = re.compile(f"{_UUID.pattern}(?:,{_UUID.pattern})*")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_DECIMAL = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?")
_TRUE = frozenset(("true", "1", "yes"))
_FALSE = frozenset(("false", "0", "no"))
_DAY_LENGTH = len("2026-11-15")
_LAST_DAY = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)
"""The last day that has a day after it: "until 9999-12-31" means for ever."""


def wrong(expected: str, kind: Kind = "parameter", **more: Any) -> PydanticCustomError:
    """The error of a field; `reading` adds its name and the value."""
    return PydanticCustomError(kind, "{expected}", {"expected": expected, **more})


class Value:
    """The base of the types below: `read` checks the value, `schema` documents it."""

    def read(self, value: Any) -> Any:
        raise NotImplementedError

    def schema(self) -> JSONSchema:
        raise NotImplementedError

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JSONSchema:
        return self.schema()


@dataclass(frozen=True, slots=True)
class Ident(Value):
    """Any canonical UUID, of any version."""

    text_only: bool = False
    """Answer a value that is no text with INVALID_PARAMETER."""

    def read(self, value: Any) -> UUID:
        if isinstance(value, UUID):
            return value
        if self.text_only and not isinstance(value, str):
            raise wrong("a UUID")
        found = canonical_uuid(value)
        if found is None:
            raise wrong("a UUID", "uuid")
        return UUID(found)

    def schema(self) -> JSONSchema:
        return dict(UUID_SCHEMA)


@dataclass(frozen=True, slots=True)
class Flag(Value):
    """`true`, `1`, `yes`, `false`, `0` or `no`, in any case."""

    def read(self, value: Any) -> bool:
        found = flag_of(value)
        if found is None:
            raise wrong(FLAG_EXPECTED, "flag")
        return found

    def schema(self) -> JSONSchema:
        return dict(FLAG_SCHEMA)


@dataclass(frozen=True, slots=True)
class Whole(Value):
    """An integer from `low` to `high`. JSON may write 2 as 2.0."""

    low: int
    high: int
    in_query: bool = False
    """The value comes as text."""

    def read(self, value: Any) -> int:
        if self.in_query:
            value = int(value) if _INTEGER.fullmatch(value) else None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not self.low <= value <= self.high:
            raise wrong(f"an integer from {self.low} to {self.high}")
        return value

    def schema(self) -> JSONSchema:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Number(Value):
    """A number from `low` to `high`."""

    low: float
    high: float
    in_query: bool = False

    def read(self, value: Any) -> float:
        if self.in_query:
            value = float(value) if _DECIMAL.fullmatch(value) else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not self.low <= value <= self.high:
            raise wrong(f"a number from {self.low:g} to {self.high:g}")
        return float(value)

    def schema(self) -> JSONSchema:
        return {"type": "number", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Choice(Value):
    """One of several names."""

    names: tuple[str, ...]

    def read(self, value: Any) -> str:
        found = next((name for name in self.names if name == value), None)
        if found is None:
            raise wrong(f"one of {', '.join(self.names)}")
        return found

    def schema(self) -> JSONSchema:
        return {"type": "string", "enum": list(self.names)}


@dataclass(frozen=True, slots=True)
class Text(Value):
    """A text that can be stored, of at most `most` characters. `blank` allows one without a visible character."""

    most: int
    blank: bool = False

    def read(self, value: Any) -> str:
        if not isinstance(value, str):
            raise wrong(f"a text, not {kind_of(value)}")
        if not self.blank and is_blank(value):
            raise wrong(NOT_BLANK)
        require_storable(value)
        if len(value) > self.most:
            raise wrong(f"at most {self.most} characters", "too_long", provided=len(value))
        return value

    def schema(self) -> JSONSchema:
        if self.blank:
            return {"type": "string", "maxLength": self.most, "pattern": r"^[^\u0000]*$"}
        return {"type": "string", "minLength": 1, "maxLength": self.most, "pattern": VISIBLE}


@dataclass(frozen=True, slots=True)
class Content(Value):
    """A text of any length that is not blank; a wrong one is answered with INVALID_REQUEST."""

    stored: bool = True
    """A text that is not stored as it is may have any character."""

    def read(self, value: Any) -> str:
        if not isinstance(value, str) or is_blank(value):
            raise wrong(NOT_BLANK, "request")
        return require_storable(value, "request") if self.stored else value

    def schema(self) -> JSONSchema:
        return {"type": "string", "minLength": 1, "pattern": VISIBLE}


@dataclass(frozen=True, slots=True)
class SearchText(Value):
    """A text to look for in a query parameter. An empty one looks for nothing."""

    def read(self, value: Any) -> str | None:
        require_storable(value)
        return value or None

    def schema(self) -> JSONSchema:
        return {"type": "string", "pattern": r"^[^\u0000]*$"}


@dataclass(frozen=True, slots=True)
class Texts(Value):
    """A list of texts that are not blank."""

    most: int

    def read(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise wrong("a list")
        if len(value) > self.most:
            raise wrong(f"at most {self.most} items", "too_long", provided=len(value))
        if not all(isinstance(item, str) and not is_blank(item) for item in value):
            raise wrong("a list of texts that are not blank")
        for item in value:
            require_storable(item)
        return tuple(item.strip() for item in value)

    def schema(self) -> JSONSchema:
        return {"type": "array", "items": {"type": "string", "pattern": VISIBLE}, "maxItems": self.most}


@dataclass(frozen=True, slots=True)
class Moment(Value):
    """A day or a time; without a zone it is UTC. With `end_of_day` a day means its end."""

    end_of_day: bool = False

    def read(self, value: Any) -> datetime:
        try:
            if isinstance(value, str):
                return self._read_text(value)
        except (ValueError, OverflowError):
            pass
        raise wrong("a day or a time such as 2026-11-15 or 2026-11-15T20:11:45Z")

    def _read_text(self, text: str) -> datetime:
        found = datetime.fromisoformat(text)
        found = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        is_day = self.end_of_day and len(text) <= _DAY_LENGTH
        return min(found, _LAST_DAY) + timedelta(days=1) if is_day else found

    def schema(self) -> JSONSchema:
        return {"type": "string", "format": "date-time"}


@dataclass(frozen=True, slots=True)
class JSONObject(Value):
    """A JSON object whose texts can be stored. With `as_text` it may also come as JSON text, as in a form or a query."""

    max_depth: int | None = None
    max_bytes: int | None = None
    as_text: bool = False

    def read(self, value: Any) -> dict[str, Any]:
        if self.as_text and isinstance(value, str):
            value = _parse(value)
        if not isinstance(value, dict):
            raise wrong("a JSON object")
        if self.max_depth is not None and not is_shallow(value, self.max_depth):
            raise wrong(f"objects and lists at most {self.max_depth} deep")
        for text in _texts_in(value):
            require_storable(text)
        if self.max_bytes is not None and len(orjson.dumps(value)) > self.max_bytes:
            raise wrong(f"at most {self.max_bytes} bytes of JSON", "too_long", provided="too long")
        return value

    def schema(self) -> JSONSchema:
        return {"type": "object", "additionalProperties": True}


def _parse(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise wrong("a JSON object") from exc


def is_shallow(value: Any, levels: int) -> bool:
    """Objects and lists are nested at most `levels` deep."""
    if not isinstance(value, dict | list):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(is_shallow(one, levels - 1) for one in inside)


def _texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value, field names included."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one


def require_storable(text: str, kind: Kind = "parameter") -> str:
    try:
        return storable(text)
    except ValueError as exc:
        raise wrong(str(exc), kind) from exc


def storable(text: str) -> str:
    """Postgres stores every text except NUL; a lone surrogate is not Unicode text."""
    if "\x00" in text:
        raise ValueError("text without NUL characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("valid Unicode text") from None
    return text


def canonical_uuid(text: Any) -> str | None:
    """A canonical UUID of any version, in lower case; None for everything else."""
    return text.lower() if isinstance(text, str) and _UUID.fullmatch(text) else None


def all_canonical(items: list[Any]) -> list[str] | None:
    """The same for many, with one match; None when any is wrong."""
    try:
        joined = ",".join(items)
    except TypeError:
        return None
    found = joined.lower().split(",")
    return found if len(found) == len(items) and _UUIDS.fullmatch(joined) else None


def flag_of(value: Any) -> bool | None:
    """None where the value is no flag."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):  # JSON may write 1 as 1.0
        return bool(value)
    text = value.lower() if isinstance(value, str) else ""
    return True if text in _TRUE else False if text in _FALSE else None


def parse_flag(name: str, value: Any) -> bool:
    """For routes that read their parameters by hand."""
    found = flag_of(value)
    if found is None:
        raise InvalidParameter.of(
            name, provided=value, expected=FLAG_EXPECTED, message=f"{name} must be a boolean"
        )
    return found


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
