"""`whence doctor`: checks the settings, the database and the models."""

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import EXIT_FAILED
from whence.cli.output import counted, printed_json
from whence.errors import StorageUnavailable, WhenceError

if TYPE_CHECKING:
    from whence.settings import Settings
    from whence.store import Store
    from whence.store.inventory import Referred, StoredOriginal
    from whence.store.storage import Storage

_LITTLE = 1 << 30
_SECONDS = 10
_CHAT_MODEL_SECONDS = 30
"""Longer: a local model may have to load first."""
_SANDBOX = {"seccomp": "the network and other programs", "Landlock": "other files"}
_MARKS = {"ok": ("✓", "green"), "note": ("·", "yellow"), "wrong": ("✗", "red")}


State = Literal["ok", "note", "wrong"]

_FROM_BACKUP = "Restore a backup that has them, or send the files again"
_FROM_BACKUP_OR_ANEW = "Restore a backup that has them, or delete these documents and ingest them again"


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    state: State
    says: str


@click.command()
@click.option(
    "--deep", is_flag=True, help="Compare database, storage, vectors and text index. Reads every original."
)
@options.json
def doctor(*, deep: bool) -> None:
    """Check settings, services and data. The exit code is 1 if something is wrong."""

    import asyncio

    from whence import settings as table

    settings = table.Settings.from_environment()
    shown = {info.name: _hide_secrets(getattr(settings, info.attribute)) for info in table.describe()}
    findings = asyncio.run(_examine(settings, deep=deep))
    if not printed_json({"settings": shown, "findings": findings}):
        click.secho("Settings", bold=True)
        for name, value in shown.items():
            mark = click.style("set", fg="green") if os.environ.get(name) else "   "
            click.echo(f"  {mark} {name:28} {value}")
        click.secho("Findings", bold=True)
        for finding in findings:
            mark, colour = _MARKS[finding.state]
            click.echo(f"  {click.style(mark, fg=colour)} {finding.what}: {finding.says}")
    if any(finding.state == "wrong" for finding in findings):
        raise click.exceptions.Exit(EXIT_FAILED)


def _hide_secrets(value: object) -> str:
    from whence.settings import Secret

    if isinstance(value, Secret):
        return "(set, not shown)"
    if isinstance(value, tuple):
        return ", ".join(value) or "-"
    # Hide the user and the query of a URL: they may hold keys and tokens.
    return "-" if value is None else re.sub(r"(?<=://)[^/]*@|(?<=\?).*", "…", str(value))


async def _examine(settings: "Settings", *, deep: bool) -> list[Finding]:
    from whence.settings import unknown, unused_config

    here = unused_config()
    findings = [
        Finding("Python", "ok", sys.version.split()[0]),
        *(Finding(name, "note", says) for name, says in unknown().items()),
        *([Finding(str(here), "note", "is not read; give it with --config")] if here else []),
        _check_data_dir(settings),
        await _check_sandbox(),
        *await _attempt("Storage", _check_storage(settings)),
        *await _attempt("Embedder", _check_embedder(settings), prefix=f"{settings.embedder}: "),
        *await _attempt("Chat model", _check_chat_model(settings)),
        *await _attempt("Reranker", _check_reranker(settings)),
        *await _attempt("Answerer", _check_answerer(settings)),
    ]
    if settings.database_url is None:
        findings += await _attempt("PostgreSQL binaries", _check_binaries(settings))
        if not (settings.data_dir / "postgres").exists():
            return [*findings, Finding("Database", "note", "not created yet; `whence serve` makes it")]
    findings += await _attempt("Database", _check_database(settings, deep=deep))
    return findings + await _check_background(settings)


async def _attempt(what: str, check: Awaitable[list[Finding]], *, prefix: str = "") -> list[Finding]:
    """The findings of a check, or its error as one."""
    try:
        return await check
    except WhenceError as exc:
        return [Finding(what, "wrong", prefix + exc.message)]


def _check_data_dir(settings: "Settings") -> Finding:
    existing = settings.data_dir
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        return Finding("Data directory", "wrong", f"{existing} is not a directory")
    if not os.access(existing, os.W_OK):
        return Finding("Data directory", "wrong", f"{existing} cannot be written to")
    free = shutil.disk_usage(existing).free
    says = f"{settings.data_dir}, {free / 1e9:.0f} GB free"
    return Finding("Data directory", "ok" if free > _LITTLE else "wrong", says)


async def _check_storage(settings: "Settings") -> list[Finding]:
    """Checks the storage only if it is configured: the default folder is created when needed."""

    import asyncio

    from whence.store.originals import Originals

    if settings.storage_url is None:
        return []
    try:
        async with asyncio.timeout(_SECONDS):
            await Originals.open(settings.storage_url, settings.data_dir).check()
    except TimeoutError as exc:
        raise StorageUnavailable("does not answer") from exc
    return [Finding("Storage", "ok", "answers")]


async def _check_embedder(settings: "Settings") -> list[Finding]:
    """One attempt with a short timeout: a diagnosis should not wait for retries."""
    from whence.providers import open_embedder

    seconds = min(settings.embedding_timeout, _SECONDS)
    embedder = open_embedder(replace(settings, embedding_attempts=1, embedding_timeout=seconds))
    try:
        says = await embedder.check()
    finally:
        await embedder.aclose()
    unused = []
    if settings.embedder != "openai":
        endpoint = {
            "WHENCE_EMBEDDING_MODEL": settings.embedding_model,
            "WHENCE_EMBEDDING_API_KEY": settings.embedding_api_key,
        }
        unused = [name for name, value in endpoint.items() if value is not None]
    not_used = f"is set, and {settings.embedder} does not use it; did you mean WHENCE_EMBEDDER=openai?"
    return [
        Finding("Embedder", "note" if settings.embedder == "hash" else "ok", says),
        *(Finding(name, "note", not_used) for name in unused),
    ]


async def _check_chat_model(settings: "Settings") -> list[Finding]:
    from whence.providers import open_chat_model

    seconds = min(settings.llm_timeout, _CHAT_MODEL_SECONDS)
    model = open_chat_model(replace(settings, llm_attempts=1, llm_timeout=seconds))
    if model is None:
        unused = "; WHENCE_LLM_API_KEY is set and not used" if settings.llm_api_key else ""
        says = f"none, so answers are quoted from the documents; see WHENCE_LLM_BASE_URL{unused}"
        return [Finding("Chat model", "note", says)]
    try:
        return [Finding("Chat model", "ok", await model.check())]
    finally:
        await model.aclose()


async def _check_reranker(settings: "Settings") -> list[Finding]:
    from whence.providers import open_reranker

    reranker = open_reranker(replace(settings, rerank_timeout=min(settings.rerank_timeout, _SECONDS)))
    if reranker is None:
        return []
    try:
        return [Finding("Reranker", "ok", await reranker.check())]
    finally:
        await reranker.aclose()


async def _check_answerer(settings: "Settings") -> list[Finding]:
    from whence.offline import answerer

    if settings.answerer is None:
        return []
    return [Finding("Answerer", "ok", answerer(settings.answerer).name)]


async def _check_sandbox() -> Finding:
    """What keeps the process that reads documents from the network and from other files."""
    import asyncio

    command = [sys.executable, "-P", "-m", "whence.parse.sandbox"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    works = (await process.communicate())[0].decode().split()
    lacks = [f"no {name} here: it can reach {what}" for name, what in _SANDBOX.items() if name not in works]
    kept = [f"{name} keeps it from {what}" for name, what in _SANDBOX.items() if name in works]
    return Finding("Parser", "note" if lacks else "ok", "; ".join([*kept, *lacks]))


async def _check_binaries(settings: "Settings") -> list[Finding]:
    from whence.store.postgres import binaries

    return [Finding("PostgreSQL binaries", "ok", str(binaries(settings.postgres_bin)))]


async def _check_database(settings: "Settings", *, deep: bool) -> list[Finding]:
    from whence.app import database
    from whence.store.migrations import status

    async with database(settings) as dsn:
        found = await status(dsn)
        vector = found.vector_version or "not installed yet"
        says = f"PostgreSQL {found.server_version}, pgvector {vector}, schema {found.state}"
        findings = [Finding("Database", "wrong" if found.state == "newer" else "ok", says)]
        if found.state == "current":
            findings += await _check_contents(settings, dsn)
            if deep:
                findings += await _attempt("Storage", _compare_all(settings, dsn))
    return findings


async def _check_contents(settings: "Settings", dsn: str) -> list[Finding]:
    from whence.store import Store

    async with Store.open(dsn, size=1) as store:
        active = sum(key.revoked_at is None for key in await store.keys.all())
        is_working = await store.queue.worker_alive()
        indexes = await _check_vector_indexes(store)
    needed = "required" if settings.auth_required else "not needed on this address"
    lacks_key = settings.auth_required and not active
    worker = "alive within the last half minute" if is_working else "none runs; `whence serve` brings one"
    return [
        Finding("API keys", "wrong" if lacks_key else "ok", f"{active} active; {needed}"),
        Finding("Worker", "ok" if is_working else "note", worker),
        *indexes,
    ]


async def _check_vector_indexes(store: "Store") -> list[Finding]:
    """Spaces that have an index or need one: without it a search reads every vector, which is correct but slow."""
    from whence.search.vectors import SWITCH

    findings = []
    for index in await store.nearest.indexes():
        name = f"Vectors of {index.space.model}"
        if index.state == "valid":
            findings.append(Finding(name, "ok", f"about {index.vectors} in an index"))
        elif index.state == "broken":
            findings.append(
                Finding(name, "note", "their index is incomplete; the next document makes it anew")
            )
        elif index.used and await store.nearest.largest(index.space, most=SWITCH + 1) > SWITCH:
            says = f"a project has more than {SWITCH} and no index; the next document makes it"
            findings.append(Finding(name, "note", says))
    return findings


async def _check_background(settings: "Settings") -> list[Finding]:
    """Failing background tasks of the server on the configured port; nothing if no server answers."""
    import httpx

    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 - to ask, not to listen
    url = httpx.URL(scheme="http", host=host, port=settings.port, path="/readyz")
    try:
        async with httpx.AsyncClient(timeout=_SECONDS, trust_env=False) as client:
            failing = (await client.get(url)).json()["background"]
        says = [
            f"{one['name']} failed {one['times']} times since {one['since']}: {one['reason']}"
            for one in failing
        ]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):  # no server, or not ours
        return []
    return [Finding("Background work", "wrong", one) for one in says]


async def _compare_all(settings: "Settings", dsn: str) -> list[Finding]:
    """`--deep`: reads every original, and checks every chunk's vector and text index entry. Holds off removals from the storage."""
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
    found = {one.key: await _digest(storage, one.key) for one in referred if one.key in listed}
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
        *_name("Originals that are missing", "wrong", gone, _FROM_BACKUP),
        *_name("Originals that differ", "wrong", changed, _FROM_BACKUP_OR_ANEW),
        *_name(
            "Originals in the trash",
            "wrong",
            restorable,
            "Run `whence storage trash restore` with these keys",
        ),
        *_name(
            "Unknown objects", "note", unknown, "This database did not put them there and never touches them"
        ),
        *_name(
            "Originals without a document",
            "note",
            leftovers,
            "Uploads in progress, or leftovers: tidying moves those to the trash when they are a day old",
        ),
        *_name("Trash", "note", discarded, "Each is removed after a week; see `whence storage trash list`"),
    ]


async def _digest(storage: "Storage", key: str) -> tuple[int, bytes]:
    digest, size = hashlib.sha256(), 0
    async for part in storage.originals.get(key):
        digest.update(part)
        size += len(part)
    return size, digest.digest()


async def _check_project(tx: "Store", project_id: UUID, name: str) -> list[Finding]:
    """Compares the vectors and the text index with the chunks."""
    from whence.search.index import compare_index
    from whence.store.storage import name_some

    lacking = await tx.consistency.lacking_vectors(project_id)
    stray = await tx.consistency.stray_vectors(project_id)
    index = await compare_index(tx, project_id)
    vectors, text_index = f"Vectors of {name}", f"Text index of {name}"
    in_documents = name_some([str(ident) for ident in lacking])
    lacks = f"without a vector, in the documents {in_documents}. Ingest them again, or run `whence reembed`"
    strays = "without a chunk. Move the project to another model (`whence reembed`); the old vectors go then"
    unused = "of a model that the project does not use. They do no harm"
    reindex = f"Run `whence projects reindex {name}`"
    counts: list[tuple[str, State, int, str, str, str]] = [
        (vectors, "wrong", sum(lacking.values()), "chunk", "chunks", lacks),
        (vectors, "wrong", stray.without_chunk, "vector", "vectors", strays),
        (vectors, "note", stray.in_other_space, "vector", "vectors", unused),
        (text_index, "wrong", index.missing, "chunk", "chunks", f"that it lacks. {reindex}"),
        (text_index, "wrong", index.superfluous, "entry", "entries", f"without a chunk. {reindex}"),
    ]
    return [
        Finding(what, state, f"{counted(number, one, several)} {advice}")
        for what, state, number, one, several, advice in counts
        if number
    ]


def _name(what: str, state: State, names: Iterable[str], advice: str) -> list[Finding]:
    from whence.store.storage import name_some

    listed = list(names)
    return [Finding(what, state, f"{len(listed)}: {name_some(listed)}. {advice}")] if listed else []
