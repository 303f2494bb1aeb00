"""`whence db`: the schema of the database."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from whence.cli.output import json_option, print_json

if TYPE_CHECKING:
    from whence.store.migrations import MigrationStatus


@click.group()
def db() -> None:
    """Look at the database's schema, or bring it up to date."""


@db.command()
@json_option
def status(*, as_json: bool) -> None:
    """Which schema the database has, and which this version of Whence needs."""
    _show(_run("status"), as_json=as_json)


@db.command()
@json_option
def upgrade(*, as_json: bool) -> None:
    """Bring the schema up to date. `whence serve` does the same when it starts."""
    _show(_run("upgrade"), as_json=as_json)


def _run(what: str) -> "MigrationStatus":
    import asyncio

    from whence.app import database
    from whence.settings import Settings
    from whence.store import migrations

    async def run() -> "MigrationStatus":
        async with database(Settings.from_environment()) as dsn:
            return await (migrations.upgrade(dsn) if what == "upgrade" else migrations.status(dsn))

    return asyncio.run(run())


def _show(found: "MigrationStatus", *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(found))
        return
    words = {
        "empty": "has no schema yet; `whence db upgrade` makes it",
        "behind": f"is at schema {found.current}; `whence db upgrade` brings it to {found.head}",
        "current": f"is at schema {found.current}, which is current",
        "newer": f"is at schema {found.current}, newer than this version knows ({found.head}): upgrade Whence",
    }
    vector = f", pgvector {found.vector_version}" if found.vector_version else ""
    click.echo(f"The database (PostgreSQL {found.server_version}{vector}) {words[found.state]}.")
