"""Questions, answered from the documents."""

from typing import Any

from fastapi import Request, Response

from whence.chat import Answer, Sources
from whence.chat.answer import Event
from whence.errors import (
    BadInput,
    InvalidParameter,
    InvalidUUID,
    ModelInvalid,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    PayloadTooLarge,
    ProjectNotFound,
)
from whence.web.access import reader
from whence.web.answer import JSON
from whence.web.chat_models import ChatAnswer
from whence.web.chatting import CHAT_SCHEMA, answer_as_json, asked_of, required_project, sources_as_json
from whence.web.events import event, streamed, unless_gone
from whence.web.fields import Fields
from whence.web.inputs import json_content
from whence.web.routes import Direct, api_router, documented

router = api_router("chat", route_class=Direct)
short = api_router("chat", root="", route_class=Direct)
"""The same without /api/v1."""

CHAT_ERRORS = (
    BadInput,
    InvalidParameter,
    InvalidUUID,
    ProjectNotFound,
    PayloadTooLarge,
    ModelUnavailable,
    ModelRefused,
    ModelInvalid,
    ModelTimeout,
)
_EVENT = {
    "type": "object",
    "required": ["data"],
    "properties": {"event": {"type": "string"}, "data": {"type": "string", "description": "JSON."}},
}
EVENT_STREAM: dict[str, Any] = {"text/event-stream": {"schema": _EVENT}}
_EXAMPLE = {"projectId": "00000000-0000-7000-8000-000000000001", "message": "Who paid for it?"}
_BODY = {"required": True, "content": {"application/json": {"schema": CHAT_SCHEMA, "example": _EXAMPLE}}}


@router.post(
    "/chat",
    summary="An answer from the documents, with its sources and a citation for each sentence",
    response_model=ChatAnswer,
    responses={
        **documented(*CHAT_ERRORS),
        200: {
            "description": "The answer; streamed: `sources`, `token`, `done`, `error`.",
            "content": EVENT_STREAM,
        },
    },
    openapi_extra={"requestBody": _BODY},
)
@short.post("/chat", include_in_schema=False)
async def chat(request: Request) -> Response:
    access = await reader(request)
    fields = Fields(await json_content(request))
    project_id = access.project(required_project(fields))
    asked = asked_of(fields)
    if fields.flag("stream", default=accepts_events(request)):
        events = access.app.chat.stream(project_id, asked)
        return await streamed(request, events, _told, error=_failed)
    answer = await unless_gone(request, access.app.chat.answer(project_id, asked))
    return JSON(answer_as_json(answer))


def accepts_events(request: Request) -> bool:
    return "text/event-stream" in request.headers.get("accept", "").lower()


def _told(happened: Event) -> list[bytes]:
    if isinstance(happened, Sources):
        return [event("sources", {"sources": sources_as_json(happened.sources)})]
    if isinstance(happened, Answer):
        return [event("done", answer_as_json(happened))]
    return [event("token", {"text": happened})]


def _failed(error: bytes) -> bytes:
    return b"event: error\ndata: %s\n\n" % error
