"""Converts JSON Schema to `Property`. Keywords that guide the reading of values become fields; the others are kept verbatim."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar, get_args

from whence.errors import InvalidSchema
from whence.extract.json_schema import mismatch, require_definition
from whence.extract.schema import (
    DATE_FORMATS,
    MAX_NAME,
    NUMBER_KEYWORDS,
    PROPERTY_TYPES,
    Choice,
    Merge,
    Property,
    PropertyType,
    SchemaType,
)
from whence.text.names import identifier_key

MAX_DEPTH = 3
"""Nesting depth of arrays and objects."""

_Element = TypeVar("_Element", bound=Property | SchemaType)
_NAME = re.compile(r"[^\W\d](?:[\w .\-]*[\w.\-])?")

_KEYWORDS_OF: Mapping[PropertyType, tuple[str, ...]] = {
    "object": (
        *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
        *("propertyNames", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas"),
    ),
    "array": (
        *("items", "prefixItems", "contains", "unevaluatedItems"),
        *("minItems", "maxItems", "uniqueItems", "minContains", "maxContains"),
    ),
    "number": NUMBER_KEYWORDS,
}
_COMBINING = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else")
_ANNOTATIONS = (
    *("title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly"),
    *("nullable", "$comment", "$schema", "$id", "$anchor", "$defs", "definitions"),
)
_NULLABLE = ("description", "enum", "format", "merge", "properties", "renamed_from", "required")
"""Keywords that may be null, which means absent."""


def wrong(path: str, provided: Any, expected: str) -> InvalidSchema:
    return InvalidSchema.at(path, provided=provided, expected=expected)


def read_named(
    given: Mapping[str, Any], path: str, read: Callable[[Any, str], _Element]
) -> dict[str, _Element]:
    """Reads types or properties. Refuses invalid and duplicate names, and a `renamed_from` that is still in use or given
    twice.
    """
    seen: dict[str, str] = {}
    for name in given:
        if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
            expected = f"a name of at most {MAX_NAME} letters, digits, _, -, dots and spaces that begins with a letter or _"
            raise wrong(path, name, expected)
        other = seen.setdefault(identifier_key(name), name)
        if other != name:
            raise wrong(f"{path}.{name}", name, f"another name: {other!r} is there already")
    elements = {name: read(body, f"{path}.{name}") for name, body in given.items()}
    taken = set(elements)
    for name, element in elements.items():
        old = element.renamed_from
        if old in taken:
            expected = "a name that nothing has any more, and each only once"
            raise wrong(f"{path}.{name}.renamed_from", old, expected)
        taken |= {old} if old else set()
    return elements


def read_properties(
    given: Mapping[str, Any], path: str, *, reserved: frozenset[str]
) -> tuple[dict[str, Property], set[str]]:
    """The properties of a type, and the names of the required ones."""
    for name, body in (given.get("properties") or {}).items():
        require_definition(_bare(body), f"{path}.properties.{name}")
    properties, required = _properties(given, path, depth=0)
    for name in properties:
        if name in reserved:
            expected = f"another name: {', '.join(sorted(reserved))} are reserved"
            raise wrong(f"{path}.properties.{name}", name, expected)
    for name in sorted(required - properties.keys() - {"name"}):
        expected = f"names of properties: {', '.join(properties) or 'there are none'}"
        raise wrong(f"{path}.required", name, expected)
    return properties, required


def _bare(body: Any) -> Any:
    """The definition as plain JSON Schema: without `renamed_from`, `merge`, a boolean `required`, and null for an absent keyword."""
    if not isinstance(body, dict):
        return body
    bare = {key: value for key, value in body.items() if value is not None or key not in _NULLABLE}
    bare.pop("renamed_from", None)
    bare.pop("merge", None)
    if isinstance(bare.get("required"), bool):
        del bare["required"]
    if isinstance(bare.get("properties"), dict):
        bare["properties"] = {name: _bare(each) for name, each in bare["properties"].items()}
    if "items" in bare:
        bare["items"] = _bare(bare["items"])
    return bare


def _properties(given: Mapping[str, Any], path: str, *, depth: int) -> tuple[dict[str, Property], set[str]]:
    """The properties of a type or an object, and the names of the required ones, listed or with `required: true`."""
    bodies = given.get("properties") or {}
    properties = read_named(bodies, f"{path}.properties", lambda body, place: _property(body, place, depth))
    listed = given.get("required")
    flagged = (name for name, body in bodies.items() if body.get("required") is True)
    return properties, {*(listed if isinstance(listed, list) else ()), *flagged}


def _property(given: Any, path: str, depth: int) -> Property:
    """`given` is a valid definition."""
    if depth > MAX_DEPTH:
        raise wrong(path, "…", f"nested at most {MAX_DEPTH} deep")
    if not isinstance(given, dict):
        raise wrong(path, given, "an object")
    kind = _type(given, path)
    _require_fitting(given, kind, path)
    fields, required = _properties(given, path, depth=depth + 1) if kind == "object" else ({}, set())
    has_items = kind == "array" and isinstance(given.get("items"), dict)
    choices = _choices(given.get("enum"), kind, f"{path}.enum")
    return Property(
        type=kind,
        format=(given.get("format") or "").strip() or None,
        enum=choices,
        description=(given.get("description") or "").strip(),
        items=_property(given["items"], f"{path}.items", depth + 1) if has_items else None,
        properties=fields,
        required=tuple(sorted(required)),
        keywords=_keywords(given, kind, has_items=has_items, has_choices=bool(choices)),
        variants=tuple(_variants(given, path, depth)) if kind is None else (),
        renamed_from=_read_old_name(given.get("renamed_from"), f"{path}.renamed_from"),
        merge=_read_merge(given.get("merge"), kind, path, depth),
    )


def _type(given: Mapping[str, Any], path: str) -> PropertyType | None:
    """The value of `type` without null, since any property may be missing; None for several types.

    Without `type`, the other keywords imply it.
    """
    if "type" not in given:
        return _implied_type(given, path)
    said = [given["type"]] if isinstance(given["type"], str) else given["type"]
    names = [name for name in PROPERTY_TYPES if name in said]
    if not names:
        raise wrong(f"{path}.type", given["type"], f"one of {', '.join(PROPERTY_TYPES)}")
    return names[0] if len(names) == 1 else None


def _implied_type(given: Mapping[str, Any], path: str) -> PropertyType | None:
    if given.get("enum") is not None:
        return _type_of(given["enum"])
    if "const" in given:
        if given["const"] is None:
            raise wrong(f"{path}.const", None, "a value: without one, a property is not there")
        return _type_of([given["const"]])
    if not given.keys().isdisjoint(_COMBINING):
        return None
    for kind, keywords in _KEYWORDS_OF.items():
        if not given.keys().isdisjoint(keywords):
            return kind
    return None if all(says_nothing(*each) for each in given.items()) else "string"


def says_nothing(keyword: str, said: Any) -> bool:
    """Whether the keyword does not constrain values. A definition with only such keywords allows any value."""
    if keyword == "required":
        return isinstance(said, bool)
    return keyword in _ANNOTATIONS or keyword in ("renamed_from", "merge") or keyword.startswith("x-")


def _type_of(values: Iterable[Any]) -> PropertyType | None:
    """The type that all values share; None if they differ."""
    there = [value for value in values if value is not None]
    most_specific: tuple[PropertyType, ...] = ("string", "boolean", "integer", "number", "array", "object")
    fitting = (kind for kind in most_specific if there and all(_is_of(value, kind) for value in there))
    return next(fitting, None)


def _is_of(value: Any, kind: PropertyType) -> bool:
    return mismatch(value, {"type": kind}) is None


def _require_fitting(given: Mapping[str, Any], kind: PropertyType | None, path: str) -> None:
    """Refuses keywords on types that do not have them."""
    for keyword, meant in (("items", "array"), ("properties", "object")):
        if keyword in given and kind not in (None, meant):
            raise wrong(f"{path}.{keyword}", given[keyword], f"left out: only an {meant} has it")
    if isinstance(given.get("required"), list) and kind not in (None, "object"):
        raise wrong(f"{path}.required", given["required"], "true or false")
    if given.get("format") in DATE_FORMATS and kind not in (None, "string"):
        raise wrong(f"{path}.format", given["format"], "left out: it is a format of a string")


def _read_old_name(said: Any, path: str) -> str | None:
    if said is not None and (not isinstance(said, str) or len(said) > MAX_NAME):
        raise wrong(path, said, f"a text of at most {MAX_NAME} characters")
    return said and said.strip()


def _read_merge(said: Any, kind: PropertyType | None, path: str, depth: int) -> Merge:
    if said is not None and (kind != "array" or depth > 0):
        raise wrong(f"{path}.merge", said, "left out: only an array that is a property itself has it")
    if said not in (None, *get_args(Merge)):
        raise wrong(f"{path}.merge", said, f"one of {', '.join(get_args(Merge))}")
    return said or "accumulate"


def _choices(said: list[Any] | None, kind: PropertyType | None, path: str) -> tuple[Choice, ...]:
    """The values of `enum` without null; empty if one is a list or an object. Raises InvalidSchema for duplicates."""
    if said is None:
        return ()
    given = [choice for choice in said if choice is not None]
    if not given:
        raise wrong(path, said, "a list with a value")
    for at, choice in enumerate(given):
        if kind is not None and not _is_of(choice, kind):
            raise wrong(f"{path}[{at}]", choice, f"of the type {kind}")
    if any(isinstance(choice, list | dict) for choice in given):
        return ()
    keys = [identifier_key(choice) if isinstance(choice, str) else choice for choice in given]
    if len({(isinstance(key, bool), key) for key in keys}) < len(keys):
        raise wrong(path, said, "a list without duplicates")
    return tuple(given)


def _keywords(
    given: Mapping[str, Any], kind: PropertyType | None, *, has_items: bool, has_choices: bool
) -> dict[str, Any]:
    """The keywords that no field of Property holds."""
    said = {"description", "renamed_from", "merge", "format"}
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
        for at, inner in enumerate(given.get(keyword, ())):
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
