"""Values that a person set. They count before all claims of chunks, also after a merge, and until they are undone.

Of several words about a property the latest counts: a later value, or a later rejection of the property or the object.
"""

from typing import LiteralString

# For an alias `w` of `kb.curations` that is a value somebody set.
IS_REPLACED: LiteralString = """EXISTS (
    SELECT FROM kb.curations l
    WHERE l.project_id = w.project_id AND l.type = w.type AND l.name_key = w.name_key AND l.undone_at IS NULL
      AND (l.created_at, l.id) > (w.created_at, w.id)
      AND ((l.action = 'reject' AND l.subject = 'object')
        OR (l.property_name = w.property_name
            AND (l.action = 'set' OR (l.action = 'reject' AND l.subject = 'property')))))"""


def keys_of(object_id: LiteralString) -> LiteralString:
    """The types and names that lead to an object: its own, and those of objects merged into it.

    The aliases must differ from those of every query that uses it: `object_id` belongs to the outer query.
    """
    return f"""
    SELECT named_object.type, named_object.name_key FROM kb.graph_objects named_object
    WHERE named_object.project_id = %(project_id)s AND named_object.id = {object_id}
    UNION ALL
    SELECT merged_object.type, merged_object.name_key FROM kb.object_merges merged_object
    WHERE merged_object.project_id = %(project_id)s AND merged_object.object_id = {object_id}"""


def set_values_of(object_id: LiteralString) -> LiteralString:
    """One row for each property whose value a person set."""
    return f"""
    SELECT DISTINCT ON (w.property_name) w.id, w.property_name, w.value, w.author, w.reason, w.schema_number, w.created_at
    FROM ({keys_of(object_id)}) k
    JOIN kb.curations w ON w.project_id = %(project_id)s AND w.type = k.type AND w.name_key = k.name_key
    WHERE w.action = 'set' AND w.undone_at IS NULL AND NOT {IS_REPLACED}
    ORDER BY w.property_name, w.created_at DESC, w.id DESC"""


def is_set(object_id: LiteralString, property_name: LiteralString) -> LiteralString:
    """Whether a person set the value of the property."""
    return f"EXISTS (SELECT FROM ({set_values_of(object_id)}) v WHERE v.property_name = {property_name})"
