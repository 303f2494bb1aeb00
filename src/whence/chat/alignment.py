"""LightRAG's chunks as sources: our own chunks where a document of ours has the same text, else as they are."""

from collections.abc import Sequence
from uuid import UUID

from whence.chat.sources import Source
from whence.lightrag import LightragChunk
from whence.search import QueryVector
from whence.store import Store

_MOST_DOCUMENTS = 20
"""Maximum number of documents that are searched for the texts: of the same name, and those that our search found."""


async def align_chunks(
    store: Store,
    project_id: UUID,
    chunks: Sequence[LightragChunk],
    found: Sequence[Source],
    vector: QueryVector | None,
    *,
    limit: int,
) -> list[Source]:
    """Up to `limit` sources that are not among those found.

    Of each LightRAG chunk, our overlapping chunk that is nearest to the question comes first; then the second nearest of each.
    """
    chunks = chunks[:limit]
    names = dict.fromkeys(name for one in chunks for name in (one.file, one.file.rpartition("/")[2]) if name)
    documents = await store.lightrag.named(project_id, list(names))
    documents += [UUID(one.document_id) for one in found if one.document_id]
    searched = list(dict.fromkeys(documents))[:_MOST_DOCUMENTS]
    places = await store.lightrag.chunks_of_texts(project_id, [one.text for one in chunks], searched)
    space, value = (vector.space, vector.value) if vector else (None, None)
    ids = {ident for place in places for ident in place}
    reading = await store.hits.read(project_id, ids, space=space, vector=value)
    rows: list[list[Source]] = []
    for chunk, place in zip(chunks, places, strict=True):
        read = [one for ident in place if (one := reading.get(ident))]
        ours = [Source.of_chunk(one, one.distance) for one in read]
        ours.sort(key=lambda one: 1.0 if one.distance is None else one.distance)
        rows.append(ours or [Source(id=chunk.id, text=chunk.text, name=chunk.file)])
    ranked = (
        row[place] for place in range(max(map(len, rows), default=0)) for row in rows if place < len(row)
    )
    known = {one.id for one in found}
    new = {one.id: one for one in ranked if one.id not in known}
    return list(new.values())[:limit]
