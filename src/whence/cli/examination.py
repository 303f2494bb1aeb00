"""The checks of `whence doctor`: services, database and, with `--deep`, every original and index."""

import hashlib
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from whence.cli.output import counted
from whence.findings import Finding, State, attempt, examine_database, examine_services

if TYPE_CHECKING:
    from whence.settings import Settings
    from whence.store import Store
    from whence.store.inventory import Referred, StoredOriginal
    from whence.store.storage import Storage

_SECONDS = 10
_FROM_BACKUP = "Restore a backup that has them, or send the files again"
_FROM_BACKUP_OR_ANEW = "Restore a backup that has them, or delete these documents and ingest them again"


async def examine(settings: "Settings", *, deep: bool) -> list[Finding]:
    """All findings. `deep` also compares database, storage, vectors and text index."""
    from whence.config_file import unused_config
    from whence.settings import unknown

    here = unused_config()
    findings = [
        Finding("Python", "ok", sys.version.split()[0]),
        *(Finding(name, "note", says) for name, says in unknown().items()),
        *([Finding(str(here), "note", "is ignored; to use it, pass it with --config")] if here else []),
        *await examine_services(settings),
    ]
    if settings.database_url is None:
        findings += await attempt("PostgreSQL binaries", _check_binaries(settings))
        if not (settings.data_dir / "postgres").exists():
            return [*findings, Finding("Database", "note", "not created yet; `whence serve` creates it")]
    findings += await attempt("Database", _check_database(settings, deep=deep))
    return findings + await _check_background(settings)


async def _check_binaries(settings: "Settings") -> list[Finding]:
    from whence.store.postgres import binaries

    return [Finding("PostgreSQL binaries", "ok", str(binaries(settings.postgres_bin)))]


async def _check_database(settings: "Settings", *, deep: bool) -> list[Finding]:
    from whence.app import database

    async with database(settings) as dsn:
        findings = await examine_database(settings, dsn)
        if deep and len(findings) > 1:  # the schema is current
            findings += await attempt("Storage", _compare_all(settings, dsn))
    return findings


async def _check_background(settings: "Settings") -> list[Finding]:
    """Failing background tasks of the server on the configured port; none if no server answers."""
    import httpx

    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 - to connect, not to listen
    url = httpx.URL(scheme="http", host=host, port=settings.port, path="/readyz")
    try:
        async with httpx.AsyncClient(timeout=_SECONDS, trust_env=False) as client:
            failing = (await client.get(url)).json()["background"]
        says = [
            f"{one['name']} failed {one['times']} times since {one['since']}: {one['reason']}"
            for one in failing
        ]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):  # no server, or another program
        return []
    return [Finding("Background work", "wrong", one) for one in says]


async def _compare_all(settings: "Settings", dsn: str) -> list[Finding]:
    """`--deep`: reads every original, and checks every chunk's vector and text index entry. Blocks removals from the storage
    meanwhile.
    """
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
            derived = [found for ident, name in projects for found in await _check_project(tx, ident, name)]
        return [await _check_bond(storage), *await _check_originals(storage, referred, rows), *derived]


async def _check_bond(storage: "Storage") -> Finding:
    status = await storage.status()
    states: dict[str, State] = {"bound": "ok", "unbound": "wrong" if status.unknown else "note"}
    return Finding("Storage", states.get(status.bond, "wrong"), f"{status.location}: {status.says}")


async def _check_originals(
    storage: "Storage", referred: "list[Referred]", rows: "list[StoredOriginal]"
) -> list[Finding]:
    from whence.store.inventory import differences

    listed = set(await storage.originals.keys())
    found = {one.key: await _hash_original(storage, one.key) for one in referred if one.key in listed}
    wrong = differences(referred, found)
    needed = {one.key for one in referred}
    trashed = [one.key for one in rows if one.trashed_at is not None]
    gone = [key for key, what in wrong.items() if what == "missing" and key not in trashed]
    changed = [f"{key} ({what})" for key, what in wrong.items() if what != "missing"]
    ours = {one.key for one in rows} | {one.trash_key for one in rows if one.state != "kept"}
    unknown = sorted(listed - ours - needed)
    leftovers = [one.key for one in rows if one.state == "kept" and one.key not in needed]
    restorable = [key for key in trashed if key in needed]
    discarded = [key for key in trashed if key not in needed]
    return [
        Finding("Originals", "ok", f"{len(referred) - len(wrong)} read and as described"),
        *_list_names("Originals that are missing", "wrong", gone, _FROM_BACKUP),
        *_list_names("Originals that differ", "wrong", changed, _FROM_BACKUP_OR_ANEW),
        *_list_names(
            "Originals in the trash",
            "wrong",
            restorable,
            "Run `whence storage trash restore` with these keys",
        ),
        *_list_names(
            "Unknown objects", "note", unknown, "This database did not write them and never touches them"
        ),
        *_list_names(
            "Originals without a document",
            "note",
            leftovers,
            "Uploads in progress, or leftovers: tidying moves leftovers to the trash after a day",
        ),
        *_list_names(
            "Trash", "note", discarded, "Each is removed after a week; see `whence storage trash list`"
        ),
    ]


async def _hash_original(storage: "Storage", key: str) -> tuple[int, bytes]:
    digest, size = hashlib.sha256(), 0
    async for part in storage.originals.get(key):
        digest.update(part)
        size += len(part)
    return size, digest.digest()


async def _check_project(tx: "Store", project_id: UUID, name: str) -> list[Finding]:
    """Compares the documents, the vectors and the text index with the chunks."""
    from whence.cli.document_checks import check_documents
    from whence.search.index import compare_index
    from whence.store.storage import name_some

    lacking = await tx.consistency.lacking_vectors(project_id)
    stray = await tx.consistency.stray_vectors(project_id)
    index = await compare_index(tx, project_id)
    vectors, text_index = f"Vectors of {name}", f"Text index of {name}"
    in_documents = name_some([str(ident) for ident in lacking])
    lacks = f"without a vector, in the documents {in_documents}. Run `whence reembed --project {name}`"
    strays = "without a chunk. Moving the project to another model (`whence reembed`) deletes them"
    unused = "of a model that the project does not use. They are harmless"
    reindex = f"Run `whence projects reindex {name}`"
    counts: list[tuple[str, State, int, str, str, str]] = [
        (vectors, "wrong", sum(lacking.values()), "chunk", "chunks", lacks),
        (vectors, "wrong", stray.without_chunk, "vector", "vectors", strays),
        (vectors, "note", stray.in_other_space, "vector", "vectors", unused),
        (text_index, "wrong", index.missing, "chunk", "chunks", f"that it lacks. {reindex}"),
        (text_index, "wrong", index.superfluous, "entry", "entries", f"without a chunk. {reindex}"),
        (text_index, "wrong", index.incomplete, "chunk", "chunks", f"without all their terms. {reindex}"),
        (text_index, "wrong", index.wordless, "chunk", "chunks", f"without their words. {reindex}"),
    ]
    return [
        *await check_documents(tx, project_id, name),
        *(
            Finding(what, state, f"{counted(number, one, several)} {advice}")
            for what, state, number, one, several, advice in counts
            if number
        ),
    ]


def _list_names(what: str, state: State, names: Iterable[str], advice: str) -> list[Finding]:
    from whence.store.storage import name_some

    listed = list(names)
    return [Finding(what, state, f"{len(listed)}: {name_some(listed)}. {advice}")] if listed else []
