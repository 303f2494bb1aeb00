"""Lasting links to documents and spans of them, objects, answers and conversations. Pure.

A link to a span names the document's version, so that it can be followed when the text has changed since.
"""

from contextvars import ContextVar
from uuid import UUID

base: ContextVar[str | None] = ContextVar("link_base", default=None)
"""The address that links begin with, of this request or command; None makes no links."""


def absolute(path: str) -> str | None:
    address = base.get()
    return None if address is None else address + path


def to_document(
    document_id: UUID | str | None,
    *,
    version: int | None = None,
    start: int | None = None,
    end: int | None = None,
) -> str | None:
    if document_id is None or base.get() is None:
        return None
    return absolute(document_path(document_id, version=version, start=start, end=end))


def document_path(
    document_id: UUID | str, *, version: int | None, start: int | None = None, end: int | None = None
) -> str:
    parts = [f"span={start}-{end}"] if start is not None and end is not None else []
    parts += [f"v={version}"] if version else []
    return f"/d/{document_id}{'?' if parts else ''}{'&'.join(parts)}"


def to_object(object_id: UUID | str) -> str | None:
    return absolute(f"/o/{object_id}")


def to_answer(answer_id: UUID | str) -> str | None:
    return absolute(f"/a/{answer_id}")


def to_conversation(conversation_id: UUID | str) -> str | None:
    return absolute(f"/c/{conversation_id}")
