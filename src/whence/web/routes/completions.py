"""OpenAI's chat completions. A model is a project, given by name or id."""

import time
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Any

from fastapi import Path, Response

from whence.api.annotations import StyledAnswer
from whence.api.chat import sources_of
from whence.api.completion_answers import (
    CompletionAnswer,
    CompletionChunk,
    CompletionDelta,
    CompletionUsage,
    ModelEntry,
    ModelList,
)
from whence.api.completions import CompletionRequest, QuestionRequest
from whence.chat import Answer, ModelAnswerer, Verified
from whence.chat.answer import Event, whole_answer
from whence.chat.citing.restyle import CitationStyle
from whence.chat.client_tasks import do_client_task, is_client_task
from whence.errors import ProjectNotFound
from whence.models import Project, new_id
from whence.providers import Message
from whence.web.access import Access, Reader
from whence.web.events import Connected, streamed, unless_gone
from whence.web.responses import Bare, respond
from whence.web.routes import Tolerant, answered, api_router, documented
from whence.web.routes.chat import CHAT_ERRORS, EVENT, EVENT_STREAM

router = api_router("openai", root="/v1", route_class=Tolerant)

_MOST_MODELS = 1000
_DONE = b"data: [DONE]\n\n"

ModelName = Annotated[str, Path(json_schema_extra={"minLength": 1}, description="A project's name or id.")]


@router.get("/models")
async def list_models(access: Reader) -> Bare[ModelList]:
    """List the projects as models.

    At most 1,000 projects that the key gives access to.
    """
    if access.project_id is None:
        found, _ = await access.store.projects.page(limit=_MOST_MODELS, offset=0)
    else:
        found = [await access.store.projects.get(access.project_id)]
    return respond(ModelList(object="list", data=[ModelEntry.of(project) for project in found]))


@router.get("/models/{model:path}", responses=documented(ProjectNotFound))
async def get_model(access: Reader, model: ModelName) -> Bare[ModelEntry]:
    """Get a project as a model."""
    return respond(ModelEntry.of(await access.find_project(model)))


@router.post(
    "/chat/completions",
    response_model=CompletionAnswer,
    responses=documented(
        *CHAT_ERRORS, also=answered("The completion, or with `stream` its chunks.", EVENT_STREAM, EVENT)
    ),
)
async def create_completion(access: Reader, body: CompletionRequest, connection: Connected) -> Response:
    """Answer from the documents of a project, in OpenAI's form.

    Citations in the content are `[1]`, `[2]`; `annotations` give their positions and link to the quotes. In a stream they come
    with the last content. All other fields are ignored, and so are messages of tools and functions, unless a model can use them:
    then `response_format`, `tools` and tool messages are passed on. Features that need a model are refused with 400 if there is
    none. Titles, tags and follow-ups that Open WebUI and LibreChat ask for come from the model alone, without documents.

    `sources`, `citations` and `notes` are those of [chat](#chat). In a stream, the first chunk has `sources` and the last one all
    of them; with `stream_options.include_usage` one more chunk counts the tokens.
    """
    project = await access.find_project(body.model)
    head = {"id": f"chatcmpl-{new_id().hex}", "created": int(time.time()), "model": project.name}
    style, footnotes = styling(access, body, project)
    events = client_task(access, body.said()) or access.app.chat.stream(project.id, body.asked())
    if body.stream:
        encoder = _ChunkEncoder(head, StyledAnswer((), style, footnotes=footnotes), usage=body.wants_usage)
        answering = access.counted(events)
        return await streamed(connection, answering, encoder.encode, error=encoder.failed, end=_DONE)
    answer = await access.count(await unless_gone(connection, whole_answer(events)))
    styled = StyledAnswer(answer.sources, style, footnotes=footnotes)
    return respond(CompletionAnswer.styled(answer, styled, **head))


def styling(access: Access, body: QuestionRequest, project: Project) -> tuple[CitationStyle, bool]:
    """The style of citations, and whether there are footnotes. Refuses features that need a model if there is none."""
    if not isinstance(access.app.answerer, ModelAnswerer):
        body.require_possible()
    style, footnotes = project_style(project)
    return body.citation_style or style, footnotes if body.footnotes is None else bool(body.footnotes)


def project_style(project: Project) -> tuple[CitationStyle, bool]:
    return project.config.get("citationStyle") or "number", bool(project.config.get("footnotes"))


def client_task(access: Access, said: Sequence[Message]) -> AsyncGenerator[Event, None] | None:
    """The answer to a request for a title or tags, which needs no documents; None for a question."""
    if not is_client_task(said[-1].content):
        return None
    app = access.app
    model = app.chat_model if isinstance(app.answerer, ModelAnswerer) else None
    return do_client_task(model, said, max_tokens=app.settings.llm_max_tokens)


class _ChunkEncoder:
    """Writes the events of an answer as chunks. With `usage`, every chunk has the field, and one more at the end has the count."""

    def __init__(self, head: dict[str, Any], styled: StyledAnswer, *, usage: bool) -> None:
        self._head = head
        self._fields = {**head, "usage": None} if usage else head
        self._styled = styled
        self._usage = usage

    def encode(self, happened: Event) -> list[bytes]:
        if isinstance(happened, str):
            return self._write(self._styled.feed(happened))
        if isinstance(happened, Verified):
            return []
        if not isinstance(happened, Answer):
            self._styled = self._styled.with_sources(happened.sources)
            first = CompletionDelta(role="assistant", content="")
            return [_encode_chunk(CompletionChunk.of(first, sources=sources_of(happened), **self._fields))]
        rest = self._write(self._styled.end(happened))
        last = [*rest, _encode_chunk(CompletionChunk.last(happened, self._styled, **self._fields))]
        if not self._usage:
            return last
        counted = {**self._head, "usage": CompletionUsage.of(happened)}
        return [*last, _encode_chunk(CompletionChunk.of(None, **counted))]

    def failed(self, error: bytes) -> bytes:
        return b"".join([*self._write(self._styled.cut()), b"data: %s\n\n" % error])

    def _write(self, text: str) -> list[bytes]:
        delta = CompletionDelta(content=text)
        return [_encode_chunk(CompletionChunk.of(delta, **self._fields))] if text else []


def _encode_chunk(chunk: CompletionChunk) -> bytes:
    return b"data: %s\n\n" % chunk.encode()
