"""What a job has read is there when it goes on, however long it is."""

from uuid import UUID

import pytest
from tests.samples import make_sample

from whence.store import Store
from whence.store.staging import _LONG
from whence.types import DEFAULT_PROJECT_ID, Page


@pytest.fixture
async def job_id(store: Store) -> UUID:
    sample = make_sample(chunks=0, project_id=DEFAULT_PROJECT_ID, name="staged.txt")
    async with store.transaction() as tx:
        await tx.documents.insert(sample.document)
        await tx.jobs.insert(sample.job)
    return sample.job.id


@pytest.mark.parametrize("length", [10, _LONG, 3 * _LONG + 1])
@pytest.mark.parametrize("pages", [(), (Page(number=1, start=0, end=4), Page(number=2, start=4, end=10))])
async def test_a_text_comes_back_as_it_was(
    store: Store, job_id: UUID, length: int, pages: tuple[Page, ...]
) -> None:
    text = ("Größe 山 \U0001f30d\n" * (length // 10 + 1))[:length]
    for _ in range(2):
        async with store.transaction() as tx:
            await tx.staging.put_text(DEFAULT_PROJECT_ID, job_id, mime="text/plain", text=text, pages=pages)
    staged = await store.staging.text(
        DEFAULT_PROJECT_ID, job_id, document_id=UUID(int=0), sha256=b"", mime="text/plain"
    )
    assert staged == ("text/plain", text, pages)
