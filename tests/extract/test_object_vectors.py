"""Vectors of objects that lack one, while another operation writes the same objects."""

import asyncio

from tests.graphs import extraction, thing, until_waiting
from tests.samples import AddSample

from whence.extract.embedding import embed, embed_lacking
from whence.extract.to_store import object_text
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.providers import Embedders
from whence.settings import Settings
from whence.store import Store
from whence.store.halfvec import halfvec


async def test_a_writer_of_an_object_stores_its_vector_while_others_embed_it(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """They wait for the object before they insert its vector. Else the writer would wait for them too: a deadlock."""
    async with Embedders(Settings(embedder="hash", embedding_dimensions=4)) as embedders:
        embedder = embedders.configured
        space = await store.vectors.ensure_space(
            provider=embedder.provider, model=embedder.model, dimensions=embedder.dimensions
        )
        await store.vectors.first_space(PROJECT, space)
        chunk, other = (await add_sample(chunks=2)).chunks
        await store.graph.write_chunk(extraction(chunk, thing("One", color="red")))
        async with store.transaction() as tx:
            written = await tx.graph.write_chunk(extraction(other, thing("One", color="blue")))
            embedding = asyncio.create_task(embed_lacking(store, embedders, PROJECT))
            await until_waiting(dsn, 1, embedding)
            (one,) = await tx.graph.objects.many(PROJECT, written.changed)
            (vector,) = await embed(embedder, [object_text(one)])
            await tx.graph.objects.put_vectors(PROJECT, space.id, {one.id: vector})
        assert await embedding
        assert not await embed_lacking(store, embedders, PROJECT)
        ((found, similarity),) = await store.graph.objects.similar(
            PROJECT, space.id, halfvec(vector), limit=1
        )
    # Not the vector of the red one, whose embedding ended last.
    assert (found, round(similarity, 3)) == (one, 1.0)
