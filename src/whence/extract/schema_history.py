"""Versions of a project's schema, and the changes between two of them."""

from uuid import UUID

from whence.extract.schema import Schema
from whence.extract.schema_diff import Diff, diff
from whence.extract.schema_reading import read_schema
from whence.store import Store


async def versions_between(store: Store, project_id: UUID, first: int, last: int) -> dict[int, Schema]:
    """Both versions and all in between, the oldest first."""
    versions = await store.schemas.between(project_id, first, last)
    return {version.number: read_schema(version.body) for version in versions}


async def changes_between(store: Store, project_id: UUID, old: int, new: int) -> Diff:
    """The changes from `old` to `new`. `old` may be the newer version."""
    versions = await versions_between(store, project_id, min(old, new), max(old, new))
    return diff(*(versions[number] for number in sorted(versions, reverse=new < old)))
