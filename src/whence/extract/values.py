"""Reads values as the schema types them, fits properties to a type, and compares values.

Models write `"5"` for 5. A value with one possible reading is converted; any other is refused:

    integer    5, 5.0, "5", "1,000"                  number     also "2.5"
    boolean    true, "true", "yes", "no"             string     also a number or boolean, as written
    date       also "15 January 2024"                enum       also with other case, spaces or dashes
    array      also a single item                    object     also a list of {"name", "value"}

The result must then satisfy the rest of the property's JSON Schema.
"""

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from whence.extract.json_schema import mismatch
from whence.extract.rejections import Rejected, Rejection
from whence.extract.schema import (
    MAX_NAME,
    RESERVED,
    Property,
    PropertyType,
    SchemaType,
    canonical_json,
    spelled,
)
from whence.text.dates import read_date, read_datetime
from whence.text.names import fold, identifier_key

MAX_VALUE = 10_000
"""Maximum length of a value as JSON, in characters."""

_NAME = re.compile(r"(?=.*[^\W_])[^\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_OWN = frozenset(identifier_key(name) for name in (*RESERVED, "name"))
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,18})(?:\.\d{1,18})?", re.ASCII)
_EXACT = 2**53
"""Largest integer below which floats represent every integer."""
_FINITE = int(sys.float_info.max)
_DATES: Mapping[str | None, tuple[Callable[[str], date | None], str]] = {
    "date": (read_date, "a date such as 2024-01-15"),
    "date-time": (read_datetime, "a time such as 2024-01-15T10:00:00Z"),
}
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


class WrongValue(ValueError):
    """Raised with the expected form as its message."""


def is_nothing(value: Any) -> bool:
    """Whether the value is empty. A model that must fill every field writes null or an empty text."""
    return value is None or (isinstance(value, str) and not value.strip()) or value in ([], {})


def fitted(value: Any, wanted: Property | None) -> Any:
    """The value converted to the schema's type; raises WrongValue. Without a definition, any value up to MAX_VALUE fits."""
    result = _clean(value) if wanted is None else _fit(value, wanted)
    _require_moderate(result)
    problem = None if wanted is None else mismatch(result, wanted.definition())
    if problem is not None:
        raise WrongValue(problem)
    return result


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal: texts regardless of typography, numbers by value, lists in order."""
    if isinstance(one, str) and isinstance(other, str):
        return fold(one).rstrip(".") == fold(other).rstrip(".")
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if type(one) is float and type(other) is int:
        one, other = other, one
    if type(one) is int and type(other) is float and abs(one) > _EXACT:
        return abs(one) <= _FINITE and float(one) == other  # the database has all digits of 6.02e23
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def accumulate(before: list[Any], value: list[Any]) -> list[Any]:
    """Both lists as one, equal elements once; as `store.graph.order` merges the claims."""
    found: list[Any] = []
    for item in (*before, *value):
        if not is_among(item, found):
            found.append(item)
    return found


def is_among(item: Any, values: Any) -> bool:
    return isinstance(values, list) and any(same(item, each) for each in values)


def parts(value: Any, wanted: Property | None = None) -> Iterator[tuple[Any, Property | None]]:
    """The scalars inside lists and objects, each with its definition in the schema."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from parts(each, wanted.properties.get(name) if wanted else None)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from parts(each, wanted.items if wanted else None)
    else:
        yield value, wanted


def is_choice(value: Any, wanted: Property | None) -> bool:
    """Whether the value is one of the schema's choices (`enum` or `const`)."""
    if wanted is None:
        return False
    return any(same(value, each) for each in wanted.choices) or any(
        is_choice(value, each) for each in wanted.variants
    )


def _require_moderate(value: Any) -> None:
    if len(canonical_json(value)) > MAX_VALUE:
        raise WrongValue(f"a value of at most {MAX_VALUE} characters")


def _fit(value: Any, wanted: Property) -> Any:
    if wanted.choices:
        return _choice(value, wanted)
    return _alternative(value, wanted) if wanted.type is None else _READERS[wanted.type](value, wanted)


def _alternative(value: Any, wanted: Property) -> Any:
    """The value as given if it is valid; else read as the first variant that makes it valid."""
    plain = _clean(value)
    _require_moderate(plain)
    definition = wanted.definition()
    problem = mismatch(plain, definition)
    if problem is None:
        return plain
    for variant in wanted.variants:
        try:
            result = _fit(value, variant)
        except WrongValue:
            continue
        if mismatch(result, definition) is None:
            return result
    raise WrongValue(problem)


def _choice(value: Any, wanted: Property) -> Any:
    for choice in wanted.choices:
        if same(choice, value):
            return choice
    written = str(_clean(value)) if isinstance(value, str | int | float) else ""
    for choice in wanted.choices:
        if written and identifier_key(str(choice)) == identifier_key(written):
            return choice
    raise WrongValue(f"one of {', '.join(map(str, wanted.choices))}")


def _text(value: Any, wanted: Property) -> str:
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, int | float):
        value = str(value)
    if not isinstance(value, str):
        raise WrongValue("a string")
    text = value.strip()
    if wanted.format not in _DATES:
        return text
    read, expected = _DATES[wanted.format]
    found = read(text)
    if found is None:
        raise WrongValue(expected)
    return found.isoformat()


def _number(value: Any, _: Property) -> int | float:
    number = _read_number(value)
    if number is None:
        raise WrongValue("a number")
    return number


def _integer(value: Any, _: Property) -> int:
    number = _read_number(value)
    if number is None or number != int(number):
        raise WrongValue("an integer")
    return int(number)


def _read_number(value: Any) -> int | float | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        plain = value.strip().replace(",", "")
        return float(plain) if "." in plain else int(plain)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _truth(value: Any, _: Property) -> bool:
    truth = _TRUTHS.get(fold(value)) if isinstance(value, str) else value
    if not isinstance(truth, bool):
        raise WrongValue("true or false")
    return truth


def _items(value: Any, wanted: Property) -> list[Any]:
    given = value if isinstance(value, list) else [value]
    try:
        return [
            _clean(item) if wanted.items is None else _fit(item, wanted.items)
            for item in given
            if not is_nothing(item)
        ]
    except WrongValue as wrong:
        raise WrongValue(f"an array, each item of it {wrong}") from wrong


def _fields(value: Any, wanted: Property) -> dict[str, Any]:
    given = from_pairs(value)
    if not isinstance(given, dict):
        raise WrongValue("an object")
    result: dict[str, Any] = {}
    for name, field in given.items():
        own = spelled(name, wanted.properties) or name
        if not is_nothing(field):
            result[own] = _fit(field, wanted.properties[own]) if own in wanted.properties else _clean(field)
    missing = next((name for name in wanted.required if name not in result), None)
    if missing is not None:
        raise WrongValue(f"an object with {missing}")
    return result


def from_pairs(value: Any) -> Any:
    """Turns `[{"name": "a", "value": 1}]` into `{"a": 1}`. Strict output allows declared names only, so models send pairs."""
    if not isinstance(value, list) or not value:
        return value
    if not all(
        isinstance(pair, dict) and isinstance(pair.get("name"), str) and "value" in pair for pair in value
    ):
        return value
    return {pair["name"]: pair["value"] for pair in value}


def _clean(value: Any) -> Any:
    """The value with trimmed texts. Raises WrongValue for a number that JSON cannot represent."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _clean(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise WrongValue("a finite number")
    return value


_READERS: Mapping[PropertyType, Callable[[Any, Property], Any]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _truth,
    "array": _items,
    "object": _fields,
}


def fit_properties(
    given: Mapping[str, Any], kind: SchemaType, *, where: str, in_use: Iterable[str] = ()
) -> tuple[dict[str, Any], list[Rejection]]:
    """Fits all properties of a proposal. `in_use` are names outside the schema that the object already has; they keep their
    spelling.
    """
    names = (*kind.properties, *in_use)
    properties: dict[str, Any] = {}
    rejections: list[Rejection] = []
    for said, value in given.items():
        name = spelled(said, names) or said.strip()
        if is_nothing(value) or name in properties:
            continue
        try:
            result = fit_property(name, value, kind)
            properties |= {} if is_nothing(result) else {name: result}
        except WrongValue as wrong:
            rejected = Rejected("wrong_value", f"{name} must be {wrong}")
            rejections.append(rejected.at(f"{where}.{said[:MAX_NAME]}"))
        except Rejected as rejected:
            rejections.append(rejected.at(f"{where}.{said[:MAX_NAME]}"))
    return properties, rejections


def fit_property(name: str, value: Any, kind: SchemaType) -> Any:
    """The value as the schema types it. Raises `WrongValue`, or `Rejected` if the schema does not allow the property."""
    _require_allowed(name, kind)
    return fitted(value, kind.properties.get(name))


def missing(properties: Mapping[str, Any], kind: SchemaType) -> tuple[str, ...]:
    return tuple(name for name in kind.required if name not in properties)


def _require_allowed(name: str, kind: SchemaType) -> None:
    if name in kind.properties:
        return
    if not kind.additional_properties:
        raise Rejected("unknown_property", f"{name[:MAX_NAME]} is not in the schema")
    if len(name) > MAX_NAME or not _NAME.fullmatch(name) or identifier_key(name) in _OWN:
        raise Rejected("bad_property", "this cannot be the name of a property")
