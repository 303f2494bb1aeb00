"""Converts JSON to `Schema`. Raises `InvalidSchema` with the path, the given value and the expected one.

    {"object_types": {"Requirement": {"description": "…",
                                      "properties": {"priority": {"type": "string", "enum": ["low", "high"]}},
                                      "required": ["priority"], "additional_properties": true}},
     "relationship_types": {"depends_on": {"from": ["Requirement"], "to": ["Component"]}}}

A property is JSON Schema. Keywords that guide the reading of values become fields of `Property`; the others are kept verbatim. A
property may have `"required": true` itself instead of an entry in its owner's list.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from whence.extract.json_schema import require_compilable, require_form
from whence.extract.property_reading import (
    MAX_DEPTH,
    read_named,
    read_properties,
    says_nothing,
    wrong,
)
from whence.extract.schema import (
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_PROPERTIES,
    RESERVED,
    UNSTORABLE,
    ObjectType,
    Property,
    RelationshipType,
    Schema,
    SchemaType,
    canonical_json,
)

MAX_TYPES = 100
"""Maximum number of object types, and of relationship types."""
MAX_BODY = 64_000
"""Maximum length of the schema in characters, since it is part of every prompt."""
MAX_LEVELS = 40
"""Nesting depth of the JSON, including combined definitions and listed values."""
MAX_INTEGER = 2**63 - 1

RESERVED_BETWEEN = RESERVED | {"source", "target", "name"}


def _closed(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "additionalProperties": False}


_TYPE = {
    "description": {"type": ["string", "null"], "maxLength": MAX_DESCRIPTION},
    "properties": {
        "type": ["object", "null"],
        "maxProperties": MAX_PROPERTIES,
        "additionalProperties": {"type": "object"},
    },
    "required": {"type": ["array", "boolean", "null"], "items": {"type": "string"}},
    "additional_properties": {"type": "boolean"},
    "renamed_from": {"type": ["string", "null"], "maxLength": MAX_NAME},
}
_ENDS = {"type": ["array", "string", "null"], "items": {"type": "string"}, "minItems": 1}
_FORM = _closed(
    {
        "object_types": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": MAX_TYPES,
            "additionalProperties": _closed(_TYPE),
        },
        "relationship_types": {
            "type": ["object", "null"],
            "maxProperties": MAX_TYPES,
            "additionalProperties": _closed({"from": _ENDS, "to": _ENDS, **_TYPE}),
        },
    }
)
"""JSON Schema of a schema, except the definitions of properties."""


def read_schema(body: Any) -> Schema:
    if not isinstance(body, dict):
        raise wrong("schema", body, "an object")
    whole = {"object_types": {}, **body}
    _require_storable(whole, "")
    require_form(whole, _FORM, "")
    objects, between = whole["object_types"], whole.get("relationship_types") or {}
    schema = Schema(
        object_types=read_named(objects, "object_types", _object_type),
        relationship_types=read_named(
            between, "relationship_types", lambda given, path: _relationship_type(given, path, objects)
        ),
    )
    _require_moderate(schema)
    _require_compilable(schema.object_types, "object_types")
    _require_compilable(schema.relationship_types, "relationship_types")
    return schema


def require_single_names(text: bytes) -> None:
    """Raises InvalidSchema for a duplicate name. JSON parsers keep the last and silently drop the others.

    `text` must be valid JSON.
    """
    try:
        # Objects become tuples of pairs, to distinguish them from lists.
        _require_single(json.loads(text, object_pairs_hook=tuple), "")
    except RecursionError as exc:
        raise wrong("schema", "…", "nested less deep") from exc


def _require_single(body: Any, path: str) -> None:
    if isinstance(body, list):
        for at, item in enumerate(body):
            _require_single(item, f"{path}[{at}]")
    elif isinstance(body, tuple):
        seen: set[str] = set()
        for name, inner in body:
            place = f"{path}.{name[:MAX_NAME]}".removeprefix(".")
            if name in seen:
                raise wrong(place, name[:MAX_NAME], "there only once")
            seen.add(name)
            _require_single(inner, place)


def _shorten(name: Any) -> str:
    """A name made short and encodable for an error message."""
    return str(name).encode("utf-8", "replace").decode()[:MAX_NAME]


def _require_storable(value: Any, path: str, level: int = 0) -> None:
    """Refuses a value that the database cannot store, or that is nested too deep."""
    if level > MAX_LEVELS:
        raise wrong(path, "…", f"nested at most {MAX_DEPTH} deep")
    if isinstance(value, dict):
        for key, inner in value.items():
            _require_storable(str(key), path, level)
            _require_storable(inner, f"{path}.{_shorten(key)}".removeprefix("."), level + 1)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            _require_storable(inner, f"{path}[{at}]", level + 1)
    elif isinstance(value, str) and UNSTORABLE.search(value):
        raise wrong(path, UNSTORABLE.sub("\ufffd", value), "a text without NUL and halves of characters")
    elif isinstance(value, float) and not math.isfinite(value):
        raise wrong(path, str(value), "a finite number")
    elif isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise wrong(path, str(value)[:100], f"a number of at most {MAX_INTEGER}")


def _require_moderate(schema: Schema) -> None:
    parts = list(_list_parts(schema.body))
    for count, most, what in (
        (_count(parts, "properties", dict), 1_000, "properties in all"),
        (_count(parts, "enum", list), 500, "values of enum in all"),
        (len(canonical_json(schema.body)), MAX_BODY, "characters"),
        # Limited, because each pattern is compiled.
        (_count(parts, "pattern", str) + _count(parts, "patternProperties", dict), 100, "patterns in all"),
    ):
        if count > most:
            raise wrong("schema", count, f"of at most {most} {what}")


def _list_parts(body: Any) -> Iterator[Mapping[str, Any]]:
    """The objects anywhere in the JSON."""
    if isinstance(body, dict):
        yield body
    for inner in body.values() if isinstance(body, dict) else body if isinstance(body, list) else ():
        yield from _list_parts(inner)


def _count(parts: Iterable[Mapping[str, Any]], keyword: str, kind: type) -> int:
    found = (each[keyword] for each in parts if isinstance(each.get(keyword), kind))
    return sum(1 if isinstance(each, str) else len(each) for each in found)


def _require_compilable(types: Mapping[str, SchemaType], path: str) -> None:
    """Refuses properties whose patterns cannot be compiled, so that values can be validated later."""
    for type_name, kind in types.items():
        for name, each in kind.properties.items():
            require_compilable(each.definition(), f"{path}.{type_name}.properties.{name}")


def _object_type(given: Mapping[str, Any], path: str) -> ObjectType:
    kind = _type(given, path, reserved=RESERVED)
    name = kind["properties"].pop("name", Property())
    if name.type is None and not name.variants:
        name = replace(name, type="string")
    _require_plain_name(name, f"{path}.properties.name")
    required = tuple(each for each in kind["required"] if each != "name")
    return ObjectType(**kind | {"required": required}, name=name)


def _relationship_type(given: Mapping[str, Any], path: str, known: Iterable[str]) -> RelationshipType:
    for name, body in (given.get("properties") or {}).items():
        if body.get("merge") is not None:
            expected = "left out: lists of relationships always accumulate"
            raise wrong(f"{path}.properties.{name}.merge", body["merge"], expected)
    return RelationshipType(
        **_type(given, path, reserved=RESERVED_BETWEEN),
        sources=_ends(given.get("from"), f"{path}.from", known),
        targets=_ends(given.get("to"), f"{path}.to", known),
    )


def _type(given: Mapping[str, Any], path: str, *, reserved: frozenset[str]) -> dict[str, Any]:
    """The fields that both kinds of types have."""
    properties, required = read_properties(given, path, reserved=reserved)
    return {
        "description": (given.get("description") or "").strip(),
        "properties": properties,
        "required": tuple(sorted(required)),
        "additional_properties": given.get("additional_properties", True),
        "renamed_from": (given.get("renamed_from") or "").strip() or None,
    }


def _require_plain_name(name: Property, path: str) -> None:
    """Refuses constraints on names: they identify objects, and a name from a chunk must never fail validation."""
    for keyword, value in name.keywords.items():
        if not says_nothing(keyword, value):
            raise wrong(f"{path}.{keyword}", value, "left out: it is the name, and names have no bounds")
    if name.type != "string" or name.enum or name.format or name.renamed_from:
        expected = "a plain string, perhaps with a description or a title: it is the name"
        raise wrong(path, name.body(), expected)


def _ends(given: str | list[str] | None, path: str, known: Iterable[str]) -> tuple[str, ...]:
    names = [given] if isinstance(given, str) else given or ["*"]
    if "*" in names:
        return ()
    for name in names:
        if name not in known:
            raise wrong(path, name, f'names of object types: {", ".join(known)}; or "*" for any')
    return tuple(sorted(set(names)))
