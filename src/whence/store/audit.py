"""The audit log: who wrote what, and when."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import LiteralString
from uuid import UUID

from whence.models import new_id, now
from whence.store.keys import Caller
from whence.store.pool import PagedQuery, Statements, reader

COMMAND_LINE = "command line"
"""The name of the caller of `whence keys`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    id: UUID
    at: datetime
    project_id: UUID | None
    """The project in the path, else the key's; None if there is neither."""
    key_id: UUID | None
    """None without a key."""
    key_name: str | None
    action: str
    """The operation's id, such as `deleteDocument`."""
    path: str
    status: int
    request_id: str


_COLUMNS: LiteralString = "id, at, project_id, key_id, key_name, action, path, status, request_id"

INSERT: LiteralString = f"""
INSERT INTO kb.audit ({_COLUMNS})
VALUES (%(id)s, %(at)s, %(project_id)s, %(key_id)s, %(key_name)s, %(action)s, %(path)s, %(status)s, %(request_id)s)
"""
PAGED = PagedQuery(
    reader(AuditEntry, _COLUMNS),
    _COLUMNS,
    """FROM kb.audit
    WHERE (%(project_id)s::uuid IS NULL OR project_id = %(project_id)s)
    AND (%(key_id)s::uuid IS NULL OR key_id = %(key_id)s) AND (%(action)s::text IS NULL OR action = %(action)s)""",
    "id DESC",
    is_after="id < %(after)s",
)
PRUNE: LiteralString = "DELETE FROM kb.audit WHERE at < %(before)s"


class Audit(Statements):
    async def add(
        self,
        caller: Caller,
        *,
        action: str,
        path: str,
        project_id: UUID | None = None,
        status: int = 200,
        request_id: str = "-",
    ) -> None:
        entry = {
            "id": new_id(),
            "at": now(),
            "project_id": project_id or caller.project_id,
            "key_id": caller.key_id,
            "key_name": caller.name,
            "action": action,
            "path": path,
            "status": status,
            "request_id": request_id,
        }
        await self._queries.run(INSERT, entry)

    async def page(
        self,
        *,
        project_id: UUID | None = None,
        key_id: UUID | None = None,
        action: str | None = None,
        limit: int,
        offset: int = 0,
        after: UUID | None = None,
    ) -> tuple[list[AuditEntry], int]:
        """Entries, newest first."""
        wanted = {"project_id": project_id, "key_id": key_id, "action": action}
        return await self._queries.page(PAGED, wanted, limit=limit, offset=offset, after=after)

    async def prune(self, *, days: int) -> int:
        """Delete entries older than this many days."""
        return await self._queries.run(PRUNE, {"before": now() - timedelta(days=days)})
