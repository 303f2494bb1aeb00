"""Any history of ingest, extraction, update, schema, merge, undoing and deletion, lived twice: once undisturbed, and once by
runs that are killed on the way. Both come to the same graph, and it is sound at every step."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar
from uuid import UUID

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.extract.test_histories import CUT, PEOPLE, REQUIREMENTS, Killed
from tests.extracting import content, paragraphs, rows
from tests.graphs import picture, require_sound
from tests.ingest.conftest import Desk

from whence.app import App
from whence.errors import WhenceError
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.scheduling import SCOPES, Scope
from whence.extract.schema_reading import read_schema
from whence.ingest import Receipt
from whence.job_run import TryAgain
from whence.models import GraphObject
from whence.providers import Embedded
from whence.providers.hashed import HashEmbedder
from whence.settings import Settings

T = TypeVar("T")

UNDISTURBED = 1_000
KINDS = ("Requirement", "Obligation")
"""What requirements are called; the rules know both."""


class Kill(BaseException):
    """The end of whoever works: nobody catches it."""


class Mortal(HashEmbedder):
    """An embedder in whose nth call its process is killed: a chunk has been read then, and nothing of it written."""

    def __init__(self) -> None:
        super().__init__()
        self.left = UNDISTURBED

    async def embed(self, texts: Sequence[str]) -> Embedded:
        self.left -= 1
        if self.left < 0:
            raise Kill
        return await super().embed(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kills:
    """When the runs of a job are killed, one after another; after them one lives."""

    at_looks: tuple[int, ...] = ()
    in_calls: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """How many looks and how many calls a run has."""
        yield from ((looks, UNDISTURBED) for looks in self.at_looks)
        yield from ((UNDISTURBED, calls) for calls in self.in_calls)
        yield UNDISTURBED, UNDISTURBED


@dataclass(slots=True, kw_only=True)
class Life:
    """A project, and the documents that are in it."""

    app: App
    mortal: Mortal
    project_id: UUID
    documents: list[Receipt] = field(default_factory=list)

    @property
    def desk(self) -> Desk:
        return Desk(self.app)

    async def ingest(self, text: str, name: str) -> None:
        receipt = await self.desk.hand_in(text, name=name, chunking=CUT, project_id=self.project_id)
        await self._ingested(receipt)
        self.documents.append(receipt)

    async def update(self, at: int, text: str) -> None:
        self.documents[at] = await self.desk.change(self.documents[at], text, chunking=CUT)
        await self._ingested(self.documents[at])

    async def reword(self, at: int, words: str) -> None:
        await self.extract(at, "all", Kills())
        before = await self.who()
        text = await self.desk.text(self.documents[at])
        assert text is not None
        await self.update(at, text.replace("\n\n# ", f"\n\n{words}\n\n# ") + f"\n\n{words}")
        await self.extract(at, "all", Kills())
        after = await self.who()
        both = before.keys() & after.keys()
        assert {key: after[key] for key in both} == {key: before[key] for key in both}

    async def who(self) -> dict[tuple[str, str], tuple[UUID, UUID]]:
        """Of each name, those of merged objects among them, the object that has it and the one that is meant."""
        found = {(each.type, each.name_key): (each.id, each.id) for each in await self.objects()}
        merges, _ = await self.app.store.graph.merges.page(self.project_id, limit=100, offset=0)
        return found | {
            (each.dropped_type, f"merged {each.dropped_name}"): (each.kept_id, each.dropped_id)
            for each in merges
        }

    async def _ingested(self, receipt: Receipt) -> None:
        assert receipt.job_id is not None
        await self.app.ingest.run(self.project_id, receipt.job_id)
        assert (await self.desk.job(receipt)).status == "completed"

    async def extract(self, at: int, scope: Scope, kills: Kills) -> None:
        document = await self.app.store.documents.get(self.documents[at].document_id)
        job = await self.app.orders.document(document, scope=scope)
        for looks, self.mortal.left in kills:
            with suppress(Kill, TryAgain):
                await self.app.extraction.run(self.project_id, job.id, stopping=Killed(looks))
        ended = await self.app.store.jobs.get(job.id)
        assert (ended.status, ended.error_details) == ("completed", None), ended

    async def change_schema(self, properties: dict[str, Any], kind: str) -> None:
        """Requirements, by either name, have these properties."""
        default = json.loads(json.dumps(DEFAULT_SCHEMA.body).replace('"Requirement"', f'"{kind}"'))
        (other,) = {*KINDS} - {kind}
        types = {**default["object_types"], kind: {"properties": properties, "renamed_from": other}}
        schema = read_schema({**default, "object_types": types})
        body, sha256 = schema.body, bytes.fromhex(schema.sha256)
        await self.app.store.schemas.put(self.project_id, body=body, sha256=sha256)

    async def merge(self, keep: int, drop: int) -> str:
        """What came of it."""
        objects = await self.objects()
        if not objects:
            return "nothing to merge"
        kept = objects[keep % len(objects)]
        alike = [each for each in objects if each.type == kept.type]
        dropped = alike[drop % len(alike)]
        try:
            await self.app.store.graph.merges.merge(self.project_id, keep_id=kept.id, drop_id=dropped.id)
        except WhenceError as exc:
            return exc.code
        return f"{dropped.name} into {kept.name}"

    async def undo(self, at: int) -> str:
        merges, _ = await self.app.store.graph.merges.page(self.project_id, limit=100, offset=0)
        if not merges:
            return "nothing to undo"
        undone = await self.app.store.graph.merges.undo(self.project_id, merges[at % len(merges)].id)
        return f"{undone.dropped_name} out of {undone.kept_name}"

    async def delete(self, at: int) -> None:
        receipt = self.documents.pop(at)
        await self.app.remover.document(await self.app.store.documents.get(receipt.document_id))

    async def objects(self) -> list[GraphObject]:
        """In an order that tells nothing of how they came to be."""
        found = [each async for each in self.app.store.graph.objects.every(self.project_id)]
        return sorted(found, key=lambda each: (each.type, each.name_key))


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    runner: asyncio.Runner
    app: App
    mortal: Mortal
    dsn: str

    def do(self, work: Awaitable[T]) -> T:
        async def done() -> T:
            return await work

        return self.runner.run(done())

    def life(self, name: str) -> Life:
        project = self.do(self.app.store.projects.create(name=name))
        return Life(app=self.app, mortal=self.mortal, project_id=project.id)

    def require_nothing(self) -> None:
        assert not any(picture(self.dsn).values())
        assert rows(self.dsn, "SELECT count(*) FROM kb.chunk_extractions") == [(0,)]

    def require_same(self, one: Life, other: Life) -> None:
        assert content(self.dsn, one.project_id) == content(self.dsn, other.project_id)
        assert self._values(one) == self._values(other)

    def _values(self, life: Life) -> list[tuple[Any, ...]]:
        return [(each.type, each.name, each.properties) for each in self.do(life.objects())]


def part(number: int, owner: str | None, priority: str | None, *, of: str = "Gateway") -> str:
    lines = [f"REQ-{number}: The {of} must answer call {number}."]
    lines += [f"Owner: {owner}"] if owner else []
    lines += [f"Priority: {priority}"] if priority else []
    return "\n\n".join(lines)


def parts(numbers: Sequence[int], people: Sequence[str], **more: str) -> st.SearchStrategy[list[str]]:
    """The same few requirements come again and again."""
    one = st.builds(
        part,
        st.sampled_from(numbers),
        st.none() | st.sampled_from(people),
        st.none() | st.sampled_from(("low", "medium", "high")),
        **{name: st.just(text) for name, text in more.items()},
    )
    return st.lists(one, min_size=1, max_size=4)


ANY_PARTS = parts(range(1, 6), PEOPLE)
WHICH = st.integers(0, 99)
KILLS = st.builds(
    Kills,
    at_looks=st.lists(st.integers(0, 5), max_size=2).map(tuple),
    in_calls=st.lists(st.integers(0, 3), max_size=2).map(tuple),
)


class Histories(RuleBasedStateMachine):
    world: ClassVar[World]

    @initialize()
    def begin(self) -> None:
        self.made = 0
        self.spared, self.killed = self.world.life("spared"), self.world.life("killed")

    def both(self, step: Callable[[Life], Awaitable[T]]) -> None:
        first, second = (self.world.do(step(life)) for life in (self.spared, self.killed))
        assert first == second

    def text(self, said: Sequence[str]) -> str:
        self.made += 1
        return paragraphs(*said, f"This is text number {self.made}.")

    def at(self, which: int) -> int:
        return which % len(self.spared.documents)

    @property
    def has_documents(self) -> bool:
        return bool(self.spared.documents)

    @rule(said=ANY_PARTS)
    def ingest(self, said: list[str]) -> None:
        text, name = self.text(said), f"{self.made}.md"
        self.both(lambda life: life.ingest(text, name))

    @precondition(lambda self: self.has_documents)
    @rule(which=WHICH, scope=st.sampled_from(SCOPES), kills=KILLS)
    def extract(self, which: int, scope: Scope, kills: Kills) -> None:
        at = self.at(which)
        self.world.do(self.spared.extract(at, scope, Kills()))
        self.world.do(self.killed.extract(at, scope, kills))

    @precondition(lambda self: self.has_documents)
    @rule(which=WHICH, said=ANY_PARTS)
    def update(self, which: int, said: list[str]) -> None:
        at, text = self.at(which), self.text(said)
        self.both(lambda life: life.update(at, text))

    @precondition(lambda self: self.has_documents)
    @rule(which=WHICH)
    def reword(self, which: int) -> None:
        """The same is said in other chunks: whoever is still there, or there again, is who he was."""
        at = self.at(which)
        self.made += 1
        self.both(lambda life: life.reword(at, f"This is wording number {self.made}."))

    @rule(properties=st.sampled_from(REQUIREMENTS), kind=st.sampled_from(KINDS))
    def change_schema(self, properties: dict[str, Any], kind: str) -> None:
        self.both(lambda life: life.change_schema(properties, kind))

    @precondition(lambda self: self.has_documents)
    @rule(keep=WHICH, drop=WHICH)
    def merge(self, keep: int, drop: int) -> None:
        self.both(lambda life: life.merge(keep, drop))

    @precondition(lambda self: self.has_documents)
    @rule(which=WHICH)
    def undo(self, which: int) -> None:
        self.both(lambda life: life.undo(which))

    @precondition(lambda self: self.has_documents)
    @rule(which=WHICH)
    def delete(self, which: int) -> None:
        at = self.at(which)
        self.both(lambda life: life.delete(at))

    @invariant()
    def is_sound(self) -> None:
        require_sound(self.world.dsn)
        self.world.require_same(self.spared, self.killed)

    def teardown(self) -> None:
        """Whatever was done: when all documents are gone, so is the graph."""
        for life in (self.spared, self.killed):
            while life.documents:
                self.world.do(life.delete(0))
            self.world.do(self.world.app.store.projects.delete(life.project_id))
        self.world.require_nothing()


@pytest.fixture
def world(settings: Settings, dsn: str) -> Iterator[World]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        app = runner.run(stack.enter_async_context(App.open(settings)))
        mortal = Mortal()
        app.embedders._configured = mortal
        app.embedders._open[mortal.provider, mortal.model, mortal.dimensions] = mortal
        yield World(runner=runner, app=app, mortal=mortal, dsn=dsn)
        runner.run(stack.aclose())


def test_whatever_happens_the_graph_is_sound_and_kills_change_nothing(world: World) -> None:
    bounded = hypothesis.settings(max_examples=3, stateful_step_count=15)
    Histories.world = world
    run_state_machine_as_test(Histories, settings=bounded)


@hypothesis.settings(max_examples=3, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(
    one=parts(range(1, 4), ("Jane Doe", "John Smith"), of="Gateway"),
    other=parts(range(5, 8), ("Mary Major", "Max Muster"), of="Archive"),
)
def test_the_order_of_two_documents_that_share_nothing_does_not_matter(
    world: World, one: list[str], other: list[str]
) -> None:
    texts = {"one.md": paragraphs(*one), "other.md": paragraphs(*other)}
    lives = []
    for order in (("one.md", "other.md"), ("other.md", "one.md")):
        life = world.life(f"{order}")
        for name in order:
            world.do(life.ingest(texts[name], name))
        for at in range(2):
            world.do(life.extract(at, "stale", Kills()))
        lives.append(life)
    world.require_same(*lives)
    for life in lives:
        world.do(world.app.store.projects.delete(life.project_id))
