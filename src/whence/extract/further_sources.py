"""Finds chunks that were read before a job and also state what the job has added to the graph. They become further sources.

A chunk that is read later confirms known values when it is read (`merge`). Chunks read before are looked up here, at the end of
the job, by the names of its new objects and values in the text index.
"""

from uuid import UUID

from whence.chunk_findings import ChunkExtraction
from whence.extract.context import EarlierClaim, EarlierTie, KnownClaim, KnownTie
from whence.extract.context_loader import MOST_NAMED, to_known, to_text
from whence.extract.merge import Outcome, merge
from whence.extract.reply import ExtractionReply
from whence.extract.schema import Schema
from whence.job_run import Run
from whence.models import GraphObject
from whence.search import Question, Search
from whence.store.chunks import ChunkView
from whence.text.names import names_in

MOST_OBJECTS = 500
"""Maximum number of objects that a job looks for in other chunks, the newest first."""
MOST_CHUNKS = 20
"""Maximum number of chunks compared per object, the best matches of its name first."""


async def add_further_sources(run: Run, search: Search, schema: Schema, number: int) -> None:
    job, graph = run.job, run.store.graph
    fresh = await graph.known_claims.added_by(
        job.project_id, job.document_id, since=job.created_at, limit=MOST_OBJECTS
    )
    naming: dict[UUID, ChunkView] = {}
    for each in await graph.objects.many(job.project_id, fresh):
        naming |= await _chunks_with(search, each)
    for chunk_id in await graph.ledger.among_read(job.project_id, naming):
        outcome = await _confirm(run, schema, naming[chunk_id])
        if outcome.objects or outcome.relationships:
            found = ChunkExtraction(
                project_id=job.project_id,
                chunk_id=chunk_id,
                job_id=job.id,
                schema_number=number,
                outcome="empty",
                objects=outcome.objects,
                relationships=outcome.relationships,
            )
            await graph.add_sources(found)
            run.stop_here()  # may end this try here, because the next one finds less to do


async def _chunks_with(search: Search, named: GraphObject) -> dict[UUID, ChunkView]:
    phrase = named.name.replace('"', " ")
    question = Question(query=f'"{phrase}"', mode="text", limit=MOST_CHUNKS, floor=False, highlight=False)
    hits = (await search.find(named.project_id, question)).hits
    views = (found.chunk for hit in hits for found in (hit.found, *hit.also_in))
    return {UUID(view["id"]): view for view in views}


async def _confirm(run: Run, schema: Schema, view: ChunkView) -> Outcome:
    """Claims of the objects named in the chunk that its text states and that it does not make yet."""
    graph, project_id, chunk = run.store.graph, run.job.project_id, to_text(view)
    named = await graph.objects.named(project_id, names_in(chunk.text), text=chunk.text, limit=MOST_NAMED)
    ids = [each.id for each in named]
    ties = await graph.known_claims.quotes_between(project_id, chunk.id, ids)
    again = await graph.known_claims.quoted_again(project_id, chunk.id, chunk.text, ids)
    return merge(
        schema=schema,
        known=[to_known(each) for each in named],
        primary=chunk,
        context=(),
        reply=ExtractionReply(),
        earlier=[EarlierClaim(*row) for row in await graph.known_claims.earlier(project_id, chunk.id)],
        earlier_ties=[
            EarlierTie(*row) for row in await graph.known_claims.earlier_ties(project_id, chunk.id)
        ],
        known_ties=[KnownTie(*row) for row in ties],
        known_claims=[KnownClaim(*row) for row in again],
        blind=True,
    )
