"""What changed since a version of a project's schema, through every version on the way."""

from uuid import UUID

from whence.extract.schema import Schema
from whence.extract.schema_diff import Diff, diff
from whence.extract.schema_reading import read_schema
from whence.store import Store


async def versions_between(store: Store, project_id: UUID, first: int, last: int) -> dict[int, Schema]:
    """These two and all that came between them, the oldest first."""
    versions = await store.schemas.between(project_id, first, last)
    return {version.number: read_schema(version.body) for version in versions}


async def changes_between(store: Store, project_id: UUID, old: int, new: int) -> Diff:
    """Either of them may be the newer one."""
    versions = await versions_between(store, project_id, min(old, new), max(old, new))
    return diff(*(versions[number] for number in sorted(versions, reverse=new < old)))
