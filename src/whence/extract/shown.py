"""What a model was shown of known objects, which it may have copied from one to another. Pure."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any
from uuid import UUID

from whence.extract.base import KnownObject
from whence.extract.grounding import Ground, written_plainly
from whence.extract.values import parts
from whence.names import name_key

_BETWEEN = "\n|\n"
"""No phrase reaches from one value to the next."""


class Shown:
    def __init__(self, objects: Sequence[KnownObject]) -> None:
        self._objects = tuple(objects)

    def holder(self, value: Any, *, own: KnownObject | None) -> str | None:
        """The name of another object that has this value, or one in which it stands; None where `own` has it, too."""
        if own is not None and _ground(own).find(value):
            return None
        mine = None if own is None else own.id
        return next(
            (name for ident, name, ground in self._grounds if ident != mine and ground.find(value)), None
        )

    def names(self, value: Any) -> bool:
        """Whether an object is called so."""
        return isinstance(value, str) and name_key(value) in self._name_keys

    @cached_property
    def _grounds(self) -> list[tuple[UUID, str, Ground]]:
        # Where the primary chunk says all that a reply does, nobody asks for these.
        return [(each.id, each.name, _ground(each)) for each in self._objects]

    @cached_property
    def _name_keys(self) -> frozenset[str]:
        return frozenset(each.name_key for each in self._objects)


def _ground(of: KnownObject) -> Ground:
    values = [part for each in of.properties.values() for part, _ in parts(each)]
    return Ground(_BETWEEN.join(written_plainly(part) for part in values if not isinstance(part, bool)))
