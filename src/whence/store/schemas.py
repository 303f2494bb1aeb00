"""Extraction schemas, in immutable versions."""

from functools import partial
from typing import Any, LiteralString
from uuid import UUID

from whence.errors import ProjectNotFound, SchemaNotFound
from whence.models import SchemaVersion, now
from whence.store.graph.claim_moves import settle
from whence.store.graph.locks import WantedLocks, lock_in_order, retry_races, select_ids
from whence.store.pool import PagedQuery, Queries, Statements, fields_of, reader, records

_COLUMNS: LiteralString = "project_id, number, sha256, body, created_at"
_schema_of = reader(SchemaVersion, _COLUMNS)

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
_OF_PROJECT: LiteralString = "FROM kb.schemas WHERE project_id = %(project_id)s"
PAGED = PagedQuery(_schema_of, _COLUMNS, _OF_PROJECT, "number DESC")
INSERT: LiteralString = f"""
INSERT INTO kb.schemas ({_COLUMNS}) VALUES (%(project_id)s, %(number)s, %(sha256)s, %(body)s, %(created_at)s)
"""
# Takes no lock on the project's row: a caller that already shares it with others could not get it.
INSERT_FIRST: LiteralString = f"""
INSERT INTO kb.schemas ({_COLUMNS})
SELECT p.id, 1, %(sha256)s, %(body)s, %(created_at)s FROM kb.projects p WHERE p.id = %(project_id)s FOR KEY SHARE
ON CONFLICT (project_id, number) DO NOTHING
"""
# Returns the lists whose way of merging changes. A property that the schema does not have keeps its way, because its claims may not be
# renamed yet.
PUT_LISTS: LiteralString = """
WITH said AS (
    SELECT t.key AS type, f.key AS property_name, coalesce(f.value ->> 'merge' = 'replace', false) AS is_replaced
    FROM jsonb_each(%(body)s::jsonb -> 'object_types') t,
         jsonb_each(CASE jsonb_typeof(t.value -> 'properties') WHEN 'object' THEN t.value -> 'properties' END) f
), accumulated AS (
    DELETE FROM kb.replaced_lists l USING said s
    WHERE l.project_id = %(project_id)s AND l.type = s.type AND l.property_name = s.property_name AND NOT s.is_replaced
    RETURNING l.type, l.property_name
), replaced AS (
    INSERT INTO kb.replaced_lists (project_id, type, property_name)
    SELECT %(project_id)s, s.type, s.property_name FROM said s WHERE s.is_replaced
    ON CONFLICT DO NOTHING
    RETURNING type, property_name
)
SELECT type, property_name FROM accumulated UNION ALL SELECT type, property_name FROM replaced
"""
OBJECTS_WITH_LISTS: LiteralString = """
SELECT o.id FROM json_to_recordset(%(lists)s::json) AS l (type text, property_name text)
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.type = l.type
WHERE EXISTS (SELECT FROM kb.object_provenance p
              WHERE p.project_id = %(project_id)s AND p.object_id = o.id AND p.property_name = l.property_name)
"""


class Schemas(Statements):
    async def put(
        self, project_id: UUID, *, body: dict[str, Any], sha256: bytes
    ) -> tuple[SchemaVersion, bool]:
        """Add a version. Returns it and True, or the current version and False if the content is the same."""
        async with self._queries.transaction() as tx:
            if await tx.one(HOLD_PROJECT, {"project_id": project_id}) is None:
                raise ProjectNotFound(details={"project_id": str(project_id)})
            current = await Schemas(tx).current(project_id)
            if current is not None and current.sha256 == sha256:
                return current, False
            number = 1 if current is None else current.number + 1
            made = SchemaVersion(
                project_id=project_id, number=number, sha256=sha256, body=body, created_at=now()
            )
            await tx.run(INSERT, fields_of(made))
            await _settle_lists(tx, project_id, body)
            return made, True

    async def first(self, project_id: UUID, *, body: dict[str, Any], sha256: bytes) -> SchemaVersion:
        """The current version. If there is none, `body` becomes the first."""
        async with self._queries.transaction() as tx:
            schemas = Schemas(tx)
            if current := await schemas.current(project_id):
                return current
            made = SchemaVersion(project_id=project_id, number=1, sha256=sha256, body=body, created_at=now())
            if await tx.run(INSERT_FIRST, fields_of(made)):
                await _settle_lists(tx, project_id, body)
            if current := await schemas.current(project_id):
                return current
            raise ProjectNotFound(details={"project_id": str(project_id)})

    async def current(self, project_id: UUID) -> SchemaVersion | None:
        row = await self._queries.one(SELECT_CURRENT, {"project_id": project_id})
        return None if row is None else _schema_of(row)

    async def get(self, project_id: UUID, number: int) -> SchemaVersion:
        row = await self._queries.one(SELECT_ONE, {"project_id": project_id, "number": number})
        if row is None:
            raise SchemaNotFound(f"There is no schema v{number}", details={"version": f"v{number}"})
        return _schema_of(row)

    async def between(self, project_id: UUID, first: int, last: int) -> list[SchemaVersion]:
        await self.get(project_id, first)
        await self.get(project_id, last)
        params = {"project_id": project_id, "first": first, "last": last}
        return [_schema_of(row) for row in await self._queries.all(SELECT_BETWEEN, params)]

    async def page(self, project_id: UUID, *, limit: int, offset: int) -> tuple[list[SchemaVersion], int]:
        return await self._queries.page(PAGED, {"project_id": project_id}, limit=limit, offset=offset)


async def _settle_lists(tx: Queries, project_id: UUID, body: dict[str, Any]) -> None:
    """Recomputes the objects whose lists the schema merges differently."""
    rows = await tx.all(PUT_LISTS, {"project_id": project_id, "body": body})
    lists = records([{"type": kind, "property_name": name} for kind, name in rows])
    find = partial(select_ids, OBJECTS_WITH_LISTS, {"project_id": project_id, "lists": lists})

    async def attempt(inner: Queries) -> None:
        held = await lock_in_order(inner, project_id, WantedLocks(objects=find))
        await settle(inner, project_id, held.found)

    if rows:
        await tx.be_patient()
        await retry_races(tx, attempt)
