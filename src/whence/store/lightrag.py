"""Keys of LightRAG servers, and the positions of LightRAG's chunks in our documents."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from whence.models import ChunkKey
from whence.store.pool import Statements

_MOST_NAMED = 3
"""Maximum number of documents of the same name that are searched for a text."""

SELECT_KEY: LiteralString = """
SELECT key FROM kb.lightrag_keys WHERE project_id = %(project_id)s AND url = %(url)s
"""
USE_KEY: LiteralString = """
INSERT INTO kb.lightrag_keys (project_id, url, key) VALUES (%(project_id)s, %(url)s, %(key)s)
ON CONFLICT (project_id) DO UPDATE SET url = excluded.url, key = excluded.key
"""
FORGET_KEY: LiteralString = "DELETE FROM kb.lightrag_keys WHERE project_id = %(project_id)s"
PROJECTS: LiteralString = """
SELECT count(*) FROM kb.projects p WHERE p.config ->> 'lightragUrl' <> 'off'
"""
NAMED: LiteralString = """
SELECT found.id
FROM unnest(%(names)s::text[]) WITH ORDINALITY AS wanted (name, number)
CROSS JOIN LATERAL (
    SELECT d.id FROM kb.documents d
    WHERE d.project_id = %(project_id)s AND d.name = wanted.name
      AND kb.name_words(d.project_id, d.name) @> kb.name_words(%(project_id)s, wanted.name)
    LIMIT %(most)s) found
ORDER BY wanted.number
"""
# Finds each text in the first of these documents that contains it, with the chunks that it overlaps.
CHUNKS_OF_TEXTS: LiteralString = """
SELECT wanted.number, uuid_send(c.id)
FROM unnest(%(texts)s::text[]) WITH ORDINALITY AS wanted (text, number)
CROSS JOIN LATERAL (
    SELECT d.id, strpos(d.text, wanted.text) - 1 AS start
    FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS among (id, place)
    JOIN kb.documents d ON d.project_id = %(project_id)s AND d.id = among.id
    WHERE strpos(d.text, wanted.text) > 0
    ORDER BY among.place LIMIT 1) found
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.document_id = found.id
WHERE (c.metadata ->> 'startOffset')::integer < found.start + length(wanted.text)
  AND (c.metadata ->> 'endOffset')::integer > found.start
ORDER BY wanted.number, c.chunk_index
"""


class Lightrag(Statements):
    async def projects(self) -> int:
        """Number of projects that have their own LightRAG server."""
        return int(await self._queries.value(PROJECTS))

    async def key(self, project_id: UUID, url: str) -> str | None:
        """The key that was given for this URL."""
        row = await self._queries.one(SELECT_KEY, {"project_id": project_id, "url": url})
        return None if row is None else row[0]

    async def use_key(self, project_id: UUID, url: str, key: str | None) -> None:
        """Store the key; None deletes it."""
        if key is None:
            await self._queries.run(FORGET_KEY, {"project_id": project_id})
        else:
            await self._queries.run(USE_KEY, {"project_id": project_id, "url": url, "key": key})

    async def named(self, project_id: UUID, names: Sequence[str]) -> list[UUID]:
        """The documents with these names, up to three of each, in order."""
        params = {"project_id": project_id, "names": list(names), "most": _MOST_NAMED}
        return [row[0] for row in await self._queries.all(NAMED, params)]

    async def chunks_of_texts(
        self, project_id: UUID, texts: Sequence[str], document_ids: Sequence[UUID]
    ) -> list[list[ChunkKey]]:
        """For each text the chunks of the first document that contains it verbatim, in reading order; empty if there is none."""
        params = {"project_id": project_id, "texts": list(texts), "ids": list(document_ids)}
        found: list[list[ChunkKey]] = [[] for _ in texts]
        for number, chunk_id in await self._queries.all(CHUNKS_OF_TEXTS, params):
            found[number - 1].append(chunk_id)
        return found
