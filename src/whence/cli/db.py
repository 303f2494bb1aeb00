"""`whence db`, `whence backup` and `whence restore`: the database's schema, and backups."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from whence.cli import options
from whence.cli.command import App, on_app, read_local_settings, with_app
from whence.cli.output import counted, print_result

if TYPE_CHECKING:
    from whence.store.backup import Manifest


@click.group()
def db() -> None:
    """Show the schema of the database, or upgrade it."""


@db.command()
@options.json
def status() -> None:
    """Show the schema of the database and the one that this version of Whence needs."""
    _run_migration("status")


@db.command()
@options.json
def upgrade() -> None:
    """Upgrade the schema. `whence serve` does the same when it starts."""
    _run_migration("upgrade")


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@click.option("--allow-missing", is_flag=True, help="Continue without originals that are missing.")
@options.json
def backup(file: Path, *, force: bool, allow_missing: bool) -> None:
    """Write the database and the originals of all documents to FILE. The server may keep running.

    Fails if originals are missing or differ from their description in the database, and lists them.
    """
    from whence.store.backup import write

    async def work(app: App) -> "Manifest":
        await app.storage.ensure_bound()
        return await write(
            file,
            dsn=app.dsn,
            originals=app.originals,
            bin_dir=app.settings.postgres_bin,
            allow_missing=allow_missing,
        )

    if file.exists() and not force:
        raise click.ClickException(f"{file} exists; --force overwrites it.")
    _show_manifest(with_app(work), f"Wrote {file}")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace the data in the database.")
@click.option("--allow-missing", is_flag=True, help="Continue if originals are missing from the backup.")
@options.json
@on_app
async def restore(app: App, *, file: Path, force: bool, allow_missing: bool) -> None:
    """Restore FILE, made by `whence backup`: all of it, or nothing. Stop the server first.

    Every original is checked by size and SHA-256 before the database is replaced.
    """
    from whence.store.restore import read

    manifest = await read(
        file,
        dsn=app.dsn,
        originals=app.originals,
        bin_dir=app.settings.postgres_bin,
        replace=force,
        allow_missing=allow_missing,
    )
    _show_manifest(manifest, f"Restored {file}")


def _run_migration(what: str) -> None:
    import asyncio

    from whence.app import database
    from whence.store import migrations

    settings = read_local_settings()

    async def run() -> migrations.MigrationStatus:
        async with database(settings) as dsn:
            return await (migrations.upgrade(dsn) if what == "upgrade" else migrations.status(dsn))

    found = asyncio.run(run())
    words = {
        "empty": "has no schema yet; `whence db upgrade` creates it",
        "behind": f"is at schema {found.current}; `whence db upgrade` upgrades it to {found.head}",
        "current": f"is at schema {found.current}, which is current",
        "newer": f"is at schema {found.current}, newer than this version knows ({found.head}): upgrade Whence",
    }
    vector = f", pgvector {found.vector_version}" if found.vector_version else ""
    text = f"The database (PostgreSQL {found.server_version}{vector}) {words[found.state]}."
    print_result(found, text)


def _show_manifest(manifest: "Manifest", done: str) -> None:
    from whence.store.storage import name_some

    counts = ((getattr(manifest, f"{what}s"), what) for what in ("project", "document", "chunk", "original"))
    text = f"{done}: {', '.join(counted(count, what) for count, what in counts)}."
    if manifest.missing:
        missing = counted(len(manifest.missing), "original")
        text += f"\nMissing or different: {missing}: {name_some(manifest.missing)}."
    print_result(manifest, text)
