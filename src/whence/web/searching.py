"""What a request asks of search, and how hits and contexts are told."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, get_args

from whence.errors import BadInput
from whence.search import MAX_LIMIT, MAX_OFFSET, MAX_QUERY, Context, Expansion, Hit, Mode, Question
from whence.types import VISIBLE, Filters
from whence.web.fields import Fields
from whence.web.file_types import DESCRIPTION, wanted_types
from whence.web.values import FLAG_SCHEMA, snake

MODES: tuple[Mode, ...] = get_args(Mode)
MAX_DOCUMENTS = 1000
MAX_TYPES = 100
MOST_BESIDE, MOST_ALIKE, MOST_OBJECTS = 10, 20, 100

_FILTERS = ("documentIds", "fileTypes", "metadata", "created", "updated")
_EXPANSION = ("positionalCount", "semanticChunkCount", "relatedObjectCount", "objectSimilarityThreshold")
_NULLABLE_UUID = {"type": ["string", "null"], "format": "uuid"}
_SPAN = {
    "type": ["object", "null"],
    "properties": {
        "from": {"type": ["string", "null"], "format": "date-time"},
        "to": {"type": ["string", "null"], "format": "date-time"},
    },
    "additionalProperties": False,
    "description": "Days or times. A day as `to` counts whole; a time does not count itself.",
}
EXPANSION_SCHEMA: dict[str, dict[str, Any]] = {
    "positionalCount": {
        "type": "integer",
        "minimum": 0,
        "maximum": MOST_BESIDE,
        "default": Expansion().positional_count,
        "description": "How many chunks before and after.",
    },
    "semanticChunkCount": {
        "type": "integer",
        "minimum": 0,
        "maximum": MOST_ALIKE,
        "default": Expansion().semantic_chunk_count,
        "description": "How many of the most similar chunks, of the same document first.",
    },
    "relatedObjectCount": {
        "type": "integer",
        "minimum": 0,
        "maximum": MOST_OBJECTS,
        "default": Expansion().related_object_count,
        "description": "How many objects of the graph at most.",
    },
    "objectSimilarityThreshold": {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "default": Expansion().object_similarity_threshold,
        "description": "How similar they have to be at least.",
    },
}
FILTERS_SCHEMA: dict[str, Any] = {
    "type": ["object", "null"],
    "properties": {
        "documentIds": {
            "type": ["array", "null"],
            "items": {"type": "string", "format": "uuid"},
            "maxItems": MAX_DOCUMENTS,
        },
        "fileTypes": {
            "type": ["array", "null"],
            "items": {"type": "string", "pattern": VISIBLE},
            "maxItems": MAX_TYPES,
            "description": f"Each: {DESCRIPTION}",
        },
        "metadata": {
            "type": ["object", "null"],
            "description": "What a document's metadata has to hold.",
        },
        "created": _SPAN,
        "updated": _SPAN,
    },
    "additionalProperties": False,
}
SEARCH_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["query"],
    "properties": {
        "projectId": {**_NULLABLE_UUID, "description": "By default the key's project, or the default one."},
        "query": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY, "pattern": VISIBLE},
        "mode": {"enum": [*MODES, None], "default": "hybrid"},
        "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_LIMIT, "default": 10},
        "offset": {"type": ["integer", "null"], "minimum": 0, "maximum": MAX_OFFSET, "default": 0},
        "floor": {
            "anyOf": [*FLAG_SCHEMA["anyOf"], {"type": "null"}],
            "default": True,
            "description": "Find nothing where nothing has to do with the question.",
        },
        "minScore": {"type": ["number", "null"], "minimum": 0, "maximum": 1, "default": 0},
        "filters": FILTERS_SCHEMA,
        "expand": {
            "type": ["object", "null"],
            "properties": {
                name: {**schema, "type": [schema["type"], "null"]}
                for name, schema in EXPANSION_SCHEMA.items()
            },
            "additionalProperties": False,
            "description": "Add the context of each hit. Absent: none; empty: as much as the defaults say.",
        },
    },
}


def question_of(fields: Fields) -> Question:
    query = fields.text("query", most=MAX_QUERY)
    if query is None:
        raise BadInput("query is required", details={"field": "query", "expected": "a text"})
    expansion = fields.fields("expand")
    return Question(
        query=query,
        mode=fields.choice("mode", MODES, "hybrid"),
        limit=fields.whole("limit", 1, MAX_LIMIT, Question(query="").limit),
        offset=fields.whole("offset", 0, MAX_OFFSET, 0),
        filters=filters_of(fields),
        expansion=None if expansion is None else expansion_of(expansion),
        floor=fields.flag("floor", default=True),
        min_score=fields.number("minScore", 0, 1, 0),
    )


def filters_of(body: Fields) -> Filters | None:
    fields = body.fields("filters")
    if fields is None:
        return None
    fields.require_known(*_FILTERS)
    created, updated = (_span(fields, name) for name in ("created", "updated"))
    mimes, extensions = wanted_types(fields.texts("fileTypes", most=MAX_TYPES))
    filters = Filters(
        document_ids=fields.uuids("documentIds", most=MAX_DOCUMENTS),
        mimes=mimes,
        extensions=extensions,
        metadata=fields.mapping("metadata"),
        created_from=created[0],
        created_before=created[1],
        updated_from=updated[0],
        updated_before=updated[1],
    )
    return None if filters == Filters() else filters


def _span(fields: Fields, name: str) -> tuple[datetime | None, datetime | None]:
    span = fields.fields(name) or Fields({})
    span.require_known("from", "to")
    start, end = span.moment("from"), span.moment("to", day_after=True)
    if start and end and end < start:
        raise span.wrong("to", f"a time after {span.value('from')}")
    return start, end


def expansion_of(fields: Fields) -> Expansion:
    fields.require_known(*_EXPANSION)
    usual = Expansion()
    return Expansion(
        positional_count=fields.whole("positionalCount", 0, MOST_BESIDE, usual.positional_count),
        semantic_chunk_count=fields.whole("semanticChunkCount", 0, MOST_ALIKE, usual.semantic_chunk_count),
        related_object_count=fields.whole("relatedObjectCount", 0, MOST_OBJECTS, usual.related_object_count),
        object_similarity_threshold=fields.number(
            "objectSimilarityThreshold", 0, 1, usual.object_similarity_threshold
        ),
    )


def expansion_of_query(parameters: Mapping[str, str]) -> Expansion:
    """The same from a URL, where numbers are text and either form of a name has become one."""
    documented = {snake(name): name for name in _EXPANSION}
    numbers = {documented.get(name, name): _number(text) for name, text in parameters.items()}
    return expansion_of(Fields(numbers))


def _number(text: str) -> float | int | str:
    if re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    decimal = r"-?[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?"
    return float(text) if re.fullmatch(decimal, text) else text


def hit_as_json(hit: Hit) -> dict[str, Any]:
    found = hit.found
    told = {
        "chunk": found.chunk,
        "document": {
            "id": found.chunk["document_id"],
            "name": found.document_name,
            "file_type": found.mime,
        },
        "page": found.page,
        "startOffset": found.start,
        "endOffset": found.end,
        "score": hit.score,
        "scores": {"text": hit.text, "vector": hit.cosine},
        "distance": hit.distance,
        "highlights": [{"start": start, "end": end} for start, end in hit.highlights],
    }
    return told if hit.context is None else {**told, "context": context_as_json(hit.context)}


def context_as_json(context: Context) -> dict[str, Any]:
    return {
        "positionalChunks": list(context.positional),
        "semanticChunks": [{"chunk": alike.chunk, "distance": alike.distance} for alike in context.semantic],
        "relatedObjects": [asdict(related) for related in context.objects],
    }
