"""Differences between versions of a schema."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias, TypeVar

from whence.extract.schema import ObjectType, Property, RelationshipType, Schema, canonical_json

Kind = Literal["object_type", "property", "relationship_type", "relationship_property"]
_Named = TypeVar("_Named", Property, ObjectType, RelationshipType)
_Type = TypeVar("_Type", ObjectType, RelationshipType)
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
        return {
            "added": [element.body() for element in self.added],
            "removed": [element.body() for element in self.removed],
            "renamed": [element.body() for element in self.renamed],
            "changed": [element.body() for element in self.changed],
        }

    def __add__(self, other: "Diff") -> "Diff":
        return Diff(
            added=self.added + other.added,
            removed=self.removed + other.removed,
            renamed=self.renamed + other.renamed,
            changed=self.changed + other.changed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trace:
    """A type that every version has."""

    was: str
    """Its name in the first version."""
    properties: _Names

    def through(self, old: _Type, new: _Type) -> "_Trace":
        """Follows the type into the next version."""
        renames = _renames(old.properties, new.properties) or _undoubted_rename(
            old.properties, new.properties
        )
        return _Trace(was=self.was, properties=_followed(self.properties, new.properties, renames))


def diff(*versions: Schema) -> Diff:
    """Compares the first version with the last, following renames through all versions in between.

    A rename is declared with `renamed_from`, or is beyond doubt (`_undoubted_rename`). Two renames of an element count as one, from
    its first name to its last. An element that was removed and added again is both removed and added: the version in between had
    no place for it, and the new element may mean something else.
    """
    first, last = versions[0], versions[-1]
    objects = _traced([version.object_types for version in versions])
    between = _traced([version.relationship_types for version in versions])
    newer = {trace.was: name for name, trace in objects.items()}
    found = _listed("object_type", first.object_types, last.object_types, _firsts(objects))
    found += _listed("relationship_type", first.relationship_types, last.relationship_types, _firsts(between))
    for name, trace in objects.items():
        before, kind = first.object_types[trace.was], last.object_types[name]
        found += _members("property", name, before, kind, trace.properties)
        if _own(before) != _own(kind):
            found += Diff(changed=(Element(kind="object_type", name=name),))
    for name, trace in between.items():
        was, link = first.relationship_types[trace.was], last.relationship_types[name]
        found += _members("relationship_property", name, was, link, trace.properties)
        if _ends(was, newer) != _ends(link, {each: each for each in last.object_types}):
            found += Diff(changed=(Element(kind="relationship_type", name=name),))
    return found


def needs_model(change: Diff) -> bool:
    """Whether chunks must be read again. Removed and renamed elements need no model."""
    return bool(change.added or change.changed)


def _traced(versions: Sequence[Mapping[str, _Type]]) -> dict[str, _Trace]:
    """The types of the last version that every version has, under any name."""
    traces = {
        name: _Trace(was=name, properties={each: each for each in kind.properties})
        for name, kind in versions[0].items()
    }
    for old, new in pairwise(versions):
        origins = _followed({name: name for name in traces}, new, _renames(old, new))
        traces = {name: traces[was].through(old[was], new[name]) for name, was in origins.items()}
    return traces


def _followed(names: _Names, new: Mapping[str, object], renames: _Names) -> dict[str, str]:
    """Replaces the keys of `names` with the names in the next version."""
    return {name: names[was] for name in new if (was := renames.get(name, name)) in names}


def _firsts(traces: Mapping[str, _Trace]) -> dict[str, str]:
    return {name: trace.was for name, trace in traces.items()}


def _members(kind: Kind, type_name: str, old: _Type, new: _Type, names: _Names) -> Diff:
    """Differences between the properties of a type that every version has."""
    changed = tuple(
        Element(kind=kind, type=type_name, name=name)
        for name, was in names.items()
        if not _is_alike(old.properties[was], new.properties[name])
        or (was in old.required) != (name in new.required)
    )
    return _listed(kind, old.properties, new.properties, names, type_name=type_name) + Diff(changed=changed)


def _own(kind: ObjectType) -> object:
    """An object type without its properties, for comparison."""
    return kind.description, canonical_json(kind.name.definition()), kind.additional_properties


def _ends(kind: RelationshipType, newer: _Names) -> object:
    """A relationship type without its properties, for comparison.

    Ends have their newer names, because a renamed type is still the same end. Removed types are left out.
    """
    sources = sorted(newer[name] for name in kind.sources if name in newer) if kind.sources else None
    targets = sorted(newer[name] for name in kind.targets if name in newer) if kind.targets else None
    return kind.description, sources, targets, kind.additional_properties


def _listed(
    kind: Kind,
    old: Mapping[str, object],
    new: Mapping[str, object],
    names: _Names,
    *,
    type_name: str | None = None,
) -> Diff:
    fresh, gone = new.keys() - names.keys(), old.keys() - set(names.values())
    return Diff(
        added=tuple(Element(kind=kind, type=type_name, name=name) for name in sorted(fresh)),
        removed=tuple(Element(kind=kind, type=type_name, name=name) for name in sorted(gone)),
        renamed=tuple(
            Element(kind=kind, type=type_name, name=name, was=was)
            for name, was in sorted(names.items())
            if name != was
        ),
    )


def _renames(old: Mapping[str, _Named], new: Mapping[str, _Named]) -> dict[str, str]:
    """Maps new names to old ones, as declared. A declaration left over from an earlier version is ignored."""
    return {
        name: thing.renamed_from
        for name, thing in new.items()
        if thing.renamed_from in old and name not in old and thing.renamed_from is not None
    }


def _undoubted_rename(old: Mapping[str, Property], new: Mapping[str, Property]) -> dict[str, str]:
    """A rename without declaration: one property removed, one added, both with the same definition and description.

    Anything less would be a guess.
    """
    gone, fresh = sorted(set(old) - set(new)), sorted(set(new) - set(old))
    if len(gone) != 1 or len(fresh) != 1:
        return {}
    before, after = old[gone[0]], new[fresh[0]]
    return {fresh[0]: gone[0]} if before.description and _is_alike(before, after) else {}


def _is_alike(one: Property, other: Property) -> bool:
    """Compares as JSON, because `True == 1` in Python."""
    return canonical_json(one.definition()) == canonical_json(other.definition())
