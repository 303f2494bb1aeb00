"""Writes everything that was extracted from one chunk."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from whence.chunk_findings import (
    ChunkExtraction,
    FoundAlias,
    FoundObject,
    FoundRelationship,
    FoundValue,
)
from whence.errors import ChunkNotFound
from whence.models import (
    ObjectKey,
    Operation,
    TieKey,
)
from whence.store.graph import aliases, claims, ledger, rejected_claims
from whence.store.graph.claims import NamedObject, PropertyClaim, Tie, storable
from whence.store.graph.locks import (
    Changed,
    LockedObjects,
    WantedLocks,
    find_these,
    lock_in_order,
    retry_races,
)
from whence.store.graph.names import NAME, found_name_of_end, name_unnamed
from whence.store.pool import Params, Queries, fields_of, records

CONTENT: LiteralString = """
SELECT text FROM kb.chunks WHERE project_id = %(project_id)s AND id = %(chunk_id)s
"""
MENTIONED: LiteralString = """
SELECT p.said_of FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.chunk_id = %(chunk_id)s AND p.said_of = ANY(%(ids)s)
UNION
SELECT h.said_of FROM kb.hidden_claims h
WHERE h.project_id = %(project_id)s AND h.chunk_id = %(chunk_id)s AND h.said_of = ANY(%(ids)s)
"""
# A name that is claimed again under a newer schema gets that schema's number and keeps its quote.
NAMED_AGAIN: LiteralString = """
WITH hidden AS (
    UPDATE kb.hidden_claims h SET schema_number = %(schema_number)s
    WHERE h.project_id = %(project_id)s AND h.chunk_id = %(chunk_id)s AND h.said_of = ANY(%(ids)s)
      AND h.property_name = 'name' AND h.schema_number < %(schema_number)s
)
UPDATE kb.object_provenance p SET schema_number = %(schema_number)s
WHERE p.project_id = %(project_id)s AND p.chunk_id = %(chunk_id)s AND p.said_of = ANY(%(ids)s)
  AND p.property_name = 'name' AND p.schema_number < %(schema_number)s
"""
# Keeps a claim that hides another one.
_WITHDRAW: LiteralString = """
DELETE FROM kb.object_provenance p USING json_to_recordset(%(given)s::json) AS g (said_of uuid, property_name text)
WHERE p.project_id = %(project_id)s AND p.chunk_id = %(chunk_id)s AND p.said_of = g.said_of AND p.property_name = g.property_name
  AND NOT EXISTS (
    SELECT FROM kb.hidden_claims h
    LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = h.said_of
    WHERE h.project_id = %(project_id)s AND h.chunk_id = %(chunk_id)s AND h.property_name = p.property_name
      AND coalesce(m.object_id, h.said_of) = p.object_id)"""
WITHDRAW: LiteralString = f"{_WITHDRAW} AND p.property_name <> 'name'"
# Keeps the name while the chunk claims anything else about the object.
WITHDRAW_NAMES: LiteralString = f"""{_WITHDRAW} AND p.property_name = 'name'
  AND NOT EXISTS (SELECT FROM kb.object_provenance o
                  WHERE o.project_id = %(project_id)s AND o.chunk_id = %(chunk_id)s AND o.said_of = p.said_of AND o.id <> p.id)
  AND NOT EXISTS (SELECT FROM kb.hidden_claims o
                  WHERE o.project_id = %(project_id)s AND o.chunk_id = %(chunk_id)s AND o.said_of = p.said_of)
  AND NOT EXISTS (SELECT FROM kb.relationship_provenance r
                  WHERE r.project_id = %(project_id)s AND r.chunk_id = %(chunk_id)s AND p.said_of IN (r.said_source, r.said_target))
  AND NOT EXISTS (SELECT FROM kb.hidden_relationship_claims r
                  WHERE r.project_id = %(project_id)s AND r.chunk_id = %(chunk_id)s AND p.said_of IN (r.said_source, r.said_target))
"""
WITHDRAW_TIES: LiteralString = """
DELETE FROM kb.relationship_provenance p
USING json_to_recordset(%(given)s::json) AS g (type text, said_source uuid, said_target uuid), kb.relationships r
WHERE p.project_id = %(project_id)s AND p.chunk_id = %(chunk_id)s AND p.said_source = g.said_source AND p.said_target = g.said_target
  AND r.project_id = %(project_id)s AND r.id = p.relationship_id AND r.type = g.type
  AND NOT EXISTS (
    SELECT FROM kb.hidden_relationship_claims h
    LEFT JOIN kb.object_merges a ON a.project_id = %(project_id)s AND a.dropped_id = h.said_source
    LEFT JOIN kb.object_merges b ON b.project_id = %(project_id)s AND b.dropped_id = h.said_target
    WHERE h.project_id = %(project_id)s AND h.chunk_id = %(chunk_id)s AND h.type = r.type
      AND coalesce(a.object_id, h.said_source) = r.source_id AND coalesce(b.object_id, h.said_target) = r.target_id)
RETURNING p.relationship_id
"""
ALIASES: LiteralString = """
SELECT m.dropped_id, m.name FROM kb.object_merges m
WHERE m.project_id = %(project_id)s AND m.dropped_id = ANY(%(ids)s)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenChunk:
    objects: tuple[UUID | None, ...]
    """For each found object the object that has its claims, in the same order; None if its id is unknown."""
    themselves: tuple[UUID | None, ...]
    """The same, but None for a merged object, whose claims are not part of the other object's vector."""
    parts: tuple[UUID | None, ...]
    """For each found object its own id if it was merged, else None."""
    created: frozenset[UUID]
    changed: frozenset[UUID]
    """All objects with added or removed claims."""
    relationships: tuple[UUID | None, ...]
    """The id of each found relationship; None if an end is unknown, or if both ends were merged into one object."""
    rejected: int
    """Number of claims that a person had rejected before."""


async def write(tx: Queries, extraction: ChunkExtraction, *, is_reading: bool = True) -> WrittenChunk:
    """Writes objects, relationships, their claims and, for a reading, the ledger's row, in a transaction of its own for each chunk."""
    source, given_rejected = fields_of(extraction), extraction.rejected
    held, content, extraction = await retry_races(tx, lambda attempt: _lock(attempt, extraction))
    found = [_resolve_end(held, item.ref) for item in extraction.objects]
    ties = [_resolve_tie(held, item) for item in extraction.relationships]
    claimed = [
        claim
        for item, end in zip(extraction.objects, found, strict=True)
        if end is not None
        for claim in _make_claims(item, end, held, is_imported=extraction.is_imported)
    ]
    given = [tie for tie in ties if tie is not None]
    parted = await _withdraw_ties(tx, source, extraction.withdrawn_ties)
    keys = [{"said_of": said, "property_name": name} for said, name in extraction.withdrawn]
    withdrawn = {**source, "given": records(keys)}
    if keys:
        await tx.run(WITHDRAW, withdrawn)
    silent = _find_silent_ends(given, {claim.of.said for claim in claimed})
    called = [(end.said, each) for each in extraction.aliases if (end := _resolve_end(held, each.of))]
    claimed += await _name_ends(tx, source, held, silent, content, called=dict(called))
    about = {end.object_id for end in (*filter(None, found), *(claim.of for claim in claimed))}
    written = [*claims.put(source, claimed), *claims.put_ties(source, given), *aliases.put(source, called)]
    if keys:
        await tx.together([*written, (WITHDRAW_NAMES, withdrawn)])
        lost = {held.resolved.of_id[said] for said, _ in extraction.withdrawn if said in held.resolved.of_id}
        await name_unnamed(tx, extraction.project_id, lost)
        written, about = [], about | lost
    settled = claims.settle(extraction.project_id, about, {*parted, *(tie.id for tie in given)})
    await tx.together([*written, *settled, *([ledger.put(extraction)] if is_reading else [])])
    return WrittenChunk(
        objects=tuple(None if end is None else end.object_id for end in found),
        themselves=tuple(end.said if end and end.said == end.object_id else None for end in found),
        parts=tuple(end.said if end and end.said != end.object_id else None for end in found),
        created=held.created,
        changed=frozenset(about),
        relationships=tuple(None if tie is None else tie.id for tie in ties),
        rejected=extraction.rejected - given_rejected,
    )


async def _withdraw_ties(tx: Queries, source: Params, withdrawn: Sequence[TieKey]) -> list[UUID]:
    """Deletes the claims; returns the relationships that had them."""
    if not withdrawn:
        return []
    keys = [{"type": kind, "said_source": one, "said_target": other} for kind, one, other in withdrawn]
    return await tx.column(WITHDRAW_TIES, {**source, "given": records(keys)})


async def require_chunk(tx: Queries, project_id: UUID, chunk_id: UUID) -> str:
    """Returns the content of a chunk that is locked, if it exists."""
    row = await tx.one(CONTENT, {"project_id": project_id, "chunk_id": chunk_id})
    if row is None:
        raise ChunkNotFound(details={"chunk_id": str(chunk_id)})
    return str(row[0])


async def _lock(tx: Queries, extraction: ChunkExtraction) -> tuple[LockedObjects, str, ChunkExtraction]:
    """Also returns the content of the chunk, and the extraction without rejected findings."""
    rejected = await rejected_claims.active(tx, extraction)
    if rejected:
        extraction = await rejected_claims.withhold(tx, extraction)
    new: dict[ObjectKey, str] = {}
    known: set[UUID | ObjectKey] = {said for said, _ in extraction.withdrawn}
    known |= {end for _, *ends in extraction.withdrawn_ties for end in ends}
    for item in extraction.objects:
        if item.key is not None:
            new[_clean_key(item.key)] = item.name or item.key[1]
        elif item.id is not None:
            known.add(item.id)
    for tie in extraction.relationships:
        known |= {end if isinstance(end, UUID) else _clean_key(end) for end in (tie.source, tie.target)}
    wanted = WantedLocks(chunks=find_these(extraction.chunk_id), new=new, known=known)
    held = await lock_in_order(tx, extraction.project_id, wanted)
    content = await require_chunk(tx, extraction.project_id, extraction.chunk_id)
    if await rejected_claims.active(tx, extraction) != rejected:
        raise Changed
    return held, content, extraction


def _clean_key(key: ObjectKey) -> ObjectKey:
    return storable(key[0]), storable(key[1])


def _resolve_end(held: LockedObjects, which: UUID | ObjectKey | None) -> NamedObject | None:
    if isinstance(which, UUID):
        holder = held.resolved.of_id.get(which)
        return None if holder is None else NamedObject(holder, which)
    pair = None if which is None else held.resolved.of_key.get(_clean_key(which))
    return None if pair is None else NamedObject(*pair)


def _resolve_tie(held: LockedObjects, found: FoundRelationship) -> Tie | None:
    source, target = _resolve_end(held, found.source), _resolve_end(held, found.target)
    if source is None or target is None:
        return None
    if source.object_id == target.object_id and source.said != target.said:
        return None
    return Tie(source=source, target=target, found=found)


def _make_claims(
    item: FoundObject, end: NamedObject, held: LockedObjects, *, is_imported: bool
) -> Iterator[PropertyClaim]:
    properties: Mapping[str, FoundValue] = item.properties
    if item.key is not None and NAME not in properties:
        properties = {NAME: FoundValue(value=item.name or item.key[1]), **properties}
    for name, found in properties.items():
        yield PropertyClaim(
            of=end,
            property_name=name,
            operation=_choose_operation(found, is_new=end.object_id in held.created, is_imported=is_imported),
            found=found,
        )


def _choose_operation(found: FoundValue, *, is_new: bool, is_imported: bool) -> Operation:
    if is_imported and not found.is_confirmed:
        return "imported"
    return "created" if is_new else "confirmed" if found.is_confirmed else "updated"


def _find_silent_ends(ties: list[Tie], mentioned: set[UUID]) -> dict[NamedObject, Tie]:
    """Ends without other claims, each with one of its relationships."""
    ends = {tie.target: tie for tie in reversed(ties)} | {tie.source: tie for tie in reversed(ties)}
    return {end: tie for end, tie in ends.items() if end.said not in mentioned}


async def _name_ends(
    tx: Queries,
    source: Params,
    held: LockedObjects,
    ends: Mapping[NamedObject, Tie],
    content: str,
    *,
    called: Mapping[UUID, FoundAlias],
) -> list[PropertyClaim]:
    """A relationship counts as a mention of both names when the chunk claims nothing else about them. `called` are their aliases."""
    if not ends:
        return []
    said = {end.said for end in ends}
    params = {**source, "ids": list(said)}
    before = {row[0] for row in await tx.all(MENTIONED, params)}
    if before:
        await tx.run(NAMED_AGAIN, {**params, "ids": list(before)})
    merged = {**params, "ids": list(said - before - held.names.keys())}
    names = {**held.names, **dict(await tx.all(ALIASES, merged))}
    return [
        PropertyClaim(
            of=end,
            property_name=NAME,
            operation="confirmed" if tie.found.is_confirmed else "updated",
            found=_quote_alias(names[end.said], called[end.said])
            if end.said in called
            else found_name_of_end(names[end.said], tie.found.quote, tie.found.start_offset, content),
        )
        for end, tie in sorted(ends.items(), key=lambda item: item[0].said)
        if end.said not in before
    ]


def _quote_alias(name: str, called: FoundAlias) -> FoundValue:
    return FoundValue(
        value=name, quote=called.alias, start_offset=called.start_offset, end_offset=called.end_offset
    )
