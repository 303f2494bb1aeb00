"""JSON Schema -> Property. Keywords that guide the reading of values become fields; the others are kept verbatim."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from whence.extract.json_schema import require_known_keywords
from whence.extract.keywords import (
    ANNOTATIONS,
    COMBINING,
    FOR_ARRAYS,
    FOR_NUMBERS,
    FOR_OBJECTS,
    MAX_DEPTH,
    require_storable,
)
from whence.extract.schema import DATE_FORMATS, PROPERTY_TYPES, Choice, Property, PropertyType
from whence.extract.schema_parts import (
    MAX_NAME,
    read_description,
    read_object,
    read_renamed_from,
    read_strings,
    read_text,
    require_names,
    require_sources_of_names,
    wrong,
)
from whence.text.names import identifier_key

MAX_PROPERTIES = 100
"""Per type, and per nested object."""
MAX_CHOICES = 100

_FOR: Mapping[PropertyType, tuple[str, ...]] = {
    "object": FOR_OBJECTS,
    "array": FOR_ARRAYS,
    "number": FOR_NUMBERS,
}
_SCALARS: Mapping[PropertyType, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}


def read_properties(
    given: Mapping[str, Any], path: str, *, reserved: frozenset[str]
) -> tuple[dict[str, Property], set[str]]:
    """Reads the properties, and the names of required ones from the `required` list and from `required: true`."""
    require_storable(given.get("properties"), f"{path}.properties")
    properties, required = _properties(given, path, depth=0)
    for name in properties:
        if name in reserved:
            raise wrong(
                f"{path}.properties.{name}", name, f"another name: {', '.join(sorted(reserved))} are reserved"
            )
    for name in sorted(required - properties.keys() - {"name"}):
        raise wrong(
            f"{path}.required", name, f"names of properties: {', '.join(properties) or 'there are none'}"
        )
    return properties, required


def _properties(given: Mapping[str, Any], path: str, *, depth: int) -> tuple[dict[str, Property], set[str]]:
    bodies = read_object(given.get("properties") or {}, f"{path}.properties")
    if len(bodies) > MAX_PROPERTIES:
        raise wrong(f"{path}.properties", len(bodies), f"at most {MAX_PROPERTIES} properties")
    require_names(bodies, f"{path}.properties")
    properties = {name: _property(body, f"{path}.properties.{name}", depth) for name, body in bodies.items()}
    require_sources_of_names(properties, f"{path}.properties")
    listed = given.get("required")
    named = [] if listed is None or isinstance(listed, bool) else read_strings(listed, f"{path}.required")
    return properties, {*named, *(name for name, body in bodies.items() if body.get("required") is True)}


def _property(body: Any, path: str, depth: int) -> Property:
    if depth > MAX_DEPTH:
        raise wrong(path, "…", f"nested at most {MAX_DEPTH} deep")
    given = read_object(body, path)
    if depth == 0:
        require_known_keywords(given, path)
    kind = _type(given, path)
    _require_fitting(given, kind, path)
    fields, required = _properties(given, path, depth=depth + 1) if kind == "object" else ({}, set())
    has_items = kind == "array" and "items" in given and not isinstance(given["items"], bool)
    choices = _choices(given.get("enum"), kind, f"{path}.enum")
    return Property(
        type=kind,
        format=_format(given.get("format"), kind, f"{path}.format"),
        enum=choices,
        description=read_description(given, path),
        items=_property(given["items"], f"{path}.items", depth + 1) if has_items else None,
        properties=fields,
        required=tuple(sorted(required)),
        keywords=_keywords(given, kind, has_items=has_items, has_choices=bool(choices)),
        variants=tuple(_variants(given, path, depth)) if kind is None else (),
        renamed_from=read_renamed_from(given, path),
    )


def _type(given: Mapping[str, Any], path: str) -> PropertyType | None:
    """The value of `type` without null, since any property may be missing; None for several types.

    Without `type`, the other keywords imply it.
    """
    if "type" not in given:
        return _implied_type(given, path)
    said = given["type"]
    names = [name for name in said if name != "null"] if isinstance(said, list) else [said]
    for name in names or [said]:
        if name not in PROPERTY_TYPES:
            raise wrong(f"{path}.type", said, f"one of {', '.join(PROPERTY_TYPES)}")
    return next(name for name in PROPERTY_TYPES if name == names[0]) if len(names) == 1 else None


def _implied_type(given: Mapping[str, Any], path: str) -> PropertyType | None:
    if given.get("enum") is not None:
        return _type_of(given["enum"])
    if "const" in given:
        if given["const"] is None:
            raise wrong(f"{path}.const", None, "a value: without one, a property is not there")
        return _type_of([given["const"]])
    if not given.keys().isdisjoint(COMBINING):
        return None
    for kind, keywords in _FOR.items():
        if not given.keys().isdisjoint(keywords):
            return kind
    return None if all(_says_nothing(*each) for each in given.items()) else "string"


def _says_nothing(keyword: str, said: Any) -> bool:
    """Whether the keyword does not constrain values. A definition with only such keywords allows any value."""
    if keyword == "required":
        return isinstance(said, bool)
    return keyword in ANNOTATIONS or keyword == "renamed_from" or keyword.startswith("x-")


def _type_of(values: Any) -> PropertyType | None:
    """The type that all values share; None if they differ."""
    kinds = {type(value) for value in values if value is not None} if isinstance(values, list) else {str}
    if len(kinds) == 1:
        of: dict[type, PropertyType] = {
            str: "string",
            bool: "boolean",
            int: "integer",
            list: "array",
            dict: "object",
        }
        return of.get(kinds.pop(), "number")
    return "number" if kinds and kinds <= {int, float} else None


def _require_fitting(given: Mapping[str, Any], kind: PropertyType | None, path: str) -> None:
    """Refuses `items`, `properties` and a `required` list on types that do not have them."""
    for keyword, meant in (("items", "array"), ("properties", "object")):
        if keyword in given and kind not in (None, meant):
            raise wrong(f"{path}.{keyword}", given[keyword], f"left out: only an {meant} has it")
    required = given.get("required")
    if required is not None and not isinstance(required, bool) and kind not in (None, "object"):
        raise wrong(f"{path}.required", required, "true or false")


def _format(said: Any, kind: PropertyType | None, path: str) -> str | None:
    if said is None:
        return None
    name = read_text(said, path, longest=MAX_NAME)
    if name in DATE_FORMATS and kind not in (None, "string"):
        raise wrong(path, said, f"left out: {name} is a format of a string")
    return name


def _choices(said: Any, kind: PropertyType | None, path: str) -> tuple[Choice, ...]:
    """The values of `enum` without null; empty if one is a list or an object. Raises InvalidSchema for duplicates."""
    if said is None:
        return ()
    given = [choice for choice in said if choice is not None] if isinstance(said, list) else []
    if not 0 < len(given) <= MAX_CHOICES:
        raise wrong(path, said, f"a list of 1 to {MAX_CHOICES} values")
    for at, choice in enumerate(given):
        if kind is not None and not _is_of(choice, kind):
            raise wrong(f"{path}[{at}]", choice, f"of the type {kind}")
        if isinstance(choice, str):
            read_text(choice, f"{path}[{at}]", longest=MAX_NAME)
    if any(isinstance(choice, list | dict) for choice in given):
        return ()
    keys = [identifier_key(choice) if isinstance(choice, str) else choice for choice in given]
    if len({(isinstance(key, bool), key) for key in keys}) < len(keys):
        raise wrong(path, said, "a list without duplicates")
    return tuple(given)


def _is_of(choice: Any, kind: PropertyType) -> bool:
    if kind in {"array", "object"}:
        return isinstance(choice, list if kind == "array" else dict)
    return type(choice) in _SCALARS[kind] and not (isinstance(choice, float) and not math.isfinite(choice))


def _keywords(
    given: Mapping[str, Any], kind: PropertyType | None, *, has_items: bool, has_choices: bool
) -> dict[str, Any]:
    """The keywords that no field of Property holds."""
    said = {"description", "renamed_from", "format"}
    said |= {"type"} if kind else set()
    said |= {"items"} if has_items else set()
    said |= {"enum"} if has_choices or given.get("enum") is None else set()
    said |= {"properties", "required"} if kind == "object" else set()
    said |= {"required"} if isinstance(given.get("required", True), bool) else set()
    return {keyword: value for keyword, value in given.items() if keyword not in said}


def _variants(given: Mapping[str, Any], path: str, depth: int) -> Iterator[Property]:
    """The alternatives a value is read as: each listed type, and each typed branch of anyOf, oneOf and allOf."""
    said = given.get("type")
    for name in PROPERTY_TYPES:
        if isinstance(said, list) and name in said:
            yield _property(_only(given, name), path, depth)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for at, inner in enumerate(given[keyword] if isinstance(given.get(keyword), list) else []):
            if isinstance(inner, dict) and _has_type(inner):
                yield _property(inner, f"{path}.{keyword}[{at}]", depth)


def _only(given: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The definition reduced to the keywords of one type."""
    about = {"array": ("items",), "object": ("properties", "required"), "string": ("format",)}.get(kind, ())
    return {"type": kind, **{keyword: given[keyword] for keyword in about if keyword in given}}


def _has_type(inner: Mapping[str, Any]) -> bool:
    is_null = ("const" in inner and inner["const"] is None) or inner.get("enum") == [None]
    if inner.get("type") == "null" or is_null:
        return False
    return any(
        keyword in inner for keyword in ("type", "enum", "const", "anyOf", "oneOf", "properties", "items")
    )
