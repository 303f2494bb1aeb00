"""Names: whoever says something of an object names it, so that an object never outlives all claims of its name."""

import re
from collections.abc import Iterable
from typing import LiteralString
from uuid import UUID

from whence.store.graph import claims
from whence.store.graph.claims import PropertyClaim, Source
from whence.store.pool import Queries
from whence.types import Found

NAME = "name"

# A chunk that somebody holds is about to go, and is not waited for: its own removal comes here too.
# An alias that a merge made names the object only where there is no other name.
UNNAMED: LiteralString = """
SELECT p.object_id, p.said_of, coalesce(m.name, o.name), p.chunk_id, c.content, p.schema_number, p.extracted_at
FROM kb.graph_objects o
JOIN kb.object_provenance p ON p.project_id = %(project_id)s AND p.object_id = o.id
LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = p.said_of
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = p.chunk_id
WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s) AND NOT EXISTS (
    SELECT FROM kb.object_provenance n
    WHERE n.project_id = %(project_id)s AND n.object_id = o.id AND n.property_name = 'name'
      AND (n.said_of = o.id OR p.said_of <> o.id))
ORDER BY p.object_id, p.said_of <> o.id, strpos(c.content, coalesce(m.name, o.name)) = 0, p.extracted_at, p.id
FOR KEY SHARE OF c SKIP LOCKED
"""


async def name_unnamed(tx: Queries, project_id: UUID, object_ids: Iterable[UUID]) -> None:
    """Objects that are held and have lost the claims of their names: the name is that of a chunk that speaks of them.

    Preferred is one that has its words, then the oldest.
    """
    named: set[UUID] = set()
    for object_id, said_of, name, chunk_id, content, schema_number, extracted_at in await tx.all(
        UNNAMED, {"project_id": project_id, "ids": list(object_ids)}
    ):
        if object_id in named:
            continue
        named.add(object_id)
        source = Source(
            project_id=project_id, chunk_id=chunk_id, schema_number=schema_number, extracted_at=extracted_at
        )
        claim = PropertyClaim(
            object_id=object_id,
            said_of=said_of,
            property_name=NAME,
            operation="updated",
            found=found_name(name, content),
        )
        await tx.together(claims.put(source, [claim]))


def found_name(name: str, text: str | None, *, offset: int | None = 0) -> Found:
    """The name with its quote, where the text has it in so many words. `offset` is where the text begins in its chunk."""
    place = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text or "")
    if place is None or offset is None:
        return Found(value=name)
    return Found(value=name, quote=name, start_offset=offset + place.start(), end_offset=offset + place.end())
