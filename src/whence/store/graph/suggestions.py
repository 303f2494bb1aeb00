"""Suggests merges: pairs of objects of one type with similar names, or with similar vectors and common neighbours."""

import asyncio
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID, uuid5

from whence.errors import Conflict, SuggestionNotFound
from whence.models import now
from whence.store.pool import Row, Statements, part_of, uuids
from whence.text.similar_names import similar_names

_MOST_OBJECTS = 50_000
"""Maximum number of objects to compare: the newest ones of the project."""
_SIMILARITY = 0.7
_MOST_NEIGHBOURS = 20
"""A neighbour with more relationships of one kind than this is no evidence for two objects that share it."""

NAMES: LiteralString = """
SELECT o.id, o.type, o.name, o.name_key FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s AND (%(type)s::text IS NULL OR o.type = %(type)s)
ORDER BY o.id DESC LIMIT %(limit)s
"""
# Pairs that share at least two neighbours by relationships of the same type and direction.
SHARING: LiteralString = """
WITH ends AS (
    SELECT r.type, r.source_id AS id, r.target_id AS other, true AS outwards
    FROM kb.relationships r WHERE r.project_id = %(project_id)s
    UNION ALL
    SELECT r.type, r.target_id, r.source_id, false FROM kb.relationships r WHERE r.project_id = %(project_id)s
), few AS (
    SELECT e.type, e.other, e.outwards, array_agg(e.id) AS ids FROM ends e
    GROUP BY e.type, e.other, e.outwards HAVING count(*) BETWEEN 2 AND %(most)s
), pairs AS (
    SELECT a.id AS one, b.id AS two
    FROM few, unnest(few.ids) AS a (id), unnest(few.ids) AS b (id)
    WHERE a.id > b.id GROUP BY a.id, b.id HAVING count(*) > 1
)
SELECT o.id, t.id, 1 - (v.embedding <=> w.embedding)
FROM pairs
JOIN kb.projects j ON j.id = %(project_id)s
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = pairs.one
JOIN kb.graph_objects t ON t.project_id = %(project_id)s AND t.id = pairs.two AND t.type = o.type
JOIN kb.object_vectors v ON v.project_id = %(project_id)s AND v.id = o.id AND v.space_id = j.space_id
JOIN kb.object_vectors w ON w.project_id = %(project_id)s AND w.id = t.id AND w.space_id = j.space_id
WHERE v.embedding <=> w.embedding <= 1 - %(similarity)s::float8
"""
DISMISSED: LiteralString = """
SELECT d.type, d.name_key, d.other_key FROM kb.dismissed_merges d WHERE d.project_id = %(project_id)s
"""
DISMISS: LiteralString = """
INSERT INTO kb.dismissed_merges (project_id, type, name_key, other_key, dismissed_at)
VALUES (%(project_id)s, %(type)s, %(name_key)s, %(other_key)s, %(now)s) ON CONFLICT DO NOTHING
"""
RESTORE: LiteralString = """
DELETE FROM kb.dismissed_merges
WHERE project_id = %(project_id)s AND type = %(type)s AND name_key = %(name_key)s AND other_key = %(other_key)s
"""
CLAIM_COUNTS: LiteralString = """
SELECT p.object_id, count(*) FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.object_id = ANY(%(ids)s::uuid[]) GROUP BY p.object_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedObject:
    id: UUID
    name: str
    name_key: str
    claim_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSuggestion:
    id: UUID
    """Derived from the type and the names."""
    type: str
    score: float
    reasons: dict[str, float]
    """`initials`, `containment`, `spelling` or `neighbours`, each with its score from 0 to 1."""
    keep: SuggestedObject
    """The object to keep: the one with more claims, else the longer name, else the older one."""
    drop: SuggestedObject


Pair = tuple[Row, Row]
"""Two rows of `NAMES`, the smaller name first."""


class Suggestions(Statements):
    async def page(
        self,
        project_id: UUID,
        *,
        object_type: str | None = None,
        object_id: UUID | None = None,
        dismissed: bool = False,
        limit: int,
        offset: int,
        after: UUID | None = None,
    ) -> tuple[list[MergeSuggestion], int]:
        """Suggestions, best first: the open ones, or only the dismissed ones."""
        pairs = await self._find_pairs(project_id, object_type)
        known = set(await self._queries.all(DISMISSED, {"project_id": project_id}))
        wanted = [
            (pair, reasons)
            for pair, reasons in pairs
            if (_key_of(pair) in known) == dismissed
            and (object_id is None or object_id in {one[0] for one in pair})
        ]
        shown = part_of(
            wanted, lambda one: _derive_id(project_id, one[0]), limit=limit, offset=offset, after=after
        )
        return await self._describe(project_id, shown), len(wanted)

    async def get(self, project_id: UUID, suggestion_id: UUID) -> MergeSuggestion:
        """A suggestion, dismissed or not."""
        for pair, reasons in await self._find_pairs(project_id):
            if _derive_id(project_id, pair) == suggestion_id:
                return (await self._describe(project_id, [(pair, reasons)]))[0]
        raise SuggestionNotFound(details={"suggestion_id": str(suggestion_id)})

    async def dismiss(self, project_id: UUID, suggestion: MergeSuggestion) -> None:
        """Hides a suggestion for good: the names are not suggested again, even if their objects are extracted anew."""
        await self._queries.run(DISMISS, {**_encode_names(project_id, suggestion), "now": now()})

    async def restore(self, project_id: UUID, suggestion: MergeSuggestion) -> None:
        """Undoes the dismissal. Raises `Conflict` if there is none."""
        if not await self._queries.run(RESTORE, _encode_names(project_id, suggestion)):
            raise Conflict("The suggestion is not dismissed", details={"suggestion_id": str(suggestion.id)})

    async def _find_pairs(
        self, project_id: UUID, object_type: str | None = None
    ) -> list[tuple[Pair, dict[str, float]]]:
        params: dict[str, Any] = {"project_id": project_id, "type": object_type, "limit": _MOST_OBJECTS}
        rows = await self._queries.all(NAMES, params)
        params |= {"most": _MOST_NEIGHBOURS, "similarity": _SIMILARITY}
        sharing = await self._queries.all(SHARING, params)
        return await asyncio.to_thread(_rank_pairs, rows, sharing)

    async def _describe(
        self, project_id: UUID, pairs: Sequence[tuple[Pair, dict[str, float]]]
    ) -> list[MergeSuggestion]:
        ids = uuids(row[0] for pair, _ in pairs for row in pair)
        rows = await self._queries.all(CLAIM_COUNTS, {"project_id": project_id, "ids": ids})
        counts = {row[0]: row[1] for row in rows}
        return [_build_suggestion(project_id, pair, reasons, counts) for pair, reasons in pairs]


def _encode_names(project_id: UUID, suggestion: MergeSuggestion) -> dict[str, Any]:
    name_key, other_key = sorted((suggestion.keep.name_key, suggestion.drop.name_key))
    return {"project_id": project_id, "type": suggestion.type, "name_key": name_key, "other_key": other_key}


def _rank_pairs(rows: Sequence[Row], sharing: Iterable[Row]) -> list[tuple[Pair, dict[str, float]]]:
    """All pairs with their reasons, the best first."""
    by_type, known = defaultdict[str, list[Row]](list), {row[0]: row for row in rows}
    for row in rows:
        by_type[row[1]].append(row)
    found = defaultdict[Pair, dict[str, float]](dict)
    for some in by_type.values():
        for one, other, reason, score in similar_names([row[2] for row in some]):
            found[_order_pair(some[one], some[other])][reason] = round(score, 2)
    for one, other, similarity in sharing:
        if one in known and other in known:
            found[_order_pair(known[one], known[other])]["neighbours"] = round(similarity, 2)
    return sorted(found.items(), key=lambda item: (-_score(item[1]), item[0][0][3], item[0][1][3]))


def _order_pair(one: Row, other: Row) -> Pair:
    return (one, other) if one[3] < other[3] else (other, one)


def _score(reasons: dict[str, float]) -> float:
    """Combines the reasons as independent evidence."""
    return round(1 - math.prod(1 - score for score in reasons.values()), 2)


def _key_of(pair: Pair) -> tuple[str, str, str]:
    (_, kind, _, name_key), (*_, other_key) = pair
    return kind, name_key, other_key


def _derive_id(project_id: UUID, pair: Pair) -> UUID:
    return uuid5(project_id, "\n".join(_key_of(pair)))


def _build_suggestion(
    project_id: UUID, pair: Pair, reasons: dict[str, float], counts: dict[UUID, int]
) -> MergeSuggestion:
    ends = [
        SuggestedObject(id=row[0], name=row[2], name_key=row[3], claim_count=counts.get(row[0], 0))
        for row in pair
    ]
    drop, keep = sorted(ends, key=lambda one: (one.claim_count, len(one.name), -one.id.int))
    return MergeSuggestion(
        id=_derive_id(project_id, pair),
        type=pair[0][1],
        score=_score(reasons),
        reasons=reasons,
        keep=keep,
        drop=drop,
    )
