"""Moves or removes corrections when a schema renames or removes types and properties.

They follow the renames. Rejected claims about removed elements are forgotten; a value that was set stays.
"""

from typing import LiteralString

from whence.store.pool import Params, Queries

_OLDER_WORDS: LiteralString = """
WHERE project_id = %(project_id)s AND type = %(type)s AND schema_number < %(schema_number)s"""


def _rename_property(table: LiteralString) -> LiteralString:
    return f"""
UPDATE {table} SET property_name = %(new_name)s
{_OLDER_WORDS} AND property_name = %(name)s"""


_CURATED: tuple[LiteralString, ...] = ("kb.curations", "kb.rejected_texts", "kb.rejected_claims")
RENAME_PROPERTY = tuple(_rename_property(table) for table in _CURATED)
FORGET_PROPERTY: LiteralString = f"DELETE FROM kb.rejected_claims {_OLDER_WORDS} AND property_name = %(name)s"
FORGET_TYPE: LiteralString = f"DELETE FROM kb.rejected_claims {_OLDER_WORDS}"


def _retype_words(
    table: LiteralString, kind: LiteralString = "type", key: LiteralString = "name_key"
) -> LiteralString:
    """Retypes corrections of objects that no longer have the old type."""
    return f"""
UPDATE {table} w SET {kind} = %(new_type)s
WHERE w.project_id = %(project_id)s AND w.{kind} = %(type)s AND w.schema_number < %(schema_number)s
  AND NOT EXISTS (SELECT FROM kb.graph_objects o
                  WHERE o.project_id = %(project_id)s AND o.type = w.{kind} AND o.name_key = w.{key})
  AND NOT EXISTS (SELECT FROM kb.object_merges m
                  WHERE m.project_id = %(project_id)s AND m.type = w.{kind} AND m.name_key = w.{key})"""


_REJECTED_TIES: LiteralString = "kb.rejected_relationship_claims"
RETYPE = (
    *(_retype_words(table) for table in _CURATED),
    _retype_words("kb.curations", "target_type", "target_key"),
    _retype_words("kb.rejected_texts", "target_type", "target_key"),
    _retype_words(_REJECTED_TIES, "source_type", "source_key"),
    _retype_words(_REJECTED_TIES, "target_type", "target_key"),
)
_OLDER_TIE_WORDS: LiteralString = "WHERE project_id = %(project_id)s AND schema_number < %(before)s"
RETYPE_TIES: tuple[LiteralString, ...] = (
    f"UPDATE kb.curations SET relationship_type = %(new_type)s {_OLDER_TIE_WORDS} AND relationship_type = %(type)s",
    f"UPDATE kb.rejected_texts SET relationship_type = %(new_type)s {_OLDER_TIE_WORDS} AND relationship_type = %(type)s",
    f"UPDATE {_REJECTED_TIES} SET type = %(new_type)s {_OLDER_TIE_WORDS} AND type = %(type)s",
)
FORGET_TIES: LiteralString = f"DELETE FROM {_REJECTED_TIES} {_OLDER_TIE_WORDS} AND type = %(type)s"


async def retype(tx: Queries, params: Params) -> None:
    """Applies a renamed object type to corrections. Call it after the objects have the new type."""
    for statement in RETYPE:
        await tx.run(statement, params)
