"""The same answers for whoever speaks OpenAI's protocol. A model is a project, by its name or its id."""

import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from fastapi import Request, Response

from whence.chat import Answer, Asked
from whence.chat.answer import Event
from whence.errors import BadInput, InvalidParameter, ProjectNotFound
from whence.providers import Message
from whence.providers.chat import Role
from whence.search import MAX_QUERY
from whence.types import Project, is_blank, new_id, project_name
from whence.web.access import Access, openai_reader
from whence.web.answer import JSON, encode
from whence.web.chat_models import Completion, ModelEntry, Models
from whence.web.chatting import (
    FLAG_OR_NULL,
    LIMIT_SCHEMA,
    MAX_TURN,
    MAX_TURNS,
    citation_as_json,
    limit_of,
    sources_as_json,
)
from whence.web.events import streamed, unless_gone
from whence.web.fields import Fields
from whence.web.inputs import json_content
from whence.web.routes import Tolerant, api_router, documented
from whence.web.routes.chat import CHAT_ERRORS, EVENT_STREAM
from whence.web.values import canonical_uuid

router = api_router("openai", root="/v1", route_class=Tolerant)

_MOST_MODELS = 1000
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_LEFT_OUT = ("tool", "function")
"""What tools said to a model that can use them."""
_DONE = b"data: [DONE]\n\n"
_PARTS = ("text", "refusal")
_PART = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"enum": list(_PARTS)}, "text": {"type": "string"}, "refusal": {"type": "string"}},
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["model", "messages"],
    "properties": {
        "model": {"type": "string", "minLength": 1, "description": "A project's name or id."},
        "messages": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_TURNS,
            "items": {
                "type": "object",
                "required": ["role"],
                "properties": {
                    "role": {"enum": [*_ROLES, *_LEFT_OUT]},
                    "content": {
                        "anyOf": [{"type": "string"}, {"type": "array", "items": _PART}, {"type": "null"}],
                        "description": "Only the assistant, and tools, may say nothing.",
                    },
                },
            },
            "description": "The last one is the question, and the user's. What tools said is left out.",
        },
        "stream": FLAG_OR_NULL,
        "stream_options": {
            "type": ["object", "null"],
            "properties": {"include_usage": FLAG_OR_NULL},
        },
        "limit": LIMIT_SCHEMA,
    },
}
_MODEL_PARAMETER = {
    "in": "path",
    "name": "model",
    "required": True,
    "schema": {"type": "string", "minLength": 1},
    "description": "A project's name or id.",
}
_EXAMPLE = {"model": "default", "messages": [{"role": "user", "content": "Who paid for it?"}]}
_BODY = {"required": True, "content": {"application/json": {"schema": _SCHEMA, "example": _EXAMPLE}}}


@router.get("/models", summary="The projects, as models", response_model=Models)
async def models(request: Request) -> Response:
    access = await openai_reader(request)
    if access.project_id is None:
        found, _ = await access.store.projects.page(limit=_MOST_MODELS, offset=0)
    else:
        found = [await access.store.projects.get(access.project_id)]
    return JSON({"object": "list", "data": [_model(project) for project in found]})


@router.get(
    "/models/{model:path}",
    summary="One project, as a model",
    response_model=ModelEntry,
    responses=documented(ProjectNotFound),
    openapi_extra={"parameters": [_MODEL_PARAMETER]},
)
async def model(request: Request) -> Response:
    access = await openai_reader(request)
    return JSON(_model(await _named(access, request.path_params["model"])))


@router.post(
    "/chat/completions",
    summary="An answer from the documents of a project, in OpenAI's form",
    response_model=Completion,
    responses={
        **documented(*CHAT_ERRORS),
        200: {"description": "The completion, or with `stream` its chunks.", "content": EVENT_STREAM},
    },
    openapi_extra={"requestBody": _BODY},
)
async def completions(request: Request) -> Response:
    access = await openai_reader(request)
    fields = Fields(await json_content(request))
    project = await _named(access, _model_of(fields))
    asked = _asked(fields)
    head = {"id": f"chatcmpl-{new_id().hex}", "created": int(time.time()), "model": project.name}
    options = fields.fields("streamOptions") or Fields({})
    usage = options.flag("includeUsage", default=False)
    if fields.flag("stream", default=False):
        tell = _chunks(head, usage=usage)
        events = access.app.chat.stream(project.id, asked)
        return await streamed(request, events, tell, error=lambda said: b"data: %s\n\n" % said, end=_DONE)
    answer = await unless_gone(request, access.app.chat.answer(project.id, asked))
    return JSON(_completion(head, answer))


def _model_of(fields: Fields) -> str:
    given = fields.text("model", most=MAX_TURN)
    if given is None:
        raise BadInput("model is required", details={"field": "model", "expected": "a project's name or id"})
    return given


async def _named(access: Access, model: str) -> Project:
    try:
        ident = canonical_uuid(model)
        project = await (
            access.store.projects.named(project_name(model))
            if ident is None
            else access.store.projects.get(UUID(ident))
        )
        access.only_own(project.id)
    except (ProjectNotFound, ValueError) as exc:
        raise ProjectNotFound(details={"model": model}) from exc
    return project


def _asked(fields: Fields) -> Asked:
    sent = fields.objects("messages", most=MAX_TURNS)
    if not sent:
        wrong = "is required" if fields.value("messages") is None else "is empty"
        expected = "a list of messages, the last one the user's"
        raise BadInput(f"messages {wrong}", details={"field": "messages", "expected": expected})
    turns = [(turn, said) for turn in sent if (said := _turn(turn)) is not None]
    if not turns or turns[-1][1].role != "user":
        provided = turns[-1][1].role if turns else None
        raise InvalidParameter.of(
            "messages", provided=provided, expected="a list whose last message is the user's"
        )
    asking, question = turns.pop()
    if is_blank(question.content) or len(question.content) > MAX_QUERY:
        raise asking.wrong("content", f"a text that is not blank, of at most {MAX_QUERY} characters")
    history = tuple(said for _, said in turns)
    return Asked(message=question.content, history=history, limit=limit_of(fields))


def _turn(fields: Fields) -> Message | None:
    """None for what tools said, and where the assistant said nothing because it called one."""
    role = fields.value("role")
    if role in _LEFT_OUT:
        return None
    if not isinstance(role, str) or role not in _ROLES:
        raise fields.wrong("role", f"one of {', '.join((*_ROLES, *_LEFT_OUT))}")
    content = fields.value("content")
    if role == "assistant" and not content:
        return None
    if isinstance(content, list):
        text = "\n".join(_part(part) for part in fields.objects("content", most=MAX_TURNS))
    else:
        text = fields.words("content", most=MAX_TURN)
    return Message(role=_ROLES[role], content=text)


def _part(fields: Fields) -> str:
    kind = fields.value("type")
    if not isinstance(kind, str) or kind not in _PARTS:
        raise fields.wrong("type", "text: pictures, sounds and files cannot be asked about")
    return fields.words(kind, most=MAX_TURN)


def _completion(head: dict[str, Any], answer: Answer) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer.response, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer)}
    told = {**head, "object": "chat.completion", "choices": [choice], "usage": _usage(answer)}
    return {**told, **_grounds(answer)}


def _chunks(head: dict[str, Any], *, usage: bool) -> Callable[[Event], list[bytes]]:
    uncounted = {"usage": None} if usage else {}

    def chunk(delta: dict[str, Any] | None, *, finish: str | None = None, **more: Any) -> bytes:
        choices = (
            [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
        )
        content = {**head, "object": "chat.completion.chunk", "choices": choices, **uncounted, **more}
        return b"data: %s\n\n" % encode(content)

    def tell(happened: Event) -> list[bytes]:
        if isinstance(happened, str):
            return [chunk({"content": happened})]
        if not isinstance(happened, Answer):
            return [chunk({"role": "assistant", "content": ""}, sources=sources_as_json(happened.sources))]
        last = [chunk({}, finish=_finish(happened), **_grounds(happened))]
        return [*last, chunk(None, usage=_usage(happened))] if usage else last

    return tell


def _grounds(answer: Answer) -> dict[str, Any]:
    """What OpenAI's form has no place for."""
    return {
        "sources": sources_as_json(answer.sources),
        "citations": [citation_as_json(citation) for citation in answer.citations],
        "notes": list(answer.notes),
        "answeredBy": answer.model,
    }


def _finish(answer: Answer) -> str:
    return answer.finish if answer.finish in {"length", "content_filter"} else "stop"


def _usage(answer: Answer) -> dict[str, int]:
    prompt, completion = answer.prompt_tokens or 0, answer.completion_tokens or 0
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _model(project: Project) -> dict[str, Any]:
    created = int(project.created_at.timestamp())
    return {"id": project.name, "object": "model", "created": created, "owned_by": "whence"}
