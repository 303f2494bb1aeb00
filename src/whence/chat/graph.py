"""Finds graph facts for a question: objects that it names or resembles, and their relationships, in a few lines."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any
from uuid import UUID

from whence.models import Claim, GraphObject, Relationship, only_grounded
from whence.search import QueryVector, values_claimed
from whence.store import Store
from whence.text.cjk import is_unspaced
from whence.text.content_words import words
from whence.text.names import names_in

MOST_OBJECTS = 8
MOST_FILTERED = 100
"""Maximum number of objects of which those are chosen that the filtered documents mention."""
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


async def facts_about(
    store: Store,
    project_id: UUID,
    named: Sequence[GraphObject],
    near: Sequence[GraphObject],
    *,
    document_ids: Sequence[UUID] | None = None,
    include_ungrounded: bool = False,
) -> list[Fact]:
    """Facts about objects that the question names or resembles, as many as fit; with `document_ids`, only what these documents say."""
    found = {one.id: one for one in (*named, *near)}.values()
    objects = list(found) if include_ungrounded else only_grounded(found)
    provenance = store.graph.provenance
    objects = objects[:MOST_OBJECTS] if document_ids is None else objects
    if not objects:
        return []
    claims = await provenance.current(project_id, [one.id for one in objects], document_ids=document_ids)
    claims = [claim for claim in claims if include_ungrounded or claim.is_grounded]
    if document_ids is not None:
        objects = values_claimed(objects, claims)[:MOST_OBJECTS]
    ids = [one.id for one in objects]
    by_name = {one.id for one in named}
    relationships = await store.graph.relationships.around(
        project_id, ids, document_ids=document_ids, limit=_MOST_RELATIONSHIPS
    )
    if not include_ungrounded:
        ends = {end for one in relationships for end in (one.source_id, one.target_id)}
        sure = {one.id for one in only_grounded(await store.graph.objects.many(project_id, ends))}
        relationships = [one for one in relationships if {one.source_id, one.target_id} <= sure]
    said = _values_by_chunk(claims)
    ties = await provenance.current_of_relationships(
        project_id, [one.id for one in relationships], document_ids=document_ids
    )
    tied = {claim.relationship_id: claim for claim in ties if include_ungrounded or claim.is_grounded}
    relationships = [one for one in relationships if one.id in tied]
    if document_ids is not None:
        relationships = [replace(one, properties=tied[one.id].properties) for one in relationships]
    facts = [replace(fact, named=one.id in by_name) for one in objects for fact in facts_of(one, said)]
    facts += [
        Fact(
            text=_relationship_line(one),
            chunk_id=str(tied[one.id].place.chunk_id),
            named=not by_name.isdisjoint((one.source_id, one.target_id)),
        )
        for one in relationships
    ]
    sizes = list(accumulate(len(fact.text) + 1 for fact in facts))
    return facts[: bisect_right(sizes, _LONGEST_TEXT - len(HEADING))]


def _values_by_chunk(claims: Iterable[Claim]) -> dict[tuple[UUID, str], dict[str, Any]]:
    """For each property of an object, its values by chunk. A chunk may have two lists, of merged objects."""
    said: dict[tuple[UUID, str], dict[str, Any]] = {}
    for claim in claims:
        if claim.origin is None:  # a person's word has no chunk
            continue
        by_chunk = said.setdefault((claim.object_id, claim.property_name), {})
        chunk_id, value = str(claim.place.chunk_id), claim.value
        if chunk_id in by_chunk:
            value = [*value, *(one for one in by_chunk[chunk_id] if one not in value)]
        by_chunk[chunk_id] = value
    return said


async def named_in(
    store: Store, project_id: UUID, question: str, *, limit: int = MOST_OBJECTS
) -> list[GraphObject]:
    """Objects that the question names. Names with an added number come last: OAuth may mean OAuth 2.0."""
    keys = names_asked(question)
    if not keys:
        return []
    objects = store.graph.objects
    exactly = await objects.named(project_id, keys, text=question, limit=limit)
    but_a_number = await objects.numbered(project_id, keys, limit=limit)
    return list({one.id: one for one in (*exactly, *but_a_number)}.values())


async def near_to(
    store: Store,
    project_id: UUID,
    question: str,
    vector: QueryVector | None,
    *,
    limit: int = MOST_OBJECTS,
) -> list[GraphObject]:
    measured = _MEASURED.get((vector.space.provider, vector.space.model)) if vector else None
    # To the measured models all texts in scripts without spaces look alike.
    if vector is None or (measured and is_unspaced(question)):
        return []
    found = await store.graph.objects.similar(
        project_id, vector.space.id, vector.value, limit=limit, threshold=measured or _SIMILARITY
    )
    return [one for one, _ in found]


def names_asked(question: str) -> list[str]:
    """Normalised names that the question may have: runs of words, not only of function words."""
    found = names_in(question[:_MOST_CHARACTERS])
    # A single character of a script without spaces is part of many words.
    return sorted(name for name in found if (len(name) > 1 or name.isascii()) and words(name))


def facts_of(one: GraphObject, said: Mapping[tuple[UUID, str], Mapping[str, Any]]) -> list[Fact]:
    """One sentence per chunk, with the properties that it gives.

    `said` maps an object's property to its value by chunk: the elements of a list may come from several.
    """
    by_chunk: dict[str | None, dict[str, Any]] = {}
    for name, value in sorted(one.properties.items()):
        for chunk_id, part in said.get((one.id, name), {None: value}).items():
            by_chunk.setdefault(chunk_id, {})[name] = part
    by_chunk = by_chunk or {next(iter(said.get((one.id, "name"), ())), None): {}}
    subject = f"{_format_value(one.name)} ({one.type})"
    return [
        Fact(text=_sentence(subject, ": ", properties), chunk_id=chunk_id, bare=not properties)
        for chunk_id, properties in by_chunk.items()
    ]


def compose_facts(facts: Iterable[str]) -> str:
    return "\n".join([HEADING, *facts])


def _relationship_line(one: Relationship) -> str:
    source = f"{_format_value(one.source_name)} ({one.source_type})"
    target = f"{_format_value(one.target_name)} ({one.target_type})"
    return _sentence(f"{source} {one.type.replace('_', ' ')} {target}", ", ", one.properties)


def _sentence(begin: str, before: str, properties: Mapping[str, Any]) -> str:
    values = [
        f"{name.replace('_', ' ')} {_format_value(value)}" for name, value in sorted(properties.items())
    ]
    line = f"{begin}{before}{'; '.join(values)}" if values else begin
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _format_value(value: Any) -> str:
    if isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
        value = ", ".join(map(str, value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_VALUE else flat[: _LONGEST_VALUE - 1] + "…"
