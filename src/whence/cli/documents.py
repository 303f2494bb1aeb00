"""`whence documents`: lists, shows, describes and deletes documents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import Api, on_api, take_only, with_api, works_remotely
from whence.cli.output import (
    confirm,
    counted,
    on_one_line,
    print_result,
    print_rows,
    print_title,
    printable,
    printed_json,
)
from whence.errors import DocumentNotFound

if TYPE_CHECKING:
    from whence.api.documents import DeletionImpact, DocumentModel
    from whence.models import JobStatus

_OF_STATUS = "Only documents whose newest job has this status."
_IMPACTS = {
    "chunks": ("chunk", "chunks"),
    "objects": ("object", "objects"),
    "relationships": ("relationship", "relationships"),
    "properties": ("changed property", "changed properties"),
    "relationship_properties": ("changed property of a relationship", "changed properties of relationships"),
    "answers": ("stale answer", "stale answers"),
}

_SHOWN = 20
_ALL = 2**31

_documents = click.argument("documents", nargs=-1, required=True, metavar="DOCUMENTS...")


@click.group()
def documents() -> None:
    """List, show, describe and delete documents. DOCUMENT is an id or a name."""


@documents.command("list")
@options.project
@options.status(_OF_STATUS)
@options.file_type
@options.name
@options.limit
@options.json
@on_api
async def list_documents(
    api: Api,
    *,
    project: str,
    status: "JobStatus | None",
    types: tuple[str, ...],
    name: str | None,
    limit: int,
) -> None:
    """List the documents of a project, newest first."""
    found, total = await _read_page(api, project, limit=limit, status=status, types=types, name=name)
    columns = ["ID", "STATUS", "CHUNKS", "TYPE", "NAME"]
    rows = [[one.id, one.status, one.chunk_count, one.file_type, printable(one.name)] for one in found]
    if any(one.error for one in found):
        columns.append("REASON")
        rows = [
            [*row, printable(one.error.message) if one.error else None]
            for row, one in zip(rows, found, strict=True)
        ]
    print_rows(found, columns, rows, total=total)


@documents.command()
@click.argument("document")
@options.project
@options.json
@on_api
async def show(api: Api, *, document: str, project: str) -> None:
    """Show a document: its origin, its chunking and its metadata."""
    found = await _find(api, project, document)
    if printed_json(found):
        return
    print_title(found.name, found.id)
    for name, value in _list_facts(found):
        click.echo(f"{name:<9} {printable(value)}")


@documents.command()
@_documents
@options.project
@options.metadata(
    "Metadata to add or replace, for filters of searches; the value null removes it. Repeatable.",
    required=True,
)
@options.json
@on_api
async def describe(api: Api, *, documents: tuple[str, ...], project: str, meta: dict[str, Any]) -> None:
    """Change the metadata of DOCUMENTS (ids or names) without reading them again."""
    from whence.api.documents import DocumentDescription, DocumentModel
    from whence.api.reading import read

    metadata = read(DocumentDescription, {"metadata": meta}).metadata
    found = await _find_all(api, project, documents)
    body = {"metadata": metadata}
    described = [await api.send("PATCH", f"/documents/{one.id}", DocumentModel, body) for one in found]
    lines = (f"{printable(document.name)}: {on_one_line(document.metadata)}" for document in described)
    print_result(described, "\n".join(lines))


@documents.command()
@click.argument("documents", nargs=-1, metavar="[DOCUMENTS]...")
@options.project
@click.option("--glob", metavar="PATTERN", help="Documents whose names match: *.tmp, drafts/*.md.")
@click.option("--folder", metavar="NAME", help="Documents whose names begin with this folder.")
@options.status("Documents whose newest job has this status.")
@options.file_type
@options.metadata("Documents with this metadata. Repeatable.")
@options.dry_run
@options.yes
@options.json
@works_remotely
def delete(
    documents: tuple[str, ...],
    *,
    project: str,
    glob: str | None,
    folder: str | None,
    status: "JobStatus | None",
    types: tuple[str, ...],
    meta: dict[str, Any] | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Delete documents, with their chunks and the parts of the graph that only they support.

    DOCUMENTS are ids or names. Without them, the options select documents; all given options must match.
    """
    is_chosen = any(choice is not None for choice in (glob, folder, status, meta)) or bool(types)
    if bool(documents) == is_chosen:
        raise click.UsageError("Give documents, or options that select them")

    async def work(api: Api, *, remove: bool) -> "list[DeletionImpact]":
        from whence.api.documents import DeletionImpact

        if documents:
            found = await _find_all(api, project, documents)
        else:
            chosen, _ = await _read_page(api, project, limit=_ALL, status=status, types=types)
            with_meta = [one for one in chosen if (meta or {}).items() <= one.metadata.items()]
            found = [one for one in with_meta if _has_name(one.name, glob, folder)]
        impacts = [await api.get(f"/documents/{one.id}/deletion-impact", DeletionImpact) for one in found]
        for one in found if remove else ():
            await api.client.delete_document(str(one.id))
        return impacts

    if not (dry_run or yes):
        impacts = with_api(lambda api: work(api, remove=False))
        if not impacts:
            raise DocumentNotFound("No document matches")
        for impact in impacts[:_SHOWN]:
            click.echo(_describe_impact(impact), err=True)
        if len(impacts) > _SHOWN:
            click.echo(f"… and {len(impacts) - _SHOWN} more", err=True)
        confirm(f"Delete {counted(len(impacts), 'document')}?", yes=yes)
    impacts = with_api(lambda api: work(api, remove=not dry_run))
    done = "Would delete" if dry_run else "Deleted"
    lines = [f"{done} {_describe_impact(impact)}" for impact in impacts[:_SHOWN]]
    if len(impacts) > _SHOWN:
        lines.append(f"{done} {len(impacts)} documents in all.")
    print_result(impacts, "\n".join(lines) or "No document matches.")


async def _read_page(
    api: Api,
    project: str,
    *,
    limit: int,
    status: "JobStatus | None",
    types: tuple[str, ...],
    name: str | None = None,
) -> "tuple[list[DocumentModel], int]":
    from whence.api.documents import DocumentModel

    of = {"project_id": await api.project_id(project), "status": status, "name": name}
    pages = [
        await api.page("/documents", DocumentModel, limit=limit, file_type=one, **of)
        for one in types or (None,)
    ]
    found = {one.id: one for page, _ in pages for one in page}.values()
    newest = sorted(found, key=lambda one: one.created_at, reverse=True)
    return newest[:limit], sum(total for _, total in pages)


def _has_name(name: str, glob: str | None, folder: str | None) -> bool:
    """Whether the name matches; in a pattern `*` also matches slashes."""
    from fnmatch import fnmatchcase

    inside = folder is None or name.startswith(folder.rstrip("/") + "/")
    return inside and (glob is None or fnmatchcase(name, glob))


async def _find(api: Api, project: str, which: str) -> "DocumentModel":
    """Finds a document by id, or by name if only one has it."""
    from whence.api.documents import DocumentModel

    try:
        return await api.get(f"/documents/{UUID(which)}", DocumentModel)
    except ValueError:
        near, _ = await _read_page(api, project, limit=_ALL, status=None, types=(), name=which)
    named = sorted((one for one in near if one.name == which), key=lambda one: one.id)
    return take_only(named, DocumentNotFound, kind="document", name=which, label=lambda one: str(one.id))


async def _find_all(api: Api, project: str, which: Sequence[str]) -> "list[DocumentModel]":
    """Finds all documents before any is changed, each once."""
    found = [await _find(api, project, one) for one in which]
    return list({one.id: one for one in found}.values())


def _list_facts(found: "DocumentModel") -> list[tuple[str, str]]:
    cut, error = found.chunking, found.error
    how = f", cut by {cut.strategy}, at most {cut.max_chunk_size} characters" if cut else ""
    pages = "" if found.page_count is None else f", {counted(found.page_count, 'page')}"
    facts = [
        ("type", f"{found.file_type}, {counted(found.file_size, 'byte')}{pages}"),
        ("status", f"{found.status or 'no job'}{': ' + error.message if error else ''}"),
        ("chunks", f"{found.chunk_count}{how}"),
        ("origin", found.origin),
        ("created", f"{found.created_at:%Y-%m-%d %H:%M}"),
        ("updated", f"{found.updated_at:%Y-%m-%d %H:%M}"),
        ("dated", f"{found.valid_from:%Y-%m-%d %H:%M}" if found.valid_from else None),
        ("metadata", on_one_line(found.metadata) if found.metadata else None),
    ]
    return [(name, value) for name, value in facts if value is not None]


def _describe_impact(impact: "DeletionImpact") -> str:
    counts = ((getattr(impact, field), words) for field, words in _IMPACTS.items())
    lost = ", ".join(counted(count, *words) for count, words in counts if count)
    return f"{printable(impact.name)} ({impact.document_id}): {lost or 'nothing else'}"
