"""`whence doctor --deep`: reads every original and checks every chunk's vector and text index entry."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from whence.cli.findings import Finding, State
from whence.cli.output import counted

if TYPE_CHECKING:
    from whence.settings import Settings
    from whence.store import Store
    from whence.store.inventory import Referred, StoredOriginal
    from whence.store.storage import Storage

_FROM_BACKUP = "Restore a backup that has them, or send the files again"
_FROM_BACKUP_OR_ANEW = "Restore a backup that has them, or delete these documents and ingest them again"


async def examine(settings: "Settings", dsn: str) -> list[Finding]:
    """Holds off removals from the storage while it runs."""
    from whence.store import Store
    from whence.store.originals import Originals
    from whence.store.storage import Storage

    async with Store.open(dsn, size=3) as store, store.inventory.keep_all():
        storage = Storage(Originals.open(settings.storage_url, settings.data_dir), store.inventory)
        async with store.transaction(patient=True) as tx:
            await tx.consistency.freeze()
            referred = await tx.inventory.referred()
            rows = await tx.inventory.all()
            projects = await tx.consistency.projects()
            derived = [found for ident, name in projects for found in await _derived(tx, ident, name)]
        return [await _bond(storage), *await _originals(storage, referred, rows), *derived]


async def _bond(storage: "Storage") -> Finding:
    status = await storage.status()
    if status.bond == "bound":
        says = f"{status.location} belongs to this database"
        return Finding(what="Storage", state="ok", says=says)
    if status.bond == "unbound" and not status.unknown:
        says = f"{status.location} belongs to no database yet; the next start of a server binds it"
        return Finding(what="Storage", state="note", says=says)
    theirs = (
        f"the database of {status.marker.id}" if status.marker else "no database, and holds unknown objects"
    )
    says = f"{status.location} belongs to {theirs}. See `whence storage status`"
    return Finding(what="Storage", state="wrong", says=says)


async def _originals(
    storage: "Storage", referred: "list[Referred]", rows: "list[StoredOriginal]"
) -> list[Finding]:
    from whence.store.inventory import differences

    listed = set(await storage.originals.keys())
    found = {one.key: await _digest(storage, one.key) for one in referred if one.key in listed}
    wrong = differences(referred, found)
    trashed = {one.key: one for one in rows if one.trashed_at is not None}
    gone = [key for key, what in wrong.items() if what == "missing" and key not in trashed]
    changed = [f"{key} ({what})" for key, what in wrong.items() if what != "missing"]
    needed = [key for key in trashed if key in {one.key for one in referred}]
    sound = Finding(what="Originals", state="ok", says=f"{len(referred) - len(wrong)} read and as described")
    return [
        sound,
        *_wrong("Originals that are missing", gone, _FROM_BACKUP),
        *_wrong("Originals that differ", changed, _FROM_BACKUP_OR_ANEW),
        *_wrong("Originals in the trash", needed, "Run `whence storage trash restore` with these keys"),
        *_rest(listed, {one.key for one in referred}, rows),
    ]


def _rest(listed: set[str], needed: set[str], rows: "list[StoredOriginal]") -> list[Finding]:
    """Notes that need no action, or none by this database."""
    ours = {one.key if one.state == "kept" else one.trash_key for one in rows} | {one.key for one in rows}
    unknown = sorted(listed - ours - needed)
    leftovers = [one.key for one in rows if one.state == "kept" and one.key not in needed]
    in_trash = [one.key for one in rows if one.trashed_at is not None and one.key not in needed]
    return [
        *_note("Unknown objects", unknown, "This database did not put them there and never touches them"),
        *_note("Leftover originals", leftovers, "Tidying moves them to the trash when they are a day old"),
        *_note("Trash", in_trash, "Each is removed after a week; see `whence storage trash list`"),
    ]


async def _digest(storage: "Storage", key: str) -> tuple[int, bytes]:
    digest, size = hashlib.sha256(), 0
    async for part in storage.originals.get(key):
        digest.update(part)
        size += len(part)
    return size, digest.digest()


async def _derived(tx: "Store", project_id: UUID, name: str) -> list[Finding]:
    from whence.search.index import compare_index

    lacking = await tx.consistency.lacking_vectors(project_id)
    stray = await tx.consistency.stray_vectors(project_id)
    index = await compare_index(tx, project_id)
    return [
        *_lacking(name, lacking),
        *_count(
            f"Vectors of {name}",
            stray.without_chunk,
            "vector without a chunk",
            "Move the project to another model (`whence reembed`); the old vectors go then",
        ),
        *_count(
            f"Vectors of {name}",
            stray.in_other_space,
            "vector of a model that the project does not use",
            "They do no harm; `whence reembed` removes those of the model that it leaves",
            state="note",
        ),
        *_count(
            f"Text index of {name}",
            index.missing,
            "chunk that it lacks",
            f"Run `whence projects reindex {name}`",
        ),
        *_count(
            f"Text index of {name}",
            index.superfluous,
            "entry without a chunk",
            f"Run `whence projects reindex {name}`",
        ),
    ]


def _lacking(name: str, lacking: Mapping[UUID, int]) -> list[Finding]:
    from whence.store.storage import name_some

    if not lacking:
        return []
    says = (
        f"{counted(sum(lacking.values()), 'chunk')} without a vector, in the documents "
        f"{name_some([str(ident) for ident in lacking])}. Delete these documents and ingest them again, or move the "
        "project to another model (`whence reembed`)"
    )
    return [Finding(what=f"Vectors of {name}", state="wrong", says=says)]


def _count(what: str, number: int, thing: str, advice: str, *, state: State = "wrong") -> list[Finding]:
    if not number:
        return []
    words = thing if number == 1 else _plural(thing)
    return [Finding(what=what, state=state, says=f"{number} {words}. {advice}")]


def _plural(thing: str) -> str:
    noun, _, rest = thing.partition(" ")
    return f"{noun[:-1]}ies {rest}" if noun.endswith("y") else f"{noun}s {rest}"


def _wrong(what: str, names: Iterable[str], advice: str) -> list[Finding]:
    return _named(what, names, advice, state="wrong")


def _note(what: str, names: Iterable[str], advice: str) -> list[Finding]:
    return _named(what, names, advice, state="note")


def _named(what: str, names: Iterable[str], advice: str, *, state: State) -> list[Finding]:
    from whence.store.storage import name_some

    listed = list(names)
    says = f"{len(listed)}: {name_some(listed)}. {advice}"
    return [Finding(what=what, state=state, says=says)] if listed else []
