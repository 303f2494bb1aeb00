"""OpenAI's Responses. A model is a project; stored responses are answers of conversations."""

import time
from collections.abc import Iterable
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import Path, Response

from whence.api.annotations import StyledAnswer
from whence.api.openai_responses import (
    ResponseAnswer,
    ResponseDeleted,
    ResponseRequest,
    ResponseWriter,
    answer_id_of,
    response_id_of,
)
from whence.chat import Answer, Sources, Verified
from whence.chat.answer import Event, whole_answer
from whence.conversations.shown import as_given
from whence.errors import AnswerNotFound, Conflict, ConversationNotFound, InvalidParameter
from whence.models import new_id
from whence.web.access import Access, Reader
from whence.web.events import Connected, streamed, unless_gone
from whence.web.responses import Bare, respond
from whence.web.routes import Tolerant, answered, api_router, documented
from whence.web.routes.chat import CHAT_ERRORS, EVENT, EVENT_STREAM
from whence.web.routes.completions import client_task, project_style, styling

router = api_router("openai", root="/v1", route_class=Tolerant)

ResponseId = Annotated[str, Path(json_schema_extra={"minLength": 1}, description="`id` of a response.")]


@router.post(
    "/responses",
    response_model=ResponseAnswer,
    responses=documented(
        *CHAT_ERRORS,
        AnswerNotFound,
        ConversationNotFound,
        Conflict,
        also=answered("The response, or with `stream` its events.", EVENT_STREAM, EVENT),
    ),
)
async def create_response(access: Reader, body: ResponseRequest, connection: Connected) -> Response:
    """Answer from the documents of a project, in the form of OpenAI's Responses.

    Text in, text out. Citations in the text are `[1]`, `[2]`; `annotations` give their positions and link to the quotes. The
    answer is stored in a conversation unless `store` is false; `previous_response_id` continues that conversation if it is the id
    of its last answer. Instructions, tools and all other fields are ignored; `text.format` is passed on to the model.

    `sources`, `citations` and `notes` are those of [chat](#chat).
    """
    project = await access.find_project(body.model)
    style, footnotes = styling(access, body, project)
    answer_id = new_id()
    writer = ResponseWriter(
        answer_id=answer_id,
        created=int(time.time()),
        model=project.name,
        previous=body.previous_response_id,
        is_stored=body.store,
    )
    events = client_task(access, body.said())
    if events is None:
        question = body.question(await _find_conversation(access, body))
        events = access.app.conversations.stream(
            project.id, question, access.caller, passed_on=body.passed_on, answer_id=answer_id
        )
    if body.stream:
        encoder = _Encoder(writer, StyledAnswer((), style, footnotes=footnotes))
        return await streamed(connection, access.counted(events), encoder.encode, error=encoder.failed)
    answer = await access.count(await unless_gone(connection, whole_answer(events)))
    styled = StyledAnswer(answer.sources, style, footnotes=footnotes)
    content = styled.whole(answer)
    return respond(writer.whole(answer, styled, content))


@router.get("/responses/{response_id}", responses=documented(AnswerNotFound))
async def get_response(access: Reader, response_id: ResponseId) -> Bare[ResponseAnswer]:
    """Get a stored response.

    Its citations are in the style of its project.
    """
    stored = await access.store.answers.get(_answer_id(response_id), access.caller)
    conversation = await access.store.conversations.get(stored.conversation_id, access.caller)
    turns = await access.store.conversations.answers(conversation)
    before = [one.id for one in turns if one.turn_id < stored.turn_id]
    project = await access.store.projects.get(stored.project_id)
    style, footnotes = project_style(project)
    answer = as_given(stored)
    styled = StyledAnswer(answer.sources, style, footnotes=footnotes)
    writer = ResponseWriter(
        answer_id=stored.id,
        created=int(stored.created_at.timestamp()),
        model=project.name,
        previous=response_id_of(before[-1]) if before else None,
        is_stored=True,
    )
    return respond(writer.whole(answer, styled, styled.whole(answer)))


@router.delete("/responses/{response_id}", responses=documented(AnswerNotFound))
async def delete_response(access: Reader, response_id: ResponseId) -> Bare[ResponseDeleted]:
    """Delete a stored response with its question, and its conversation if that has no other question."""
    stored = await access.store.answers.get(_answer_id(response_id), access.caller)
    await access.changeable_conversation(stored.conversation_id)
    async with access.store.transaction() as tx:
        await tx.answers.delete(stored)
    return respond(ResponseDeleted(id=response_id, object="response", deleted=True))


def _answer_id(response_id: str) -> UUID:
    ident = answer_id_of(response_id)
    if ident is None:
        raise AnswerNotFound(details={"response_id": response_id})
    return ident


async def _find_conversation(access: Access, body: ResponseRequest) -> UUID | None:
    """The conversation that the request continues. It has the earlier messages, so the request may have only the question."""
    if body.previous is None:
        return None
    if any(turn.role != "system" for turn in body.said()[:-1]):
        expected = "only the new question, because previous_response_id has the earlier messages"
        raise InvalidParameter.of("input", provided=len(body.input), expected=expected)
    return await access.app.conversations.continued_after(body.previous, access.caller)


class _Encoder:
    """Converts the events of an answer to those of OpenAI's Responses."""

    def __init__(self, writer: ResponseWriter, styled: StyledAnswer) -> None:
        self._writer = writer
        self._styled = styled
        self._text = ""

    def encode(self, happened: Event) -> list[bytes]:
        if isinstance(happened, Sources):
            self._styled = self._styled.with_sources(happened.sources)
            return _encode(self._writer.begin())
        if isinstance(happened, str):
            return self._write(self._styled.feed(happened))
        if isinstance(happened, Verified):
            return []
        return self._finish(happened)

    def _finish(self, answer: Answer) -> list[bytes]:
        rest = self._write(self._styled.end(answer))
        return [*rest, *_encode(self._writer.end(answer, self._styled, self._text))]

    def _write(self, piece: str) -> list[bytes]:
        self._text += piece
        return _encode(self._writer.piece(piece))

    def failed(self, error: bytes) -> bytes:
        rest = self._write(self._styled.cut())
        return b"".join([*rest, *_encode([self._writer.failure(orjson.loads(error)["error"])])])


def _encode(events: Iterable[tuple[str, dict[str, Any]]]) -> list[bytes]:
    return [b"event: %s\ndata: %s\n\n" % (kind.encode(), orjson.dumps(fields)) for kind, fields in events]
