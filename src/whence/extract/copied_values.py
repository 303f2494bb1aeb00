"""Values of known objects that a model saw and may have copied to other objects. Pure."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from whence.extract.contracts import KnownObject
from whence.extract.grounding import Ground, written_plainly
from whence.extract.specificity import is_specific
from whence.extract.values import parts
from whence.text.names import name_key

_BETWEEN = "\n|\n"
"""Separates values, so that no phrase matches across two."""


class Shown:
    def __init__(self, objects: Sequence[KnownObject]) -> None:
        self._objects = tuple(objects)

    def holder(self, value: Any, *, own: KnownObject | None) -> str | None:
        """The name of another object with a value that contains this one, if this one is specific.

        None if `own` has it, too.
        """
        if not self._all.find(value):
            return None
        for each in self._objects:
            if own is not None and each.id == own.id:
                continue
            if found := _ground(each).find(value):
                is_own = own is not None and _ground(own).find(value) is not None
                return each.name if is_specific(value, found.quote) and not is_own else None
        return None

    def names(self, value: Any) -> bool:
        """Whether the value is the name of an object."""
        return isinstance(value, str) and name_key(value) in self._name_keys

    @cached_property
    def _all(self) -> Ground:
        # Built on demand: often the primary chunk has every value. One search here replaces one search per object.
        return _ground(*self._objects)

    @cached_property
    def _name_keys(self) -> frozenset[str]:
        return frozenset(each.name_key for each in self._objects)


def _ground(*objects: KnownObject) -> Ground:
    values = (part for each in objects for value in each.properties.values() for part, _ in parts(value))
    return Ground(_BETWEEN.join(written_plainly(part) for part in values if not isinstance(part, bool)))
