"""Extraction schemas, in immutable versions."""

from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from whence.errors import ProjectNotFound, SchemaNotFound
from whence.models import SchemaVersion, now
from whence.store.pool import Queries, Row

_COLUMNS: LiteralString = "project_id, number, sha256, body, created_at"

# Serialises writers by the project's row. NO KEY UPDATE does not conflict with the locks of foreign keys.
HOLD_PROJECT: LiteralString = "SELECT id FROM kb.projects WHERE id = %(project_id)s FOR NO KEY UPDATE"
SELECT_CURRENT: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.schemas WHERE project_id = %(project_id)s ORDER BY number DESC LIMIT 1
"""
SELECT_ONE: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.schemas WHERE project_id = %(project_id)s AND number = %(number)s
"""
SELECT_BETWEEN: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.schemas
WHERE project_id = %(project_id)s AND number BETWEEN %(first)s AND %(last)s ORDER BY number
"""
SELECT_PAGE: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.schemas WHERE project_id = %(project_id)s
ORDER BY number DESC LIMIT %(limit)s OFFSET %(offset)s
"""
COUNT: LiteralString = "SELECT count(*) FROM kb.schemas WHERE project_id = %(project_id)s"
INSERT: LiteralString = f"""
INSERT INTO kb.schemas ({_COLUMNS}) VALUES (%(project_id)s, %(number)s, %(sha256)s, %(body)s, %(now)s)
"""


class Schemas:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def put(
        self, project_id: UUID, *, body: dict[str, Any], sha256: bytes
    ) -> tuple[SchemaVersion, bool]:
        """Add a version. Returns it and True, or the current version and False if the content is the same."""
        async with self._queries.transaction() as tx:
            if await tx.one(HOLD_PROJECT, {"project_id": project_id}) is None:
                raise ProjectNotFound(details={"project_id": str(project_id)})
            row = await tx.one(SELECT_CURRENT, {"project_id": project_id})
            current = None if row is None else _schema(row)
            if current is not None and current.sha256 == sha256:
                return current, False
            made = SchemaVersion(
                project_id=project_id,
                number=1 if current is None else current.number + 1,
                sha256=sha256,
                body=body,
                created_at=now(),
            )
            params = {"project_id": project_id, "number": made.number, "sha256": sha256}
            await tx.run(INSERT, {**params, "body": Jsonb(body), "now": made.created_at})
            return made, True

    async def first(self, project_id: UUID, *, body: dict[str, Any], sha256: bytes) -> SchemaVersion:
        """The current version. If there is none, `body` becomes the first."""
        async with self._queries.transaction() as tx:
            if await tx.one(HOLD_PROJECT, {"project_id": project_id}) is None:
                raise ProjectNotFound(details={"project_id": str(project_id)})
            schemas = Schemas(tx)
            return (
                await schemas.current(project_id)
                or (await schemas.put(project_id, body=body, sha256=sha256))[0]
            )

    async def current(self, project_id: UUID) -> SchemaVersion | None:
        row = await self._queries.one(SELECT_CURRENT, {"project_id": project_id})
        return None if row is None else _schema(row)

    async def get(self, project_id: UUID, number: int) -> SchemaVersion:
        row = await self._queries.one(SELECT_ONE, {"project_id": project_id, "number": number})
        if row is None:
            raise SchemaNotFound(f"There is no schema v{number}", details={"version": f"v{number}"})
        return _schema(row)

    async def between(self, project_id: UUID, first: int, last: int) -> list[SchemaVersion]:
        """All versions from `first` to `last`, oldest first."""
        await self.get(project_id, first)
        await self.get(project_id, last)
        params = {"project_id": project_id, "first": first, "last": last}
        return [_schema(row) for row in await self._queries.all(SELECT_BETWEEN, params)]

    async def page(self, project_id: UUID, *, limit: int, offset: int) -> tuple[list[SchemaVersion], int]:
        """Versions, newest first, and their total number."""
        params = {"project_id": project_id, "limit": limit, "offset": offset}
        rows = await self._queries.all(SELECT_PAGE, params)
        total = await self._queries.one(COUNT, {"project_id": project_id})
        return [_schema(row) for row in rows], int(total[0]) if total else 0


def _schema(row: Row) -> SchemaVersion:
    return SchemaVersion(project_id=row[0], number=row[1], sha256=row[2], body=row[3], created_at=row[4])
