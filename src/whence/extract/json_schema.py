"""Validates schemas and values against JSON Schema 2020-12, with jsonschema-rs.

Patterns in users' schemas must not block the server. Those without look-around and back-references match in linear time, the
others within a step limit.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from jsonschema_rs import (
    Draft202012Validator,
    FancyRegexOptions,
    ReferencingError,
    ValidationError,
    ValidationErrorKind,
)

from whence.errors import InvalidSchema
from whence.extract.schema import MAX_CHOICES, MAX_DESCRIPTION, MAX_NAME, MAX_PROPERTIES, canonical_json

MAX_STEPS = 1_000
"""Step limit for a pattern with look-around or back-references."""
MAX_PATTERN_MEMORY = 1_000_000
"""Bytes of one compiled pattern."""

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_DEFINITION = {
    "$schema": _DRAFT,
    "$id": "whence:definition",
    "$dynamicAnchor": "meta",  # the draft uses it for every nested definition
    "$ref": _DRAFT,
    "properties": {
        "$schema": {"const": _DRAFT},
        "description": {"maxLength": MAX_DESCRIPTION},
        "format": {"maxLength": MAX_NAME},
        "enum": {"minItems": 1, "maxItems": MAX_CHOICES, "items": {"maxLength": MAX_NAME}},
        "properties": {"maxProperties": MAX_PROPERTIES},
        "nullable": True,
        "example": True,
        **dict.fromkeys(("$ref", "$dynamicRef", "$recursiveRef"), False),
    },
    "patternProperties": {"^x-": True},
    "unevaluatedProperties": False,
}
"""A JSON Schema for definitions of moderate size. It refuses references, and unknown keywords, which are most likely typing
errors.
"""


def require_definition(definition: Any, path: str) -> None:
    """Raises InvalidSchema with the path of the invalid or unknown keyword."""
    require_form(definition, _DEFINITION, path)


def require_compilable(definition: Mapping[str, Any], path: str) -> None:
    """Raises `InvalidSchema` for a pattern that is too large, and for an invalid `$id`."""
    try:
        _validator(canonical_json(definition))
    except ValidationError as exc:
        place = path + _place(exc.instance_path)
        raise InvalidSchema.at(place, provided=exc.instance, expected=_words(exc)) from exc
    except (ReferencingError, ValueError) as exc:
        raise InvalidSchema.at(path, provided=definition, expected="a JSON Schema") from exc


def require_form(value: Any, form: Mapping[str, Any], path: str) -> None:
    """Raises `InvalidSchema` for the deepest error, because the errors above it may only follow from it."""
    errors = _validator(canonical_json(form)).iter_errors(value)
    error = max(errors, key=lambda each: len(each.instance_path), default=None)
    if error is None:
        return
    kind, provided, expected = error.kind, error.instance, _words(error)
    place = (path + _place(error.instance_path)).removeprefix(".") or "schema"
    if isinstance(kind, ValidationErrorKind.AdditionalProperties | ValidationErrorKind.UnevaluatedProperties):
        assert isinstance(provided, dict), "only an object has keys"
        place += _place(kind.value[:1])
        provided, expected = provided[kind.value[0]], "left out: there is no such key"
    elif isinstance(kind, ValidationErrorKind.PropertyNames):
        place += _place([str(kind.error.instance)])
        expected = _words(kind.error)
    raise InvalidSchema.at(place, provided=provided, expected=expected)


def mismatch(value: Any, definition: Mapping[str, Any]) -> str | None:
    """The expected value, in words that follow "must be"; None when the value fits."""
    error = next(_validator(canonical_json(definition)).iter_errors(value), None)
    if error is None:
        return None
    place = _place(error.instance_path)
    return f"{_words(error)} at {place.lstrip('.')}" if place else _words(error)


@lru_cache(maxsize=500)
def _validator(definition: str) -> Draft202012Validator:
    return Draft202012Validator(
        json.loads(definition),
        offline=True,
        validate_formats=True,
        formats={"date-time": _is_time},
        pattern_options=FancyRegexOptions(backtrack_limit=MAX_STEPS, size_limit=MAX_PATTERN_MEMORY),
    )


def _is_time(text: str) -> bool:
    """Accepts a time without a zone: RFC 3339 requires one, but documents seldom give it."""
    try:
        return "T" in datetime.fromisoformat(text).isoformat()
    except ValueError:
        return False


def _place(path: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step[:MAX_NAME]}" for step in path)


def _words(error: ValidationError) -> str:
    kind = error.kind
    if isinstance(kind, ValidationErrorKind.BacktrackLimitExceeded | ValidationErrorKind.RegexEngineFailure):
        return f"a text for which its pattern is decided within {MAX_STEPS} steps"
    if kind.name in {"anyOf", "oneOf"}:
        # The expectation of each branch; none if several branches fit.
        branches = dict.fromkeys(_words(errors[0]) for errors in kind.value if errors)
        return " or ".join(branches) or f"what exactly one of {kind.name} allows"
    say = _WORDS.get(kind.name)
    return say(kind.value) if say else f"what {kind.name} allows"


def _types(names: Sequence[str]) -> str:
    return " or ".join(f"an {name}" if name[0] in "aio" else f"a {name}" for name in names)


def _write(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)


_WORDS: Mapping[str, Callable[[Any], str]] = {
    "type": _types,
    "enum": lambda values: f"one of {', '.join(map(_write, values))}",
    "const": _write,
    "minLength": lambda least: f"a text of at least {least} characters",
    "maxLength": lambda most: f"a text of at most {most} characters",
    "pattern": lambda pattern: f"a text that matches {pattern[:MAX_NAME]}",
    "format": lambda name: "a regular expression of moderate size" if name == "regex" else f"a valid {name}",
    "minimum": lambda least: f"at least {least}",
    "maximum": lambda most: f"at most {most}",
    "exclusiveMinimum": lambda bound: f"more than {bound}",
    "exclusiveMaximum": lambda bound: f"less than {bound}",
    "multipleOf": lambda divisor: f"a multiple of {divisor}",
    "minItems": lambda least: f"a list of at least {least} items",
    "maxItems": lambda most: f"a list of at most {most} items",
    "uniqueItems": lambda _: "a list without duplicates",
    "contains": lambda _: "a list with an item as contains describes it",
    "minProperties": lambda least: f"an object of at least {least} fields",
    "maxProperties": lambda most: f"an object of at most {most} fields",
    "required": lambda name: f"an object with {name[:MAX_NAME]}",
    "additionalProperties": lambda names: f"an object without {', '.join(names)[:MAX_NAME]}",
    "unevaluatedProperties": lambda names: f"an object without {', '.join(names)[:MAX_NAME]}",
    "propertyNames": lambda _: "an object with names as propertyNames describes them",
    "falseSchema": lambda _: "left out",
    "not": lambda _: "other than what not describes",
}
