"""Findings about settings, services and data, for `whence doctor` and the page Status."""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Literal

from whence.errors import StorageUnavailable, WhenceError
from whence.offline import answerer
from whence.providers import open_chat_model, open_embedder, open_reranker
from whence.search import vectors
from whence.settings import Secret, Settings, describe
from whence.store import Store
from whence.store.migrations import status
from whence.store.originals import Originals

_LITTLE = 1 << 30
_SECONDS = 10
_CHAT_MODEL_SECONDS = 30
"""Longer: a local model may have to load first."""
_SANDBOX = {"seccomp": "the network and other programs", "Landlock": "other files"}

State = Literal["ok", "note", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    state: State
    says: str


def _hide_secrets(value: object) -> str:
    if isinstance(value, Secret):
        return "(set, not shown)"
    if isinstance(value, tuple):
        return ", ".join(value) or "-"
    # Hide the user and the query of a URL: they may hold keys and tokens.
    return "-" if value is None else re.sub(r"(?<=://)[^/]*@|(?<=\?).*", "…", str(value))


def shown_settings(settings: Settings) -> dict[str, str]:
    """Every setting by its name, without secrets."""
    return {info.name: _hide_secrets(getattr(settings, info.attribute)) for info in describe()}


async def examine_services(
    settings: Settings, *, chat_model_seconds: int = _CHAT_MODEL_SECONDS
) -> list[Finding]:
    """Check the services around the database, all at the same time."""
    checks = (
        attempt("Storage", _check_storage(settings)),
        attempt("Embedder", _check_embedder(settings), prefix=f"{settings.embedder}: "),
        attempt("Chat model", _check_chat_model(settings, chat_model_seconds)),
        attempt("Reranker", _check_reranker(settings)),
        attempt("Answerer", _check_answerer(settings)),
    )
    sandbox, *services = await asyncio.gather(_check_sandbox(), *checks)
    return [_check_data_dir(settings), sandbox, *(one for found in services for one in found)]


async def examine_database(settings: Settings, dsn: str, store: Store | None = None) -> list[Finding]:
    """Versions, keys, the worker and the indexes of vectors."""
    found = await status(dsn)
    vector = found.vector_version or "not installed yet"
    says = f"PostgreSQL {found.server_version}, pgvector {vector}, schema {found.state}"
    database = Finding("Database", "wrong" if found.state == "newer" else "ok", says)
    if found.state != "current":
        return [database]
    if store is not None:
        return [database, *await _check_contents(settings, store)]
    async with Store.open(dsn, size=1) as opened:
        return [database, *await _check_contents(settings, opened)]


async def attempt(what: str, check: Awaitable[list[Finding]], *, prefix: str = "") -> list[Finding]:
    """The findings of a check, or its error as one."""
    try:
        return await check
    except WhenceError as exc:
        return [Finding(what, "wrong", prefix + exc.message)]


def _check_data_dir(settings: Settings) -> Finding:
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


async def _check_storage(settings: Settings) -> list[Finding]:
    """Checks the storage only if it is configured: the default folder is created when needed."""

    if settings.storage_url is None:
        return []
    try:
        async with asyncio.timeout(_SECONDS):
            await Originals.open(settings.storage_url, settings.data_dir).check()
    except TimeoutError as exc:
        raise StorageUnavailable("does not answer") from exc
    return [Finding("Storage", "ok", "answers")]


async def _check_embedder(settings: Settings) -> list[Finding]:
    """One attempt with a short timeout: a diagnosis should not wait for retries."""
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


async def _check_chat_model(settings: Settings, most: int) -> list[Finding]:
    seconds = min(settings.llm_timeout, most)
    model = open_chat_model(replace(settings, llm_attempts=1, llm_timeout=seconds))
    if model is None:
        unused = "; WHENCE_LLM_API_KEY is set and not used" if settings.llm_api_key else ""
        says = f"none, so answers are quoted from the documents; see WHENCE_LLM_BASE_URL{unused}"
        return [Finding("Chat model", "note", says)]
    try:
        return [Finding("Chat model", "ok", await model.check())]
    finally:
        await model.aclose()


async def _check_reranker(settings: Settings) -> list[Finding]:
    reranker = open_reranker(replace(settings, rerank_timeout=min(settings.rerank_timeout, _SECONDS)))
    if reranker is None:
        return []
    try:
        return [Finding("Reranker", "ok", await reranker.check())]
    finally:
        await reranker.aclose()


async def _check_answerer(settings: Settings) -> list[Finding]:
    if settings.answerer is None:
        return []
    return [Finding("Answerer", "ok", answerer(settings.answerer).name)]


async def _check_sandbox() -> Finding:
    """Check that the parser process cannot reach the network and other files."""
    command = [sys.executable, "-P", "-m", "whence.parse.sandbox"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    works = (await process.communicate())[0].decode().split()
    lacks = [f"no {name} here: it can reach {what}" for name, what in _SANDBOX.items() if name not in works]
    kept = [f"{name} keeps it from {what}" for name, what in _SANDBOX.items() if name in works]
    return Finding("Parser", "note" if lacks else "ok", "; ".join([*kept, *lacks]))


async def _check_contents(settings: Settings, store: Store) -> list[Finding]:
    active = sum(key.revoked_at is None for key in await store.keys.all())
    is_working = await store.queue.worker_alive()
    needed = "required" if settings.auth_required else "not needed on this address"
    lacks_key = settings.auth_required and not active
    worker = "alive within the last half minute" if is_working else "none runs; `whence serve` brings one"
    return [
        Finding("API keys", "wrong" if lacks_key else "ok", f"{active} active; {needed}"),
        Finding("Worker", "ok" if is_working else "note", worker),
        *await check_vector_indexes(store),
    ]


async def check_vector_indexes(store: Store) -> list[Finding]:
    """Spaces that have an index or need one: without it a search reads every vector, which is correct but slow."""
    findings = []
    for index in await store.nearest.indexes():
        name = f"Vectors of {index.space.model}"
        if index.state == "valid":
            findings.append(Finding(name, "ok", f"about {index.vectors} in an index"))
        elif index.state == "broken":
            findings.append(
                Finding(name, "note", "their index is incomplete; the next document makes it anew")
            )
        elif (
            index.used and await store.nearest.largest(index.space, most=vectors.SWITCH + 1) > vectors.SWITCH
        ):
            says = f"a project has more than {vectors.SWITCH} and no index; the next document makes it"
            findings.append(Finding(name, "note", says))
    return findings
