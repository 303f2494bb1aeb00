"""`whence documents`: lists, shows, describes and deletes documents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from whence.cli.metadata_option import meta_option, metadata_of
from whence.cli.objects import project_option
from whence.cli.output import counted, json_option, print_json, print_table, printable, with_app

if TYPE_CHECKING:
    from whence.api.documents import DeletionImpact, DocumentModel
    from whence.app import App
    from whence.models import Document, JobStatus

_STATUSES = ("pending", "processing", "completed", "failed", "cancelled")
_TAKEN_ALONG = {
    "chunks": ("chunk", "chunks"),
    "objects": ("object", "objects"),
    "relationships": ("relationship", "relationships"),
    "properties": ("changed property", "changed properties"),
    "relationship_properties": ("changed property of a relationship", "changed properties of relationships"),
}


@click.group()
def documents() -> None:
    """List, show, describe and delete documents. DOCUMENT is an id or a name."""


@documents.command("list")
@project_option
@click.option("--status", type=click.Choice(_STATUSES), help="Only those whose newest job is so.")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only such files: pdf, text/plain.")
@click.option("--name", help="Any part of the name, in any case.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="How many.")
@json_option
def list_documents(
    *,
    project: str,
    status: "JobStatus | None",
    types: tuple[str, ...],
    name: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """The documents of a project, the newest first."""

    async def work(app: "App") -> "tuple[list[DocumentModel], int]":
        from whence.api.documents import DocumentModel, wanted_types
        from whence.cli.projects import find

        mimes, extensions = wanted_types(types)
        views, total = await app.store.documents.page(
            (await find(app, project)).id,
            limit=limit,
            offset=0,
            status=status,
            mimes=mimes,
            extensions=extensions,
            name=name,
        )
        return [DocumentModel.model_validate(view) for view in views], total

    found, total = with_app(work)
    if as_json:
        print_json(found)
        return
    rows = [(one.id, one.status, one.chunk_count, one.file_type, printable(one.name)) for one in found]
    print_table(("ID", "STATUS", "CHUNKS", "TYPE", "NAME"), rows)
    if total > len(found):
        click.echo(f"{len(found)} of {total}; see --limit.", err=True)


@documents.command()
@click.argument("document")
@project_option
@json_option
def show(document: str, *, project: str, as_json: bool) -> None:
    """One document: what it was made from, how it was cut, what is said of it."""

    async def work(app: "App") -> "DocumentModel":
        return await _view(app, await find_document(app, project, document))

    found = with_app(work)
    if as_json:
        print_json(found)
        return
    click.echo(f"{click.style(printable(found.name), bold=True)}  {found.id}")
    for name, value in _lines(found):
        click.echo(f"{name:<9} {printable(value)}")


@documents.command()
@click.argument("documents", nargs=-1, required=True, metavar="DOCUMENTS...")
@project_option
@meta_option("Say this of them, for searches to ask for; null takes it back.")
@json_option
def describe(documents: tuple[str, ...], *, project: str, meta: tuple[str, ...], as_json: bool) -> None:
    """Say something of DOCUMENTS, which are ids or names. Nothing is read again."""
    said = metadata_of(meta)
    if said is None:
        raise click.UsageError("Say something with --meta NAME=VALUE")

    async def work(app: "App") -> "list[DocumentModel]":
        from whence.api.documents import DocumentDescription
        from whence.api.reading import read

        metadata = read(DocumentDescription, {"metadata": said}).metadata
        found = await _find_all(app, project, documents)
        for one in found:
            await app.store.documents.describe(one.project_id, one.id, metadata)
        return [await _view(app, one) for one in found]

    described = with_app(work)
    if as_json:
        print_json(described)
        return
    for one in described:
        click.echo(f"{printable(one.name)}: {_json(one.metadata)}")


@documents.command()
@click.argument("documents", nargs=-1, required=True, metavar="DOCUMENTS...")
@project_option
@click.option("--dry-run", is_flag=True, help="Only say what it would take along.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def delete(documents: tuple[str, ...], *, project: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Delete DOCUMENTS, which are ids or names, with their chunks and what only they say in the graph."""

    async def look(app: "App") -> "list[DeletionImpact]":
        return await _impacts(app, await _find_all(app, project, documents))

    async def remove(app: "App") -> "list[DeletionImpact]":
        found = await _find_all(app, project, documents)
        impacts = await _impacts(app, found)
        for one in found:
            await app.remover.document(one)
        return impacts

    if not (dry_run or yes):
        impacts = with_app(look)
        for impact in impacts:
            click.echo(_impact(impact), err=True)
        click.confirm(f"Delete {counted(len(impacts), 'document')}?", abort=True, err=True)
    impacts = with_app(look if dry_run else remove)
    if as_json:
        print_json(impacts)
        return
    for impact in impacts:
        click.echo(f"{'Would delete' if dry_run else 'Deleted'} {_impact(impact)}")


async def find_document(app: "App", project: str, which: str) -> "Document":
    """By id, or by name if only one document has it."""
    from whence.cli.projects import find
    from whence.errors import Conflict, DocumentNotFound

    try:
        return await app.store.documents.get(UUID(which))
    except ValueError:
        project_id = (await find(app, project)).id
    found = await app.store.documents.named(project_id, which)
    if not found:
        raise DocumentNotFound(f"There is no document named {printable(which)!r}")
    if len(found) > 1:
        ids = ", ".join(str(one.id) for one in found)
        raise Conflict(f"Several documents are named {printable(which)!r}; say which by its id: {ids}")
    return found[0]


async def _find_all(app: "App", project: str, which: Sequence[str]) -> "list[Document]":
    """Finds all documents before any is changed; duplicates count once."""
    found = [await find_document(app, project, one) for one in which]
    return list({one.id: one for one in found}.values())


async def _view(app: "App", document: "Document") -> "DocumentModel":
    from whence.api.documents import DocumentModel

    view = await app.store.documents.view(document.id, project_id=document.project_id)
    return DocumentModel.model_validate(view)


async def _impacts(app: "App", found: "Sequence[Document]") -> "list[DeletionImpact]":
    from whence.api.documents import DeletionImpact

    return [await DeletionImpact.load(app.store, one) for one in found]


def _lines(found: "DocumentModel") -> list[tuple[str, str]]:
    cut, error = found.chunking, found.error
    how = f", cut by {cut.strategy}, at most {cut.max_chunk_size} characters" if cut else ""
    pages = "" if found.page_count is None else f", {counted(found.page_count, 'page')}"
    lines = [
        ("type", f"{found.file_type}, {counted(found.file_size, 'byte')}{pages}"),
        ("status", f"{found.status or 'no job'}{': ' + error.message if error else ''}"),
        ("chunks", f"{found.chunk_count}{how}"),
        ("origin", found.origin),
        ("created", f"{found.created_at:%Y-%m-%d %H:%M}"),
        ("updated", f"{found.updated_at:%Y-%m-%d %H:%M}"),
        ("metadata", _json(found.metadata) if found.metadata else None),
    ]
    return [(name, value) for name, value in lines if value is not None]


def _impact(impact: "DeletionImpact") -> str:
    counts = {field: getattr(impact, field) for field in _TAKEN_ALONG}
    along = [
        f"{counts[field]} {one if counts[field] == 1 else several}"
        for field, (one, several) in _TAKEN_ALONG.items()
        if counts[field]
    ]
    return f"{printable(impact.name)} ({impact.document_id}): {', '.join(along) or 'nothing else'}"


def _json(value: Any) -> str:
    import json

    return printable(json.dumps(value, ensure_ascii=False))
