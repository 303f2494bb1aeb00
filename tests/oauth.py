"""A small graph whose every value stands on words: a requirement that two chunks speak of, and what checks it."""

from dataclasses import dataclass, replace
from uuid import UUID

from tests.graphs import extraction, key
from tests.samples import Sample, make_sample

from whence.chunk_findings import FoundObject, FoundRelationship, FoundValue
from whence.models import DEFAULT_PROJECT_ID, Chunk
from whence.store import Store

PARTS = (
    "OAuth 2.0 lets users log in. A token is good for 30 minutes.\n",
    "By now tokens expire after 1 hour.\n",
    "The Gateway checks every token.\n",
    "Nothing is said here.\n",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    sample: Sample
    oauth: UUID
    gateway: UUID
    checks: UUID

    @property
    def chunks(self) -> list[Chunk]:
        return self.sample.chunks


async def tell(store: Store, *, project_id: UUID = DEFAULT_PROJECT_ID, name: str = "spec.pdf") -> Told:
    """Two schemas: the first chunk was read under the first, the others under the second, the last not at all."""
    for number in (1, 2):
        await store.schemas.put(project_id, body={"object_types": {}}, sha256=bytes([number]) * 32)
    sample = _document(project_id, name)
    space = await store.vectors.ensure_space(provider="test", model="ramp", dimensions=4)
    async with store.transaction() as tx:
        await tx.documents.insert(sample.document)
        await tx.jobs.insert(sample.job)
        await tx.chunks.insert(sample.chunks)
        await tx.vectors.insert(sample.document.project_id, space.id, sample.halves)
    first, second, third, _ = sample.chunks
    requirement = FoundObject(
        key=key("OAuth 2.0", "Requirement"),
        name="OAuth 2.0",
        properties={
            "name": _found(first, "OAuth 2.0"),
            "description": _found(first, "lets users log in"),
            "expiration": _found(first, "30 minutes"),
        },
    )
    written = await store.graph.write_chunk(extraction(first, requirement, schema=1))
    (oauth,) = written.created
    newer = FoundObject(id=oauth, properties={"expiration": _found(second, "1 hour")})
    await store.graph.write_chunk(extraction(second, newer, schema=2))
    component = FoundObject(
        key=key("Gateway", "Component"),
        name="Gateway",
        properties={"name": _found(third, "Gateway")},
    )
    tie = FoundRelationship(
        type="checks",
        source=key("Gateway", "Component"),
        target=oauth,
        properties={"how": "every token"},
        quote="checks every token",
        start_offset=third.content.index("checks"),
        end_offset=third.content.index("."),
    )
    written = await store.graph.write_chunk(extraction(third, component, ties=[tie], schema=2))
    gateway, checks = written.objects[0], written.relationships[0]
    assert gateway
    assert checks
    return Told(sample=sample, oauth=oauth, gateway=gateway, checks=checks)


def _document(project_id: UUID, name: str) -> Sample:
    made = make_sample(chunks=len(PARTS), project_id=project_id, name=name)
    chunks, offset = [], 0
    for page, (chunk, content) in enumerate(zip(made.chunks, PARTS, strict=True), start=1):
        end = offset + len(content)
        metadata = {"source_page": page, "startOffset": offset, "endOffset": end, "token_count": 8}
        chunks.append(replace(chunk, content=content, metadata=metadata))
        offset = end
    return replace(made, document=replace(made.document, text="".join(PARTS)), chunks=chunks)


def _found(chunk: Chunk, quote: str) -> FoundValue:
    start = chunk.content.index(quote)
    return FoundValue(value=quote, quote=quote, start_offset=start, end_offset=start + len(quote))
