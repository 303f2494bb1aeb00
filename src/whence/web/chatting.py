"""What a request asks of chat, and how answers are told."""

from typing import Any, get_args

from whence.chat import MAX_SOURCES, Answer, Asked, Citation, Source
from whence.errors import BadInput, InvalidParameter
from whence.providers import Message
from whence.providers.chat import Role
from whence.search import MAX_QUERY
from whence.types import VISIBLE
from whence.web.fields import Fields
from whence.web.searching import FILTERS_SCHEMA, filters_of
from whence.web.values import FLAG_SCHEMA

ROLES: tuple[Role, ...] = get_args(Role)
MAX_TURNS = 1000
MAX_TURN = 100_000
"""Characters; what does not fit into the model's context is left out, the oldest first."""

_TURN_SCHEMA = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {"role": {"enum": list(ROLES)}, "content": {"type": "string", "maxLength": MAX_TURN}},
}
FLAG_OR_NULL = {**FLAG_SCHEMA, "anyOf": [*FLAG_SCHEMA["anyOf"], {"type": "null"}]}
LIMIT_SCHEMA: dict[str, Any] = {
    "type": ["integer", "null"],
    "minimum": 1,
    "maximum": MAX_SOURCES,
    "default": Asked(message="").limit,
    "description": "How many chunks at most are shown to the model.",
}
CHAT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["projectId", "message"],
    "properties": {
        "projectId": {"type": "string", "format": "uuid"},
        "message": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY, "pattern": VISIBLE},
        "history": {
            "type": ["array", "null"],
            "items": _TURN_SCHEMA,
            "maxItems": MAX_TURNS,
            "description": "What was said before, the oldest first.",
        },
        "stream": {**FLAG_OR_NULL, "description": "Answer with server-sent events."},
        "limit": LIMIT_SCHEMA,
        "filters": FILTERS_SCHEMA,
    },
}


def asked_of(fields: Fields) -> Asked:
    message = fields.text("message", most=MAX_QUERY)
    if message is None:
        raise BadInput("message is required", details={"field": "message", "expected": "a text"})
    return Asked(
        message=message,
        history=tuple(_turn(turn) for turn in fields.objects("history", most=MAX_TURNS)),
        limit=limit_of(fields),
        filters=filters_of(fields),
        notes=fields.unknown_to(*CHAT_SCHEMA["properties"]),
    )


def limit_of(fields: Fields) -> int:
    return fields.whole("limit", 1, MAX_SOURCES, Asked(message="").limit)


def _turn(fields: Fields) -> Message:
    role = fields.value("role")
    known = next((one for one in ROLES if one == role), None)
    if known is None:
        raise fields.wrong("role", f"one of {', '.join(ROLES)}")
    return Message(role=known, content=fields.words("content", most=MAX_TURN))


def required_project(fields: Fields) -> str:
    given = fields.value("projectId")
    if given is None:
        raise BadInput("projectId is required", details={"field": "projectId", "expected": "a project's id"})
    if not isinstance(given, str):
        raise InvalidParameter.of("projectId", provided=given, expected="a UUID")
    return given


def answer_as_json(answer: Answer) -> dict[str, Any]:
    return {
        "response": answer.response,
        "messages": [{"role": turn.role, "content": turn.content} for turn in answer.messages],
        "sources": sources_as_json(answer.sources),
        "model": answer.model,
        "totalDuration": round(answer.seconds * 1000),
        "promptEvalCount": answer.prompt_tokens,
        "evalCount": answer.completion_tokens,
        "citations": [citation_as_json(citation) for citation in answer.citations],
        "notes": list(answer.notes),
    }


def sources_as_json(sources: tuple[Source, ...]) -> list[dict[str, Any]]:
    return [
        {
            "id": source.id,
            "documentId": source.document_id,
            "chunkIndex": source.chunk_index,
            "chunkText": source.text,
            "source": source.name,
            "distance": source.distance,
            "page": source.page,
        }
        for source in sources
    ]


def citation_as_json(citation: Citation) -> dict[str, Any]:
    return {
        "responseStart": citation.response_start,
        "responseEnd": citation.response_end,
        "chunkId": citation.chunk_id,
        "documentId": citation.document_id,
        "startOffset": citation.start_offset,
        "endOffset": citation.end_offset,
        "page": citation.page,
        "quote": citation.quote,
        "support": citation.support,
        "supported": citation.supported,
    }
