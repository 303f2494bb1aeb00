"""Precision and recall of the rules, on short documents with lists of what a careful reader would extract.

Each document in `documents/` lists what is wanted, and what is welcome without being missed. A name that begins with `~` is
known by these words in it. The rules were not written with those called `aside_…` in view. Much of what is wanted (duties, tasks, decisions,
relationships in prose) is beyond the rules by design: recall is a record, precision is a promise.
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.merging import Merged

from whence.chunk import ChunkingOptions, ParagraphStrategy
from whence.extract.context import ChunkText, ExtractionContext, KnownObject
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.merge import merge
from whence.extract.reply import proposals
from whence.offline.rules import propose
from whence.text.names import name_key, names_in

DOCUMENTS = sorted((Path(__file__).parent / "documents").glob("*.toml"))
ASIDE = [path for path in DOCUMENTS if path.stem.startswith("aside_")]
SEEN = [path for path in DOCUMENTS if path not in ASIDE]
SIZES = {"whole": 0, "cut": 400}


@dataclass
class Graph:
    """What an extraction, chunk by chunk, comes to."""

    known: dict[UUID, KnownObject] = field(default_factory=dict)
    links: set[tuple[str, str, str]] = field(default_factory=set)
    unquoted: set[str] = field(default_factory=set)
    rejections: list[str] = field(default_factory=list)

    def read(self, chunks: Sequence[ChunkText]) -> "Graph":
        for at, primary in enumerate(chunks):
            named = names_in(primary.text)
            known = tuple(each for each in self.known.values() if each.name_key in named)
            context = ExtractionContext(
                primary=primary,
                previous=tuple(chunks[max(0, at - 1) : at]),
                next=tuple(chunks[at + 1 : at + 2]),
                objects=known,
            )
            reply = proposals(propose(DEFAULT_SCHEMA, context))
            beside = [each.text for each in context.chunks]
            outcome = merge(
                schema=DEFAULT_SCHEMA,
                known=known,
                primary=primary,
                context=beside,
                reply=reply,
                blind=True,
            )
            self._take(primary.text, Merged.of(outcome, known))
        return self

    def _take(self, text: str, outcome: Merged) -> None:
        refs: dict[UUID | tuple[str, str], UUID] = {id_: id_ for id_ in self.known}
        for new in outcome.objects:
            id_ = refs[new.ref] = UUID(int=1000 + len(self.known))
            self.known[id_] = KnownObject(
                id=id_, type=new.type, name=new.name, name_key=name_key(new.name), properties=new.properties
            )
        for update in outcome.updates:
            old = self.known[update.id]
            self.known[update.id] = KnownObject(
                id=old.id,
                type=old.type,
                name=old.name,
                name_key=old.name_key,
                properties={**old.properties, **update.properties},
            )
        for each in outcome.relationships:
            source, target = self.known[refs[each.source]], self.known[refs[each.target]]
            self.links.add((each.type, source.name, target.name))
        for claim in outcome.claims:
            if claim.span is None:
                self.unquoted.add(claim.property)
            else:
                assert text[claim.span.start : claim.span.end] == claim.span.quote
        self.rejections += [f"{each.reason}: {each.message}" for each in outcome.rejections]


@dataclass
class Tally:
    found: list[Any] = field(default_factory=list)
    junk: list[Any] = field(default_factory=list)
    wanted: list[Any] = field(default_factory=list)
    missed: list[Any] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return 1 - len(self.junk) / max(1, len(self.found))

    @property
    def recall(self) -> float:
        return 1 - len(self.missed) / max(1, len(self.wanted))

    def count(self, found: Iterable[Any], wanted: Sequence[Any], welcome: Sequence[Any], fits: Any) -> None:
        found = list(found)
        self.found += found
        self.wanted += wanted
        self.missed += [want for want in wanted if not any(fits(want, one) for one in found)]
        self.junk += [one for one in found if not any(fits(want, one) for want in (*wanted, *welcome))]


@dataclass
class Figures:
    objects: Tally = field(default_factory=Tally)
    properties: Tally = field(default_factory=Tally)
    links: Tally = field(default_factory=Tally)


def is_named(wanted: str, name: str) -> bool:
    if wanted.startswith("~"):
        return name_key(wanted[1:]) in name_key(name)
    return name_key(wanted) == name_key(name)


def _is_object(wanted: Sequence[str], found: KnownObject) -> bool:
    return found.type in wanted[0].split("|") and is_named(wanted[1], found.name)


def _is_property(wanted: Sequence[str], found: Sequence[str]) -> bool:
    return is_named(wanted[0], found[0]) and tuple(wanted[1:]) == tuple(found[1:])


def _is_link(wanted: Sequence[str], found: Sequence[str]) -> bool:
    return wanted[0] == found[0] and is_named(wanted[1], found[1]) and is_named(wanted[2], found[2])


def read(path: Path, size: int) -> Graph:
    """As one chunk, or in chunks of this size and less."""
    text = tomllib.loads(path.read_text(encoding="utf-8"))["text"]
    if not size:
        return Graph().read([ChunkText(id=UUID(int=1), text=text)])
    cut = ParagraphStrategy().chunk(text, ChunkingOptions(max_chunk_size=size, min_chunk_size=50))
    return Graph().read(
        [
            ChunkText(id=UUID(int=at), text=chunk.text, headings=chunk.headings)
            for at, chunk in enumerate(cut, start=1)
        ]
    )


def figures(paths: Iterable[Path], size: int) -> Figures:
    total = Figures()
    for path in paths:
        wanted = tomllib.loads(path.read_text(encoding="utf-8"))
        graph = read(path, size)
        total.objects.count(graph.known.values(), wanted["objects"], wanted.get("optional", []), _is_object)
        said = [
            (each.name, name, value)
            for each in graph.known.values()
            for name, value in each.properties.items()
        ]
        total.properties.count(said, wanted["properties"], said, _is_property)
        total.links.count(graph.links, wanted["links"], wanted.get("optional_links", []), _is_link)
    return total


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize(("paths", "recall"), [(SEEN, 0.45), (ASIDE, 0.4)], ids=["seen", "aside"])
def test_nearly_all_that_is_found_is_wanted(paths: list[Path], recall: float, size: int) -> None:
    found = figures(paths, size)
    assert found.objects.precision >= 0.95, found.objects.junk
    assert found.links.precision >= 0.95, found.links.junk
    assert found.objects.recall >= recall, found.objects.missed
    assert found.properties.recall >= recall, found.properties.missed


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_nothing_is_rejected_and_everything_is_quoted(path: Path, size: int) -> None:
    graph = read(path, size)
    assert graph.rejections == []
    assert graph.unquoted == set()
