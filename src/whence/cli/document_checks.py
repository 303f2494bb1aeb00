"""The checks of `whence doctor --deep` on documents: each has what it needs, and its chunks are spans of its text."""

from collections import defaultdict
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import UUID

from whence.findings import Finding, State

if TYPE_CHECKING:
    from whence.store import Store
    from whence.store.consistency import DocumentState, StoredChunk

_ANEW = "Restore a backup, or delete them and ingest them again"
_SENT_AGAIN = "Send their files again with PUT /api/v1/documents/{id}"

_REMEDIES: "dict[str, tuple[State, str]]" = {
    "without an original": ("wrong", _ANEW),
    # Also after somebody deleted the job or the chunks.
    "without a current job": ("note", _SENT_AGAIN),
    "with text and without chunks": ("note", _SENT_AGAIN),
    "with a chunk whose text differs from its hash": ("wrong", _ANEW),
    "with a chunk that differs from its place in the text": ("wrong", _ANEW),
}


async def check_documents(tx: "Store", project_id: UUID, name: str) -> list[Finding]:
    """One finding for each fault, with the documents that have it."""
    from whence.cli.output import counted
    from whence.store.storage import name_some

    found: dict[str, list[str]] = defaultdict(list)
    for document in await tx.consistency.documents(project_id):
        text, chunks = await tx.consistency.text_and_chunks(project_id, document.id)
        for fault in (*_faults_of(document), *_faults_in(text, chunks)):
            found[fault].append(str(document.id))
    return [
        Finding(
            f"Documents of {name}",
            state,
            f"{counted(len(found[fault]), 'document')} {fault}: {name_some(found[fault])}. {remedy}",
        )
        for fault, (state, remedy) in _REMEDIES.items()
        if found[fault]
    ]


def _faults_of(document: "DocumentState") -> list[str]:
    has = {
        "without an original": document.has_original,
        "without a current job": document.has_current_job or not document.has_text,
        "with text and without chunks": document.has_chunks or not document.has_text,
    }
    return [fault for fault, is_right in has.items() if not is_right]


def _faults_in(text: str, chunks: "list[StoredChunk]") -> list[str]:
    hashed = all(sha256(chunk.content.encode()).digest() == chunk.content_hash for chunk in chunks)
    placed = all(
        text[chunk.start : chunk.end] == chunk.content for chunk in chunks if chunk.start is not None
    )
    has = {
        "with a chunk whose text differs from its hash": hashed,
        "with a chunk that differs from its place in the text": placed,
    }
    return [fault for fault, is_right in has.items() if not is_right]
