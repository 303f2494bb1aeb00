"""What a job has finished is there when it goes on, however much it is, and nothing of a run that may not write."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import numpy as np
import pytest
from tests.samples import make_sample

from whence.models import DEFAULT_PROJECT_ID, EmbeddingSpace, Job, Page
from whence.store import Store
from whence.store.halfvec import halfvec
from whence.store.jobs import Progress
from whence.store.staging import _AT_ONCE, Batch

PAGES = (Page(number=1, start=0, end=4), Page(number=2, start=4, end=10))
RUN = UUID(int=7)
DATED = datetime(2020, 5, 1, tzinfo=UTC)


@pytest.fixture
async def job(store: Store) -> Job:
    """One that is taken, by `RUN`."""
    sample = make_sample(chunks=0, project_id=DEFAULT_PROJECT_ID, name="staged.txt")
    async with store.transaction() as tx:
        await tx.documents.insert(sample.document)
        await tx.jobs.insert(replace(sample.job, status="pending"))
    taken = await store.jobs.take(DEFAULT_PROJECT_ID, sample.job.id, RUN)
    assert taken is not None
    return taken[0]


@pytest.fixture
async def space(store: Store) -> EmbeddingSpace:
    return await store.vectors.ensure_space(provider="test", model="staged", dimensions=4)


def text_of(length: int) -> str:
    return ("Größe 山 \U0001f30d\n" * (length // 10 + 1))[:length]


async def staged_text(store: Store, job: Job) -> tuple[str, str, tuple[Page, ...], datetime | None] | None:
    return await store.staging.text(
        DEFAULT_PROJECT_ID, job.id, document_id=UUID(int=0), sha256=b"", mime="text/plain"
    )


@pytest.mark.parametrize("length", [10, 1_000_000, 3_000_001])
@pytest.mark.parametrize("pages", [(), PAGES])
async def test_a_text_comes_back_as_it_was(
    store: Store, job: Job, length: int, pages: tuple[Page, ...]
) -> None:
    text = text_of(length)
    for _ in range(2):
        async with store.transaction() as tx:
            await tx.staging.put_text(
                DEFAULT_PROJECT_ID, job.id, mime="text/plain", text=text, pages=pages, dated_at=DATED
            )
    assert await staged_text(store, job) == ("text/plain", text, pages, DATED)


def batch(number: int, size: int) -> Batch:
    vectors = np.arange(size * 4, dtype=np.float32).reshape(size, 4) + number
    hashes = [bytes([number, place, *bytes(30)]) for place in range(size)]
    return Batch.of(hashes, [None if place % 3 == 0 else place for place in range(size)], vectors)


async def test_vectors_come_back_as_they_were(store: Store, job: Job, space: EmbeddingSpace) -> None:
    put = [batch(number, size=1 + number % 3) for number in range(_AT_ONCE + 2)]
    for number, one in enumerate(put, 1):
        progress = Progress(stage="embedding", done=number, total=len(put))
        assert await store.staging.put_vectors(job, RUN, progress, space_id=space.id, batch=one)
    pages = [page async for page in store.staging.batches(DEFAULT_PROJECT_ID, job.id, space.id)]
    assert [len(page) for page in pages] == [_AT_ONCE, 2]
    assert [one for page in pages for one in page] == put
    counts = await store.staging.embedded(DEFAULT_PROJECT_ID, job.id, space.id)
    assert counts == {content: count for one in put for content, count in one.counts()}
    assert (await store.jobs.get(job.id)).done == len(put)
    other = await store.vectors.ensure_space(provider="test", model="another", dimensions=4)
    assert not await store.staging.embedded(DEFAULT_PROJECT_ID, job.id, other.id)
    assert not [page async for page in store.staging.batches(DEFAULT_PROJECT_ID, job.id, other.id)]


def test_a_batch_tells_its_vectors_apart() -> None:
    vectors = dict(batch(1, size=3).vectors())
    assert vectors == {
        bytes([1, place, *bytes(30)]): halfvec([4 * place + 1 + step for step in range(4)])
        for place in range(3)
    }


async def test_a_run_that_was_replaced_keeps_nothing(store: Store, job: Job, space: EmbeddingSpace) -> None:
    late = uuid4()
    progress = Progress(stage="embedding", done=3)
    assert not await store.staging.put_vectors(job, late, progress, space_id=space.id, batch=batch(1, size=3))
    assert not await store.staging.embedded(DEFAULT_PROJECT_ID, job.id, space.id)
    assert (await store.jobs.get(job.id)).done == 0
