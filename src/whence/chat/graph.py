"""Finds graph facts for a question: objects that it names or resembles, and their relationships, in a few lines."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any
from uuid import UUID

from whence.models import GraphObject, Relationship
from whence.search import QueryVector
from whence.store import Store
from whence.text.cjk import is_unspaced
from whence.text.content_words import words
from whence.text.names import names_in

_MOST_OBJECTS = 8
_MOST_RELATIONSHIPS = 24
_SIMILARITY = 0.7
_MEASURED = {("minilm", "all-MiniLM-L6-v2-int8"): 0.5}
"""Thresholds for the similarity of a question and its object: the default (docs/search.md), and by model (docs/chat.md)."""
_MOST_CHARACTERS = 600  # of the question, in which names are searched
_LONGEST_VALUE = 200
_LONGEST_TEXT = 2_000
HEADING = "From the knowledge graph:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A sentence from the graph, and the chunk that supports it."""

    text: str
    chunk_id: str | None
    named: bool = True
    """Whether the question names the object; otherwise it is only similar."""
    bare: bool = False
    """Whether it says only that the object exists."""


async def told_by_graph(
    store: Store, project_id: UUID, named: Sequence[GraphObject], near: Sequence[GraphObject]
) -> list[Fact]:
    """Facts about objects that the question names or resembles, as many as fit."""
    objects = list({one.id: one for one in (*named, *near)}.values())[:_MOST_OBJECTS]
    if not objects:
        return []
    ids = [one.id for one in objects]
    by_name = {one.id for one in named}
    relationships = await store.graph.relationships.around(project_id, ids, limit=_MOST_RELATIONSHIPS)
    provenance = store.graph.provenance
    said = {
        (claim.object_id, claim.property_name): str(claim.place.chunk_id)
        for claim in await provenance.current(project_id, ids)
    }
    ties = await provenance.current_of_relationships(project_id, [one.id for one in relationships])
    tied = {claim.relationship_id: str(claim.place.chunk_id) for claim in ties}
    facts = [replace(fact, named=one.id in by_name) for one in objects for fact in facts_of(one, said)]
    facts += [
        Fact(
            text=_relationship_line(one),
            chunk_id=tied.get(one.id),
            named=not by_name.isdisjoint((one.source_id, one.target_id)),
        )
        for one in relationships
    ]
    sizes = list(accumulate(len(fact.text) + 1 for fact in facts))
    return facts[: bisect_right(sizes, _LONGEST_TEXT - len(HEADING))]


async def named_in(store: Store, project_id: UUID, question: str) -> list[GraphObject]:
    """Objects that the question names. Names with an added number come last: OAuth may mean OAuth 2.0."""
    keys = names_asked(question)
    if not keys:
        return []
    objects = store.graph.objects
    exactly = await objects.named(project_id, keys, limit=_MOST_OBJECTS)
    but_a_number = await objects.numbered(project_id, keys, limit=_MOST_OBJECTS)
    return list({one.id: one for one in (*exactly, *but_a_number)}.values())


async def near_to(
    store: Store, project_id: UUID, question: str, vector: QueryVector | None
) -> list[GraphObject]:
    measured = _MEASURED.get((vector.space.provider, vector.space.model)) if vector else None
    # To the measured models all texts in scripts without spaces look alike.
    if vector is None or (measured and is_unspaced(question)):
        return []
    found = await store.graph.objects.similar(
        project_id, vector.space.id, vector.value, limit=_MOST_OBJECTS, threshold=measured or _SIMILARITY
    )
    return [one for one, _ in found]


def names_asked(question: str) -> list[str]:
    """Normalised names that the question may have: runs of words, not only of function words."""
    found = names_in(question[:_MOST_CHARACTERS])
    # A single character of a script without spaces is part of many words.
    return sorted(name for name in found if (len(name) > 1 or name.isascii()) and words(name))


def facts_of(one: GraphObject, said: Mapping[tuple[UUID, str], str]) -> list[Fact]:
    """One sentence per chunk, with the properties that it gives. `said` maps an object's property to its chunk."""
    by_chunk: dict[str | None, dict[str, Any]] = {}
    for name, value in sorted(one.properties.items()):
        by_chunk.setdefault(said.get((one.id, name)), {})[name] = value
    by_chunk = by_chunk or {said.get((one.id, "name")): {}}
    subject = f"{_shown(one.name)} ({one.type})"
    return [
        Fact(text=_sentence(subject, ": ", properties), chunk_id=chunk_id, bare=not properties)
        for chunk_id, properties in by_chunk.items()
    ]


def composed(facts: Iterable[str]) -> str:
    return "\n".join([HEADING, *facts])


def _relationship_line(one: Relationship) -> str:
    source = f"{_shown(one.source_name)} ({one.source_type})"
    target = f"{_shown(one.target_name)} ({one.target_type})"
    return _sentence(f"{source} {one.type.replace('_', ' ')} {target}", ", ", one.properties)


def _sentence(begin: str, before: str, properties: Mapping[str, Any]) -> str:
    told = [f"{name.replace('_', ' ')} {_shown(value)}" for name, value in sorted(properties.items())]
    line = f"{begin}{before}{'; '.join(told)}" if told else begin
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _shown(value: Any) -> str:
    if isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
        value = ", ".join(map(str, value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_VALUE else flat[: _LONGEST_VALUE - 1] + "…"
