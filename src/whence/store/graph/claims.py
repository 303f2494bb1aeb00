"""Writes claims, and computes the current values of objects and relationships from them.

`order` defines which claims are current. The values are stored with the object or relationship for fast reads, and computed again whenever
claims come or go. A value that a person set takes precedence over all claims.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, LiteralString, NamedTuple, TypeVar
from uuid import UUID, uuid5

from whence.chunk_findings import FoundRelationship, FoundValue
from whence.models import new_id, now
from whence.store.graph.order import JOIN_DOCUMENT, rank, rank_ties, with_hidden_lists
from whence.store.graph.order import settle as settle_values
from whence.store.graph.set_values import set_values_of
from whence.store.pool import BoundStatement, Params, records, uuids

COLUMNS: LiteralString = """project_id, id, said_of, chunk_id, property_name, operation, schema_number, value, quote,
    start_offset, end_offset, is_grounded, elements, extracted_at"""
"""Columns of shown and hidden claims. A shown claim also has the object."""
TIE_COLUMNS: LiteralString = """project_id, id, said_source, said_target, chunk_id, operation, schema_number, properties, quote,
    start_offset, end_offset, is_grounded, extracted_at"""
"""The same for relationships. A shown claim also has the relationship, a hidden one its type."""

# Replaces earlier claims of the chunk about the same property. A claim with an unchanged value keeps its date, because reading a
# chunk again does not make it newer. If the chunk has claims about two merged objects, the older is hidden, as by the merge itself, and
# comes back when the merge is undone. A claim of the object's own name is always shown before that of a merged object.
PUT: LiteralString = f"""
WITH sent AS (
    SELECT * FROM json_to_recordset(%(given)s::json)
         AS c (id uuid, object_id uuid, said_of uuid, property_name text, operation text, value text, quote text,
               start_offset integer, end_offset integer, is_grounded boolean, elements text)
), replaced AS (
    DELETE FROM kb.hidden_claims h USING sent g
    WHERE h.project_id = %(project_id)s AND h.chunk_id = %(chunk_id)s AND h.said_of = g.said_of
      AND h.property_name = g.property_name
    RETURNING h.id, h.said_of, h.property_name, h.operation, h.value, h.extracted_at
), given AS (
    SELECT %(project_id)s::uuid AS project_id, coalesce(r.id, g.id) AS id, g.object_id, g.said_of, %(chunk_id)s::uuid AS chunk_id,
           g.property_name, coalesce(r.operation, g.operation) AS operation, %(schema_number)s::integer AS schema_number,
           g.value::jsonb AS value, g.quote, g.start_offset, g.end_offset, g.is_grounded, g.elements::jsonb AS elements,
           coalesce(r.extracted_at, %(extracted_at)s) AS extracted_at, r.id IS NOT NULL AS is_kept
    FROM sent g
    LEFT JOIN LATERAL (
        SELECT e.id, e.operation, e.extracted_at FROM replaced e
        WHERE e.said_of = g.said_of AND e.property_name = g.property_name AND e.value = g.value::jsonb AND NOT EXISTS (
            SELECT FROM kb.object_provenance p
            WHERE p.project_id = %(project_id)s AND p.object_id = g.object_id AND p.chunk_id = %(chunk_id)s
              AND p.property_name = g.property_name AND p.said_of = g.said_of)
        ORDER BY e.extracted_at DESC, e.id DESC LIMIT 1) r ON true
), behind AS (
    SELECT g.* FROM given g
    JOIN kb.object_provenance p ON p.project_id = %(project_id)s AND p.object_id = g.object_id
                               AND p.chunk_id = %(chunk_id)s AND p.property_name = g.property_name
    WHERE (g.is_kept OR g.property_name = 'name') AND p.said_of <> g.said_of
      AND (g.property_name = 'name' AND p.said_of = p.object_id, p.extracted_at, p.id)
        > (g.property_name = 'name' AND g.said_of = g.object_id, g.extracted_at, g.id)
), standing AS (
    SELECT * FROM given g WHERE g.id NOT IN (SELECT id FROM behind)
), covered AS (
    SELECT p.* FROM standing g
    JOIN kb.object_provenance p ON p.project_id = %(project_id)s AND p.object_id = g.object_id
                               AND p.chunk_id = %(chunk_id)s AND p.property_name = g.property_name
    WHERE p.said_of <> g.said_of
), hidden AS (
    INSERT INTO kb.hidden_claims ({COLUMNS})
    SELECT {COLUMNS} FROM behind UNION ALL SELECT {COLUMNS} FROM covered
)
INSERT INTO kb.object_provenance AS p ({COLUMNS}, object_id)
SELECT {COLUMNS}, object_id FROM standing
ON CONFLICT (project_id, object_id, chunk_id, property_name) DO UPDATE
SET id = CASE WHEN p.said_of = excluded.said_of THEN p.id ELSE excluded.id END,
    said_of = excluded.said_of,
    operation = CASE WHEN p.said_of <> excluded.said_of THEN excluded.operation
                     WHEN p.extracted_at = excluded.extracted_at OR p.value = excluded.value THEN p.operation
                     ELSE 'updated' END,
    schema_number = excluded.schema_number, value = excluded.value, quote = excluded.quote, start_offset = excluded.start_offset,
    end_offset = excluded.end_offset, is_grounded = excluded.is_grounded, elements = excluded.elements,
    extracted_at = CASE WHEN (p.said_of, p.value) = (excluded.said_of, excluded.value)
                        THEN p.extracted_at ELSE excluded.extracted_at END
"""
PUT_RELATIONSHIPS: LiteralString = """
INSERT INTO kb.relationships (project_id, id, type, source_id, target_id, created_at, updated_at)
SELECT %(project_id)s, r.id, r.type, r.source_id, r.target_id, %(now)s, %(now)s
FROM json_to_recordset(%(given)s::json) AS r (id uuid, type text, source_id uuid, target_id uuid)
ON CONFLICT (project_id, source_id, type, target_id) DO NOTHING
"""
PUT_TIES: LiteralString = f"""
WITH sent AS (
    SELECT c.*, r.id AS relationship_id
    FROM json_to_recordset(%(given)s::json)
         AS c (id uuid, type text, source_id uuid, target_id uuid, said_source uuid, said_target uuid, properties text,
               quote text, start_offset integer, end_offset integer, is_confirmed boolean, is_grounded boolean)
    JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.source_id = c.source_id AND r.type = c.type
                           AND r.target_id = c.target_id
), replaced AS (
    DELETE FROM kb.hidden_relationship_claims h USING sent g
    WHERE h.project_id = %(project_id)s AND h.chunk_id = %(chunk_id)s AND h.said_source = g.said_source
      AND h.type = g.type AND h.said_target = g.said_target
    RETURNING h.id, h.type, h.said_source, h.said_target, h.operation, h.properties, h.extracted_at
), given AS (
    SELECT %(project_id)s::uuid AS project_id, coalesce(r.id, g.id) AS id, g.type, g.relationship_id, g.said_source, g.said_target,
           %(chunk_id)s::uuid AS chunk_id, %(schema_number)s::integer AS schema_number, g.properties::jsonb AS properties,
           g.quote, g.start_offset, g.end_offset, g.is_grounded,
           coalesce(r.operation, CASE WHEN g.is_confirmed THEN 'confirmed' WHEN %(is_imported)s THEN 'imported' WHEN EXISTS (
               SELECT FROM kb.relationship_provenance o
               WHERE o.project_id = %(project_id)s AND o.relationship_id = g.relationship_id) THEN 'updated'
               ELSE 'created' END) AS operation,
           coalesce(r.extracted_at, %(extracted_at)s) AS extracted_at, r.id IS NOT NULL AS is_kept
    FROM sent g
    LEFT JOIN LATERAL (
        SELECT e.id, e.operation, e.extracted_at FROM replaced e
        WHERE (e.type, e.said_source, e.said_target, e.properties)
            = (g.type, g.said_source, g.said_target, g.properties::jsonb) AND NOT EXISTS (
            SELECT FROM kb.relationship_provenance p
            WHERE p.project_id = %(project_id)s AND p.relationship_id = g.relationship_id AND p.chunk_id = %(chunk_id)s
              AND (p.said_source, p.said_target) = (g.said_source, g.said_target))
        ORDER BY e.extracted_at DESC, e.id DESC LIMIT 1) r ON true
), behind AS (
    SELECT g.* FROM given g
    JOIN kb.relationship_provenance p ON p.project_id = %(project_id)s AND p.relationship_id = g.relationship_id
                                     AND p.chunk_id = %(chunk_id)s
    WHERE g.is_kept AND (p.said_source, p.said_target) <> (g.said_source, g.said_target)
      AND (p.extracted_at, p.id) > (g.extracted_at, g.id)
), standing AS (
    SELECT * FROM given g WHERE g.id NOT IN (SELECT id FROM behind)
), covered AS (
    SELECT p.*, g.type FROM standing g
    JOIN kb.relationship_provenance p ON p.project_id = %(project_id)s AND p.relationship_id = g.relationship_id
                                     AND p.chunk_id = %(chunk_id)s
    WHERE (p.said_source, p.said_target) <> (g.said_source, g.said_target)
), hidden AS (
    INSERT INTO kb.hidden_relationship_claims ({TIE_COLUMNS}, type)
    SELECT {TIE_COLUMNS}, type FROM behind UNION ALL SELECT {TIE_COLUMNS}, type FROM covered
)
INSERT INTO kb.relationship_provenance AS p ({TIE_COLUMNS}, relationship_id)
SELECT {TIE_COLUMNS}, relationship_id FROM standing
ON CONFLICT (project_id, relationship_id, chunk_id) DO UPDATE
SET id = CASE WHEN (p.said_source, p.said_target) = (excluded.said_source, excluded.said_target)
              THEN p.id ELSE excluded.id END,
    said_source = excluded.said_source, said_target = excluded.said_target,
    operation = CASE WHEN (p.said_source, p.said_target) <> (excluded.said_source, excluded.said_target) THEN excluded.operation
                     WHEN p.properties = excluded.properties THEN p.operation ELSE 'updated' END,
    schema_number = excluded.schema_number, properties = excluded.properties, quote = excluded.quote,
    start_offset = excluded.start_offset, end_offset = excluded.end_offset, is_grounded = excluded.is_grounded,
    extracted_at = CASE WHEN (p.said_source, p.said_target, p.properties)
                             = (excluded.said_source, excluded.said_target, excluded.properties)
                        THEN p.extracted_at ELSE excluded.extracted_at END
WHERE excluded.operation <> 'confirmed' OR p.operation = 'confirmed'
"""
# A claim about a merged object does not rename the object, unless there is no other claim of a name.
SETTLE: LiteralString = f"""
WITH ranked AS ({
    rank(f'''FROM {with_hidden_lists()} p {JOIN_DOCUMENT}
             WHERE p.project_id = %(project_id)s AND p.object_id = ANY(%(ids)s::uuid[])''')
})
UPDATE kb.graph_objects o
SET properties = n.properties || n.set_values, name = coalesce(n.name, o.name), updated_at = %(now)s
FROM (
    SELECT s.object_id,
           coalesce(jsonb_object_agg(s.property_name, s.value) FILTER (WHERE s.property_name <> 'name'), '{{}}') AS properties,
           min(s.value #>> '{{}}') FILTER (WHERE s.property_name = 'name') AS name,
           coalesce((SELECT jsonb_object_agg(v.property_name, v.value) FROM ({
    set_values_of("s.object_id")
}) v), '{{}}') AS set_values
    FROM ({settle_values("ranked")}) s GROUP BY s.object_id) n
WHERE o.project_id = %(project_id)s AND o.id = n.object_id
  AND (o.properties, o.name) IS DISTINCT FROM (n.properties || n.set_values, coalesce(n.name, o.name))
"""
DELETE_UNCLAIMED: LiteralString = """
DELETE FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s::uuid[]) AND NOT EXISTS (
    SELECT FROM kb.object_provenance p WHERE p.project_id = %(project_id)s AND p.object_id = o.id)
"""
SETTLE_RELATIONSHIPS: LiteralString = f"""
WITH claims AS (
    SELECT p.* FROM kb.relationship_provenance p
    WHERE p.project_id = %(project_id)s AND p.relationship_id = ANY(%(ids)s::uuid[])
), ranked AS ({rank_ties("claims")}), settled AS (
    SELECT s.object_id, jsonb_object_agg(s.property_name, s.value) AS properties
    FROM ({settle_values("ranked")}) s GROUP BY s.object_id
)
UPDATE kb.relationships r
SET properties = coalesce(s.properties, '{{}}'), created_at = t.created_at, updated_at = coalesce(t.updated_at, t.created_at)
FROM (SELECT p.relationship_id, min(p.extracted_at) AS created_at, max(p.extracted_at) FILTER (WHERE p.operation <> 'confirmed') AS updated_at
      FROM claims p GROUP BY p.relationship_id) t
LEFT JOIN settled s ON s.object_id = t.relationship_id
WHERE r.project_id = %(project_id)s AND r.id = t.relationship_id
"""
DELETE_UNCLAIMED_RELATIONSHIPS: LiteralString = """
DELETE FROM kb.relationships r
WHERE r.project_id = %(project_id)s AND r.id = ANY(%(ids)s::uuid[]) AND NOT EXISTS (
    SELECT FROM kb.relationship_provenance p WHERE p.project_id = %(project_id)s AND p.relationship_id = r.id)
"""


T = TypeVar("T")


class NamedObject(NamedTuple):
    """An object that a chunk names. Its claims belong to another object after a merge."""

    object_id: UUID
    """The object that has the claims."""
    said: UUID
    """The object that is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyClaim:
    of: NamedObject
    property_name: str
    operation: str
    found: FoundValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """A relationship between locked objects."""

    source: NamedObject
    target: NamedObject
    found: FoundRelationship

    @property
    def id(self) -> UUID:
        return relationship_id(self.source.object_id, self.found.type, self.target.object_id)


def storable(value: Any) -> Any:
    """Removes NUL characters, replaces lone surrogates, and turns NaN and infinity into None."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode(errors="replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {storable(str(name)): storable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [storable(inner) for inner in value]
    return value


def json_text(value: Any) -> str:
    """Uses Python's own encoder, which accepts integers of any size."""
    return json.dumps(storable(value), ensure_ascii=False, allow_nan=False)


def relationship_id(source_id: UUID, relationship_type: str, target_id: UUID) -> UUID:
    """Derived from the ends and the type, so that a relationship that is deleted and created again keeps its id."""
    return uuid5(source_id, f"{target_id} {relationship_type}")


def put(source: Params, claims: Sequence[PropertyClaim]) -> list[BoundStatement]:
    """Replaces earlier claims of the chunk. The last of several claims about one property wins.

    `source` has the fields that all claims from one reading share: project, chunk, schema number and time.
    """
    rounds = _split_into_rounds(claims, lambda claim: (claim.of.object_id, claim.property_name))
    return [(PUT, {**source, "given": records(list(map(encode_claim, some)))}) for some in rounds]


def encode_claim(claim: PropertyClaim) -> dict[str, Any]:
    """A row for `PUT`."""
    elements = claim.found.elements
    return {
        "id": new_id(),
        "object_id": claim.of.object_id,
        "said_of": claim.of.said,
        "property_name": storable(claim.property_name),
        "operation": claim.operation,
        "value": json_text(claim.found.value),
        "quote": storable(claim.found.quote),
        "start_offset": claim.found.start_offset,
        "end_offset": claim.found.end_offset,
        "is_grounded": claim.found.is_grounded,
        "elements": json_text([asdict(each) for each in elements]) if elements else None,
    }


def put_ties(source: Params, ties: Sequence[Tie]) -> list[BoundStatement]:
    """Like `put`, for relationships. Creates relationships that do not exist yet."""
    return [
        asked
        for some in _split_into_rounds(ties, lambda tie: tie.id)
        for asked in _put_round_of_ties(source, some)
    ]


def made_of(source_id: UUID, relationship_type: str, target_id: UUID) -> dict[str, Any]:
    """A row for `PUT_RELATIONSHIPS`."""
    ident = relationship_id(source_id, relationship_type, target_id)
    return {"id": ident, "type": storable(relationship_type), "source_id": source_id, "target_id": target_id}


def encode_tie(found: FoundRelationship) -> dict[str, Any]:
    """The parameters of a row for `PUT_TIES`."""
    return {
        "id": new_id(),
        "properties": json_text(dict(found.properties)),
        "quote": storable(found.quote),
        "start_offset": found.start_offset,
        "end_offset": found.end_offset,
        "is_confirmed": found.is_confirmed,
        "is_grounded": found.is_grounded,
    }


def _put_round_of_ties(source: Params, ties: Sequence[Tie]) -> list[BoundStatement]:
    made = [made_of(tie.source.object_id, tie.found.type, tie.target.object_id) for tie in ties]
    given = [
        {
            **relationship,
            "said_source": tie.source.said,
            "said_target": tie.target.said,
            **encode_tie(tie.found),
        }
        for relationship, tie in zip(made, ties, strict=True)
    ]
    params = {"project_id": source["project_id"], "now": source["extracted_at"], "given": records(made)}
    return [(PUT_RELATIONSHIPS, params), (PUT_TIES, {**source, "given": records(given)})]


def _split_into_rounds(items: Sequence[T], key: Callable[[T], object]) -> list[list[T]]:
    """Splits items so that no round has two with the same key: one statement cannot write a row twice."""
    rounds: list[list[T]] = []
    seen: Counter[object] = Counter()
    for item in items:
        turn = seen[key(item)]
        seen[key(item)] += 1
        if turn == len(rounds):
            rounds.append([])
        rounds[turn].append(item)
    return rounds


def settle(
    project_id: UUID, object_ids: Iterable[UUID], relationship_ids: Iterable[UUID] = ()
) -> list[BoundStatement]:
    """Updates the current values of locked objects and of relationships between them. Deletes those without claims."""
    common = {"project_id": project_id, "now": now()}
    objects, ties = {**common, "ids": uuids(object_ids)}, {**common, "ids": uuids(relationship_ids)}
    return [
        (DELETE_UNCLAIMED_RELATIONSHIPS, ties),
        (SETTLE_RELATIONSHIPS, ties),
        (DELETE_UNCLAIMED, objects),
        (SETTLE, objects),
    ]
