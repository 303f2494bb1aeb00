"""The order of claims, and the values that follow from it. One definition for every query.

A claim is as new as its document: by the document's own date if it has one, else by the time of its version. Within a document the
later chunk is newer. The time of the extraction does not matter. A grounded claim comes before an ungrounded one.

A property has the value of its newest claim. A list has the elements of all its claims, oldest first and without duplicates, unless
the schema says that it is replaced (`kb.replaced_lists`). Properties of relationships work the same way.

Of two claims of one chunk about merged objects the older is hidden (`claim_moves`); the elements of a hidden list count all the same.
"""

from typing import LiteralString

AS_OF: LiteralString = "coalesce(d.valid_from, d.version_at, d.created_at)"
NEWEST_FIRST: LiteralString = f"{AS_OF} DESC, d.id DESC, c.chunk_index DESC, p.id DESC"
OLDEST_FIRST: LiteralString = f"{AS_OF}, d.id, c.chunk_index, p.id"
JOIN_DOCUMENT: LiteralString = """
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = p.chunk_id
JOIN kb.documents d ON d.project_id = %(project_id)s AND d.id = c.document_id"""

HIDDEN: LiteralString = """h.id, h.said_of, h.chunk_id, h.property_name, h.value, h.operation, h.schema_number, h.quote, h.start_offset,
           h.end_offset, h.elements, h.is_grounded, h.extracted_at"""
"""The columns that hidden and shown claims have in common."""


def with_hidden_lists(
    shown: LiteralString = "kb.object_provenance", more: LiteralString = ""
) -> LiteralString:
    """A table of shown claims and of the hidden lists that the same chunks claim for merged objects. `more`: further columns."""
    return f"""(
    SELECT h.project_id, h.object_id, {HIDDEN}{more} FROM {shown} h
    UNION ALL
    SELECT q.project_id, q.object_id, {HIDDEN}{more} FROM {shown} q
    JOIN kb.hidden_claims h ON h.project_id = %(project_id)s AND h.chunk_id = q.chunk_id AND h.property_name = q.property_name
                           AND h.said_of <> q.said_of AND jsonb_typeof(h.value) = 'array'
    LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = h.said_of
    JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = q.object_id
    LEFT JOIN kb.replaced_lists l ON l.project_id = %(project_id)s AND l.type = o.type AND l.property_name = q.property_name
    WHERE q.project_id = %(project_id)s AND jsonb_typeof(q.value) = 'array' AND coalesce(m.object_id, h.said_of) = q.object_id
      AND l.type IS NULL)"""


def rank(source: LiteralString) -> LiteralString:
    """Ranks claims, the newest of each property at place 1. Names of merged objects come last.

    `source` is a FROM clause with the claims as `p`, joined by `JOIN_DOCUMENT`. Every current claim gives its value or some elements.
    """
    return f"""
    SELECT r.*, r.place = 1 OR (r.accumulates AND r.is_grounded = r.best AND jsonb_typeof(r.value) = 'array') AS is_current
    FROM (
        SELECT p.id, p.object_id, p.property_name, p.value, p.is_grounded,
               row_number() OVER newest AS place, first_value(p.is_grounded) OVER newest AS best,
               (jsonb_typeof(first_value(p.value) OVER newest) = 'array'
                 AND first_value(p.value) OVER newest <> '[]' AND NOT EXISTS (
                   SELECT FROM kb.graph_objects o
                   JOIN kb.replaced_lists l ON l.project_id = %(project_id)s AND l.type = o.type
                   WHERE o.project_id = %(project_id)s AND o.id = p.object_id AND l.property_name = p.property_name)) IS TRUE
                 AS accumulates
        {source}
        WINDOW newest AS (
            PARTITION BY p.object_id, p.property_name
            ORDER BY p.property_name = 'name' AND p.said_of <> p.object_id, p.is_grounded DESC, {NEWEST_FIRST})) r"""


def rank_ties(claims: LiteralString, wanted: LiteralString = "true") -> LiteralString:
    """Ranks the properties in a table of relationship claims the same way, with the relationship as `object_id`."""
    return rank(f"""FROM (
            SELECT q.id, q.relationship_id AS object_id, q.relationship_id AS said_of, q.chunk_id,
                   e.key AS property_name, e.value, true AS is_grounded
            FROM {claims} q, jsonb_each(q.properties) e WHERE {wanted}) p {JOIN_DOCUMENT} WHERE true""")


def settle(ranked: LiteralString) -> LiteralString:
    """Selects the value of each property from a table of ranked claims. Texts that differ only in case are equal elements."""
    return f"""
    SELECT r.object_id, r.property_name, r.value FROM {ranked} r WHERE r.place = 1 AND NOT r.accumulates
    UNION ALL
    SELECT u.object_id, u.property_name, jsonb_agg(u.value ORDER BY u.place DESC, u.at)
    FROM (
        SELECT DISTINCT ON (r.object_id, r.property_name, k.key) r.object_id, r.property_name, r.place, e.value, e.at
        FROM {ranked} r, jsonb_array_elements(r.value) WITH ORDINALITY e (value, at), LATERAL (
            SELECT CASE jsonb_typeof(e.value) WHEN 'string' THEN to_jsonb(lower(e.value #>> '{{}}')) ELSE e.value END AS key) k
        WHERE r.accumulates AND r.is_current
        ORDER BY r.object_id, r.property_name, k.key, r.place DESC, e.at) u
    GROUP BY u.object_id, u.property_name"""
