"""Corrections by a person: values are checked against the schema, and changed objects are embedded again."""

import logging
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from whence.errors import BadInput, EmbeddingError
from whence.extract.embedding import embed_lacking
from whence.extract.rejections import Rejected
from whence.extract.schema import ObjectType, spelled
from whence.extract.schema_reading import read_schema
from whence.extract.values import WrongValue, fit_property, is_nothing
from whence.models import GraphObject, Word
from whence.providers import Embedders
from whence.store import Store
from whence.store.graph.curation import Curation

log = logging.getLogger("whence.extract")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Curator:
    store: Store
    embedders: Embedders

    async def set(self, found: GraphObject, given: Mapping[str, Any], by: Word) -> list[Curation]:
        """Sets properties. Raises `BadInput` for a value that the schema does not allow."""
        version = await self.store.schemas.current(found.project_id)
        types = read_schema(version.body).object_types if version else {}
        kind = types.get(found.type, ObjectType())
        values = dict(_fit(name, value, found, kind) for name, value in given.items())
        return await self.done(
            found.project_id, self.store.graph.curations.set(found.project_id, found.id, values, by)
        )

    async def done(self, project_id: UUID, change: Awaitable[T]) -> T:
        """Makes a change and embeds the objects that it changed. If embedding fails, the next extraction embeds them."""
        changed = await change
        try:
            await embed_lacking(self.store, self.embedders, project_id)
        except EmbeddingError as exc:
            log.warning("The corrected objects could not be embedded yet: %s", exc.message)
        return changed


def _fit(said: str, value: Any, found: GraphObject, kind: ObjectType) -> tuple[str, Any]:
    if spelled(said, ["name"]):
        raise _refused(
            "name", value, f"{found.name!r}: it identifies the object, which can be merged or rejected"
        )
    name = spelled(said, (*kind.properties, *found.properties)) or said.strip()
    try:
        result = fit_property(name, value, kind)
    except WrongValue as wrong:
        raise _refused(name, value, str(wrong)) from wrong
    except Rejected as rejected:
        known = ", ".join(kind.properties) or "none"
        raise _refused(name, value, f"a property of {found.type} ({known}): {rejected.message}") from rejected
    if is_nothing(result):
        raise _refused(name, value, "a value; to take one back, reject its claims")
    return name, result


def _refused(name: str, value: Any, expected: str) -> BadInput:
    details = {"field": f"set.{name}", "provided": value, "expected": expected}
    return BadInput(f"{name} must be {expected}", details=details)
