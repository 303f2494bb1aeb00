"""Fits the properties of a proposal to the schema."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from whence.extract.outcome import Rejection
from whence.extract.schema import MAX_NAME, ObjectType, RelationshipType, spelled
from whence.extract.schema_reading import RESERVED
from whence.extract.values import WrongValue, fitted, is_nothing
from whence.text.names import identifier_key

_NAME = re.compile(r"(?=.*[^\W_])[^\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_OWN = frozenset(identifier_key(name) for name in (*RESERVED, "name"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    properties: Mapping[str, Any]
    rejections: tuple[Rejection, ...]


def fit_properties(
    given: Mapping[str, Any],
    kind: ObjectType | RelationshipType,
    *,
    where: str,
    in_use: Iterable[str] = (),
) -> Fitted:
    """`in_use` are names outside the schema that the object already has; they keep their spelling."""
    names = (*kind.properties, *in_use)
    properties: dict[str, Any] = {}
    rejections: list[Rejection] = []
    for said, value in given.items():
        name = spelled(said, names) or said.strip()
        place = f"{where}.{said[:MAX_NAME]}"
        if is_nothing(value) or name in properties:
            continue
        rejection = _misnamed(name, kind, place)
        if rejection is not None:
            rejections.append(rejection)
            continue
        try:
            result = fitted(value, kind.properties.get(name))
        except WrongValue as wrong:
            rejections.append(Rejection(where=place, reason="wrong_value", message=f"{name} must be {wrong}"))
            continue
        if not is_nothing(result):
            properties[name] = result
    return Fitted(properties=properties, rejections=tuple(rejections))


def missing(properties: Mapping[str, Any], kind: ObjectType | RelationshipType) -> tuple[str, ...]:
    return tuple(name for name in kind.required if name not in properties)


def _misnamed(name: str, kind: ObjectType | RelationshipType, place: str) -> Rejection | None:
    if name in kind.properties:
        return None
    if not kind.additional_properties:
        return Rejection(
            where=place, reason="unknown_property", message=f"{name[:MAX_NAME]} is not in the schema"
        )
    if len(name) > MAX_NAME or not _NAME.fullmatch(name) or identifier_key(name) in _OWN:
        return Rejection(where=place, reason="bad_property", message="this cannot be the name of a property")
    return None
