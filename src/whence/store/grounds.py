"""Marks citations of stored answers as stale when their chunk is removed or their claim is rejected.

The marking is a part of the statement that removes the chunk or the claim. That statement runs with the chunks locked, and `answers.INSERT`
locks them, too, so an answer that is being stored is not missed.
"""

from typing import LiteralString

_OVERLAP: LiteralString = """
      AND (g.start_offset IS NULL OR c.start_offset IS NULL
           OR (g.start_offset < c.end_offset AND c.start_offset < g.end_offset))"""


def gone(chunks: LiteralString, reason: LiteralString) -> LiteralString:
    """A CTE that marks the citations of these chunks: `chunks` is a subquery, or a parameter, for `= ANY (…)`."""
    return f"""WITH moved AS (
    UPDATE kb.answer_grounds g SET reason = {reason}, moved_at = %(now)s
    WHERE g.project_id = %(project_id)s AND g.reason IS NULL AND g.chunk_id = ANY({chunks})
)"""


_REJECTED: LiteralString = f"""
    UPDATE kb.answer_grounds g SET reason = 'rejected', moved_at = %(now)s
    FROM taken c
    WHERE g.project_id = %(project_id)s AND g.reason IS NULL AND g.chunk_id = c.chunk_id{_OVERLAP}"""


def rejected() -> LiteralString:
    """The body of a CTE that marks citations which overlap with a claim of the CTE `taken`."""
    return _REJECTED


RESTORE: LiteralString = f"""
UPDATE kb.answer_grounds g SET reason = NULL, moved_at = NULL
WHERE g.project_id = %(project_id)s AND g.reason = 'rejected' AND g.chunk_id = ANY(%(ids)s::uuid[])
  AND NOT EXISTS (SELECT FROM kb.rejected_claims c
                  WHERE c.project_id = %(project_id)s AND c.chunk_id = g.chunk_id{_OVERLAP})
  AND NOT EXISTS (SELECT FROM kb.rejected_relationship_claims c
                  WHERE c.project_id = %(project_id)s AND c.chunk_id = g.chunk_id{_OVERLAP})
"""
"""For chunks whose claims were restored. Another rejection may still apply to the same words."""
