"""`whence keys`: creates, lists and revokes API keys."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from whence.cli import options
from whence.cli.command import App, find_project, on_app
from whence.cli.output import print_result, print_rows, printed_json

if TYPE_CHECKING:
    from uuid import UUID

    from whence.store.keys import Scope


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
@on_app
async def create(
    app: App,
    *,
    name: str,
    scope: "Scope",
    project: str | None,
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
) -> None:
    """Create a key and print it once; only its hash is stored."""
    project_id = (await find_project(app, project)).id if project else None
    key, secret = await app.store.keys.create(
        name=name,
        scope=scope,
        project_id=project_id,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
    )
    await _note(app, "createKey", key.prefix, project_id=project_id)
    if not printed_json({**asdict(key), "key": secret.reveal()}):
        click.echo(secret.reveal())
        opens = f"project {project}" if project else "all projects"
        click.echo(f"Scope {scope}, {opens}. Keep it: it is not shown again.", err=True)


@keys.command("list")
@options.json
@on_app
async def list_keys(app: App) -> None:
    """List all keys by their prefix; never the keys themselves."""
    found = await app.store.keys.all()
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
@on_app
async def revoke(app: App, *, key: str) -> None:
    """Revoke KEY at once. KEY is its prefix, its id, or the key itself."""
    parts = key.split("_")
    ident = parts[1] if parts[0] == "wh" and len(parts) > 1 else key
    await app.store.keys.revoke(ident)
    await _note(app, "revokeKey", ident)
    print_result({"revoked": ident}, f"Revoked {ident}.")


async def _note(app: App, action: str, key: str, *, project_id: "UUID | None" = None) -> None:
    from whence.store.audit import COMMAND_LINE
    from whence.store.keys import Caller

    if app.settings.audit_days:
        caller = Caller(project_id=project_id, scope="admin", name=COMMAND_LINE)
        await app.store.audit.add(caller, action=action, path=f"whence keys {key}")
