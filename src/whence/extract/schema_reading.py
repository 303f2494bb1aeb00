"""JSON -> Schema. Raises InvalidSchema with the path, the value given and the value expected.

    {"object_types": {"Requirement": {"description": "…",
                                      "properties": {"priority": {"type": "string", "enum": ["low", "high"]}},
                                      "required": ["priority"], "additional_properties": true}},
     "relationship_types": {"depends_on": {"from": ["Requirement"], "to": ["Component"]}}}

A property may have `"required": true` itself instead of an entry in the type's list.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from whence.extract.json_schema import require_valid
from whence.extract.keywords import ANNOTATIONS
from whence.extract.property_reading import read_properties
from whence.extract.schema import ObjectType, Property, RelationshipType, Schema, canonical_json
from whence.extract.schema_parts import (
    read_description,
    read_fields,
    read_flag,
    read_object,
    read_renamed_from,
    require_names,
    require_sources_of_names,
    wrong,
)

MAX_TYPES = 100
"""Object types, and as many relationship types."""
MAX_PROPERTIES_IN_ALL = 1_000
MAX_CHOICES_IN_ALL = 500
MAX_PATTERNS_IN_ALL = 100
MAX_BODY = 64_000
"""Maximum length of the schema in characters, since it is part of every prompt."""

RESERVED = frozenset({"id", "type", "extra", "properties"})
"""Names that the reply format itself uses."""
RESERVED_BETWEEN = RESERVED | {"source", "target", "name"}

_TYPE_KEYS = ("description", "properties", "required", "additional_properties", "renamed_from")
_BETWEEN_KEYS = ("from", "to", *_TYPE_KEYS)

_Kind = TypeVar("_Kind", ObjectType, RelationshipType)


def read_schema(body: Any) -> Schema:
    """Raises InvalidSchema for the first error."""
    whole = read_fields(body, "schema", allowed=("object_types", "relationship_types"))
    object_types = _types(whole.get("object_types"), "object_types", _object_type)
    if not object_types:
        raise wrong("object_types", whole.get("object_types"), "an object with at least one type")
    between = _types(whole.get("relationship_types") or {}, "relationship_types", _relationship_type)
    for name, kind in between.items():
        _require_known(kind.sources, object_types, f"relationship_types.{name}.from")
        _require_known(kind.targets, object_types, f"relationship_types.{name}.to")
    require_sources_of_names(object_types, "object_types")
    require_sources_of_names(between, "relationship_types")
    schema = Schema(object_types=object_types, relationship_types=between)
    _require_moderate(schema)
    _require_valid(object_types, "object_types")
    _require_valid(between, "relationship_types")
    return schema


def _types(body: Any, path: str, read: Callable[[Any, str], _Kind]) -> dict[str, _Kind]:
    given = read_object(body, path)
    if len(given) > MAX_TYPES:
        raise wrong(path, len(given), f"at most {MAX_TYPES} types")
    require_names(given, path)
    return {name: read(kind, f"{path}.{name}") for name, kind in given.items()}


def _object_type(body: Any, path: str) -> ObjectType:
    given = read_fields(body, path, allowed=_TYPE_KEYS)
    properties, required = read_properties(given, path, reserved=RESERVED)
    name = properties.pop("name", Property())
    if name.type is None and not name.variants:
        name = replace(name, type="string")
    _require_plain_name(name, f"{path}.properties.name")
    return ObjectType(
        description=read_description(given, path),
        name=name,
        properties=properties,
        required=tuple(sorted(required - {"name"})),
        additional_properties=read_flag(
            given.get("additional_properties", True), f"{path}.additional_properties"
        ),
        renamed_from=read_renamed_from(given, path),
    )


def _require_plain_name(name: Property, path: str) -> None:
    """Refuses constraints on names: they identify objects, and a name from a chunk must never fail validation."""
    is_plain = name.type == "string" and not (name.enum or name.format or name.renamed_from)
    for keyword, value in name.keywords.items():
        if keyword not in ANNOTATIONS and not keyword.startswith("x-"):
            raise wrong(f"{path}.{keyword}", value, "left out: it is the name, and names have no bounds")
    if not is_plain:
        raise wrong(
            path, name.body(), "a plain string, perhaps with a description or a title: it is the name"
        )


def _relationship_type(body: Any, path: str) -> RelationshipType:
    given = read_fields(body, path, allowed=_BETWEEN_KEYS)
    properties, required = read_properties(given, path, reserved=RESERVED_BETWEEN)
    return RelationshipType(
        description=read_description(given, path),
        sources=_ends(given.get("from"), f"{path}.from"),
        targets=_ends(given.get("to"), f"{path}.to"),
        properties=properties,
        required=tuple(sorted(required)),
        additional_properties=read_flag(
            given.get("additional_properties", True), f"{path}.additional_properties"
        ),
        renamed_from=read_renamed_from(given, path),
    )


def _ends(body: Any, path: str) -> tuple[str, ...]:
    if body is None or body == "*":
        return ()
    names = [body] if isinstance(body, str) else body
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise wrong(path, body, 'a list of names of object types, or "*" for any')
    return () if "*" in names else tuple(sorted(set(names)))


def _require_known(names: Iterable[str], known: Mapping[str, ObjectType], path: str) -> None:
    for name in names:
        if name not in known:
            raise wrong(path, name, f"names of object types: {', '.join(known)}")


def _require_moderate(schema: Schema) -> None:
    types: list[ObjectType | RelationshipType] = [
        *schema.object_types.values(),
        *schema.relationship_types.values(),
    ]
    found = [each for kind in types for each in _all_properties(kind.properties)]
    choices = sum(len(each.enum) for each in found)
    if len(found) > MAX_PROPERTIES_IN_ALL:
        raise wrong("schema", len(found), f"of at most {MAX_PROPERTIES_IN_ALL} properties in all")
    if choices > MAX_CHOICES_IN_ALL:
        raise wrong("schema", choices, f"of at most {MAX_CHOICES_IN_ALL} values of enum in all")
    size = len(canonical_json(schema.body))
    if size > MAX_BODY:
        raise wrong("schema", size, f"of at most {MAX_BODY} characters")

    patterns = _patterns(schema.body)
    if patterns > MAX_PATTERNS_IN_ALL:
        raise wrong("schema", patterns, f"of at most {MAX_PATTERNS_IN_ALL} patterns in all")


def _require_valid(types: Mapping[str, _Kind], path: str) -> None:
    """Refuses properties whose JSON Schema is invalid, so that values can be validated later."""
    for type_name, kind in types.items():
        for name, each in kind.properties.items():
            if not each.is_plain:
                require_valid(each.definition(), f"{path}.{type_name}.properties.{name}")


def _patterns(body: Any) -> int:
    """The number of regular expressions. Each is compiled when the schema is read."""
    if isinstance(body, list):
        return sum(map(_patterns, body))
    if not isinstance(body, dict):
        return 0
    named = body.get("patternProperties")
    own = isinstance(body.get("pattern"), str) + (len(named) if isinstance(named, dict) else 0)
    return own + sum(map(_patterns, body.values()))


def _all_properties(properties: Mapping[str, Property]) -> Iterable[Property]:
    for each in properties.values():
        yield each
        yield from _all_properties(each.properties)
        if each.items is not None:
            yield from _all_properties({"items": each.items})
