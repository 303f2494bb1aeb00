"""What a model was shown of known objects, which it may have copied from one to another. Pure."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

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
        if not self._all.find(value):
            return None
        mine = None if own is None else own.id
        holder = next((each for each in self._objects if each.id != mine and _ground(each).find(value)), None)
        return None if holder is None or (own and _ground(own).find(value)) else holder.name

    def names(self, value: Any) -> bool:
        """Whether an object is called so."""
        return isinstance(value, str) and name_key(value) in self._name_keys

    @cached_property
    def _all(self) -> Ground:
        # Where the primary chunk says all that a reply does, nobody asks for it; and what is not in it, is in none of them.
        return _ground(*self._objects)

    @cached_property
    def _name_keys(self) -> frozenset[str]:
        return frozenset(each.name_key for each in self._objects)


def _ground(*objects: KnownObject) -> Ground:
    values = (part for each in objects for value in each.properties.values() for part, _ in parts(value))
    return Ground(_BETWEEN.join(written_plainly(part) for part in values if not isinstance(part, bool)))
