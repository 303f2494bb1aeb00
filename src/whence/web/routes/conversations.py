"""Conversations and answers of the caller's key, and those made without a key."""

from typing import Annotated, Literal

from fastapi import Query, Response
from fastapi.responses import StreamingResponse

from whence.api.base import Listing
from whence.api.conversations import (
    AnswerModel,
    ConversationAnswer,
    ConversationChange,
    ConversationCreate,
    ConversationModel,
    Deleted,
    FeedbackRequest,
    RefreshedAnswer,
)
from whence.api.graph_export import MEDIA_TYPE
from whence.api.values import Flag, Ident
from whence.conversations.changes import compare
from whence.conversations.files import answer_lines, as_markdown
from whence.conversations.shown import show, show_conversation, show_head
from whence.errors import Conflict, InvalidParameter, ProjectNotFound
from whence.models import now
from whence.store.answers import FeedbackFilter
from whence.web.access import Reader
from whence.web.events import Connected, file_response, unless_gone
from whence.web.parameters import PagedByCursor, PathId, ProjectFilter
from whence.web.responses import Enveloped, one_page, success
from whence.web.routes import TEXT, answered, api_router, documented
from whence.web.routes.chat import CHAT_ERRORS

router = api_router("conversations")

StaleFlag = Annotated[Flag | None, Query(description="true: only stale answers; false: only the others.")]
FeedbackChoice = Annotated[FeedbackFilter | None, Query(description="Only answers with this feedback.")]
InConversation = Annotated[Ident | None, Query(description="Only answers of this conversation.")]
FileFormat = Annotated[Literal["json", "markdown"], Query(description="Format of the file.")]


@router.post("/conversations", status_code=201, responses=documented(ProjectNotFound))
async def create_conversation(access: Reader, body: ConversationCreate) -> Enveloped[ConversationModel]:
    """Create a conversation."""
    project_id = await access.existing_project(body.project_id)
    made = await access.store.conversations.create(project_id, access.caller, title=body.title)
    return success(show_head(made), 201)


@router.get("/conversations")
async def list_conversations(
    access: Reader, page: PagedByCursor, project_id: ProjectFilter = None
) -> Enveloped[Listing[ConversationModel]]:
    """List conversations, the one with the newest answer first."""
    project = await access.existing_project(project_id)
    found, total = await access.store.conversations.page(
        project, access.caller, limit=page.fetched, offset=page.offset, after=page.after
    )
    return one_page([show_head(one) for one in found], total, page)


@router.get("/conversations/{conversation_id}")
async def get_conversation(access: Reader, conversation_id: PathId) -> Enveloped[ConversationAnswer]:
    """Get a conversation with its messages.

    Of a refreshed answer it has the newest one.
    """
    found = await access.store.conversations.get(conversation_id, access.caller)
    return success(await show_conversation(access.store, found))


@router.patch("/conversations/{conversation_id}")
async def rename_conversation(
    access: Reader, conversation_id: PathId, body: ConversationChange
) -> Enveloped[ConversationModel]:
    """Change the title of a conversation."""
    found = await access.changeable_conversation(conversation_id)
    await access.store.conversations.rename(found, body.title)
    changed = await access.store.conversations.get(conversation_id, access.caller)
    return success(show_head(changed))


@router.delete("/conversations/{conversation_id}")
async def delete_conversation(access: Reader, conversation_id: PathId) -> Enveloped[Deleted]:
    """Delete a conversation and its answers."""
    found = await access.changeable_conversation(conversation_id)
    await access.store.conversations.delete(found)
    return success(Deleted(id=found.id, deleted=True))


@router.get(
    "/conversations/{conversation_id}/export",
    response_class=Response,
    responses=answered("The file.", "text/markdown", TEXT),
)
async def export_conversation(
    access: Reader,
    conversation_id: PathId,
    file_format: Annotated[FileFormat, Query(alias="format")] = "json",
) -> Response:
    """Export a conversation as a file, in JSON or Markdown."""
    found = await access.store.conversations.get(conversation_id, access.caller)
    shown = await show_conversation(access.store, found)
    is_json = file_format == "json"
    content = shown.encode() if is_json else as_markdown(shown).encode()
    name = f"conversation.{'json' if is_json else 'md'}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type="application/json" if is_json else "text/markdown", headers=headers)


@router.get("/answers")
async def list_answers(
    access: Reader,
    *,
    project_id: ProjectFilter = None,
    stale: StaleFlag = None,
    feedback: FeedbackChoice = None,
    conversation_id: InConversation = None,
    page: PagedByCursor,
) -> Enveloped[Listing[AnswerModel]]:
    """List stored answers, newest first.

    An answer is stale when a chunk that it cites was changed or deleted, or a claim about the cited words was rejected. It has
    the reasons, each with the cited text and the current text. A refreshed answer is no longer stale.
    """
    project = await access.existing_project(project_id)
    found, total = await access.store.answers.page(
        project,
        access.caller,
        stale=stale,
        feedback=feedback,
        conversation_id=conversation_id,
        limit=page.fetched,
        offset=page.offset,
        after=page.after,
    )
    return one_page([await show(access.store, one) for one in found], total, page)


@router.get(
    "/answers/export", response_class=StreamingResponse, responses=answered("JSON Lines.", MEDIA_TYPE, TEXT)
)
async def export_answers(
    access: Reader,
    *,
    project_id: ProjectFilter = None,
    stale: StaleFlag = None,
    feedback: FeedbackChoice = None,
) -> Response:
    """Export stored answers with their feedback as a file."""
    project = await access.existing_project(project_id)
    lines = answer_lines(access.store, project, access.caller, stale=stale, feedback=feedback)
    headers = {
        "Content-Type": MEDIA_TYPE,
        "Content-Disposition": 'attachment; filename="answers.jsonl"',
    }
    return await file_response(lines, headers)


@router.get("/answers/{answer_id}")
async def get_answer(access: Reader, answer_id: PathId) -> Enveloped[AnswerModel]:
    """Get a stored answer as it was given, with the later changes of its sources."""
    stored = await access.store.answers.get(answer_id, access.caller)
    return success(await show(access.store, stored))


@router.post("/answers/{answer_id}/refresh", responses=documented(Conflict, *CHAT_ERRORS))
async def refresh_answer(
    access: Reader, answer_id: PathId, connection: Connected
) -> Enveloped[RefreshedAnswer]:
    """Ask the question again and show what changed.

    The new answer replaces the old one in its conversation; the old one stays readable. 409 `CONFLICT` when the answer was
    already refreshed.
    """
    stored = await access.store.answers.get(answer_id, access.caller)
    asked = access.app.conversations.refresh(stored, access.caller)
    made, as_given = await unless_gone(connection, asked)
    await access.count(as_given)
    again = await access.store.answers.get(answer_id, access.caller)
    previous = await show(access.store, again)
    answer = await show(access.store, made)
    return success(RefreshedAnswer(answer=answer, previous=previous, changes=compare(previous, answer)))


@router.post("/answers/{answer_id}/feedback")
async def rate_answer(access: Reader, answer_id: PathId, body: FeedbackRequest) -> Enveloped[AnswerModel]:
    """Rate an answer, and mark wrong citations. Replaces earlier feedback."""
    stored = await access.store.answers.get(answer_id, access.caller)
    count = len(stored.answer["citations"])
    if wrong := [number for number in body.wrong_citations if number >= count]:
        expected = (
            f"positions of citations, from 0 to {count - 1}" if count else "empty: there are no citations"
        )
        raise InvalidParameter.of("wrongCitations", provided=wrong[0], expected=expected)
    said = {
        "rating": body.rating,
        "comment": body.comment,
        "wrongCitations": sorted(set(body.wrong_citations)),
        "at": now().isoformat(),
    }
    await access.store.answers.rate(stored, said)
    return success(await show(access.store, await access.store.answers.get(answer_id, access.caller)))


@router.delete("/answers/{answer_id}/feedback")
async def unrate_answer(access: Reader, answer_id: PathId) -> Enveloped[AnswerModel]:
    """Remove the feedback on an answer."""
    stored = await access.store.answers.get(answer_id, access.caller)
    await access.store.answers.rate(stored, None)
    return success(await show(access.store, await access.store.answers.get(answer_id, access.caller)))
