"""What the graph has to say to a question: the objects it is about, and how they are related, in a few lines."""

import json
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from whence.chat.words import words
from whence.extract.names import name_key
from whence.search import QueryVector
from whence.store import Store
from whence.types import GraphObject, Relationship

_MOST_OBJECTS = 8
_MOST_RELATIONSHIPS = 24
_SIMILARITY = 0.7
"""As everywhere where nothing else is said (docs/search.md)."""
_LONGEST_NAME = 6
"""Words of the question that may be one name together."""
_MOST_WORDS = 100
"""Of the question; the first."""
_LONGEST_VALUE = 200
_LONGEST_TEXT = 2_000


async def told_by_graph(
    store: Store, project_id: UUID, named: Sequence[GraphObject], vector: QueryVector | None
) -> str | None:
    """What is known of objects that are named in the question, or near to it; None where there are none."""
    near = await _near(store, project_id, vector)
    objects = list({one.id: one for one in (*named, *near)}.values())[:_MOST_OBJECTS]
    if not objects:
        return None
    ids = [one.id for one in objects]
    relationships = await store.graph.relationships.around(project_id, ids, limit=_MOST_RELATIONSHIPS)
    return composed(objects, relationships)


async def named_in(store: Store, project_id: UUID, question: str) -> list[GraphObject]:
    keys = names_in(question)
    return await store.graph.objects.named(project_id, keys, limit=_MOST_OBJECTS) if keys else []


async def _near(store: Store, project_id: UUID, vector: QueryVector | None) -> list[GraphObject]:
    if vector is None:
        return []
    found = await store.graph.objects.similar(
        project_id, vector.space.id, vector.values, limit=_MOST_OBJECTS, threshold=_SIMILARITY
    )
    return [one for one, _ in found]


def names_in(question: str) -> list[str]:
    """Whatever in the question may be the name of something, in the form in which names are compared."""
    said = question.split()[:_MOST_WORDS]
    meant = [bool(words(word)) for word in said]
    runs = (
        " ".join(said[start:end])
        for start in range(len(said))
        for end in range(start + 1, min(start + _LONGEST_NAME, len(said)) + 1)
        if any(meant[start:end])
    )
    return list(dict.fromkeys(form for run in runs for form in _forms(run)))


def _forms(run: str) -> tuple[str, ...]:
    """Who asks for Anna's office means Anna."""
    key = name_key(run)
    return (key, key[:-2]) if key.endswith("'s") else (key,)


def composed(objects: Iterable[GraphObject], relationships: Sequence[Relationship]) -> str:
    """One line for each, as many as there is room for."""
    lines = ["From the knowledge graph:"]
    lines += [_object_line(one) for one in objects]
    lines += [_relationship_line(one) for one in relationships]
    text = lines[0]
    for line in lines[1:]:
        if len(text) + len(line) >= _LONGEST_TEXT:
            break
        text += "\n" + line
    return text


def _object_line(one: GraphObject) -> str:
    return f"{_shown(one.name)} ({one.type}){_told(one.properties, before=': ')}."


def _relationship_line(one: Relationship) -> str:
    verb = one.type.replace("_", " ")
    ends = (
        f"{_shown(one.source_name)} ({one.source_type}) {verb} {_shown(one.target_name)} ({one.target_type})"
    )
    return f"{ends}{_told(one.properties, before=', ')}."


def _told(properties: dict[str, Any], *, before: str) -> str:
    told = [f"{name.replace('_', ' ')} {_shown(value)}" for name, value in sorted(properties.items())]
    return before + "; ".join(told) if told else ""


def _shown(value: Any) -> str:
    if isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
        value = ", ".join(map(str, value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_VALUE else flat[: _LONGEST_VALUE - 1] + "…"
