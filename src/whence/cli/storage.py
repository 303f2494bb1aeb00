"""`whence storage`: the storage of originals, the database it belongs to, and its trash."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from whence.cli.output import counted, json_option, print_json, print_table, with_app

if TYPE_CHECKING:
    from whence.app import App
    from whence.store.inventory import StorageId, StoredOriginal
    from whence.store.storage import StorageStatus, Trash


@click.group()
def storage() -> None:
    """Look at the storage of originals, bind it to this database, or use its trash."""


@storage.command()
@json_option
def status(*, as_json: bool) -> None:
    """Say which database the storage belongs to, and what this database keeps there. Changes nothing."""

    async def work(app: "App") -> "tuple[StorageStatus, dict[str, int]]":
        return await app.storage.status(), await _count(app)

    found, counts = with_app(work)
    if as_json:
        print_json({**asdict(found), **counts})
        return
    _show_status(found)
    click.echo(
        f"This database keeps {counted(counts['originals'], 'original')} there; "
        f"{counts['leftovers']} to be moved to the trash, {counts['trash']} in the trash."
    )


@storage.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def adopt(*, yes: bool, as_json: bool) -> None:
    """Bind the storage to this database. The database that it belonged to refuses to start on it from then on.

    No original is changed or removed. Stop the servers of the other database first.
    """

    async def look(app: "App") -> "StorageStatus":
        return await app.storage.status()

    async def work(app: "App") -> "StorageStatus":
        return await app.storage.adopt()

    before = with_app(look)
    if not yes and before.bond != "bound":
        _show_status(before, err=True)
        click.confirm("Bind this storage to this database?", abort=True, err=True)
    after = before if before.bond == "bound" else with_app(work)
    if as_json:
        print_json({**asdict(after), "previous": None if before.marker is None else before.marker.id})
        return
    _show_status(after)
    if before.bond == "other" and before.marker is not None:
        click.echo(f"It belonged to the database of storage {before.marker.id} before.")


@storage.group()
def trash() -> None:
    """Originals that nothing refers to, kept for a week."""


@trash.command("list")
@json_option
def list_trash(*, as_json: bool) -> None:
    """List what is in the trash, oldest first."""

    async def work(app: "App") -> "list[StoredOriginal]":
        return await _trash(app).contents()

    _show_trash(with_app(work), "In the trash", as_json=as_json)


@trash.command("restore")
@click.argument("keys", nargs=-1, metavar="[KEYS]...")
@click.option("--all", "everything", is_flag=True, help="All that is in the trash.")
@json_option
def restore_trash(keys: tuple[str, ...], *, everything: bool, as_json: bool) -> None:
    """Bring originals back from the trash. What no document refers to goes there again in a day."""
    if bool(keys) == everything:
        raise click.UsageError("Name the keys to restore, or give --all.")

    async def work(app: "App") -> "list[StoredOriginal]":
        return await _trash(app).restore(keys)

    _show_trash(with_app(work), "Restored", as_json=as_json)


@trash.command("empty")
@click.argument("keys", nargs=-1, metavar="[KEYS]...")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def empty_trash(keys: tuple[str, ...], *, yes: bool, as_json: bool) -> None:
    """Remove originals from the trash for good: those named, or all."""
    if not yes:
        what = counted(len(keys), "original") if keys else "everything"
        click.confirm(f"Remove {what} from the trash for good?", abort=True, err=True)

    async def work(app: "App") -> "list[StoredOriginal]":
        return await _trash(app).empty(keys)

    _show_trash(with_app(work), "Removed", as_json=as_json)


def _trash(app: "App") -> "Trash":
    from whence.store.storage import Trash

    return Trash(app.storage)


async def _count(app: "App") -> dict[str, int]:
    from whence.models import now
    from whence.store.storage import ABANDONED

    rows = await app.store.inventory.all()
    in_trash = sum(one.trashed_at is not None for one in rows)
    leftovers = await app.store.inventory.count_leftovers(before=now() - ABANDONED)
    return {"originals": len(rows) - in_trash - leftovers, "leftovers": leftovers, "trash": in_trash}


def _show_status(found: "StorageStatus", *, err: bool = False) -> None:
    from whence.store.storage import name_some

    click.echo(f"Storage {found.location}", err=err)
    click.echo(f"  this database: {_name(found.database, 'no id yet; the first start makes it')}", err=err)
    click.echo(f"  marker:        {_name(found.marker, 'none')}", err=err)
    words = {
        "bound": "They agree: the storage belongs to this database.",
        "unbound": "The storage belongs to no database yet; the next start of a server binds it.",
        "other": "The storage belongs to another database. `whence storage adopt` binds it to this one.",
    }
    if found.unknown:
        unknown = f"{counted(len(found.unknown), 'object')} that this database does not know"
        click.echo(
            f"The storage belongs to no database, and holds {unknown}: {name_some(found.unknown, 3)}. "
            "`whence storage adopt` binds it to this database.",
            err=err,
        )
    else:
        click.echo(words[found.bond], err=err)


def _name(one: "StorageId | None", otherwise: str) -> str:
    return otherwise if one is None else f"{one.id}, made {one.created_at:%Y-%m-%d %H:%M} UTC"


def _show_trash(found: "list[StoredOriginal]", done: str, *, as_json: bool) -> None:
    from whence.store.storage import KEPT_IN_TRASH

    if as_json:
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
