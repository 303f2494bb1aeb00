"""Claims of names. Every object has one, and a chunk that claims anything about an object counts as a source of its name."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, LiteralString
from uuid import UUID

from whence.chunk_findings import FoundValue
from whence.store.graph import claims
from whence.store.graph.claims import NamedObject, PropertyClaim
from whence.store.graph.order import JOIN_DOCUMENT, OLDEST_FIRST
from whence.store.pool import Queries, uuids

NAME = "name"

# Skips locked chunks: they are about to be deleted, and their removal looks for another name itself. The name of a merged object is used
# only if there is no other.
UNNAMED: LiteralString = f"""
SELECT p.object_id, p.said_of, coalesce(m.name, o.name), p.chunk_id, p.schema_number, p.extracted_at, c.text
FROM kb.graph_objects o
JOIN kb.object_provenance p ON p.project_id = %(project_id)s AND p.object_id = o.id
LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = p.said_of
{JOIN_DOCUMENT}
WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s) AND NOT EXISTS (
    SELECT FROM kb.object_provenance n
    WHERE n.project_id = %(project_id)s AND n.object_id = o.id AND n.property_name = 'name'
      AND (n.said_of = o.id OR p.said_of <> o.id))
ORDER BY p.object_id, p.said_of <> o.id, strpos(c.text, coalesce(m.name, o.name)) = 0, {OLDEST_FIRST}
FOR KEY SHARE OF c SKIP LOCKED
"""


def _select_ends(table: LiteralString) -> LiteralString:
    """Both ends of the relationship claims with one of the objects as an end. A union, because OR would not use the indexes."""
    columns: LiteralString = "p.chunk_id, p.quote, p.start_offset, p.schema_number, p.extracted_at, p.id"
    return f"""
    SELECT p.said_source AS said, {columns} FROM {table} p
    WHERE p.project_id = %(project_id)s AND p.said_source = ANY(%(said)s::uuid[])
    UNION
    SELECT p.said_target, {columns} FROM {table} p
    WHERE p.project_id = %(project_id)s AND p.said_target = ANY(%(said)s::uuid[])"""


# Chunks that claim a relationship of an object but nothing else about it.
SILENT: LiteralString = f"""
SELECT DISTINCT ON (e.said, e.chunk_id) o.id, e.said, coalesce(m.name, o.name), e.chunk_id, e.schema_number, e.extracted_at,
       e.quote, e.start_offset, c.text
FROM ({_select_ends("kb.relationship_provenance")} UNION {_select_ends("kb.hidden_relationship_claims")}) e
LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = e.said
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = coalesce(m.object_id, e.said)
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = e.chunk_id
WHERE NOT EXISTS (
    SELECT FROM kb.object_provenance p
    WHERE p.project_id = %(project_id)s AND p.chunk_id = e.chunk_id AND p.said_of = e.said)
  AND NOT EXISTS (
    SELECT FROM kb.hidden_claims h
    WHERE h.project_id = %(project_id)s AND h.chunk_id = e.chunk_id AND h.said_of = e.said)
ORDER BY e.said, e.chunk_id, e.extracted_at, e.id
"""


async def name_unnamed(tx: Queries, project_id: UUID, object_ids: Iterable[UUID]) -> None:
    """Gives locked objects without a claim of their name one from a chunk that mentions them.

    A chunk with the name in its text is preferred, then the oldest claim.
    """
    named: set[UUID] = set()
    for object_id, said_of, name, *source, content in await tx.all(
        UNNAMED, {"project_id": project_id, "ids": list(object_ids)}
    ):
        if object_id not in named:
            named.add(object_id)
            await _claim_name(
                tx, project_id, NamedObject(object_id, said_of), source, found_name(name, content)
            )


async def name_silent(tx: Queries, project_id: UUID, said: Iterable[UUID]) -> None:
    """A relationship counts as a mention of both names when the chunk claims nothing else about them."""
    rows = await tx.all(SILENT, {"project_id": project_id, "said": uuids(said)})
    for object_id, said_of, name, *source, quote, offset, content in rows:
        found = found_name_of_end(name, quote, offset, content)
        await _claim_name(tx, project_id, NamedObject(object_id, said_of), source, found)


async def _claim_name(
    tx: Queries, project_id: UUID, of: NamedObject, source: Sequence[Any], found: FoundValue
) -> None:
    claim = PropertyClaim(of=of, property_name=NAME, operation="updated", found=found)
    columns = dict(zip(("chunk_id", "schema_number", "extracted_at"), source, strict=True))
    await tx.together(claims.put({"project_id": project_id, **columns}, [claim]))


def found_name(name: str, text: str | None, *, offset: int | None = 0) -> FoundValue:
    """The name, with a quote if the text contains it. `offset` is the position of the text in its chunk."""
    if text is None or offset is None:
        return FoundValue(value=name)
    place = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) or _compile_loosely(name).search(text)
    if place is None:
        return FoundValue(value=name)
    return FoundValue(
        value=name, quote=place[0], start_offset=offset + place.start(), end_offset=offset + place.end()
    )


def found_name_of_end(name: str, quote: str | None, offset: int | None, content: str) -> FoundValue:
    """The name of one end of a relationship, quoted from the relationship's quote or else from the chunk."""
    found = found_name(name, quote, offset=offset)
    return found if found.quote is not None else found_name(name, content)


def _compile_loosely(name: str) -> re.Pattern[str]:
    """Matches the name in any case and with any white space between its words."""
    words = r"\s+".join(map(re.escape, name.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
