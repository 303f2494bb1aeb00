"""Questions, answered from the documents."""

from typing import Any

from fastapi import Response

from whence import errors
from whence.api.chat import ChatAnswer, ChatRequest, SourcesEvent, TokenEvent, VerifiedEvent, sources_of
from whence.chat import Answer, Sources, Verified
from whence.chat.answer import Event
from whence.web.access import Reader
from whence.web.events import Connected, event, streamed, unless_gone
from whence.web.responses import respond
from whence.web.routes import answered, api_router, documented

router = api_router("chat")

CHAT_ERRORS = (
    errors.ProjectNotFound,
    errors.ModelUnavailable,
    errors.ModelRefused,
    errors.ModelInvalid,
    errors.ModelTimeout,
)
EVENT_STREAM = "text/event-stream"
EVENT: dict[str, Any] = {
    "type": "object",
    "required": ["data"],
    "properties": {"event": {"type": "string"}, "data": {"type": "string", "description": "JSON."}},
}


@router.post(
    "/chat",
    response_model=ChatAnswer,
    responses=documented(
        errors.InvalidUUID,
        errors.ConversationNotFound,
        errors.Conflict,
        *CHAT_ERRORS,
        also=answered(
            "The answer; streamed: `sources`, `token`, `done`, `verified`, `error`.", EVENT_STREAM, EVENT
        ),
    ),
)
async def chat(access: Reader, body: ChatRequest, connection: Connected) -> Response:
    """Answer a question from the documents, with sources and a citation for each sentence.

    `/chat` is an alias. The answer has no envelope. [Chat](chat.md) describes how answers are made.

    Without `stream` the header `Accept: text/event-stream` decides. A stream has the events `sources`, `token` (each with a piece
    of `text`) and `done` with the whole answer, or `error`. With `verify`, the event `verified` has the citations again, with the
    model's judgements; it comes after `done`.

    With `conversationId` or `store` the answer is stored and has `answerId`, `conversationId` and `url`
    ([Conversations](conversations.md)). Without them nothing is stored.
    """
    project_id = await access.named_project(body.project_id, body.project)
    if connection.accepts("text/event-stream") if body.stream is None else body.stream:
        events = access.app.conversations.stream(project_id, body, access.caller)
        return await streamed(connection, access.counted(events), _encode)
    answering = access.app.conversations.answer(project_id, body, access.caller)
    answer = await access.count(await unless_gone(connection, answering))
    return respond(ChatAnswer.of(answer))


def _encode(happened: Event) -> list[bytes]:
    if isinstance(happened, Sources):
        return [event("sources", SourcesEvent(sources=sources_of(happened), model=happened.model))]
    if isinstance(happened, Verified):
        return [event("verified", VerifiedEvent.of(happened))]
    if isinstance(happened, Answer):
        return [event("done", ChatAnswer.of(happened))]
    return [event("token", TokenEvent(text=happened))]
