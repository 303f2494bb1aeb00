"""Versions of documents. The current one and the last twenty before it are kept."""

from typing import Annotated

from fastapi import Path

from whence.api.base import Listing
from whence.api.evidence import MAX_OFFSET
from whence.api.values import whole
from whence.api.versions import DocumentVersion, DocumentVersionText
from whence.errors import NotFound
from whence.web.access import Reader
from whence.web.parameters import Paged, PathId
from whence.web.responses import Enveloped, listed, success
from whence.web.routes import api_router, documented

router = api_router("documents", prefix="/documents/{document_id}/versions")

Number = Annotated[int, Path(description="From 1."), whole(1, MAX_OFFSET, in_query=True)]


@router.get("")
async def list_document_versions(
    access: Reader, document_id: PathId, page: Paged
) -> Enveloped[Listing[DocumentVersion]]:
    """List the versions of a document, newest first: the current one and the twenty before it."""
    document = await access.document(document_id)
    found = DocumentVersion.all(await access.store.versions.facts(document.project_id, document_id))
    return listed(DocumentVersion, found[page.offset : page.offset + page.limit], len(found), page)


@router.get("/{version}", responses=documented(NotFound))
async def get_document_version(
    access: Reader, document_id: PathId, version: Number
) -> Enveloped[DocumentVersionText]:
    """Get the text of a version and the spans of its chunks."""
    document = await access.document(document_id)
    versions = access.store.versions
    found = DocumentVersion.all(await versions.facts(document.project_id, document_id))
    facts = next((one for one in found if one.version == version), None)
    read = versions.current if facts and facts.is_current else versions.old
    content = await read(document.project_id, document_id, version)
    if facts is None or content is None:
        known = [one.version for one in found]
        raise NotFound(
            "This version of the document is not stored", details={"provided": version, "kept": known}
        )
    return success(DocumentVersionText.made(facts, content))
