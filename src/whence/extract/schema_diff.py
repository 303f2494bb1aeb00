"""Differences between versions of a schema."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Literal

from whence.extract.schema import ObjectType, Property, RelationshipType, Schema, SchemaType, canonical_json

Kind = Literal["object_type", "property", "relationship_type", "relationship_property"]
_TYPE_OF: Mapping[Kind, Kind] = {"property": "object_type", "relationship_property": "relationship_type"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """A type, or a property of one."""

    kind: Kind
    name: str
    type: str | None = None
    """The type that a property belongs to, by its name in the newer version if it is there."""
    was: str | None = None
    """The old name of a renamed element."""

    def body(self) -> dict[str, Any]:
        body = {"kind": self.kind, "type": self.type, "name": self.name, "was": self.was}
        return {key: value for key, value in body.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """An added or removed type is listed without its properties."""

    added: tuple[Element, ...] = ()
    removed: tuple[Element, ...] = ()
    renamed: tuple[Element, ...] = ()
    changed: tuple[Element, ...] = ()
    remerged: tuple[Element, ...] = ()
    """Lists whose way of merging changed."""

    def body(self) -> dict[str, Any]:
        return {part.name: [element.body() for element in getattr(self, part.name)] for part in fields(self)}


def diff(*versions: Schema) -> Diff:
    """Compares the first version with the last, following renames through all versions in between.

    A rename is declared with `renamed_from`, or is beyond doubt (`_find_undoubted_renames`). Two renames of an element count as one,
    from its first name to its last. An element that was removed and added again is both removed and added: the version in between
    had no place for it, and the new element may mean something else.
    """
    old, new = _list_elements(versions[0]), _list_elements(versions[-1])
    origins = {each: each for each in old}
    for before, after in pairwise(map(_list_elements, versions)):
        previous = _find_previous(before, after)
        origins = {each: origins[was] for each, was in previous.items() if was in origins}
    newer = {was: each for each, was in origins.items()}
    same = {each: each for each in new}
    return Diff(
        added=tuple(
            each
            for each in new
            if each not in origins and ((owner := _owner(each)) is None or owner in origins)
        ),
        removed=tuple(
            replace(each, type=newer[owner].name) if owner else each
            for each in old
            if each not in newer and ((owner := _owner(each)) is None or owner in newer)
        ),
        renamed=tuple(replace(each, was=was.name) for each, was in origins.items() if each.name != was.name),
        changed=tuple(
            each for each, was in origins.items() if _describe(was, old, newer) != _describe(each, new, same)
        ),
        remerged=tuple(each for each, was in origins.items() if _merge(old[was]) != _merge(new[each])),
    )


def needs_model(change: Diff) -> bool:
    """Whether chunks must be read again. Elements that were only removed, renamed or merged differently need no model."""
    return bool(change.added or change.changed)


def _list_elements(schema: Schema) -> dict[Element, SchemaType | Property]:
    """All types, and then all properties."""
    elements: dict[Element, SchemaType | Property] = {}
    for name in sorted(schema.object_types):
        elements[Element(kind="object_type", name=name)] = schema.object_types[name]
    for name in sorted(schema.relationship_types):
        elements[Element(kind="relationship_type", name=name)] = schema.relationship_types[name]
    kinds: tuple[tuple[Kind, Mapping[str, SchemaType]], ...] = (
        ("property", schema.object_types),
        ("relationship_property", schema.relationship_types),
    )
    for kind, types in kinds:
        for type_name, of in types.items():
            for name in sorted(of.properties):
                elements[Element(kind=kind, type=type_name, name=name)] = of.properties[name]
    return elements


def _owner(each: Element) -> Element | None:
    """The type of a property."""
    return Element(kind=_TYPE_OF[each.kind], name=each.type) if each.type else None


def _find_previous(
    old: Mapping[Element, SchemaType | Property], new: Mapping[Element, SchemaType | Property]
) -> dict[Element, Element]:
    """Maps each element to its name in the version before. A declaration left over from an earlier version is ignored."""
    previous: dict[Element, Element] = {}
    for each, element in new.items():
        owner = _owner(each)
        was = replace(each, type=previous[owner].name) if owner else each
        declared = replace(was, name=element.renamed_from or was.name)
        previous[each] = declared if was not in old and declared in old else was
    return previous | _find_undoubted_renames(old, new, previous)


def _find_undoubted_renames(
    old: Mapping[Element, SchemaType | Property],
    new: Mapping[Element, SchemaType | Property],
    previous: Mapping[Element, Element],
) -> dict[Element, Element]:
    """Renames without declaration: a type lost one property and gained one with the same definition and description.

    Anything less would be a guess.
    """
    kept = set(previous.values())
    fresh, gone = defaultdict[Element, list[Element]](list), defaultdict[Element, list[Element]](list)
    for each in new:
        if (owner := _owner(each)) and previous[each] not in old:
            fresh[previous[owner]].append(each)
    for was in old:
        if (owner := _owner(was)) and was not in kept:
            gone[owner].append(was)
    pairs = [(fresh[of][0], gone[of][0]) for of in fresh if len(fresh[of]) == len(gone[of]) == 1]
    return {
        each: was for each, was in pairs if old[was].description and _define(old[was]) == _define(new[each])
    }


def _describe(
    each: Element, elements: Mapping[Element, SchemaType | Property], newer: Mapping[Element, Element]
) -> object:
    """An element for comparison, a type without its properties.

    Ends have their newer names, because a renamed type is the same end. Removed types are left out.
    """
    element, owner = elements[each], _owner(each)
    if isinstance(element, Property):
        of = elements[owner] if owner else None
        return _define(element), of is not None and each.name in of.required
    own: object = None
    if isinstance(element, ObjectType):
        own = _define(element.name)
    elif isinstance(element, RelationshipType):
        names = {was.name: now.name for was, now in newer.items() if was.kind == "object_type"}
        own = [
            sorted(names[name] for name in ends if name in names) if ends else None
            for ends in (element.sources, element.targets)
        ]
    return element.description, element.additional_properties, own


def _merge(element: SchemaType | Property) -> str | None:
    return element.merge if isinstance(element, Property) else None


def _define(element: SchemaType | Property) -> str:
    """As JSON, because `True == 1` in Python."""
    return canonical_json(element.definition() if isinstance(element, Property) else element.body())
