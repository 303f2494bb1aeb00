"""What is always true of the graph, over histories of all that can be done to documents, schemas and objects."""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from unittest.mock import ANY

import pytest
from tests.extracting import content, paragraphs, rows
from tests.graphs import picture, require_sound
from tests.ingest.conftest import Desk

from whence.chunk import ChunkingOptions
from whence.errors import Conflict
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.schema_reading import read_schema
from whence.ingest import Chunking, Receipt
from whence.job_run import TryAgain
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import Job

CUT = Chunking(strategy="paragraph", options=ChunkingOptions(max_chunk_size=1000, min_chunk_size=10))
PEOPLE = ("Jane Doe", "John Smith", "Mary Major")
OWNER = {"type": "string", "description": "Who is responsible for it"}
REQUIREMENTS: tuple[dict[str, Any], ...] = (
    {"owner": OWNER},
    {"owner": OWNER, "priority": {"type": "string", "enum": ["low", "medium", "high"]}},
    {"responsible": {**OWNER, "renamed_from": "owner"}},
    {},
)


def part(chance: random.Random) -> str:
    """A requirement with an owner and a priority; the same few come again and again."""
    number = chance.randint(1, 5)
    lines = [f"REQ-{number}: The Gateway must answer call {number}."]
    if chance.random() < 0.7:
        lines.append(f"Owner: {chance.choice(PEOPLE)}")
    if chance.random() < 0.5:
        lines.append(f"Priority: {chance.choice(('low', 'medium', 'high'))}")
    return "\n\n".join(lines)


class Killed:
    """Tells a run to stop at its nth look: what it has not written by then is lost, as by a kill."""

    def __init__(self, after: int) -> None:
        self._left = after

    def __call__(self) -> bool:
        self._left -= 1
        return self._left < 0


async def read(desk: Desk, job: Job, *, kills: Callable[[], int] = lambda: 1_000) -> None:
    """The job brought to its end, by as many runs as it takes."""
    for _ in range(100):
        with suppress(TryAgain):
            await desk.app.extraction.run(PROJECT, job.id, stopping=Killed(kills()))
            break
    ended = await desk.app.store.jobs.get(job.id)
    assert (ended.status, ended.error_details) == ("completed", None), ended


async def extract(desk: Desk, receipt: Receipt, scope: Any = "stale", **options: Any) -> None:
    document = await desk.app.store.documents.get(receipt.document_id)
    await read(desk, await desk.app.orders.document(document, scope=scope), **options)


async def put_schema(desk: Desk, properties: dict[str, Any]) -> None:
    body = {**DEFAULT_SCHEMA.body["object_types"], "Requirement": {"properties": properties}}
    schema = read_schema({**DEFAULT_SCHEMA.body, "object_types": body})
    await desk.app.store.schemas.put(PROJECT, body=schema.body, sha256=bytes.fromhex(schema.sha256))


class History:
    """Steps by chance, the same for the same seed."""

    def __init__(self, desk: Desk, seed: int) -> None:
        self.desk = desk
        self.random = random.Random(seed)
        self.receipts: list[Receipt] = []
        self.made = 0

    async def step(self) -> None:
        steps = [self.ingest, self.extract, self.extract, self.extract, self.update, self.merge, self.undo]
        steps += [self.change_schema, self.delete]
        await (self.random.choice(steps) if self.receipts else self.ingest)()

    def text(self) -> str:
        self.made += 1
        parts = [part(self.random) for _ in range(self.random.randint(1, 4))]
        return paragraphs(*parts, f"This is text number {self.made}.")

    async def ingest(self) -> None:
        self.receipts.append(await self.desk.hand_in(self.text(), name=f"{self.made}.md", chunking=CUT))
        assert (await self.desk.run(self.receipts[-1])).status == "completed"

    async def extract(self) -> None:
        scope = self.random.choice(("stale", "stale", "all"))
        receipt = self.random.choice(self.receipts)
        await extract(self.desk, receipt, scope, kills=lambda: self.random.randint(1, 6))

    async def update(self) -> None:
        at = self.random.randrange(len(self.receipts))
        self.receipts[at] = await self.desk.change(self.receipts[at], self.text(), chunking=CUT)
        assert (await self.desk.run(self.receipts[at])).status == "completed"

    async def change_schema(self) -> None:
        await put_schema(self.desk, self.random.choice(REQUIREMENTS))

    async def merge(self) -> None:
        objects, _ = await self.desk.app.store.graph.objects.page(PROJECT, limit=100, offset=0)
        kind = self.random.choice([each.type for each in objects] or [""])
        alike = [each for each in objects if each.type == kind]
        if len(alike) > 1:
            keep, drop = self.random.sample(alike, 2)
            with suppress(Conflict):
                await self.desk.app.store.graph.merges.merge(PROJECT, keep_id=keep.id, drop_id=drop.id)

    async def undo(self) -> None:
        merges, _ = await self.desk.app.store.graph.merges.page(PROJECT, limit=100, offset=0)
        if merges:
            await self.desk.app.store.graph.merges.undo(PROJECT, self.random.choice(merges).id)

    async def delete(self) -> None:
        receipt = self.receipts.pop(self.random.randrange(len(self.receipts)))
        document = await self.desk.app.store.documents.get(receipt.document_id)
        await self.desk.app.remover.document(document)


@pytest.mark.parametrize("seed", range(2))
async def test_what_is_always_true(desk: Desk, dsn: str, seed: int) -> None:
    history = History(desk, seed)
    for _ in range(25):
        await history.step()
        require_sound(dsn)
    while history.receipts:
        await history.delete()
    assert not any(picture(dsn).values())
    assert rows(dsn, "SELECT count(*) FROM kb.chunk_extractions") == [(0,)]


@pytest.mark.parametrize("seed", range(2))
async def test_deleting_the_first_document_leaves_what_the_others_say(
    desk: Desk, dsn: str, seed: int
) -> None:
    """Down to the value and the name: as if the first had never been there."""
    chance = random.Random(seed)
    texts = [paragraphs(*(part(chance) for _ in range(6))) for _ in range(3)]
    seen = []
    for some in (texts, texts[1:]):
        receipts = []
        for at, text in enumerate(some):
            receipts.append(await desk.hand_in(text, name=f"{len(texts) - len(some) + at}.md", chunking=CUT))
            await desk.run(receipts[-1])
            await extract(desk, receipts[-1])
        while len(receipts) > len(texts) - 1:
            await desk.app.remover.document(await desk.app.store.documents.get(receipts.pop(0).document_id))
        require_sound(dsn)
        objects = rows(dsn, "SELECT type, name, properties FROM kb.graph_objects ORDER BY type, name")
        claims = [(*row[:6], *row[7:]) for row in content(dsn)]  # all but whether it was the first to say so
        seen.append((objects, claims))
        for receipt in receipts:
            await desk.app.remover.document(await desk.app.store.documents.get(receipt.document_id))
    assert seen[0] == seen[1]
    assert len(seen[0][0]) > 1


@pytest.mark.parametrize("seed", range(2))
async def test_an_update_of_the_same_meaning_changes_no_object_and_no_merge(
    desk: Desk, dsn: str, seed: int
) -> None:
    chance = random.Random(seed)
    texts = [[part(chance) for _ in range(4)] for _ in range(2)]
    receipts = []
    for at, text in enumerate(texts):
        receipts.append(await desk.hand_in(paragraphs(*text), name=f"{at}.md", chunking=CUT))
        await desk.run(receipts[-1])
        await extract(desk, receipts[-1])
    history = History(desk, seed)
    while len(picture(dsn)["merges"]) < 3:
        await history.merge()
    for version in range(3):
        before = picture(dsn)
        at = version % 2
        worded = [f"{each}\n\nThis is the text of version {version}." for each in texts[at]]
        chance.shuffle(worded)
        receipts[at] = await desk.change(receipts[at], paragraphs(*worded), chunking=CUT)
        await desk.run(receipts[at])
        require_sound(dsn)
        await extract(desk, receipts[at], kills=lambda: chance.randint(1, 6))
        require_sound(dsn)
        after = picture(dsn)
        assert known(after) == known(before)
        assert after["merges"] == before["merges"]
        assert not after["remembered"]
    while picture(dsn)["merges"]:
        await history.undo()
        require_sound(dsn)


def known(graph: dict[str, list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    """The ids, types and names by which objects are known, and when they were made."""
    return [(*row[1:3], row[4], row[6]) for row in graph["objects"]]


async def test_a_run_that_is_stopped_anywhere_comes_to_the_same(desk: Desk, dsn: str) -> None:
    chance = random.Random(7)
    receipt = await desk.hand_in(paragraphs(*(part(chance) for _ in range(6))), chunking=CUT)
    await desk.run(receipt)
    await extract(desk, receipt)
    whole = [row[:7] for row in content(dsn)]
    assert len(whole) > 6
    for after in range(2, 6):
        document = await desk.app.store.documents.get(receipt.document_id)
        await desk.app.remover.document(document)
        receipt = await desk.hand_in(paragraphs(*_parts(7)), chunking=CUT)
        await desk.run(receipt)
        await extract(desk, receipt, kills=lambda after=after: after)
        assert [row[:7] for row in content(dsn)] == whole


def _parts(seed: int) -> list[str]:
    chance = random.Random(seed)
    return [part(chance) for _ in range(6)]


async def test_the_order_of_two_documents_that_share_nothing_does_not_matter(desk: Desk, dsn: str) -> None:
    texts = {
        "a.md": "REQ-1: The Gateway must answer.\n\nOwner: Jane Doe",
        "b.md": "REQ-2: The Archive must keep everything.\n\nOwner: John Smith",
    }
    seen = []
    for names in (("a.md", "b.md"), ("b.md", "a.md")):
        receipts = [await desk.hand_in(texts[name], name=name, chunking=CUT) for name in names]
        for receipt in receipts:
            await desk.run(receipt)
            await extract(desk, receipt)
        seen.append(content(dsn))
        for receipt in receipts:
            await desk.app.remover.document(await desk.app.store.documents.get(receipt.document_id))
    assert seen[0] == seen[1] != []


async def test_a_job_goes_by_the_schema_it_began_with(desk: Desk, dsn: str) -> None:
    await put_schema(desk, {"owner": OWNER})
    receipt = await desk.hand_in(paragraphs(*_parts(3)), chunking=CUT)
    await desk.run(receipt)
    document = await desk.app.store.documents.get(receipt.document_id)
    job = await desk.app.orders.document(document, scope="stale")
    with pytest.raises(TryAgain):
        await desk.app.extraction.run(PROJECT, job.id, stopping=Killed(4))
    await put_schema(desk, {"responsible": OWNER})
    await read(desk, job)
    assert rows(dsn, "SELECT DISTINCT schema_number FROM kb.chunk_extractions") == [(1,)]
    assert (await desk.app.store.jobs.get(job.id)).schema_number == 1
    assert await desk.app.store.graph.ledger.by_version(PROJECT, 2) == {1: (6, ANY)}
