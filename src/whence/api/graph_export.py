"""The whole graph as a file: JSON Lines with the claims behind each value, or GraphML for other programs.

It is written while it is read, a few hundred rows at a time. Changes during the export may be in it or not; a relationship
is written only where both its ends were.
"""

import html
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal, TypeVar
from uuid import UUID

from whence.api.base import AnswerShape
from whence.api.graph import TracedObject, TracedRelationship
from whence.models import Claim, GraphObject, Relationship, RelationshipClaim
from whence.store import Store

Format = Literal["jsonl", "graphml"]
T = TypeVar("T")

FORMATS: dict[Format, str] = {"jsonl": "application/x-ndjson", "graphml": "application/graphml+xml"}
"""Each with its media type."""

_BATCH = 500
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="type" for="all" attr.name="type" attr.type="string"/>
<key id="name" for="node" attr.name="name" attr.type="string"/>
"""


def exported(store: Store, project_id: UUID, form: Format) -> AsyncIterator[bytes]:
    return _jsonl(store, project_id) if form == "jsonl" else _graphml(store, project_id)


async def _jsonl(store: Store, project_id: UUID) -> AsyncIterator[bytes]:
    """Objects, then relationships: each value with the claim that gave it."""
    written: set[UUID] = set()
    async for objects in _batches(store.graph.objects.every(project_id)):
        written |= {one.id for one in objects}
        yield b"".join([_line("object", one) for one in await _objects_with_sources(store, objects)])
    async for edges in _batches(store.graph.relationships.every(project_id)):
        kept = _between(edges, written)
        yield b"".join([_line("relationship", one) for one in await _edges_with_sources(store, kept)])


async def _graphml(store: Store, project_id: UUID) -> AsyncIterator[bytes]:
    """Every property is an attribute of its own; values other than text are written as JSON."""
    of_nodes = _keys("n", await store.graph.objects.property_names(project_id))
    of_edges = _keys("e", await store.graph.relationships.property_names(project_id))
    declared = _declared("node", of_nodes) + _declared("edge", of_edges)
    yield (_HEAD + declared + '<graph id="graph" edgedefault="directed">\n').encode()
    written: set[UUID] = set()
    async for objects in _batches(store.graph.objects.every(project_id)):
        written |= {one.id for one in objects}
        yield "".join(_node(one, of_nodes) for one in objects).encode()
    async for edges in _batches(store.graph.relationships.every(project_id)):
        yield "".join(_edge(one, of_edges) for one in _between(edges, written)).encode()
    yield b"</graph>\n</graphml>\n"


async def _objects_with_sources(store: Store, objects: Sequence[GraphObject]) -> list[TracedObject]:
    claims: dict[UUID, list[Claim]] = {one.id: [] for one in objects}
    for claim in await store.graph.provenance.current(objects[0].project_id, claims):
        claims[claim.object_id].append(claim)
    return [TracedObject.traced(one, claims[one.id]) for one in objects]


async def _edges_with_sources(store: Store, edges: Sequence[Relationship]) -> list[TracedRelationship]:
    if not edges:
        return []
    claims: dict[UUID, list[RelationshipClaim]] = {one.id: [] for one in edges}
    for claim in await store.graph.provenance.current_of_relationships(edges[0].project_id, claims):
        claims[claim.relationship_id].append(claim)
    return [TracedRelationship.traced(one, claims[one.id]) for one in edges]


def _between(edges: Sequence[Relationship], written: set[UUID]) -> list[Relationship]:
    return [one for one in edges if one.source_id in written and one.target_id in written]


def _line(kind: str, shape: AnswerShape) -> bytes:
    return b'{"kind":"%s",%s\n' % (kind.encode(), shape.encode()[1:])


def _keys(prefix: str, names: Sequence[str]) -> dict[str, str]:
    """The id of the attribute of each property."""
    return {name: f"{prefix}{at}" for at, name in enumerate(names)}


def _declared(kind: str, keys: Mapping[str, str]) -> str:
    return "".join(
        f'<key id="{ident}" for="{kind}" attr.name="{_xml(name)}" attr.type="string"/>\n'
        for name, ident in keys.items()
    )


def _node(one: GraphObject, keys: Mapping[str, str]) -> str:
    own = _attribute("type", one.type) + _attribute("name", one.name)
    return f'<node id="{one.id}">{own}{_attributes(one.properties, keys)}</node>\n'


def _edge(one: Relationship, keys: Mapping[str, str]) -> str:
    own = f'<edge id="{one.id}" source="{one.source_id}" target="{one.target_id}">{_attribute("type", one.type)}'
    return f"{own}{_attributes(one.properties, keys)}</edge>\n"


def _attributes(properties: Mapping[str, Any], keys: Mapping[str, str]) -> str:
    """Only declared ones: a property that came during the export is not declared."""
    return "".join(_attribute(keys[name], value) for name, value in properties.items() if name in keys)


def _attribute(key: str, value: Any) -> str:
    return f'<data key="{key}">{_xml(_text(value))}</data>'


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _xml(text: str) -> str:
    """Safe between tags and between quotes; characters that XML does not allow are replaced."""
    return html.escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)).replace("\r", "&#13;")


async def _batches(items: AsyncIterator[T]) -> AsyncIterator[list[T]]:
    batch: list[T] = []
    async for item in items:
        batch.append(item)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
