"""Aliases: other names of objects in chunks. They are deleted with their chunks, and merges need not move them."""

from collections.abc import Iterable
from typing import LiteralString
from uuid import UUID

from whence.chunk_findings import FoundAlias
from whence.store.graph.claims import storable
from whence.store.pool import BoundStatement, Params, records
from whence.text.names import name_key

PUT: LiteralString = """
INSERT INTO kb.object_aliases (project_id, said_of, chunk_id, alias_key, alias)
SELECT %(project_id)s, a.said_of, %(chunk_id)s, a.alias_key, a.alias
FROM json_to_recordset(%(given)s::json) AS a (said_of uuid, alias_key text, alias text)
ON CONFLICT DO NOTHING
"""
# The aliases of an object become those of its namesake.
REASSIGN: LiteralString = """
WITH taken AS (
    DELETE FROM kb.object_aliases a WHERE a.project_id = %(project_id)s AND a.said_of = %(old_id)s RETURNING *
)
INSERT INTO kb.object_aliases (project_id, said_of, chunk_id, alias_key, alias)
SELECT project_id, %(new_id)s, chunk_id, alias_key, alias FROM taken
ON CONFLICT DO NOTHING
"""
# Aliases of the object `o` and of the objects merged into it.
OF_OBJECT: LiteralString = """ARRAY(
    SELECT min(a.alias) FROM kb.object_aliases a
    WHERE a.project_id = o.project_id AND a.said_of = ANY(o.id || ARRAY(
        SELECT m.dropped_id FROM kb.object_merges m WHERE m.project_id = o.project_id AND m.object_id = o.id))
      AND a.alias_key <> o.name_key GROUP BY a.alias_key ORDER BY a.alias_key) AS aliases"""
# Objects by their aliases and by the names of objects merged into them.
NAMES: LiteralString = """(
    SELECT coalesce(m.object_id, a.said_of) AS object_id, a.alias, a.alias_key, true AS is_alias
    FROM kb.object_aliases a
    LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = a.said_of
    WHERE a.project_id = %(project_id)s
    UNION ALL
    SELECT m.object_id, m.name, m.name_key, false FROM kb.object_merges m WHERE m.project_id = %(project_id)s)"""


def put(source: Params, found: Iterable[tuple[UUID, FoundAlias]]) -> list[BoundStatement]:
    """Stores aliases, each with the object that the chunk means. `source` has the project and the chunk."""
    given = [
        {"said_of": said, "alias_key": storable(name_key(each.alias)), "alias": storable(each.alias)}
        for said, each in found
    ]
    return [(PUT, {**source, "given": records(given)})] if given else []
