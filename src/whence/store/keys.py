"""API keys. A key is shown once; only its SHA-256 and a prefix for lookup are stored."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, LiteralString, get_args
from uuid import UUID

import psycopg

from whence.errors import KeyNotFound, ProjectNotFound, Unauthorized
from whence.models import new_id, now
from whence.settings import Secret
from whence.store.pool import Statements, fields_of, reader, records

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""In ascending order: each scope includes those before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """The stored data of an API key, without the key itself."""

    id: UUID
    name: str
    prefix: str
    """The part of the key used for lookup; safe to show."""
    project_id: UUID | None
    """The only project it gives access to, or None for all."""
    scope: Scope
    created_at: datetime
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    """Updated with up to a minute's delay."""
    requests_per_minute: int | None = None
    """None: the limit in the settings; 0: no limit. The same for tokens."""
    tokens_per_minute: int | None = None


@dataclass(frozen=True, slots=True)
class KeyUsage:
    """The usage of a key in the current minute."""

    requests: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The permissions of a request's API key, and its name."""

    project_id: UUID | None
    scope: Scope
    name: str | None = None
    """None if the request has no key."""
    key_id: UUID | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def may(self, scope: Scope) -> bool:
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


EVERYONE = Caller(project_id=None, scope="admin")
"""The caller when the server requires no keys."""

_COLUMNS: LiteralString = "id, name, prefix, project_id, scope, created_at, revoked_at, last_used_at, requests_per_minute, tokens_per_minute"
_key_of = reader(ApiKey, _COLUMNS)

INSERT: LiteralString = """
INSERT INTO kb.api_keys
    (id, project_id, name, prefix, sha256, scope, created_at, requests_per_minute, tokens_per_minute)
VALUES (%(id)s, %(project_id)s, %(name)s, %(prefix)s, %(sha256)s, %(scope)s, %(created_at)s,
    %(requests_per_minute)s, %(tokens_per_minute)s)
"""
SELECT_BY_PREFIX: LiteralString = """
SELECT sha256, project_id, scope, name, id, requests_per_minute, tokens_per_minute
FROM kb.api_keys WHERE prefix = %(prefix)s AND revoked_at IS NULL
"""
SELECT_ALL: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.api_keys
WHERE %(project_id)s::uuid IS NULL OR project_id = %(project_id)s ORDER BY id
"""
ANY_ACTIVE: LiteralString = "SELECT EXISTS (SELECT FROM kb.api_keys WHERE revoked_at IS NULL)"
REVOKE: LiteralString = """
UPDATE kb.api_keys SET revoked_at = %(now)s
WHERE (prefix = %(key)s OR id::text = %(key)s) AND revoked_at IS NULL
  AND (%(project_id)s::uuid IS NULL OR project_id = %(project_id)s)
"""

USE: LiteralString = """
INSERT INTO kb.key_usage AS u (key_id, minute, requests, tokens)
VALUES (%(key_id)s, %(minute)s, %(requests)s, %(tokens)s)
ON CONFLICT (key_id) DO UPDATE SET
    minute = EXCLUDED.minute,
    requests = EXCLUDED.requests + CASE WHEN u.minute = EXCLUDED.minute THEN u.requests ELSE 0 END,
    tokens = EXCLUDED.tokens + CASE WHEN u.minute = EXCLUDED.minute THEN u.tokens ELSE 0 END
RETURNING requests, tokens
"""
NOTE_USE: LiteralString = """
UPDATE kb.api_keys k SET last_used_at = u.at
FROM json_to_recordset(%(uses)s) AS u (id uuid, at timestamptz)
WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)
"""

_MARK = "wh"
_NO_MATCH = bytes(32)


class Keys(Statements):
    async def create(
        self,
        *,
        name: str,
        scope: Scope,
        project_id: UUID | None,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> tuple[ApiKey, Secret]:
        """Create a key. Returns it with its secret, which is not stored: `wh_<prefix>_<256 random bits>`."""
        prefix = secrets.token_hex(6)
        secret = f"{_MARK}_{prefix}_{secrets.token_urlsafe(32)}"
        key = ApiKey(
            id=new_id(),
            name=name,
            prefix=prefix,
            project_id=project_id,
            scope=scope,
            created_at=now(),
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
        )
        try:
            await self._queries.run(INSERT, {**fields_of(key), "sha256": _hash(secret)})
        except psycopg.errors.ForeignKeyViolation as exc:
            raise ProjectNotFound(details={"project_id": str(project_id)}) from exc
        return key, Secret(secret)

    async def authenticate(self, presented: str) -> Caller:
        """The caller with this key. Unknown, revoked and malformed keys all raise `Unauthorized`."""
        parts = presented.split("_", 2)
        prefix = parts[1] if len(parts) == 3 and parts[0] == _MARK else ""  # noqa: PLR2004 - wh_<prefix>_<secret>
        row = await self._queries.one(SELECT_BY_PREFIX, {"prefix": prefix}) if prefix.isalnum() else None
        expected = row[0] if row else _NO_MATCH
        if not hmac.compare_digest(expected, _hash(presented)) or row is None:
            raise Unauthorized
        return Caller(
            project_id=row[1],
            scope=row[2],
            name=row[3],
            key_id=row[4],
            requests_per_minute=row[5],
            tokens_per_minute=row[6],
        )

    async def use(self, key_id: UUID, *, requests: int = 0, tokens: int = 0) -> KeyUsage:
        """Add to the key's usage in this minute, summed over all processes. Returns the sums."""
        minute = now().replace(second=0, microsecond=0)
        added = {"key_id": key_id, "minute": minute, "requests": requests, "tokens": tokens}
        row = await self._queries.one(USE, added)
        return KeyUsage(*row) if row else KeyUsage(requests, tokens)

    async def note_use(self, used: Mapping[UUID, datetime]) -> None:
        """Store when each key was last used."""
        uses = [{"id": str(key_id), "at": at.isoformat()} for key_id, at in used.items()]
        await self._queries.run(NOTE_USE, {"uses": records(uses)})

    async def all(self, *, project_id: UUID | None = None) -> list[ApiKey]:
        """All keys, oldest first; or only those restricted to this project."""
        return [_key_of(row) for row in await self._queries.all(SELECT_ALL, {"project_id": project_id})]

    async def any_active(self) -> bool:
        return bool(await self._queries.value(ANY_ACTIVE))

    async def revoke(self, key: str, *, project_id: UUID | None = None) -> None:
        """Revoke by prefix or id, any key or one of this project. Takes effect at once: every request looks up its key."""
        if not await self._queries.run(REVOKE, {"key": key, "project_id": project_id, "now": now()}):
            raise KeyNotFound(f"There is no active key {key!r}", details={"key": key})


def may_be_ours(presented: str) -> bool:
    """Whether the text has the prefix of our keys. Only `authenticate` checks its validity."""
    return presented.startswith(f"{_MARK}_")


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
