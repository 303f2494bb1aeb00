"""The extraction schema: object types with properties, and relationship types.

`whence.extract.schema_reading` reads it from JSON, and defines its format and limits.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

from whence.errors import InvalidParameter
from whence.text.names import identifier_key

PropertyType = Literal["string", "number", "integer", "boolean", "array", "object"]
Merge = Literal["accumulate", "replace"]
Choice: TypeAlias = str | int | float | bool

PROPERTY_TYPES: tuple[PropertyType, ...] = get_args(PropertyType)
NUMBER_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
MAX_NAME = 100
"""Maximum length of the name of a type or a property, and of a value of `enum`."""
MAX_PROPERTIES = 100
"""Maximum number of properties per type and per nested object."""
MAX_CHOICES = 100
MAX_DESCRIPTION = 2_000
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""Characters that PostgreSQL cannot store in a text: NUL and lone surrogates."""
RESERVED = frozenset({"id", "type", "extra", "properties"})
"""Names that the reply format itself uses."""
DATE_FORMATS = ("date", "date-time")
"""Formats whose values are parsed as dates in any notation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A JSON Schema. Keywords that guide the reading of values have their own fields; the rest is in `keywords`."""

    type: PropertyType | None = "string"
    """None if several types are allowed."""
    format: str | None = None
    enum: tuple[Choice, ...] = ()
    """The allowed values; empty for any value of the type."""
    description: str = ""
    items: "Property | None" = None
    """The definition of an array's items; None for any."""
    properties: Mapping[str, "Property"] = field(default_factory=dict)
    """The fields of an object; empty if any are allowed."""
    required: tuple[str, ...] = ()
    """The required fields of an object."""
    keywords: Mapping[str, Any] = field(default_factory=dict)
    """The other keywords of the JSON Schema, verbatim: bounds, a pattern, a title."""
    variants: tuple["Property", ...] = ()
    """The alternatives a value is read as, in order, if `type` is None. Derived from the keywords."""
    renamed_from: str | None = None
    merge: Merge = "accumulate"
    """Whether lists of several chunks accumulate or the newest list replaces the others."""

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The values of `enum`, or the value of `const`."""
        only = self.keywords.get("const")
        return self.enum or ((only,) if isinstance(only, str | int | float) else ())

    def definition(self) -> dict[str, Any]:
        """The JSON Schema without `renamed_from` and `merge`."""
        body = {
            "type": self.type,
            "format": self.format,
            "enum": list(self.enum),
            "description": self.description,
            "items": self.items.body() if self.items else None,
            "properties": _bodies(self.properties),
            "required": list(self.required),
        }
        return {**self.keywords, **{key: value for key, value in body.items() if value}}

    def body(self) -> dict[str, Any]:
        merging = {} if self.merge == "accumulate" else {"merge": self.merge}
        return self.definition() | merging | _renaming(self.renamed_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaType:
    description: str = ""
    properties: Mapping[str, Property] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    additional_properties: bool = True
    """Whether other properties are kept."""
    renamed_from: str | None = None

    def body(self) -> dict[str, Any]:
        body = {
            "description": self.description,
            "properties": _bodies(self.properties),
            "required": list(self.required),
            "additional_properties": self.additional_properties,
        }
        return body | _renaming(self.renamed_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectType(SchemaType):
    """A type of objects. `properties` are all properties except the name."""

    name: Property = field(default_factory=Property)
    """Describes the name, which every object has."""

    def body(self) -> dict[str, Any]:
        name = {"name": self.name} if self.name != Property() else {}
        return SchemaType.body(self) | {"properties": _bodies({**name, **self.properties})}


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipType(SchemaType):
    sources: tuple[str, ...] = ()
    """The types it may start from; empty for any."""
    targets: tuple[str, ...] = ()
    """The types it may lead to; empty for any."""

    def body(self) -> dict[str, Any]:
        return SchemaType.body(self) | {
            "from": list(self.sources) or ["*"],
            "to": list(self.targets) or ["*"],
        }


@dataclass(frozen=True, kw_only=True)
class Schema:
    object_types: Mapping[str, ObjectType]
    relationship_types: Mapping[str, RelationshipType] = field(default_factory=dict)

    @cached_property
    def body(self) -> dict[str, Any]:
        """The canonical form: equivalent schemas have the same body. The store keeps the body as it was sent."""
        return {
            "object_types": _bodies(self.object_types),
            "relationship_types": _bodies(self.relationship_types),
        }

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the body in hex, independent of key order."""
        return hashlib.sha256(canonical_json(self.body).encode()).hexdigest()


def spelled(name: str, known: Iterable[str]) -> str | None:
    """The known spelling of a name: an exact match, else one with other case, spaces, dashes or underscores."""
    names = tuple(known)
    if name in names:
        return name
    key = identifier_key(name)
    return next((candidate for candidate in names if identifier_key(candidate) == key), None)


def canonical_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


_VERSION = re.compile(r"v?([1-9][0-9]{0,8})", re.ASCII)


def version_number(version: str) -> int:
    """`v10` is 10 and comes after `v2`: versions are compared as numbers, never as text."""
    found = _VERSION.fullmatch(version)
    if found is None:
        raise InvalidParameter.of("version", provided=version, expected="a schema version such as v2")
    return int(found[1])


def _bodies(elements: Mapping[str, Property] | Mapping[str, SchemaType]) -> dict[str, Any]:
    return {name: elements[name].body() for name in sorted(elements)}


def _renaming(renamed_from: str | None) -> dict[str, Any]:
    return {"renamed_from": renamed_from} if renamed_from else {}
