"""API keys, and the permissions of the caller's own key."""

from whence.api.base import Listing
from whence.api.keys import KeyCreate, KeyCreated, KeyModel, Me
from whence.errors import ProjectNotFound
from whence.web.access import Admin, Reader
from whence.web.events import Connected
from whence.web.parameters import PagedByCursor, PathId
from whence.web.responses import Enveloped, listed, success
from whence.web.routes import api_router, documented

router = api_router("keys")


@router.get("/me")
async def get_me(access: Reader) -> Enveloped[Me]:
    """Get the permissions of the caller's key."""
    return success(Me.of(access.caller))


@router.get("/keys")
async def list_keys(access: Admin, page: PagedByCursor) -> Enveloped[Listing[KeyModel]]:
    """List the keys, oldest first; never the secrets.

    A key of one project sees the keys of that project.
    """
    found = await access.store.keys.all(project_id=access.project_id)
    return listed(KeyModel, page.part_of(found), len(found), page)


@router.post("/keys", status_code=201, responses=documented(ProjectNotFound))
async def create_key(access: Admin, body: KeyCreate, connection: Connected) -> Enveloped[KeyCreated]:
    """Create a key. The answer has the key itself, which is not shown again: only its hash is stored.

    A key of one project creates keys of that project. A key with limits cannot create a key with higher ones.
    """
    if body.project_id is not None:
        access.only_own(body.project_id)
    key, secret = await access.store.keys.create(
        name=body.name,
        scope=body.scope,
        project_id=body.project_id or access.project_id,
        requests_per_minute=_cap_limit(body.requests_per_minute, access.caller.requests_per_minute),
        tokens_per_minute=_cap_limit(body.tokens_per_minute, access.caller.tokens_per_minute),
    )
    connection.request.scope["created"] = key.prefix  # for the audit log
    return success(KeyCreated.of(key, key=secret.reveal()), 201)


@router.delete("/keys/{key_id}")
async def revoke_key(access: Admin, key_id: PathId) -> Enveloped[KeyModel]:
    """Revoke a key. It stops working at once."""
    await access.store.keys.revoke(str(key_id), project_id=access.project_id)
    found = await access.store.keys.all(project_id=access.project_id)
    return success(KeyModel.of(next(key for key in found if key.id == key_id)))


def _cap_limit(wanted: int | None, own: int | None) -> int | None:
    """The new key's limit, at most the caller's own. 0 is no limit, None that of the server."""
    return min(wanted or own, own) if own else wanted
