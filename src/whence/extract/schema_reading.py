"""JSON -> Schema, or InvalidSchema that names the place, what stands there and what should.

    {"object_types": {"Requirement": {"description": "…",
                                      "properties": {"priority": {"type": "string", "enum": ["low", "high"]}},
                                      "required": ["priority"], "additional_properties": true}},
     "relationship_types": {"depends_on": {"from": ["Requirement"], "to": ["Component"]}}}

A property may say `"required": true` itself instead of standing in the type's list.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from whence.errors import InvalidSchema
from whence.extract.names import identifier_key
from whence.extract.schema import (
    FORMATS,
    PROPERTY_TYPES,
    Choice,
    Format,
    ObjectType,
    Property,
    PropertyType,
    RelationshipType,
    Schema,
    canonical_json,
)

MAX_TYPES = 100
"""Of objects, and as many of relationships."""
MAX_PROPERTIES = 100
"""Of one type."""
MAX_PROPERTIES_IN_ALL = 1_000
MAX_CHOICES = 100
MAX_CHOICES_IN_ALL = 500
MAX_DEPTH = 3
"""Of arrays and objects inside one another."""
MAX_NAME = 100
MAX_DESCRIPTION = 2_000
MAX_BODY = 64_000
"""Characters of the whole schema: it is part of every prompt."""

RESERVED = frozenset({"id", "type", "extra", "properties"})
"""What a model's reply uses for itself."""
RESERVED_BETWEEN = RESERVED | {"source", "target", "name"}

_NAME = re.compile(r"[^\W\d](?:[\w .\-]*[\w.\-])?")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_TYPE_KEYS = ("description", "properties", "required", "additional_properties", "renamed_from")
_BETWEEN_KEYS = ("from", "to", *_TYPE_KEYS)
_PROPERTY_KEYS = ("type", "format", "enum", "description", "items", "properties", "required", "renamed_from")

_Kind = TypeVar("_Kind", ObjectType, RelationshipType)


def read_schema(body: Any) -> Schema:
    """Raises InvalidSchema for the first thing that is wrong."""
    whole = _fields(body, "schema", allowed=("object_types", "relationship_types"))
    object_types = _types(whole.get("object_types"), "object_types", _object_type)
    if not object_types:
        raise _wrong("object_types", whole.get("object_types"), "an object with at least one type")
    between = _types(whole.get("relationship_types") or {}, "relationship_types", _relationship_type)
    for name, kind in between.items():
        _require_known(kind.sources, object_types, f"relationship_types.{name}.from")
        _require_known(kind.targets, object_types, f"relationship_types.{name}.to")
    _require_sources_of_names(object_types, "object_types")
    _require_sources_of_names(between, "relationship_types")
    schema = Schema(object_types=object_types, relationship_types=between)
    _require_moderate(schema)
    return schema


def _types(body: Any, path: str, read: Callable[[Any, str], _Kind]) -> dict[str, _Kind]:
    given = _object(body, path)
    if len(given) > MAX_TYPES:
        raise _wrong(path, len(given), f"at most {MAX_TYPES} types")
    _require_names(given, path)
    return {name: read(kind, f"{path}.{name}") for name, kind in given.items()}


def _object_type(body: Any, path: str) -> ObjectType:
    given = _fields(body, path, allowed=_TYPE_KEYS)
    properties, required = _properties(given, path, reserved=RESERVED)
    name = properties.pop("name", Property())
    if name.type != "string" or name.enum or name.format or name.renamed_from:
        raise _wrong(f"{path}.properties.name", given["properties"]["name"], "a plain string: it is the name")
    return ObjectType(
        description=_description(given, path),
        naming=name.description,
        properties=properties,
        required=tuple(sorted(required - {"name"})),
        additional_properties=_flag(
            given.get("additional_properties", True), f"{path}.additional_properties"
        ),
        renamed_from=_renamed_from(given, path),
    )


def _relationship_type(body: Any, path: str) -> RelationshipType:
    given = _fields(body, path, allowed=_BETWEEN_KEYS)
    properties, required = _properties(given, path, reserved=RESERVED_BETWEEN)
    return RelationshipType(
        description=_description(given, path),
        sources=_ends(given.get("from"), f"{path}.from"),
        targets=_ends(given.get("to"), f"{path}.to"),
        properties=properties,
        required=tuple(sorted(required)),
        additional_properties=_flag(
            given.get("additional_properties", True), f"{path}.additional_properties"
        ),
        renamed_from=_renamed_from(given, path),
    )


def _ends(body: Any, path: str) -> tuple[str, ...]:
    if body is None or body == "*":
        return ()
    names = [body] if isinstance(body, str) else body
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise _wrong(path, body, 'a list of names of object types, or "*" for any')
    return () if "*" in names else tuple(sorted(set(names)))


def _properties(
    given: Mapping[str, Any], path: str, *, reserved: frozenset[str], depth: int = 0
) -> tuple[dict[str, Property], set[str]]:
    """The properties, and the names of those that are required, in whichever way that was said."""
    bodies = _object(given.get("properties") or {}, f"{path}.properties")
    if len(bodies) > MAX_PROPERTIES:
        raise _wrong(f"{path}.properties", len(bodies), f"at most {MAX_PROPERTIES} properties")
    _require_names(bodies, f"{path}.properties")
    for name in bodies:
        if name in reserved:
            raise _wrong(
                f"{path}.properties.{name}", name, f"another name: {', '.join(sorted(reserved))} are reserved"
            )
    properties = {name: _property(body, f"{path}.properties.{name}", depth) for name, body in bodies.items()}
    _require_sources_of_names(properties, f"{path}.properties")
    listed = given.get("required")
    named = [] if listed is None or isinstance(listed, bool) else _strings(listed, f"{path}.required")
    for name in named:
        if name not in properties and name != "name":
            raise _wrong(
                f"{path}.required", name, f"names of properties: {', '.join(properties) or 'there are none'}"
            )
    return properties, {*named, *(name for name, body in bodies.items() if body.get("required") is True)}


def _property(body: Any, path: str, depth: int) -> Property:
    if isinstance(body, dict) and "$ref" in body:
        raise _wrong(f"{path}.$ref", body["$ref"], "spelled out: a schema has no references")
    if depth > MAX_DEPTH:
        raise _wrong(path, "…", f"nested at most {MAX_DEPTH} deep")
    given = _fields(body, path, allowed=_PROPERTY_KEYS)
    kind = _property_type(given, path)
    _require_fitting(given, kind, path)
    fields, required = (
        _properties(given, path, reserved=frozenset(), depth=depth + 1) if kind == "object" else ({}, set())
    )
    return Property(
        type=kind,
        format=_format(given.get("format"), kind, f"{path}.format"),
        enum=_choices(given.get("enum"), kind, f"{path}.enum"),
        description=_description(given, path),
        items=_property(given["items"], f"{path}.items", depth + 1) if "items" in given else None,
        properties=fields,
        required=tuple(sorted(required)),
        renamed_from=_renamed_from(given, path),
    )


def _property_type(given: Mapping[str, Any], path: str) -> PropertyType:
    """What `type` says, null apart: every property may be missing. Without it, what the choices are, or a string."""
    said = given.get("type")
    if isinstance(said, list):
        said = (
            next((name for name in said if name != "null"), None)
            if len(set(map(str, said)) - {"null"}) == 1
            else said
        )
    if said is None and "type" not in given:
        return _type_of_choices(given.get("enum"))
    for name in PROPERTY_TYPES:
        if said == name:
            return name
    raise _wrong(f"{path}.type", said, f"one of {', '.join(PROPERTY_TYPES)}")


def _type_of_choices(choices: Any) -> PropertyType:
    kinds = {type(choice) for choice in choices} if isinstance(choices, list) else set()
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "integer"
    return "number" if kinds and kinds <= {int, float} else "string"


def _require_fitting(given: Mapping[str, Any], kind: PropertyType, path: str) -> None:
    """That no keyword stands where it means nothing."""
    for keyword, meant in (("items", "array"), ("properties", "object")):
        if keyword in given and kind != meant:
            raise _wrong(f"{path}.{keyword}", given[keyword], f"left out: only an {meant} has it")
    if "enum" in given and kind in {"array", "object"}:
        raise _wrong(f"{path}.enum", given["enum"], f"left out: the items of an {kind} may have one")
    required = given.get("required")
    if required is not None and not isinstance(required, bool) and kind != "object":
        raise _wrong(f"{path}.required", required, "true or false")


def _format(said: Any, kind: PropertyType, path: str) -> Format | None:
    if said is None:
        return None
    for name in FORMATS:
        if said == name and kind == "string":
            return name
    raise _wrong(path, said, f"one of {', '.join(FORMATS)}, and of a string")


def _choices(said: Any, kind: PropertyType, path: str) -> tuple[Choice, ...]:
    if said is None:
        return ()
    if not isinstance(said, list) or not 0 < len(said) <= MAX_CHOICES:
        raise _wrong(path, said, f"a list of 1 to {MAX_CHOICES} values")
    for at, choice in enumerate(said):
        if not _is_of(choice, kind):
            raise _wrong(f"{path}[{at}]", choice, f"of the type {kind}")
        if isinstance(choice, str):
            _text(choice, f"{path}[{at}]", longest=MAX_NAME)
    keys = [identifier_key(choice) if isinstance(choice, str) else choice for choice in said]
    if len(set(keys)) < len(keys):
        raise _wrong(path, said, "a list without duplicates")
    return tuple(said)


def _is_of(choice: Any, kind: PropertyType) -> bool:
    fits: dict[PropertyType, tuple[type, ...]] = {
        "string": (str,),
        "boolean": (bool,),
        "integer": (int,),
        "number": (int, float),
    }
    return type(choice) in fits.get(kind, ()) and not (
        isinstance(choice, float) and not math.isfinite(choice)
    )


def _require_names(given: Mapping[str, Any], path: str) -> None:
    seen: dict[str, str] = {}
    for name in given:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > MAX_NAME:
            expected = f"a name of at most {MAX_NAME} letters, digits, _, -, dots and spaces that begins with a letter or _"
            raise _wrong(path, name, expected)
        other = seen.setdefault(identifier_key(name), name)
        if other != name:
            raise _wrong(f"{path}.{name}", name, f"another name: {other!r} is there already")


def _require_known(names: Iterable[str], known: Mapping[str, ObjectType], path: str) -> None:
    for name in names:
        if name not in known:
            raise _wrong(path, name, f"names of object types: {', '.join(known)}")


def _require_sources_of_names(
    named: Mapping[str, Property | ObjectType | RelationshipType], path: str
) -> None:
    """That what was renamed is gone under its old name, and only one has its place."""
    taken: set[str] = set()
    for name, thing in named.items():
        old = thing.renamed_from
        if old is not None and (old in named or old in taken):
            raise _wrong(
                f"{path}.{name}.renamed_from", old, "a name that nothing has any more, and each only once"
            )
        taken |= {old} if old else set()


def _require_moderate(schema: Schema) -> None:
    types: list[ObjectType | RelationshipType] = [
        *schema.object_types.values(),
        *schema.relationship_types.values(),
    ]
    found = [each for kind in types for each in _all_properties(kind.properties)]
    choices = sum(len(each.enum) for each in found)
    if len(found) > MAX_PROPERTIES_IN_ALL:
        raise _wrong("schema", len(found), f"of at most {MAX_PROPERTIES_IN_ALL} properties in all")
    if choices > MAX_CHOICES_IN_ALL:
        raise _wrong("schema", choices, f"of at most {MAX_CHOICES_IN_ALL} values of enum in all")
    size = len(canonical_json(schema.body))
    if size > MAX_BODY:
        raise _wrong("schema", size, f"of at most {MAX_BODY} characters")


def _all_properties(properties: Mapping[str, Property]) -> Iterable[Property]:
    for each in properties.values():
        yield each
        yield from _all_properties(each.properties)
        if each.items is not None:
            yield from _all_properties({"items": each.items})


def _fields(body: Any, path: str, *, allowed: tuple[str, ...]) -> Mapping[str, Any]:
    given = _object(body, path)
    for key in given:
        if key not in allowed:
            raise _wrong(f"{path}.{_shown(key)}", key, f"left out; {path} may have {', '.join(allowed)}")
    return given


def _object(body: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        raise _wrong(path, body, "an object")
    return body


def _strings(body: Any, path: str) -> list[str]:
    if not isinstance(body, list) or not all(isinstance(each, str) for each in body):
        raise _wrong(path, body, "a list of names")
    return body


def _flag(said: Any, path: str) -> bool:
    if not isinstance(said, bool):
        raise _wrong(path, said, "true or false")
    return said


def _description(given: Mapping[str, Any], path: str) -> str:
    said = given.get("description")
    return "" if said is None else _text(said, f"{path}.description", longest=MAX_DESCRIPTION)


def _renamed_from(given: Mapping[str, Any], path: str) -> str | None:
    said = given.get("renamed_from")
    return None if said is None else _text(said, f"{path}.renamed_from", longest=MAX_NAME)


def _text(said: Any, path: str, *, longest: int) -> str:
    if not isinstance(said, str) or len(said) > longest or _UNSTORABLE.search(said):
        raise _wrong(path, said, f"a text of at most {longest} characters")
    return said.strip()


def _wrong(path: str, provided: Any, expected: str) -> InvalidSchema:
    return InvalidSchema.at(path, provided=provided, expected=expected)


def _shown(name: Any) -> str:
    """Short enough to be read in an error."""
    return str(name).encode("utf-8", "replace").decode()[:MAX_NAME]
