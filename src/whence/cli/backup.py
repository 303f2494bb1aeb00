"""`whence backup` and `whence restore`: everything in one file."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whence.cli.output import counted, json_option, print_json, with_app

if TYPE_CHECKING:
    from whence.app import App
    from whence.store.backup import Manifest


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it is there.")
@click.option("--allow-missing", is_flag=True, help="Go on where originals of documents are missing.")
@json_option
def backup(file: Path, *, force: bool, allow_missing: bool, as_json: bool) -> None:
    """Write the database and the originals of all documents to FILE. The server may go on running.

    Fails, and names them, where originals are missing or not as the database describes them.
    """
    from whence.store.backup import write

    if file.exists() and not force:
        raise click.ClickException(f"{file} exists; --force overwrites it.")

    async def work(app: "App") -> "Manifest":
        await app.storage.ensure_bound()
        return await write(
            file,
            dsn=app.dsn,
            originals=app.originals,
            bin_dir=app.settings.postgres_bin,
            allow_missing=allow_missing,
        )

    _show(with_app(work), f"Wrote {file}", as_json=as_json)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace what is in the database already.")
@click.option("--allow-missing", is_flag=True, help="Go on where the backup lacks originals of documents.")
@json_option
def restore(file: Path, *, force: bool, allow_missing: bool, as_json: bool) -> None:
    """Read FILE, made by `whence backup`, into the database: all of it, or nothing. Stop the server first.

    Every original is checked by size and SHA-256 before the database is replaced.
    """
    from whence.store.restore import read

    async def work(app: "App") -> "Manifest":
        return await read(
            file,
            dsn=app.dsn,
            originals=app.originals,
            bin_dir=app.settings.postgres_bin,
            replace=force,
            allow_missing=allow_missing,
        )

    _show(with_app(work), f"Restored {file}", as_json=as_json)


def _show(manifest: "Manifest", done: str, *, as_json: bool) -> None:
    from whence.store.storage import name_some

    if as_json:
        print_json(asdict(manifest))
        return
    click.echo(
        f"{done}: {counted(manifest.projects, 'project')}, {counted(manifest.documents, 'document')}, "
        f"{counted(manifest.chunks, 'chunk')}, {counted(manifest.originals, 'original')}."
    )
    if manifest.missing:
        missing = counted(len(manifest.missing), "original")
        click.echo(f"Missing or different: {missing}: {name_some(manifest.missing)}.")
