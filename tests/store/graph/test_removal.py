"""What goes with a document: only what nothing else says."""

from typing import TYPE_CHECKING

import pytest
from tests.graphs import extraction_job, picture, require_sound, say, thing, tie, update
from tests.samples import AddSample

from whence.errors import ObjectNotFound
from whence.ingest.delete import Remover
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.settings import Settings
from whence.store import Store
from whence.store.originals import Originals
from whence.store.storage import Storage

if TYPE_CHECKING:
    from uuid import UUID


@pytest.fixture
def remover(store: Store, settings: Settings) -> Remover:
    return Remover(store, Storage(Originals.open(None, settings.data_dir), store.inventory))


async def test_a_property_falls_back_to_the_newest_claim_that_stays(
    store: Store, add_sample: AddSample, remover: Remover, dsn: str
) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    first = await say(store, one.chunks[0], thing("A", color="red", size=1), thing("B"))
    await say(
        store, two.chunks[0], thing("A", color="blue", weight=2), thing("C"), ties=[tie("A", "is", "C")]
    )
    impact = await store.graph.deletion_impact(PROJECT, two.document.id)
    assert [lost["name"] for lost in impact["graph"]["objects"]] == ["C"]
    assert [
        (lost["object_name"], lost["property_name"], lost["value"], lost["stays"], lost["falls_back_to"])
        for lost in impact["graph"]["properties"]
    ] == [("A", "color", "blue", True, "red"), ("A", "weight", 2, False, None)]
    assert [
        (lost["source_name"], lost["type"], lost["target_name"]) for lost in impact["graph"]["relationships"]
    ] == [("A", "is", "C")]
    assert (impact["objects"], impact["properties"], impact["relationships"]) == (1, 2, 1)

    await remover.document(two.document)
    require_sound(dsn)
    a, b = await store.graph.objects.many(PROJECT, first.created)
    assert (a.properties, b.properties) == ({"color": "red", "size": 1}, {})
    assert await store.graph.relationships.page(PROJECT, limit=10, offset=0) == ([], 0)
    await remover.document(one.document)
    assert not any(picture(dsn).values())


@pytest.mark.parametrize("kind", ["document", "chunk"])
async def test_a_property_of_a_relationship_falls_back_too(
    store: Store, add_sample: AddSample, remover: Remover, dsn: str, kind: str
) -> None:
    """Of one that stays; what is said of one that goes is not told again."""
    one, two = await add_sample(), await add_sample(name="b.pdf")
    both = (thing("A"), thing("B"))
    older = {"since": 2019, "share": 0.5, "sort": "old"}
    newer = {"since": 2024, "note": None, "sort": "old"}
    await say(store, one.chunks[0], *both, ties=[tie("A", "owns", "B", **older)])
    await say(store, two.chunks[0], *both, ties=[tie("A", "owns", "B", **newer), tie("B", "needs", "A", n=1)])
    impact = (
        await store.graph.deletion_impact(PROJECT, two.document.id)
        if kind == "document"
        else await store.graph.deletion_impact(PROJECT, two.chunks[0].id)
    )
    (edge,) = (
        edge
        for edge in (await store.graph.relationships.page(PROJECT, limit=10, offset=0))[0]
        if edge.type == "owns"
    )
    assert edge.properties == {**older, **newer}
    told = impact["graph"]["relationship_properties"]
    assert {
        (lost["relationship_id"], lost["relationship_type"], lost["source_name"], lost["target_name"])
        for lost in told
    } == {(edge.id, "owns", "A", "B")}
    assert [
        (lost["property_name"], lost["value"], lost["stays"], lost["falls_back_to"]) for lost in told
    ] == [
        ("note", None, False, None),
        ("since", 2024, True, 2019),
    ]
    assert impact["relationship_properties"] == 2
    assert [lost["type"] for lost in impact["graph"]["relationships"]] == ["needs"]

    await remover.document(two.document)
    require_sound(dsn)
    assert (await store.graph.relationships.get(edge.id)).properties == older
    assert not (await store.graph.deletion_impact(PROJECT, one.document.id))["relationship_properties"]


async def test_the_claim_that_goes_is_not_the_newest_of_its_relationship(
    store: Store, add_sample: AddSample
) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    for sample, since in ((one, 2019), (two, 2024)):
        await say(store, sample.chunks[0], thing("A"), thing("B"), ties=[tie("A", "owns", "B", since=since)])
    impact = await store.graph.deletion_impact(PROJECT, one.document.id)
    assert (impact["graph"]["relationship_properties"], impact["relationship_properties"]) == ([], 0)


async def test_an_object_that_stays_is_named_by_a_chunk_that_stays(
    store: Store, add_sample: AddSample, remover: Remover, dsn: str
) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    word = two.chunks[1].content.split()[1]
    names = {"Nowhere": "Nowhere", "word": word}
    written = await say(store, one.chunks[0], *(thing(name) for name in names.values()))
    unquoted, quoted = written.objects
    assert unquoted
    assert quoted
    for chunk in two.chunks[:2]:
        await say(store, chunk, update(unquoted, color="red"), update(quoted, color="red"), schema=2)
    await remover.document(one.document)
    require_sound(dsn)
    (claim,) = (
        await store.graph.provenance.of_object(PROJECT, unquoted, property_name="name", limit=9, offset=0)
    )[0]
    assert (claim.value, claim.quote, claim.current) == ("Nowhere", None, True)
    assert (claim.operation, claim.schema_number) == ("updated", 2)
    assert claim.place.chunk_id == two.chunks[0].id
    (claim,) = (
        await store.graph.provenance.of_object(PROJECT, quoted, property_name="name", limit=9, offset=0)
    )[0]
    chunk = next(each for each in two.chunks if each.id == claim.place.chunk_id)
    assert (claim.value, claim.quote) == (word, word)
    assert claim.start_offset is not None
    assert chunk.content[claim.start_offset : claim.end_offset] == word


@pytest.mark.parametrize(
    ("told", "after"),
    [
        (("A", "B"), "B"),
        (("A", "A B"), "A"),
        (("A", "=A B"), "A"),
        (("a", "A B"), "A"),
        (("A B", "=B"), "B"),
        (("A b", "B"), "B"),
        (("B", "A"), "A"),
    ],
)
async def test_the_impact_says_what_an_object_will_be_called(
    store: Store, add_sample: AddSample, remover: Remover, told: tuple[str, str], after: str
) -> None:
    """A has B in it; told by a document that goes and one that stays. `=A` is something of A that does not name it."""
    one, two = await add_sample(), await add_sample(name="b.pdf")
    said = [
        *((two.chunks[0], name) for name in told[1].split()),
        *((one.chunks[0], name) for name in told[0].split()),
    ]
    ids: dict[str, UUID] = {}
    for chunk, name in sorted(said, key=lambda each: each[1].startswith("=")):
        known = ids.get(name.strip("=").lower())
        spoken = thing(name) if known is None or "=" not in name else update(known, color="red")
        (ids[name.strip("=").lower()],) = (
            ident for ident in (await say(store, chunk, spoken)).objects if ident
        )
    await store.graph.merges.merge(PROJECT, keep_id=ids["a"], drop_id=ids["b"])
    before = (await store.graph.objects.get(ids["a"])).name
    impact = await store.graph.deletion_impact(PROJECT, one.document.id)
    names = [lost for lost in impact["graph"]["properties"] if lost["property_name"] == "name"]
    assert [(lost["object_id"], lost["value"], lost["stays"], lost["falls_back_to"]) for lost in names] == (
        [(ids["a"], before, True, after)] if before != after else []
    )
    await remover.document(one.document)
    assert (await store.graph.objects.get(ids["a"])).name == after


async def test_the_impact_names_only_some_and_counts_all(store: Store, add_sample: AddSample) -> None:
    sample = await add_sample()
    await say(store, sample.chunks[0], *(thing(f"T{number}") for number in range(5)))
    impact = await store.graph.deletion_impact(PROJECT, sample.document.id, limit=2)
    assert (len(impact["graph"]["objects"]), impact["objects"]) == (2, 5)


async def test_deleting_the_job_that_made_the_chunks(
    store: Store, add_sample: AddSample, remover: Remover, dsn: str
) -> None:
    sample = await add_sample()
    await say(store, sample.chunks[0], thing("A"))
    await remover.job(sample.job)
    assert not any(picture(dsn).values())


async def test_deleting_an_extraction_job_keeps_what_it_found(
    store: Store, add_sample: AddSample, remover: Remover, dsn: str
) -> None:
    sample = await add_sample()
    job = await extraction_job(store, sample.job)
    await extraction_job(store, sample.job)
    await say(store, sample.chunks[0], thing("A"), job_id=job.id)
    await remover.job(job)
    require_sound(dsn)
    assert (await store.documents.get(sample.document.id)).current_job_id == sample.job.id
    assert (await store.graph.objects.page(PROJECT, limit=10, offset=0))[1] == 1


async def test_deleting_a_project_takes_its_graph(
    store: Store, add_sample: AddSample, remover: Remover, dsn: str
) -> None:
    project = await store.projects.create(name="other")
    chunks = (await add_sample(project_id=project.id)).chunks
    one, two = (await say(store, chunks[0], thing("A"), thing("B"), ties=[tie("A", "is", "B")])).objects
    assert one is not None
    assert two is not None
    await store.graph.merges.merge(project.id, keep_id=one, drop_id=two)
    await store.schemas.put(project.id, body={}, sha256=b"1")
    await remover.project(project.id)
    assert not any(picture(dsn).values())


async def test_an_object_of_which_nothing_is_said_is_not_there(store: Store, add_sample: AddSample) -> None:
    sample = await add_sample()
    (ident,) = (await say(store, sample.chunks[0], thing("A"))).objects
    assert ident is not None
    async with store.transaction() as tx:
        await tx.graph.removal.chunks(PROJECT, [sample.chunks[0].id])
        await tx.chunks.remove(PROJECT, [sample.chunks[0].id])
    with pytest.raises(ObjectNotFound):
        await store.graph.objects.get(ident)
