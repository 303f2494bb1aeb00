"""`whence export` and `whence import`: a project as one file, and documents from other systems."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli import options
from whence.cli.command import App, find_project, on_app, wait_for_jobs, with_app
from whence.cli.ingest import ingest
from whence.cli.output import counted, print_result, printable, wants_json

if TYPE_CHECKING:
    from uuid import UUID

    from whence.transfer.bundle_import import ImportedBundle

_COUNTED = {
    "documents": "document",
    "chunks": "chunk",
    "graph_objects": "object",
    "relationships": "relationship",
    "conversations": "conversation",
    "originals": "original",
}


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@options.project
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@click.option("--allow-missing", is_flag=True, help="Continue without originals that are missing.")
@options.json
def export(file: Path, *, project: str, force: bool, allow_missing: bool) -> None:
    """Write a project to FILE, a bundle for `whence import`. The server may keep running.

    The bundle has documents with originals and versions, chunks, vectors, the graph with its claims and corrections, and
    conversations, but no keys. Unfinished jobs are exported as cancelled.
    """
    from whence.transfer.bundle_export import write_bundle

    async def work(app: App) -> Any:
        await app.storage.ensure_bound()
        found = await find_project(app, project)
        return await write_bundle(
            file, found.id, dsn=app.dsn, originals=app.originals, allow_missing=allow_missing
        )

    if file.exists() and not force:
        raise click.ClickException(f"{file} exists; --force overwrites it.")
    manifest = with_app(work)
    text = f"Wrote {file}: {_list_counts(manifest.counts)}."
    if manifest.missing:
        text += f"\nMissing or different: {counted(len(manifest.missing), 'original')}."
    print_result(
        {
            "project": manifest.project["name"],
            "counts": manifest.counts,
            "missing": manifest.missing,
            "digest": manifest.digest,
        },
        text,
    )


class _ImportGroup(click.Group):
    """`whence import FILE` is `whence import bundle FILE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["bundle", *args]
        return super().parse_args(ctx, args)


@click.group(name="import", cls=_ImportGroup)
def import_() -> None:
    """Import a bundle made by `whence export`, or documents of other systems.

    `whence import FILE` imports a bundle. The commands work on the local installation.
    """


import_.add_command(ingest, "folder")


@import_.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--project", metavar="NAME", help="Name of the project here. [the bundle's]")
@options.dry_run
@options.no_wait
@options.json
@on_app
async def bundle(app: App, *, file: Path, project: str | None, dry_run: bool, no_wait: bool) -> None:
    """Import the bundle FILE as a project: all of it, or nothing. The project must be new or empty.

    All hashes are checked first. Ids stay the same and must be free. The same bundle again changes nothing. Chunks are embedded again if
    the bundle's vectors are of another model.
    """
    from whence.transfer.bundle_file import open_bundle
    from whence.transfer.bundle_import import BundleImport

    with open_bundle(file) as opened:
        work = BundleImport(app.store, app.storage, app.embedders)
        done = await work.run(opened, name=project, dry_run=dry_run)
    if done.is_new and not dry_run and not no_wait:
        await wait_for_jobs(app, "Embedding", lambda: _look(app, done.project.id), quiet=wants_json())
    _show_bundle(done, dry_run=dry_run)


@import_.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@options.project
@options.chunking
@options.dry_run
@options.json
def jsonl(file: Path, *, project: str, dry_run: bool, **chunking: Any) -> None:
    """Ingest FILE, one document per line: a JSON object with `text`, and optionally `name`, `id`, `metadata` and `validFrom`.

    A line with an `id` that came before and another text becomes a new version of its document. Bad lines are listed with
    their numbers, and the others are ingested. Run the command again after an interruption: it skips what it has done.
    """
    from whence.cli.import_run import exit_unless, import_texts, show_plan
    from whence.cli.ingest_run import IngestRequest
    from whence.transfer.lines import read_lines

    wanted = IngestRequest(sources=(), chunking_fields=options.read_chunking(**chunking))

    async def work(app: App) -> bool:
        lines = read_lines(file, limit=app.inbox.limit)
        if not dry_run:
            return await import_texts(app, project, wanted, lines)
        await show_plan(app, project, lines)
        return True

    exit_unless(with_app(work))


@import_.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options.project
@options.chunking
@options.dry_run
@options.json
def lightrag(folder: Path, *, project: str, dry_run: bool, **chunking: Any) -> None:
    """Import FOLDER, a working directory of LightRAG with its JSON and GraphML files.

    Documents are chunked and embedded here. Entities and relations become objects and relationships with claims on the
    chunks that name them; those that no chunk names are listed and left out. Run the command again after an interruption.
    """
    from whence.cli.import_lightrag import import_directory
    from whence.cli.import_run import exit_unless
    from whence.cli.ingest_run import IngestRequest

    wanted = IngestRequest(sources=(), chunking_fields=options.read_chunking(**chunking))
    exit_unless(with_app(lambda app: import_directory(app, folder, project, wanted, dry_run=dry_run)))


def _show_bundle(done: "ImportedBundle", *, dry_run: bool) -> None:
    what = "Would import" if dry_run else "Imported"
    if not done.is_new:
        what = "Imported before, nothing changed:"
    text = f"{what} project {printable(done.project.name)} ({done.project.id}): {_list_counts(done.counts)}."
    if not done.kept_id:
        text += "\nThe project has a new id here, because another project already has its id."
    if done.embeds_with:
        text += f"\nIts chunks are embedded by {done.embeds_with}."
    print_result(
        {
            "projectId": done.project.id,
            "project": done.project.name,
            "changed": done.is_new and not dry_run,
            "keptId": done.kept_id,
            "embedsWith": done.embeds_with,
            "counts": done.counts,
        },
        text,
    )


async def _look(app: App, project_id: "UUID") -> tuple[int, int] | None:
    """Waits until the chunks are embedded again and the background of the search is computed."""
    from whence.ingest.reembed import REEMBED, reembed_lock
    from whence.search.background import CALIBRATE
    from whence.search.index import index_lock

    if await app.store.queue.waits(REEMBED, lock=reembed_lock(project_id)):
        _, following = await app.store.vectors.spaces(project_id)
        return await app.store.vectors.filled(project_id, following.id) if following else (0, 1)
    return (0, 1) if await app.store.queue.waits(CALIBRATE, lock=index_lock(project_id)) else None


def _list_counts(counts: dict[str, int]) -> str:
    return ", ".join(counted(counts.get(name, 0), what) for name, what in _COUNTED.items())
