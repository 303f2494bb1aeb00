"""Tombstones of objects that were deleted by the update of a document, in case its new version mentions them again.

A tombstone belongs to the document and is deleted with it. When any document names the object again, it comes back with its id
and with everything a person had merged into it. `locks.INSERT` does that where it creates objects.
"""

from collections.abc import Iterable, Mapping
from typing import LiteralString
from uuid import UUID

from whence.models import now
from whence.store.pool import Queries, records, uuids

MOST_REMEMBERED = 10_000
"""Maximum number of tombstones of one document, which may be updated every hour. The oldest are dropped first."""

# For locked objects without claims. Two may have the same name if a type was renamed in between; the later one is kept.
REMEMBER: LiteralString = """
WITH unclaimed AS (
    SELECT o.id, o.type, o.name, o.name_key, o.created_at, s.schema_number
    FROM json_to_recordset(%(given)s::json) AS s (id uuid, schema_number integer)
    JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = s.id
    WHERE NOT EXISTS (
        SELECT FROM kb.object_provenance p WHERE p.project_id = %(project_id)s AND p.object_id = o.id)
)
INSERT INTO kb.remembered_objects (project_id, id, document_id, object_id, type, name, name_key, created_at,
                                   merge_id, into_id, merged_at, gone_at, schema_number)
SELECT %(project_id)s, u.id, %(document_id)s::uuid, u.id, u.type, u.name, u.name_key, u.created_at,
       NULL::uuid, NULL::uuid, NULL::timestamptz, %(now)s::timestamptz, u.schema_number
FROM unclaimed u
UNION ALL
SELECT %(project_id)s, m.dropped_id, %(document_id)s::uuid, u.id, m.type, m.name, m.name_key, m.created_at,
       m.id, m.into_id, m.merged_at, %(now)s::timestamptz, u.schema_number
FROM unclaimed u
JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.object_id = u.id
ON CONFLICT (project_id, type, name_key) DO UPDATE
SET id = excluded.id, document_id = excluded.document_id, object_id = excluded.object_id, name = excluded.name,
    created_at = excluded.created_at, merge_id = excluded.merge_id, into_id = excluded.into_id,
    merged_at = excluded.merged_at, gone_at = excluded.gone_at, schema_number = excluded.schema_number
"""
OF_DOCUMENT: LiteralString = """
SELECT id FROM kb.remembered_objects
WHERE project_id = %(project_id)s AND document_id = %(document_id)s
"""
# Tombstones of any document with the name of one of the objects: the new tombstone replaces them.
NAMESAKES: LiteralString = """
SELECT g.id
FROM (SELECT o.type, o.name_key FROM kb.graph_objects o
      WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s::uuid[])
      UNION ALL
      SELECT m.type, m.name_key FROM kb.object_merges m
      WHERE m.project_id = %(project_id)s AND m.object_id = ANY(%(ids)s::uuid[])) k
JOIN kb.remembered_objects g ON g.project_id = %(project_id)s AND g.type = k.type AND g.name_key = k.name_key
"""
FORGET_LONGEST_GONE: LiteralString = """
DELETE FROM kb.remembered_objects
WHERE project_id = %(project_id)s AND id IN (
    SELECT r.id FROM kb.remembered_objects r
    WHERE r.project_id = %(project_id)s AND r.document_id = %(document_id)s
    ORDER BY r.gone_at DESC, r.id OFFSET %(most)s)
"""
_OLDER: LiteralString = """
WHERE g.project_id = %(project_id)s AND g.type = %(type)s AND g.schema_number < %(schema_number)s"""
OLDER: LiteralString = f"SELECT g.id FROM kb.remembered_objects g {_OLDER}"
FORGET_OLDER: LiteralString = f"DELETE FROM kb.remembered_objects g {_OLDER}"
# Together with the tombstones merged into them, and with their namesakes of the new type.
TO_BE_RETYPED: LiteralString = f"""
WITH older AS (
    SELECT g.id, g.name_key FROM kb.remembered_objects g {_OLDER}
)
SELECT id FROM older
UNION
SELECT a.id FROM older JOIN kb.remembered_objects a ON a.project_id = %(project_id)s AND a.object_id = older.id
UNION
SELECT n.id FROM older
JOIN kb.remembered_objects n ON n.project_id = %(project_id)s AND n.type = %(new_type)s AND n.name_key = older.name_key
"""
# A tombstone with a namesake of the new type becomes that one, as objects do. The tombstones merged into it follow.
UNITE: LiteralString = f"""
WITH met AS (
    DELETE FROM kb.remembered_objects g USING kb.remembered_objects n {_OLDER}
      AND n.project_id = %(project_id)s AND n.type = %(new_type)s AND n.name_key = g.name_key
    RETURNING g.id, n.id AS new_id, n.object_id
)
UPDATE kb.remembered_objects a
SET object_id = met.object_id, into_id = CASE WHEN a.into_id = met.id THEN met.new_id ELSE a.into_id END
FROM met
WHERE a.project_id = %(project_id)s AND a.object_id = met.id AND a.id NOT IN (SELECT id FROM met)
"""
RETYPE: LiteralString = f"""
UPDATE kb.remembered_objects g SET type = %(new_type)s, schema_number = %(schema_number)s {_OLDER}
"""


async def remember(
    tx: Queries, project_id: UUID, document_id: UUID, claimed_under: Mapping[UUID, int]
) -> None:
    """Writes tombstones for those of the locked objects that have no claims left. Each comes with the newest schema of its claims."""
    given = [{"id": ident, "schema_number": number} for ident, number in claimed_under.items()]
    params = {"project_id": project_id, "document_id": document_id, "now": now()}
    await tx.run(REMEMBER, {**params, "given": records(given)})


async def in_the_way(
    queries: Queries, project_id: UUID, document_id: UUID, object_ids: Iterable[UUID]
) -> set[UUID]:
    """Tombstones that `remember` may replace or drop: those of the document, and those with the names of the objects."""
    own = await queries.all(OF_DOCUMENT, {"project_id": project_id, "document_id": document_id})
    namesakes = await queries.all(NAMESAKES, {"project_id": project_id, "ids": uuids(object_ids)})
    return {row[0] for row in (*own, *namesakes)}


async def forget_longest_gone(
    tx: Queries, project_id: UUID, document_id: UUID, *, most: int = MOST_REMEMBERED
) -> None:
    """Keeps the newest `most` tombstones of the document, which are locked."""
    params = {"project_id": project_id, "document_id": document_id, "most": most}
    await tx.run(FORGET_LONGEST_GONE, params)
