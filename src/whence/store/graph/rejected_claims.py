"""Claims that a person rejected. They are not in the graph until the rejection is undone.

A rejection applies to texts, not to chunks (`kb.rejected_texts`): the same text in another chunk or document is rejected, too; other text
is not. A rejected claim moves to `kb.rejected_claims` or `kb.rejected_relationship_claims`, which know its object by type and name. New
claims of a rejected text go there directly.
"""

import json
from dataclasses import replace
from typing import Any, LiteralString
from uuid import UUID

from whence.chunk_findings import (
    ChunkExtraction,
    FoundObject,
    FoundRelationship,
    FoundValue,
    RejectedProposal,
)
from whence.models import (
    new_id,
)
from whence.store import grounds
from whence.store.graph.claims import (
    COLUMNS,
    TIE_COLUMNS,
    NamedObject,
    PropertyClaim,
    encode_claim,
    encode_tie,
    storable,
)
from whence.store.graph.names import NAME
from whence.store.pool import Queries, records

REASON = "rejected_by_person"
_MOST = 20
"""Maximum number of rejections stored with a reading."""
_NOBODY = UUID(int=0)

# Type and name of every object and merged object, by id.
KEYS: LiteralString = """(
    SELECT o.id, o.type, o.name, o.name_key FROM kb.graph_objects o WHERE o.project_id = %(project_id)s
    UNION ALL
    SELECT m.dropped_id, m.type, m.name, m.name_key FROM kb.object_merges m WHERE m.project_id = %(project_id)s)"""


def _normalise(value: LiteralString) -> LiteralString:
    return rf"lower(regexp_replace({value}::text, '\s', '', 'g'))"


def rejects_claim(key: LiteralString, claim: LiteralString) -> LiteralString:
    """Whether the rejected text `t` applies to a claim of the chunk `c`. Values are compared without case and white space. A list matches
    if any element does.
    """
    return f"""t.project_id = %(project_id)s AND t.content_hash = c.content_hash
          AND (t.type, t.name_key) = ({key}.type, {key}.name_key) AND t.relationship_type IS NULL
          AND (t.property_name IS NULL OR (t.property_name = {claim}.property_name
               AND (t.value IS NULL OR {_normalise("t.value")} = {_normalise(f"{claim}.value")}
                    OR (jsonb_typeof(t.value) = 'array'
                        AND {_normalise("t.value")}::jsonb @> {_normalise(f"{claim}.value")}::jsonb))))"""


def _rejects_tie(source: LiteralString, target: LiteralString, kind: LiteralString) -> LiteralString:
    """Like `rejects_claim`, for a relationship. `source` and `target` are pairs of a type and a name."""
    return f"""t.project_id = %(project_id)s AND t.content_hash = c.content_hash AND (
            (t.property_name IS NULL AND t.relationship_type IS NULL AND (t.type, t.name_key) IN (({source}), ({target})))
            OR (t.relationship_type = {kind} AND (t.type, t.name_key) = ({source})
                AND (t.target_type, t.target_key) = ({target})))"""


_ENDS_OF_HIDDEN: LiteralString = _rejects_tie("s.type, s.name_key", "e.type, e.name_key", "h.type")
TAKE_CLAIMS: LiteralString = f"""
WITH taken AS (
    DELETE FROM kb.hidden_claims h USING kb.chunks c, {KEYS} k
    WHERE h.project_id = %(project_id)s AND h.said_of = ANY(%(said)s::uuid[])
      AND c.project_id = %(project_id)s AND c.id = h.chunk_id AND k.id = h.said_of
      AND EXISTS (SELECT FROM kb.rejected_texts t WHERE t.is_active AND {rejects_claim("k", "h")})
    RETURNING h.*, k.type, k.name, k.name_key
), moved AS ({grounds.rejected()}
)
INSERT INTO kb.rejected_claims ({COLUMNS}, type, name, name_key) SELECT {COLUMNS}, type, name, name_key FROM taken
"""
_TIE_KEYS: LiteralString = "type, source_type, source_name, source_key, target_type, target_name, target_key"
TAKE_TIES: LiteralString = f"""
WITH taken AS (
    DELETE FROM kb.hidden_relationship_claims h USING kb.chunks c, {KEYS} s, {KEYS} e
    WHERE h.project_id = %(project_id)s AND (h.said_source = ANY(%(said)s::uuid[]) OR h.said_target = ANY(%(said)s::uuid[]))
      AND c.project_id = %(project_id)s AND c.id = h.chunk_id AND s.id = h.said_source AND e.id = h.said_target
      AND EXISTS (SELECT FROM kb.rejected_texts t WHERE t.is_active AND {_ENDS_OF_HIDDEN})
    RETURNING h.*, s.type AS source_type, s.name AS source_name, s.name_key AS source_key,
              e.type AS target_type, e.name AS target_name, e.name_key AS target_key
), moved AS ({grounds.rejected()}
)
INSERT INTO kb.rejected_relationship_claims ({TIE_COLUMNS}, {_TIE_KEYS}) SELECT {TIE_COLUMNS}, {_TIE_KEYS} FROM taken
"""


def _match_freed(match: LiteralString) -> LiteralString:
    """Claims rejected by the undone correction and by no other."""
    return f"""c.project_id = %(project_id)s AND c.id = r.chunk_id
      AND EXISTS (SELECT FROM kb.rejected_texts t WHERE t.curation_id = %(curation_id)s AND {match})
      AND NOT EXISTS (SELECT FROM kb.rejected_texts t WHERE t.is_active AND {match})"""


_FREED_CLAIM: LiteralString = _match_freed(rejects_claim("r", "r"))
_FREED_TIE: LiteralString = _match_freed(
    _rejects_tie("r.source_type, r.source_key", "r.target_type, r.target_key", "r.type")
)
# Returns the type and name of the objects to restore, and the chunks of their claims.
FREED: LiteralString = f"""
SELECT r.type, r.name_key, r.name, r.chunk_id FROM kb.rejected_claims r, kb.chunks c
WHERE r.project_id = %(project_id)s AND {_FREED_CLAIM}
UNION
SELECT e.type, e.name_key, e.name, r.chunk_id FROM kb.rejected_relationship_claims r, kb.chunks c, LATERAL (
    VALUES (r.source_type, r.source_key, r.source_name), (r.target_type, r.target_key, r.target_name)) e (type, name_key, name)
WHERE r.project_id = %(project_id)s AND {_FREED_TIE}
"""
GIVE_CLAIMS_BACK: LiteralString = f"""
WITH taken AS (
    DELETE FROM kb.rejected_claims r USING kb.chunks c, {KEYS} k
    WHERE r.project_id = %(project_id)s AND k.type = r.type AND k.name_key = r.name_key AND {_FREED_CLAIM}
    RETURNING r.*, k.id AS meant
)
INSERT INTO kb.hidden_claims ({COLUMNS}) SELECT {COLUMNS.replace("said_of", "meant")} FROM taken
"""
_MEANT_TIE: LiteralString = TIE_COLUMNS.replace("said_source", "source").replace("said_target", "target")
GIVE_TIES_BACK: LiteralString = f"""
WITH taken AS (
    DELETE FROM kb.rejected_relationship_claims r USING kb.chunks c, {KEYS} s, {KEYS} e
    WHERE r.project_id = %(project_id)s AND s.type = r.source_type AND s.name_key = r.source_key
      AND e.type = r.target_type AND e.name_key = r.target_key AND {_FREED_TIE}
    RETURNING r.*, s.id AS source, e.id AS target
)
INSERT INTO kb.hidden_relationship_claims ({TIE_COLUMNS}, type) SELECT {_MEANT_TIE}, type FROM taken
"""

_TEXTS: LiteralString = """
INSERT INTO kb.rejected_texts (project_id, id, curation_id, content_hash, type, name_key, schema_number, property_name, value,
                               relationship_type, target_type, target_key)
SELECT %(project_id)s, gen_random_uuid(), %(curation_id)s, t.*
FROM (SELECT c.content_hash, k.type, k.name_key, max(h.schema_number) AS schema_number,"""
# Rejects the texts under every name of the object, because the next extraction may use another name.
_FROM_CLAIMS: LiteralString = f"""
      FROM kb.hidden_claims h
      JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = h.chunk_id
      JOIN {KEYS} k ON k.id = ANY(%(said)s::uuid[])
      WHERE h.project_id = %(project_id)s AND h.said_of = ANY(%(said)s::uuid[])"""
_ANYTHING: LiteralString = "NULL::text, NULL::jsonb, NULL::text, NULL::text, NULL::text"
TEXTS_OF_OBJECT: LiteralString = f"{_TEXTS} {_ANYTHING} {_FROM_CLAIMS} GROUP BY 1, 2, 3) t"
TEXTS_OF_PROPERTY: LiteralString = f"""{_TEXTS} h.property_name, NULL::jsonb, NULL::text, NULL::text, NULL::text {_FROM_CLAIMS}
        AND h.property_name = %(property_name)s GROUP BY 1, 2, 3, 5) t"""
TEXTS_OF_CLAIM: LiteralString = f"""{_TEXTS} h.property_name, h.value, NULL::text, NULL::text, NULL::text {_FROM_CLAIMS}
        AND h.id = %(claim_id)s GROUP BY 1, 2, 3, 5, 6) t"""
# A chunk that claims anything about an object also claims its name.
TEXTS_OF_NAME: LiteralString = (
    f"""{_TEXTS} {_ANYTHING} {_FROM_CLAIMS} AND h.id = %(claim_id)s GROUP BY 1, 2, 3) t"""
)
TEXTS_OF_RELATIONSHIP: LiteralString = f"""{_TEXTS} NULL::text, NULL::jsonb, h.type, e.type, e.name_key
      FROM kb.hidden_relationship_claims h
      JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = h.chunk_id
      JOIN {KEYS} k ON k.id = ANY(%(sources)s::uuid[])
      JOIN {KEYS} e ON e.id = ANY(%(targets)s::uuid[])
      WHERE h.project_id = %(project_id)s AND h.type = %(relationship_type)s
        AND h.said_source = ANY(%(sources)s::uuid[]) AND h.said_target = ANY(%(targets)s::uuid[])
      GROUP BY 1, 2, 3, h.type, e.type, e.name_key) t"""

# Objects of the rejected texts, for a rejection that takes effect again.
OBJECTS_OF_TEXTS: LiteralString = """
WITH named AS (
    SELECT t.type, t.name_key FROM kb.rejected_texts t
    WHERE t.project_id = %(project_id)s AND t.curation_id = %(curation_id)s
    UNION
    SELECT t.target_type, t.target_key FROM kb.rejected_texts t
    WHERE t.project_id = %(project_id)s AND t.curation_id = %(curation_id)s
)
SELECT o.id FROM named n
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.type = n.type AND o.name_key = n.name_key
UNION
SELECT m.object_id FROM named n
JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.type = n.type AND m.name_key = n.name_key
"""
# Locks the rejections of this text, so that none is undone meanwhile.
ACTIVE: LiteralString = """
SELECT t.id FROM kb.chunks c
JOIN kb.rejected_texts t ON t.project_id = %(project_id)s AND t.content_hash = c.content_hash
WHERE c.project_id = %(project_id)s AND c.id = %(chunk_id)s AND t.is_active
ORDER BY t.id FOR KEY SHARE OF c FOR SHARE OF t
"""
_SAME_CLAIM: LiteralString = """r.project_id = %(project_id)s AND r.chunk_id = f.chunk_id AND r.type = f.type AND r.name_key = f.name_key
      AND r.property_name = f.property_name"""
# Stores found claims of a rejected text. They replace those of an earlier reading, unless these are equal.
WITHHOLD_CLAIMS: LiteralString = f"""
WITH found AS (
    SELECT g.*, %(project_id)s::uuid AS project_id, %(chunk_id)s::uuid AS chunk_id, %(schema_number)s::integer AS schema_number,
           %(extracted_at)s::timestamptz AS extracted_at
    FROM (SELECT g.place, g.id, g.said_of, g.property_name, g.operation, g.value::jsonb AS value, g.quote, g.start_offset,
                 g.end_offset, g.is_grounded, g.elements::jsonb AS elements, coalesce(k.type, g.type) AS type,
                 coalesce(k.name, g.name) AS name, coalesce(k.name_key, g.name_key) AS name_key
          FROM json_to_recordset(%(given)s::json)
               AS g (place integer, id uuid, said_of uuid, type text, name text, name_key text, property_name text, operation text,
                     value text, quote text, start_offset integer, end_offset integer, is_grounded boolean, elements text)
          LEFT JOIN {KEYS} k ON k.id = g.said_of) g
    JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = %(chunk_id)s
    WHERE EXISTS (SELECT FROM kb.rejected_texts t WHERE t.is_active AND {rejects_claim("g", "g")})
), same AS (
    UPDATE kb.rejected_claims r SET schema_number = f.schema_number FROM found f
    WHERE {_SAME_CLAIM} AND r.value = f.value
    RETURNING f.id
), replaced AS (
    DELETE FROM kb.rejected_claims r USING found f
    WHERE {_SAME_CLAIM} AND f.id NOT IN (SELECT id FROM same)
), kept AS (
    INSERT INTO kb.rejected_claims ({COLUMNS}, type, name, name_key) SELECT {COLUMNS}, type, name, name_key FROM found
    WHERE id NOT IN (SELECT id FROM same)
)
SELECT place, name, property_name, value FROM found ORDER BY place, property_name
"""
_FOUND_TIE: LiteralString = _rejects_tie(
    "g.source_type, g.source_key", "g.target_type, g.target_key", "g.type"
)
_SAME_TIE: LiteralString = """r.project_id = %(project_id)s AND r.chunk_id = f.chunk_id AND r.type = f.type
      AND (r.source_type, r.source_key) = (f.source_type, f.source_key)
      AND (r.target_type, r.target_key) = (f.target_type, f.target_key)"""
WITHHOLD_TIES: LiteralString = f"""
WITH found AS (
    SELECT g.*, %(project_id)s::uuid AS project_id, %(chunk_id)s::uuid AS chunk_id, %(schema_number)s::integer AS schema_number,
           %(extracted_at)s::timestamptz AS extracted_at
    FROM (SELECT g.place, g.id, g.type, g.said_source, g.said_target, g.properties::jsonb AS properties, g.quote,
                 g.start_offset, g.end_offset, g.is_grounded, CASE WHEN g.is_confirmed THEN 'confirmed' ELSE 'created' END AS operation,
                 coalesce(s.type, g.source_type) AS source_type,
                 coalesce(s.name, g.source_key) AS source_name, coalesce(s.name_key, g.source_key) AS source_key,
                 coalesce(e.type, g.target_type) AS target_type, coalesce(e.name, g.target_key) AS target_name,
                 coalesce(e.name_key, g.target_key) AS target_key
          FROM json_to_recordset(%(given)s::json)
               AS g (place integer, id uuid, type text, said_source uuid, said_target uuid, source_type text, source_key text,
                     target_type text, target_key text, properties text, quote text, start_offset integer, end_offset integer,
                     is_confirmed boolean, is_grounded boolean)
          LEFT JOIN {KEYS} s ON s.id = g.said_source
          LEFT JOIN {KEYS} e ON e.id = g.said_target) g
    JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = %(chunk_id)s
    WHERE EXISTS (SELECT FROM kb.rejected_texts t WHERE t.is_active AND {_FOUND_TIE})
), same AS (
    UPDATE kb.rejected_relationship_claims r SET schema_number = f.schema_number FROM found f
    WHERE {_SAME_TIE} AND r.properties = f.properties
    RETURNING f.id
), replaced AS (
    DELETE FROM kb.rejected_relationship_claims r USING found f
    WHERE {_SAME_TIE} AND f.id NOT IN (SELECT id FROM same)
), kept AS (
    INSERT INTO kb.rejected_relationship_claims ({TIE_COLUMNS}, {_TIE_KEYS}) SELECT {TIE_COLUMNS}, {_TIE_KEYS} FROM found
    WHERE id NOT IN (SELECT id FROM same)
)
SELECT place, source_name, type, to_jsonb(target_name) FROM found ORDER BY place
"""


async def active(tx: Queries, extraction: ChunkExtraction) -> list[UUID]:
    """The rejections of the chunk's text. Until the transaction ends, none of them can be undone."""
    params = {"project_id": extraction.project_id, "chunk_id": extraction.chunk_id}
    return await tx.column(ACTIVE, params)


async def withhold(tx: Queries, extraction: ChunkExtraction) -> ChunkExtraction:
    """Removes the findings that a person rejected and adds them to the rejections of the reading.

    The lists keep their length: a rejected object is left without id and key, a rejected relationship without ends.
    """
    source = {
        name: getattr(extraction, name)
        for name in ("project_id", "chunk_id", "schema_number", "extracted_at")
    }
    claims = [each for place, item in enumerate(extraction.objects) for each in _encode_object(place, item)]
    ties = [_encode_tie(place, tie) for place, tie in enumerate(extraction.relationships)]
    rejected = await tx.all(WITHHOLD_CLAIMS, {**source, "given": records(claims)})
    parted = await tx.all(WITHHOLD_TIES, {**source, "given": records(ties)})
    if not rejected and not parted:
        return extraction
    gone = {(row[0], row[2]) for row in rejected}
    cut = {row[0] for row in parted}
    rows = [*rejected, *parted]
    return replace(
        extraction,
        objects=tuple(
            _drop_rejected(item, {name for at, name in gone if at == place})
            for place, item in enumerate(extraction.objects)
        ),
        relationships=tuple(
            replace(tie, source=_NOBODY, target=_NOBODY) if place in cut else tie
            for place, tie in enumerate(extraction.relationships)
        ),
        rejected=extraction.rejected + len(rows),
        rejections=(*extraction.rejections, *(_describe(*row[1:]) for row in rows))[:_MOST],
        reason=(f"{extraction.reason}, " if extraction.reason else "Rejected: ") + f"{REASON} {len(rows)}",
    )


def _encode_object(place: int, item: FoundObject) -> list[dict[str, Any]]:
    said = item.id if item.key is None and item.id is not None else new_id()
    kind, key = item.key or (None, None)
    name = item.name or key
    own = {NAME: FoundValue(value=name)} if item.key is not None else {}
    named = {"place": place, "type": storable(kind), "name": storable(name), "name_key": storable(key)}
    return [
        named
        | encode_claim(
            PropertyClaim(of=NamedObject(said, said), property_name=each, operation="updated", found=found)
        )
        for each, found in {**own, **item.properties}.items()
    ]


def _encode_tie(place: int, tie: FoundRelationship) -> dict[str, Any]:
    ends: dict[str, Any] = {}
    for name, end in (("source", tie.source), ("target", tie.target)):
        kind, key = (None, None) if isinstance(end, UUID) else end
        said = end if isinstance(end, UUID) else new_id()
        ends |= {f"said_{name}": said, f"{name}_type": storable(kind), f"{name}_key": storable(key)}
    return {"place": place, "type": storable(tie.type), **encode_tie(tie), **ends}


def _drop_rejected(item: FoundObject, gone: set[str]) -> FoundObject:
    """A claim of the name is rejected only together with all others."""
    if not gone:
        return item
    left = {name: found for name, found in item.properties.items() if storable(name) not in gone}
    return (
        FoundObject() if NAME in gone or (not left and item.key is None) else replace(item, properties=left)
    )


def _describe(name: str, what: str, value: Any) -> RejectedProposal:
    return RejectedProposal(
        where=f"{name}.{what}",
        reason=REASON,
        message="a person rejected this claim of the chunk's text",
        proposed=json.dumps(value, ensure_ascii=False)[:300],
    )
