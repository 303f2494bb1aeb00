"""`whence storage`: the storage of originals, the database it belongs to, and its trash."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from whence.cli import options
from whence.cli.command import App, on_app, with_app
from whence.cli.output import confirm, counted, print_json, print_table, printed_json, wants_json

if TYPE_CHECKING:
    from whence.store.inventory import StorageId, StoredOriginal
    from whence.store.storage import StorageStatus, Trash

_keys = click.argument("keys", nargs=-1, metavar="[KEYS]...")


@click.group()
def storage() -> None:
    """Show the storage of originals, bind it to this database, or use its trash."""


@storage.command()
@options.json
@on_app
async def status(app: App) -> None:
    """Show which database the storage belongs to, and count this database's originals in it. Changes nothing."""
    from whence.models import now
    from whence.store.storage import ABANDONED

    found = await app.storage.status()
    rows = await app.store.inventory.all()
    in_trash = sum(one.trashed_at is not None for one in rows)
    leftovers = await app.store.inventory.count_leftovers(before=now() - ABANDONED)
    originals = len(rows) - in_trash - leftovers
    if printed_json({**asdict(found), "originals": originals, "leftovers": leftovers, "trash": in_trash}):
        return
    _show_status(found)
    click.echo(
        f"This database keeps {counted(originals, 'original')} there; "
        f"{leftovers} to be moved to the trash, {in_trash} in the trash."
    )


@storage.command()
@options.yes
@options.json
def adopt(*, yes: bool) -> None:
    """Bind the storage to this database. The database that it belonged to can no longer use it.

    No original is changed or removed. Stop the servers of the other database first.
    """
    before = after = with_app(lambda app: app.storage.status())
    if before.bond != "bound":
        if not yes:
            _show_status(before, err=True)
        confirm("Bind this storage to this database?", yes=yes)
        after = with_app(lambda app: app.storage.adopt())
    if printed_json({**asdict(after), "previous": None if before.marker is None else before.marker.id}):
        return
    _show_status(after)
    if before.bond == "other" and before.marker is not None:
        click.echo(f"It belonged to the database {before.marker.id} before.")


@storage.group()
def trash() -> None:
    """Originals that no document refers to, kept for a week."""


@trash.command("list")
@options.json
def list_trash() -> None:
    """List the trash, oldest first."""
    _show_trash(with_app(lambda app: app.store.inventory.trash()), "In the trash")


@trash.command("restore")
@_keys
@click.option("--all", "everything", is_flag=True, help="Everything in the trash.")
@options.json
def restore_trash(keys: tuple[str, ...], *, everything: bool) -> None:
    """Restore originals from the trash. Originals that no document refers to return to it after a day."""
    if bool(keys) == everything:
        raise click.UsageError("Name the keys to restore, or give --all.")
    _show_trash(with_app(lambda app: _trash(app).restore(keys)), "Restored")


@trash.command("empty")
@_keys
@options.yes
@options.json
def empty_trash(keys: tuple[str, ...], *, yes: bool) -> None:
    """Delete originals from the trash for good: those named, or all."""
    what = counted(len(keys), "original") if keys else "everything"
    confirm(f"Remove {what} from the trash for good?", yes=yes)
    _show_trash(with_app(lambda app: _trash(app).empty(keys)), "Removed")


def _trash(app: App) -> "Trash":
    from whence.store.storage import Trash

    return Trash(app.storage)


def _show_status(found: "StorageStatus", *, err: bool = False) -> None:
    click.echo(
        f"Storage {found.location}\n"
        f"  this database: {_describe_id(found.database, 'no id yet; the first start creates it')}\n"
        f"  marker:        {_describe_id(found.marker, 'none')}\n"
        f"{found.says}",
        err=err,
    )


def _describe_id(one: "StorageId | None", otherwise: str) -> str:
    return otherwise if one is None else f"{one.id}, made {one.created_at:%Y-%m-%d %H:%M} UTC"


def _show_trash(found: "list[StoredOriginal]", done: str) -> None:
    from whence.store.storage import KEPT_IN_TRASH

    if wants_json():
        names = ("project_id", "key", "noted_at", "state", "trashed_at", "trash_key")
        print_json([{name: getattr(one, name) for name in names} for one in found])
        return
    if found:
        rows = [
            (one.key, f"{one.trashed_at:%Y-%m-%d %H:%M}", f"{one.trashed_at + KEPT_IN_TRASH:%Y-%m-%d}")
            for one in found
            if one.trashed_at is not None
        ]
        print_table(("KEY", "TRASHED", "KEPT UNTIL"), rows)
    click.echo(f"{done}: {counted(len(found), 'original')}.")
