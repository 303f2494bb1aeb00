"""`whence keys`: creates, lists and revokes API keys."""

from typing import TYPE_CHECKING

import click

from whence.cli import options
from whence.cli.command import Api, on_api
from whence.cli.output import print_result, print_rows, printed_json
from whence.errors import KeyNotFound

if TYPE_CHECKING:
    from uuid import UUID

    from whence.store.keys import Scope

_ALL = 2**31


@click.group()
def keys() -> None:
    """Create, list and revoke API keys."""


@keys.command()
@click.option("--name", default="", help="The purpose of the key.")
@click.option(
    "--scope",
    type=click.Choice(("read", "write", "admin")),
    default="read",
    show_default=True,
    help="The scope; each includes those before it.",
)
@click.option("--project", help="The only project it gives access to, by name or id; without it, all.")
@click.option(
    "--requests-per-minute", type=click.IntRange(0), help="Maximum requests per minute; 0 for no limit."
)
@click.option(
    "--tokens-per-minute", type=click.IntRange(0), help="Maximum chat tokens per minute; 0 for no limit."
)
@options.json
@on_api
async def create(
    api: Api,
    *,
    name: str,
    scope: "Scope",
    project: str | None,
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
) -> None:
    """Create a key and print it once; only its hash is stored."""
    from whence.api.keys import KeyCreated

    limits = {"requests_per_minute": requests_per_minute, "tokens_per_minute": tokens_per_minute}
    project_id = await api.find_project_id(project) if project else None
    body = {"name": name, "scope": scope, **limits, "project_id": project_id}
    shown = await api.send("POST", "/keys", KeyCreated, body)
    await _write_audit(api, "createKey", shown.prefix, project_id=shown.project_id)
    if not printed_json(shown):
        click.echo(shown.key)
        opens = f"project {project}" if project else "all projects"
        click.echo(f"Scope {scope}, {opens}. Keep it: it is not shown again.", err=True)


@keys.command("list")
@options.json
@on_api
async def list_keys(api: Api) -> None:
    """List all keys by their prefix, never the secrets."""
    from whence.api.keys import KeyModel

    found, _ = await api.page("/keys", KeyModel, limit=_ALL)
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
@on_api
async def revoke(api: Api, *, key: str) -> None:
    """Revoke KEY at once. KEY is its prefix, its id, or the key itself."""
    parts = key.split("_")
    ident = parts[1] if parts[0] == "wh" and len(parts) > 1 else key
    await api.client.request("DELETE", f"/keys/{await _find_id(api, ident)}")
    await _write_audit(api, "revokeKey", ident)
    print_result({"revoked": ident}, f"Revoked {ident}.")


async def _find_id(api: Api, which: str) -> str:
    """The id of a key by its prefix or id."""
    async for one in api.client.items("/keys"):
        if which in (one["prefix"], one["id"]) and one["revoked_at"] is None:
            return str(one["id"])
    raise KeyNotFound(f"There is no active key {which!r}", details={"key": which})


async def _write_audit(api: Api, action: str, key: str, *, project_id: "UUID | None" = None) -> None:
    """Writes an audit entry; a remote server writes its own."""
    from whence.store.audit import COMMAND_LINE
    from whence.store.keys import Caller

    if api.app is not None and api.app.settings.audit_days:
        caller = Caller(project_id=project_id, scope="admin", name=COMMAND_LINE)
        await api.app.store.audit.add(caller, action=action, path=f"whence keys {key}")
