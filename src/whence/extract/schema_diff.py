"""Differences between versions of a schema."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from whence.extract.schema import ObjectType, Property, RelationshipType, Schema, SchemaType, canonical_json

Kind = Literal["object_type", "property", "relationship_type", "relationship_property"]
_PROPERTY_OF: Mapping[Kind, Kind] = {"object_type": "property", "relationship_type": "relationship_property"}
_Names: TypeAlias = Mapping[str, str]
"""Maps names in the last version to names in the first, for elements in both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """A type, or a property of one."""

    kind: Kind
    name: str
    type: str | None = None
    """The type that a property belongs to, by its name in the newer version if it has one."""
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

    def body(self) -> dict[str, Any]:
        return {part.name: [element.body() for element in getattr(self, part.name)] for part in fields(self)}

    def __add__(self, other: "Diff") -> "Diff":
        return Diff(
            **{part.name: getattr(self, part.name) + getattr(other, part.name) for part in fields(self)}
        )


@dataclass(frozen=True, slots=True)
class _Trace:
    """A type that every version has."""

    was: str
    """Its name in the first version."""
    properties: _Names


def diff(*versions: Schema) -> Diff:
    """Compares the first version with the last, following renames through all versions in between.

    A rename is declared with `renamed_from`, or is beyond doubt (`_undoubted_rename`). Two renames of an element count as one, from
    its first name to its last. An element that was removed and added again is both removed and added: the version in between had
    no place for it, and the new element may mean something else.
    """
    first, last = versions[0], versions[-1]
    objects = _trace([version.object_types for version in versions])
    between = _trace([version.relationship_types for version in versions])
    newer = {trace.was: name for name, trace in objects.items()}
    same = {name: name for name in last.object_types}
    parts: list[tuple[Kind, dict[str, _Trace], Mapping[str, SchemaType], Mapping[str, SchemaType]]] = [
        ("object_type", objects, first.object_types, last.object_types),
        ("relationship_type", between, first.relationship_types, last.relationship_types),
    ]
    found = Diff()
    for kind, traces, old, new in parts:
        found += _list_elements(kind, old, new, {name: trace.was for name, trace in traces.items()})
    for kind, traces, old, new in parts:
        for name, trace in traces.items():
            was, now = old[trace.was], new[name]
            found += _compare_properties(_PROPERTY_OF[kind], name, was, now, trace.properties)
            if _own(was, newer) != _own(now, same):
                found += Diff(changed=(Element(kind=kind, name=name),))
    return found


def needs_model(change: Diff) -> bool:
    """Whether chunks must be read again. Removed and renamed elements need no model."""
    return bool(change.added or change.changed)


def _trace(versions: Sequence[Mapping[str, SchemaType]]) -> dict[str, _Trace]:
    """The types of the last version that every version has, under any name."""
    traces = {
        name: _Trace(name, {each: each for each in kind.properties}) for name, kind in versions[0].items()
    }
    for old, new in pairwise(versions):
        origins = _follow({name: name for name in traces}, new, _renames(old, new))
        traces = {name: _trace_properties(traces[was], old[was], new[name]) for name, was in origins.items()}
    return traces


def _trace_properties(trace: _Trace, old: SchemaType, new: SchemaType) -> _Trace:
    renames = _renames(old.properties, new.properties) or _undoubted_rename(old.properties, new.properties)
    return _Trace(trace.was, _follow(trace.properties, new.properties, renames))


def _follow(names: _Names, new: Mapping[str, object], renames: _Names) -> dict[str, str]:
    """Replaces the keys of `names` with the names in the next version."""
    return {name: names[was] for name in new if (was := renames.get(name, name)) in names}


def _renames(
    old: Mapping[str, object], new: Mapping[str, Property] | Mapping[str, SchemaType]
) -> dict[str, str]:
    """Maps new names to old ones, as declared. A declaration left over from an earlier version is ignored."""
    declared = {name: element.renamed_from for name, element in new.items() if name not in old}
    return {name: was for name, was in declared.items() if was is not None and was in old}


def _undoubted_rename(old: Mapping[str, Property], new: Mapping[str, Property]) -> dict[str, str]:
    """A rename without declaration: one property removed, one added, both with the same definition and description.

    Anything less would be a guess.
    """
    gone, fresh = sorted(set(old) - set(new)), sorted(set(new) - set(old))
    if len(gone) != 1 or len(fresh) != 1:
        return {}
    before, after = old[gone[0]], new[fresh[0]]
    return {fresh[0]: gone[0]} if before.description and _is_alike(before, after) else {}


def _compare_properties(kind: Kind, type_name: str, old: SchemaType, new: SchemaType, names: _Names) -> Diff:
    changed = tuple(
        Element(kind=kind, type=type_name, name=name)
        for name, was in names.items()
        if not _is_alike(old.properties[was], new.properties[name])
        or (was in old.required) != (name in new.required)
    )
    return _list_elements(kind, old.properties, new.properties, names, type_name) + Diff(changed=changed)


def _list_elements(
    kind: Kind,
    old: Mapping[str, object],
    new: Mapping[str, object],
    names: _Names,
    type_name: str | None = None,
) -> Diff:
    def elements(listed: Iterable[str]) -> tuple[Element, ...]:
        return tuple(Element(kind=kind, type=type_name, name=name) for name in sorted(listed))

    return Diff(
        added=elements(new.keys() - names.keys()),
        removed=elements(old.keys() - set(names.values())),
        renamed=tuple(
            Element(kind=kind, type=type_name, name=name, was=was)
            for name, was in sorted(names.items())
            if name != was
        ),
    )


def _own(kind: SchemaType, newer: _Names) -> object:
    """A type without its properties, for comparison.

    Ends have their newer names, because a renamed type is still the same end. Removed types are left out.
    """
    own: object = None
    if isinstance(kind, ObjectType):
        own = canonical_json(kind.name.definition())
    elif isinstance(kind, RelationshipType):
        own = [
            sorted(newer[name] for name in ends if name in newer) if ends else None
            for ends in (kind.sources, kind.targets)
        ]
    return kind.description, kind.additional_properties, own


def _is_alike(one: Property, other: Property) -> bool:
    """Compares as JSON, because `True == 1` in Python."""
    return canonical_json(one.definition()) == canonical_json(other.definition())
