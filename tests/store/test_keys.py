"""API keys: shown once, kept as a hash, refused alike whatever is wrong with them."""

import base64
import hashlib
import re

import psycopg
import pytest

from whence.errors import NotFound, ProjectNotFound, Unauthorized
from whence.models import DEFAULT_PROJECT_ID, new_id
from whence.store import Store
from whence.store.keys import Caller


async def test_a_key(store: Store, dsn: str) -> None:
    key, secret = await store.keys.create(name="mine", scope="write", project_id=DEFAULT_PROJECT_ID)
    text = secret.reveal()
    found = re.fullmatch(r"wh_([0-9a-f]{12})_([A-Za-z0-9_-]{43})", text)
    assert found
    assert found[1] == key.prefix
    assert len(base64.urlsafe_b64decode(found[2] + "=")) == 32
    assert text not in repr(key) + repr(secret)
    with psycopg.connect(dsn) as conn:
        (row,) = conn.execute("SELECT k::text, sha256 FROM kb.api_keys k").fetchall()
    assert found[2] not in row[0]
    assert row[1] == hashlib.sha256(text.encode()).digest()
    assert await store.keys.authenticate(text) == Caller(
        project_id=DEFAULT_PROJECT_ID, scope="write", name="mine", key_id=key.id
    )
    assert await store.keys.all() == [key]


async def test_no_two_are_alike(store: Store) -> None:
    made = [await store.keys.create(name="", scope="read", project_id=None) for _ in range(10)]
    assert len({secret for _, secret in made}) == 10
    assert len({key.prefix for key, _ in made}) == 10


async def test_what_is_refused(store: Store) -> None:
    key, secret = await store.keys.create(name="", scope="read", project_id=None)
    text = secret.reveal()
    wrong = ["", "wh", "wh__", text[:-1], text + "x", text.upper(), f"wh_{key.prefix}_", f"wh_{key.prefix}"]
    wrong += [
        f"wh_{'0' * 12}_{text.split('_', 2)[2]}",
        "\udcff",
        f"wh_{key.prefix}\0_x",
        "wh_é_x",
        " " + text,
    ]
    for presented in wrong:
        with pytest.raises(Unauthorized):
            await store.keys.authenticate(presented)
    await store.keys.authenticate(text)


@pytest.mark.parametrize("by", ["prefix", "id"])
async def test_revoking(store: Store, by: str) -> None:
    key, secret = await store.keys.create(name="", scope="admin", project_id=None)
    assert await store.keys.any_active()
    await store.keys.revoke(str(getattr(key, by)))
    assert not await store.keys.any_active()
    with pytest.raises(Unauthorized):
        await store.keys.authenticate(secret.reveal())
    with pytest.raises(NotFound, match="There is no active key"):
        await store.keys.revoke(key.prefix)
    (kept,) = await store.keys.all()
    assert kept.revoked_at is not None


async def test_a_project_that_is_not_there(store: Store) -> None:
    with pytest.raises(ProjectNotFound):
        await store.keys.create(name="", scope="read", project_id=new_id())


async def test_a_projects_keys_go_with_it(store: Store) -> None:
    project = await store.projects.create(name="gone soon")
    _, secret = await store.keys.create(name="", scope="read", project_id=project.id)
    await store.projects.delete(project.id)
    with pytest.raises(Unauthorized):
        await store.keys.authenticate(secret.reveal())
