"""What an extraction looks for: types of objects with properties, and types of relationships between them.

A schema is read from JSON by `whence.extract.schema_reading`, which is where its format and its limits are.
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
Choice: TypeAlias = str | int | float | bool

PROPERTY_TYPES: tuple[PropertyType, ...] = get_args(PropertyType)
DATE_FORMATS = ("date", "date-time")
"""Of texts that are read as dates, however they are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A JSON Schema: what values are read by is in fields of its own, the rest in `keywords`."""

    type: PropertyType | None = "string"
    """None where values of several types are allowed."""
    format: str | None = None
    enum: tuple[Choice, ...] = ()
    """The values it may have; empty for any of its type."""
    description: str = ""
    items: "Property | None" = None
    """Of an array: what each of its items is; None for anything."""
    properties: Mapping[str, "Property"] = field(default_factory=dict)
    """Of an object: its fields; none for anything."""
    required: tuple[str, ...] = ()
    """Of an object: the fields it must have."""
    keywords: Mapping[str, Any] = field(default_factory=dict)
    """What else its JSON Schema says, as it was written: bounds, a pattern, a title."""
    variants: tuple["Property", ...] = ()
    """Without a type: as what a value may be read, in turn. They follow from the keywords."""
    renamed_from: str | None = None

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The values of `enum`, or the one of `const`."""
        only = self.keywords.get("const")
        return self.enum or ((only,) if isinstance(only, str | int | float) else ())

    @property
    def is_plain(self) -> bool:
        """Whether a value that was read as this is this: nothing is left to be checked."""
        parts = (*self.properties.values(), *((self.items,) if self.items else ()))
        is_read = self.type is not None and self.format in (None, *DATE_FORMATS)
        return is_read and not self.keywords and all(part.is_plain for part in parts)

    def definition(self) -> dict[str, Any]:
        """Everything but where its name comes from."""
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
        return self.definition() | _renaming(self.renamed_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectType:
    description: str = ""
    name: Property = field(default_factory=Property)
    """What the name of such an object is; it is always there."""
    properties: Mapping[str, Property] = field(default_factory=dict)
    """All but the name."""
    required: tuple[str, ...] = ()
    additional_properties: bool = True
    """Whether properties beyond these are kept."""
    renamed_from: str | None = None

    def definition(self) -> dict[str, Any]:
        name = {"name": self.name} if self.name != Property() else {}
        return {
            "description": self.description,
            "properties": _bodies({**name, **self.properties}),
            "required": list(self.required),
            "additional_properties": self.additional_properties,
        }

    def body(self) -> dict[str, Any]:
        return self.definition() | _renaming(self.renamed_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipType:
    description: str = ""
    sources: tuple[str, ...] = ()
    """The types it may start from; none for any."""
    targets: tuple[str, ...] = ()
    """The types it may lead to; none for any."""
    properties: Mapping[str, Property] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    additional_properties: bool = True
    renamed_from: str | None = None

    def may_start_from(self, object_type: str) -> bool:
        return not self.sources or object_type in self.sources

    def may_lead_to(self, object_type: str) -> bool:
        return not self.targets or object_type in self.targets

    def definition(self) -> dict[str, Any]:
        return {
            "description": self.description,
            "from": list(self.sources) or ["*"],
            "to": list(self.targets) or ["*"],
            "properties": _bodies(self.properties),
            "required": list(self.required),
            "additional_properties": self.additional_properties,
        }

    def body(self) -> dict[str, Any]:
        return self.definition() | _renaming(self.renamed_from)


@dataclass(frozen=True, kw_only=True)
class Schema:
    object_types: Mapping[str, ObjectType]
    relationship_types: Mapping[str, RelationshipType] = field(default_factory=dict)

    @cached_property
    def body(self) -> dict[str, Any]:
        """The one way to write it: two bodies that mean the same become the same. What is stored is the body as it was sent."""
        return {
            "object_types": {name: kind.body() for name, kind in sorted(self.object_types.items())},
            "relationship_types": {
                name: kind.body() for name, kind in sorted(self.relationship_types.items())
            },
        }

    @cached_property
    def sha256(self) -> str:
        """Of the body, in hex; the order of keys does not matter."""
        return hashlib.sha256(canonical_json(self.body).encode()).hexdigest()

    def object_type_named(self, name: str) -> str | None:
        """The type's own spelling of its name, or None where there is no such type."""
        return spelled(name, self.object_types)

    def relationship_type_named(self, name: str) -> str | None:
        return spelled(name, self.relationship_types)


def spelled(name: str, known: Iterable[str]) -> str | None:
    """How a name is spelled among known ones: exactly so, or else with other case, spaces, dashes or underscores."""
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


def _bodies(properties: Mapping[str, Property]) -> dict[str, Any]:
    return {name: properties[name].body() for name in sorted(properties)}


def _renaming(renamed_from: str | None) -> dict[str, Any]:
    return {"renamed_from": renamed_from} if renamed_from else {}
