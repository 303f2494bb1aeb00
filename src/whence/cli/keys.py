"""`whence keys`: creates, lists and revokes API keys."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from whence.cli import options
from whence.cli.command import App, Remote, find_project, is_remote, on_either
from whence.cli.output import print_result, print_rows, printed_json
from whence.errors import KeyNotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from whence.store.keys import ApiKey, Scope

_ALL = 2**31


@click.group()
def keys() -> None:
    """Create, list and revoke API keys."""


@keys.command()
@click.option("--name", default="", help="What the key is for.")
@click.option(
    "--scope",
    type=click.Choice(("read", "write", "admin")),
    default="read",
    show_default=True,
    help="What it allows; each includes those before it.",
)
@click.option("--project", help="The only project it gives access to, by name or id; without it, all.")
@click.option("--requests-per-minute", type=click.IntRange(0), help="Its own limit; 0: none.")
@click.option("--tokens-per-minute", type=click.IntRange(0), help="Its own limit of chat tokens; 0: none.")
@options.json
@on_either
async def create(
    base: App | Remote,
    *,
    name: str,
    scope: "Scope",
    project: str | None,
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
) -> None:
    """Create a key and print it once; only its hash is stored."""
    limits = {"requests_per_minute": requests_per_minute, "tokens_per_minute": tokens_per_minute}
    if is_remote(base):
        secret, shown = await _create_remotely(base, {"name": name, "scope": scope, **limits}, project)
    else:
        project_id = (await find_project(base, project)).id if project else None
        key, made = await base.store.keys.create(name=name, scope=scope, project_id=project_id, **limits)
        await _note(base, "createKey", key.prefix, project_id=project_id)
        secret = made.reveal()
        shown = {**asdict(key), "key": secret}
    if not printed_json(shown):
        click.echo(secret)
        opens = f"project {project}" if project else "all projects"
        click.echo(f"Scope {scope}, {opens}. Keep it: it is not shown again.", err=True)


async def _create_remotely(remote: Remote, fields: dict[str, Any], project: str | None) -> tuple[str, Any]:
    from whence.api.keys import KeyCreated

    project_id = await remote.client.project_id(project) if project else None
    made = await remote.send("POST", "/keys", KeyCreated, {**fields, "project_id": project_id})
    return made.key, made


@keys.command("list")
@options.json
@on_either
async def list_keys(base: App | Remote) -> None:
    """List all keys by their prefix; never the keys themselves."""
    from whence.api.keys import KeyModel

    found: Sequence[ApiKey | KeyModel]
    if is_remote(base):
        found, _ = await base.page("/keys", KeyModel, limit=_ALL)
    else:
        found = await base.store.keys.all()
    rows = [
        (
            f"wh_{key.prefix}_…",
            key.name,
            key.scope,
            key.project_id or "all",
            f"{key.created_at:%Y-%m-%d}",
            f"{key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else "never",
            f"revoked {key.revoked_at:%Y-%m-%d}" if key.revoked_at else "active",
        )
        for key in found
    ]
    print_rows(found, ("KEY", "NAME", "SCOPE", "PROJECT", "CREATED", "LAST USED", "STATE"), rows)


@keys.command()
@click.argument("key")
@options.json
@on_either
async def revoke(base: App | Remote, *, key: str) -> None:
    """Revoke KEY at once. KEY is its prefix, its id, or the key itself."""
    parts = key.split("_")
    ident = parts[1] if parts[0] == "wh" and len(parts) > 1 else key
    if is_remote(base):
        await base.client.request("DELETE", f"/keys/{await _find_id(base, ident)}")
    else:
        await base.store.keys.revoke(ident)
        await _note(base, "revokeKey", ident)
    print_result({"revoked": ident}, f"Revoked {ident}.")


async def _find_id(remote: Remote, which: str) -> str:
    """The id of a key by its prefix or id."""
    async for one in remote.client.items("/keys"):
        if which in (one["prefix"], one["id"]):
            return str(one["id"])
    raise KeyNotFound(details={"key": which})


async def _note(app: App, action: str, key: str, *, project_id: "UUID | None" = None) -> None:
    from whence.store.audit import COMMAND_LINE
    from whence.store.keys import Caller

    if app.settings.audit_days:
        caller = Caller(project_id=project_id, scope="admin", name=COMMAND_LINE)
        await app.store.audit.add(caller, action=action, path=f"whence keys {key}")
