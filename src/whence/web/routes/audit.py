"""The audit log of writes."""

from typing import Annotated

from fastapi import Query

from whence.api.audit import AuditModel
from whence.api.base import Listing
from whence.api.values import Ident, SearchText
from whence.web.access import Admin
from whence.web.parameters import PagedByCursor
from whence.web.responses import Enveloped, listed
from whence.web.routes import api_router

router = api_router("audit")

KeyFilter = Annotated[Ident | None, Query(description="Only writes by this key.")]
ActionFilter = Annotated[SearchText, Query(description="Only this operation, such as `deleteDocument`.")]


@router.get("/audit")
async def list_audit(
    access: Admin, *, key_id: KeyFilter = None, action: ActionFilter = None, page: PagedByCursor
) -> Enveloped[Listing[AuditModel]]:
    """List the writes over HTTP, newest first.

    A key of one project sees the writes of that project's keys and those whose path names the project. Refused requests are
    not listed. Entries are kept for `WHENCE_AUDIT_DAYS`.
    """
    found, total = await access.store.audit.page(
        project_id=access.project_id,
        key_id=key_id,
        action=action,
        limit=page.fetched,
        offset=page.offset,
        after=page.after,
    )
    return listed(AuditModel, found, total, page)
