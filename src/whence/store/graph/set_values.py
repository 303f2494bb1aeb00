"""Values that a person set. They take precedence over all claims of chunks, also after a merge, until they are undone.

The latest correction of a property counts: a later value, or a later rejection of the property or the object. The rejection of an object
also covers the values of objects that were merged with it before.
"""

from typing import LiteralString

PROJECT: LiteralString = "%(project_id)s"


def keys_of(object_id: LiteralString, project: LiteralString = PROJECT) -> LiteralString:
    """The types and names of an object: its own and those of objects merged into it, each with the time of the merge.

    The aliases must differ from those of every query that uses it: `object_id` and `project` belong to the outer query.
    """
    return f"""
    SELECT named_object.type, named_object.name_key, '-infinity'::timestamptz AS since FROM kb.graph_objects named_object
    WHERE named_object.project_id = {project} AND named_object.id = {object_id}
    UNION ALL
    SELECT merged_object.type, merged_object.name_key, merged_object.merged_at FROM kb.object_merges merged_object
    WHERE merged_object.project_id = {project} AND merged_object.object_id = {object_id}"""


def corrected_keys_of(object_id: LiteralString) -> LiteralString:
    """Like `keys_of`, without the times. For a deleted object, the names in its corrections."""
    return f"""(
    SELECT n.type, n.name_key FROM ({keys_of(object_id)}) n
    UNION
    SELECT s.type, s.name_key FROM kb.curations s
    WHERE s.project_id = {PROJECT} AND s.subject_id = {object_id} AND NOT EXISTS (
        SELECT FROM kb.graph_objects o WHERE o.project_id = {PROJECT} AND o.id = {object_id}))"""


def is_replaced(keys: LiteralString) -> LiteralString:
    """Whether a later correction replaces `w`, a row of `kb.curations` that sets a value. `keys` are the keys of its object."""
    return f"""EXISTS (
    SELECT FROM ({keys}) own, ({keys}) other
    JOIN kb.curations l ON l.type = other.type AND l.name_key = other.name_key
    WHERE own.type = w.type AND own.name_key = w.name_key AND l.project_id = w.project_id AND l.undone_at IS NULL
      AND (l.created_at, l.id) > (w.created_at, w.id)
      AND (own.name_key = other.name_key OR l.created_at > greatest(own.since, other.since))
      AND ((l.action = 'reject' AND l.subject = 'object')
        OR (l.property_name = w.property_name
            AND (l.action = 'set' OR (l.action = 'reject' AND l.subject = 'property')))))"""


def set_values_of(object_id: LiteralString, project: LiteralString = PROJECT) -> LiteralString:
    """One row for each property whose value a person set."""
    keys = keys_of(object_id, project)
    return f"""
    SELECT DISTINCT ON (w.property_name) w.id, w.property_name, w.value, w.author, w.reason, w.schema_number, w.created_at
    FROM ({keys}) k
    JOIN kb.curations w ON w.project_id = {project} AND w.type = k.type AND w.name_key = k.name_key
    WHERE w.action = 'set' AND w.undone_at IS NULL AND NOT {is_replaced(keys)}
    ORDER BY w.property_name, w.created_at DESC, w.id DESC"""


def is_set(
    object_id: LiteralString, property_name: LiteralString, project: LiteralString = PROJECT
) -> LiteralString:
    """Whether a person set the value of the property."""
    values = set_values_of(object_id, project)
    return f"EXISTS (SELECT FROM ({values}) v WHERE v.property_name = {property_name})"
