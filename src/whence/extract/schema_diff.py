"""What changed between two versions of a schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from whence.extract.schema import ObjectType, Property, RelationshipType, Schema

Kind = Literal["object_type", "property", "relationship_type", "relationship_property"]
_Named = TypeVar("_Named", Property, ObjectType, RelationshipType)


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """A type, or a property of one."""

    kind: Kind
    name: str
    type: str | None = None
    """Of a property: the type it belongs to, by its name in the newer version where it has one."""
    was: str | None = None
    """Of what was renamed: its old name."""

    def body(self) -> dict[str, Any]:
        body = {"kind": self.kind, "type": self.type, "name": self.name, "was": self.was}
        return {key: value for key, value in body.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """The properties of a type that is new or gone are not listed one by one."""

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


def diff(old: Schema, new: Schema) -> Diff:
    """A rename is one that the newer version declares with `renamed_from`, or that leaves no doubt.

    There is no doubt when a type lost one property and got one with exactly the same definition, and that
    definition says more than a bare type does: two plain strings have nothing to tell them apart.
    """
    objects = _renames(old.object_types, new.object_types)
    between = _renames(old.relationship_types, new.relationship_types)
    found = _listed("object_type", old.object_types, new.object_types, objects)
    found += _listed("relationship_type", old.relationship_types, new.relationship_types, between)
    for name, kind in new.object_types.items():
        if before := old.object_types.get(objects.get(name, name)):
            found += _members("property", name, before, kind)
            if _own(before) != _own(kind):
                found += Diff(changed=(Element(kind="object_type", name=name),))
    for name, link in new.relationship_types.items():
        if was := old.relationship_types.get(between.get(name, name)):
            found += _members("relationship_property", name, was, link)
            if _ends(was, objects) != _ends(link, {}):
                found += Diff(changed=(Element(kind="relationship_type", name=name),))
    return found


def needs_model(change: Diff) -> bool:
    """Whether chunks must be read again: what is only gone or renamed can be put right without."""
    return bool(change.added or change.changed)


def _members(
    kind: Kind, type_name: str, old: ObjectType | RelationshipType, new: ObjectType | RelationshipType
) -> Diff:
    """What changed among the properties of a type that is in both versions."""
    renames = _renames(old.properties, new.properties) or _undoubted_rename(old.properties, new.properties)
    changed = tuple(
        Element(kind=kind, type=type_name, name=name)
        for name, after in new.properties.items()
        if (was := renames.get(name, name)) in old.properties
        and (
            old.properties[was].definition() != after.definition()
            or (was in old.required) != (name in new.required)
        )
    )
    return _listed(kind, old.properties, new.properties, renames, type_name=type_name) + Diff(changed=changed)


def _own(kind: ObjectType) -> object:
    """What a type says beside its properties."""
    return kind.description, kind.naming, kind.additional_properties


def _ends(kind: RelationshipType, renames: Mapping[str, str]) -> object:
    """Likewise; its ends under their newer names, because a renamed end is no other end."""
    newer = {was: name for name, was in renames.items()}
    sources = sorted(newer.get(name, name) for name in kind.sources)
    targets = sorted(newer.get(name, name) for name in kind.targets)
    return kind.description, sources, targets, kind.additional_properties


def _listed(
    kind: Kind,
    old: Mapping[str, object],
    new: Mapping[str, object],
    renames: Mapping[str, str],
    *,
    type_name: str | None = None,
) -> Diff:
    gone = set(old) - set(new) - set(renames.values())
    fresh = set(new) - set(old) - set(renames)
    return Diff(
        added=tuple(Element(kind=kind, type=type_name, name=name) for name in sorted(fresh)),
        removed=tuple(Element(kind=kind, type=type_name, name=name) for name in sorted(gone)),
        renamed=tuple(
            Element(kind=kind, type=type_name, name=name, was=was) for name, was in sorted(renames.items())
        ),
    )


def _renames(old: Mapping[str, _Named], new: Mapping[str, _Named]) -> dict[str, str]:
    """New names to old ones, as declared; a declaration of an earlier version says nothing any more."""
    return {
        name: thing.renamed_from
        for name, thing in new.items()
        if thing.renamed_from in old and name not in old and thing.renamed_from is not None
    }


def _undoubted_rename(old: Mapping[str, Property], new: Mapping[str, Property]) -> dict[str, str]:
    gone, fresh = sorted(set(old) - set(new)), sorted(set(new) - set(old))
    if len(gone) != 1 or len(fresh) != 1:
        return {}
    before, after = old[gone[0]], new[fresh[0]]
    says_more = bool(before.description or before.enum)
    return {fresh[0]: gone[0]} if says_more and before.definition() == after.definition() else {}
