"""`whence keys`: creates, lists and revokes API keys."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from whence.cli.output import json_option, print_json, print_table, with_app
from whence.cli.projects import find

if TYPE_CHECKING:
    from whence.app import App
    from whence.models import ApiKey, Scope
    from whence.settings import Secret


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
@click.option("--project", help="The one project it opens, by name or id; without it, all.")
@json_option
def create(name: str, scope: "Scope", project: str | None, *, as_json: bool) -> None:
    """Make a key and print it, this once: only its hash is kept."""

    async def work(app: "App") -> "tuple[ApiKey, Secret]":
        project_id = (await find(app, project)).id if project else None
        return await app.store.keys.create(name=name, scope=scope, project_id=project_id)

    key, secret = with_app(work)
    if as_json:
        print_json({**asdict(key), "key": secret.reveal()})
        return
    click.echo(secret.reveal())
    opens = f"project {project}" if project else "all projects"
    click.echo(f"Scope {scope}, {opens}. Keep it: it is not shown again.", err=True)


@keys.command("list")
@json_option
def list_keys(*, as_json: bool) -> None:
    """All keys, by the prefix they begin with; never the keys themselves."""

    async def work(app: "App") -> "list[ApiKey]":
        return await app.store.keys.all()

    found = with_app(work)
    if as_json:
        print_json([asdict(key) for key in found])
        return
    rows = [
        (
            f"wh_{key.prefix}_…",
            key.name,
            key.scope,
            key.project_id or "all",
            f"{key.created_at:%Y-%m-%d}",
            f"revoked {key.revoked_at:%Y-%m-%d}" if key.revoked_at else "active",
        )
        for key in found
    ]
    print_table(("KEY", "NAME", "SCOPE", "PROJECT", "CREATED", "STATE"), rows)


@keys.command()
@click.argument("key")
@json_option
def revoke(key: str, *, as_json: bool) -> None:
    """Make KEY useless at once. KEY is its prefix, its id, or the key itself."""
    parts = key.split("_")
    ident = parts[1] if parts[0] == "wh" and len(parts) > 1 else key

    async def work(app: "App") -> None:
        await app.store.keys.revoke(ident)

    with_app(work)
    if as_json:
        print_json({"revoked": ident})
    else:
        click.echo(f"Revoked {ident}.")
