"""Gives the graph of a LightRAG directory to the documents that were ingested from it.

Each document gets one job with the entities and relations that LightRAG found in it. The job proposes them to the document's
chunks like an extractor, and the merge keeps what a chunk states: nothing is taken over without a place in a text.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from whence.extract.grounding import SearchableText
from whence.extract.imported import IMPORTED, RELATED, is_named
from whence.extract.scheduling import current_schema, put_import
from whence.extract.schema import spelled
from whence.extract.schema_reading import read_schema
from whence.models import Job
from whence.store import Store
from whence.text.names import name_key
from whence.transfer.lightrag_files import LightRAGDocument, LightRAGEntity, WorkingDirectory
from whence.transfer.lines import TextSource

_AT_ONCE = 100
_MAX_TYPES = 90
"""Types that a schema may have, with room for others."""
_OTHER = "Concept"
_DESCRIPTION = {"type": "string", "description": "What it is, in a sentence"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedGraph:
    """Numbers of entities and relations, and of those that are in the graph."""

    entities: int
    placed_entities: int
    relations: int
    placed_relations: int
    unplaced: tuple[str, ...] = ()
    """Entities that no chunk names, and relations without a chunk that names both ends."""


def origin_of(document: LightRAGDocument) -> str:
    return f"lightrag:{document.id}"


def sources_of(found: WorkingDirectory) -> list[TextSource]:
    return [
        TextSource(place=one.id, name=one.name, text=one.text, origin=origin_of(one))
        for one in found.documents
    ]


def count_placeable(found: WorkingDirectory) -> PlacedGraph:
    """For a dry run: whether the documents that LightRAG names contain the names."""
    texts = {one.id: SearchableText(one.text) for one in found.documents}

    def has(names: Sequence[str], documents: frozenset[str]) -> bool:
        return any(all(is_named(name, texts[one]) for name in names) for one in documents if one in texts)

    entities = [one.name for one in found.entities if not has([one.name], one.documents)]
    relations = [
        f"{one.source} - {one.target}"
        for one in found.relations
        if not has([one.source, one.target], one.documents)
    ]
    return _placed(found, entities, relations)


def _placed(found: WorkingDirectory, entities: Sequence[str], relations: Sequence[str]) -> PlacedGraph:
    return PlacedGraph(
        entities=len(found.entities),
        placed_entities=len(found.entities) - len(entities),
        relations=len(found.relations),
        placed_relations=len(found.relations) - len(relations),
        unplaced=(*entities, *relations),
    )


async def ensure_types(store: Store, project_id: UUID, entities: Sequence[LightRAGEntity]) -> dict[str, str]:
    """Add the types that the schema lacks, in a new version. Returns the schema's name of each type."""
    schema, _ = await current_schema(store, project_id)
    known = dict(schema.body["object_types"])
    named: dict[str, str] = {}
    for kind in sorted({one.type for one in entities}):
        name = spelled(kind, known)
        if name is None:
            name = _type_name(kind) if len(known) < _MAX_TYPES else _OTHER
            known.setdefault(name, {"properties": {"description": _DESCRIPTION}})
        named[kind] = name
    ties = dict(schema.body.get("relationship_types") or {})
    ties.setdefault(RELATED, {"properties": {"description": {"type": "string"}}})
    body = {**schema.body, "object_types": known, "relationship_types": ties}
    await store.schemas.put(project_id, body=body, sha256=bytes.fromhex(read_schema(body).sha256))
    return named


def _type_name(kind: str) -> str:
    """The type as a schema may have it: letters, digits and underscores."""
    name = re.sub(r"\W+", "_", kind)[:60].strip("_")
    return name[:1].upper() + name[1:] or _OTHER


def findings(found: WorkingDirectory, document: LightRAGDocument, types: Mapping[str, str]) -> dict[str, Any]:
    """The config of the document's job."""
    objects = [
        {"type": types[one.type], "name": one.name, "descriptions": list(one.descriptions)}
        for one in found.entities
        if document.id in one.documents
    ]
    relationships = [
        {"source": one.source, "target": one.target, "descriptions": [one.keywords, *one.descriptions]}
        for one in found.relations
        if document.id in one.documents
    ]
    given = {
        "objects": objects,
        "relationships": relationships,
        "text": hashlib.sha256(document.text.encode()).hexdigest(),
    }
    digest = hashlib.sha256(orjson.dumps(given, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return {**given, "digest": digest}


async def order(store: Store, project_id: UUID, document_id: UUID, config: Mapping[str, Any]) -> Job:
    """Queue the document's job, unless one with the same findings is done or waits."""
    jobs, _ = await store.jobs.page(
        project_id, document_id=document_id, job_type="extraction", limit=_AT_ONCE
    )
    for job in jobs:
        given = job.config.get(IMPORTED) or {}
        if given.get("digest") == config["digest"] and job.status not in ("failed", "cancelled"):
            return job
    async with store.transaction() as tx:
        document = await tx.documents.lock(project_id, document_id)
        return await put_import(tx, document, config)


async def look_for(store: Store, project_id: UUID, found: WorkingDirectory) -> PlacedGraph:
    """Looks for the names of entities and both ends of relations in the current graph."""
    ids: dict[str, set[UUID]] = {}
    for one in found.entities:
        objects = await store.graph.objects.named(project_id, [name_key(one.name)])
        ids[one.name] = {each.id for each in objects}
    entities = [one.name for one in found.entities if not ids[one.name]]
    relations = []
    for tie in found.relations:
        ends = ids.get(tie.source, set()), ids.get(tie.target, set())
        between = await store.graph.relationships.between(project_id, ends[0] | ends[1], limit=_AT_ONCE)
        if not any(
            {each.source_id, each.target_id} & ends[0] and {each.source_id, each.target_id} & ends[1]
            for each in between
        ):
            relations.append(f"{tie.source} - {tie.target}")
    return _placed(found, entities, relations)
