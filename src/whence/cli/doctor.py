"""`whence doctor`: shows what is configured, reachable and missing."""

import os
import re
import shutil
import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Literal

import click

from whence.cli import EXIT_FAILED
from whence.cli.findings import Finding
from whence.cli.output import json_option, print_json

if TYPE_CHECKING:
    from whence.settings import Settings
    from whence.store import Store

_LITTLE = 1 << 30
_STORAGE_SECONDS = 10
_EMBEDDER_SECONDS = 10
_CHAT_MODEL_SECONDS = 30
_SERVER_SECONDS = 10


@click.command()
@click.option(
    "--deep", is_flag=True, help="Compare database, storage, vectors and text index. Reads every original."
)
@json_option
def doctor(*, deep: bool, as_json: bool) -> None:
    """Say what is configured, what is reachable and what is missing. Exits with 1 when something is wrong."""
    import asyncio

    from whence import settings as table

    settings = table.Settings.from_environment()
    findings = asyncio.run(_examine(settings, deep=deep))
    if as_json:
        configured = {info.name: _shown(settings, info.attribute) for info in table.describe()}
        print_json({"settings": configured, "findings": [asdict(finding) for finding in findings]})
    else:
        click.secho("Settings", bold=True)
        for info in table.describe():
            mark = click.style("set", fg="green") if os.environ.get(info.name) else "   "
            click.echo(f"  {mark} {info.name:28} {_shown(settings, info.attribute)}")
        click.secho("Findings", bold=True)
        marks = {"ok": ("✓", "green"), "note": ("·", "yellow"), "wrong": ("✗", "red")}
        for finding in findings:
            mark, colour = marks[finding.state]
            click.echo(f"  {click.style(mark, fg=colour)} {finding.what}: {finding.says}")
    if any(finding.state == "wrong" for finding in findings):
        raise click.exceptions.Exit(EXIT_FAILED)


def _shown(settings: "Settings", attribute: str) -> str:
    from whence.settings import Secret

    value = getattr(settings, attribute)
    if isinstance(value, Secret):
        return "(set, not shown)"
    if isinstance(value, tuple):
        return ", ".join(value) or "-"
    # Hide the user and the query of a URL: they may hold keys and tokens.
    return "-" if value is None else re.sub(r"(?<=://)[^/]*@|(?<=\?).*", "…", str(value))


async def _examine(settings: "Settings", *, deep: bool) -> list[Finding]:
    findings = [
        _python(),
        *_unknown(),
        _data_dir(settings),
        *await _storage(settings),
        *await _embedder(settings),
        await _chat_model(settings),
        *_answerer(settings),
    ]
    if settings.database_url is None and not (settings.data_dir / "postgres").exists():
        says = "not created yet; `whence serve` makes it"
        return [*findings, _binaries(settings), Finding(what="Database", state="note", says=says)]
    if settings.database_url is None:
        findings.append(_binaries(settings))
    return [*findings, *await _database(settings, deep=deep), *await _background(settings)]


def _python() -> Finding:
    return Finding(what="Python", state="ok", says=sys.version.split()[0])


def _unknown() -> list[Finding]:
    from whence.settings import unknown

    return [Finding(what=name, state="note", says="is not a setting; it is ignored") for name in unknown()]


def _data_dir(settings: "Settings") -> Finding:
    existing = settings.data_dir
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        return Finding(what="Data directory", state="wrong", says=f"{existing} is not a directory")
    if not os.access(existing, os.W_OK):
        return Finding(what="Data directory", state="wrong", says=f"{existing} cannot be written to")
    free = shutil.disk_usage(existing).free
    state: Literal["ok", "wrong"] = "ok" if free > _LITTLE else "wrong"
    return Finding(what="Data directory", state=state, says=f"{settings.data_dir}, {free / 1e9:.0f} GB free")


async def _storage(settings: "Settings") -> list[Finding]:
    """Checks the storage only if it is configured: the default folder is created when needed."""
    import asyncio

    from whence.errors import WhenceError
    from whence.store.originals import Originals

    if settings.storage_url is None:
        return []
    try:
        async with asyncio.timeout(_STORAGE_SECONDS):
            await Originals.open(settings.storage_url, settings.data_dir).check()
    except WhenceError as exc:
        return [Finding(what="Storage", state="wrong", says=exc.message)]
    except TimeoutError:
        return [Finding(what="Storage", state="wrong", says="does not answer")]
    return [Finding(what="Storage", state="ok", says="answers")]


async def _embedder(settings: "Settings") -> list[Finding]:
    """One attempt with a short timeout: a diagnosis should not wait for retries."""
    from whence.errors import WhenceError
    from whence.providers import open_embedder

    hasty = replace(
        settings, embedding_attempts=1, embedding_timeout=min(settings.embedding_timeout, _EMBEDDER_SECONDS)
    )
    try:
        embedder = open_embedder(hasty)
        try:
            says = await embedder.check()
        finally:
            await embedder.aclose()
    except WhenceError as exc:
        return [Finding(what="Embedder", state="wrong", says=f"{settings.embedder}: {exc.message}")]
    state: Literal["ok", "note"] = "note" if settings.embedder == "hash" else "ok"
    return [Finding(what="Embedder", state=state, says=says), *_unused(settings)]


def _unused(settings: "Settings") -> list[Finding]:
    """Warns about settings of an endpoint that the chosen embedder does not use."""
    from whence.settings import env_name

    if settings.embedder == "openai":
        return []
    says = f"is set, and {settings.embedder} does not use it; did you mean WHENCE_EMBEDDER=openai?"
    given = [name for name in ("embedding_model", "embedding_api_key") if getattr(settings, name) is not None]
    return [Finding(what=env_name(name), state="note", says=says) for name in given]


async def _chat_model(settings: "Settings") -> Finding:
    """One attempt, with a longer timeout than for an embedder: a local model may have to load first."""
    from whence.errors import WhenceError
    from whence.providers import open_chat_model

    seconds = min(settings.llm_timeout, _CHAT_MODEL_SECONDS)
    try:
        model = open_chat_model(replace(settings, llm_attempts=1, llm_timeout=seconds))
        if model is None:
            unused = "; WHENCE_LLM_API_KEY is set and not used" if settings.llm_api_key else ""
            says = f"none, so answers are quoted from the documents; see WHENCE_LLM_BASE_URL{unused}"
            return Finding(what="Chat model", state="note", says=says)
        try:
            says = await model.check()
        finally:
            await model.aclose()
    except WhenceError as exc:
        return Finding(what="Chat model", state="wrong", says=exc.message)
    return Finding(what="Chat model", state="ok", says=says)


def _answerer(settings: "Settings") -> list[Finding]:
    from whence.errors import WhenceError
    from whence.offline import answerer

    if settings.answerer is None:
        return []
    try:
        return [Finding(what="Answerer", state="ok", says=answerer(settings.answerer).name)]
    except WhenceError as exc:
        return [Finding(what="Answerer", state="wrong", says=exc.message)]


def _binaries(settings: "Settings") -> Finding:
    from whence.errors import WhenceError
    from whence.store.postgres import binaries

    try:
        return Finding(what="PostgreSQL binaries", state="ok", says=str(binaries(settings.postgres_bin)))
    except WhenceError as exc:
        return Finding(what="PostgreSQL binaries", state="wrong", says=exc.message)


async def _database(settings: "Settings", *, deep: bool) -> list[Finding]:
    from whence.app import database
    from whence.errors import WhenceError
    from whence.store.migrations import status

    try:
        async with database(settings) as dsn:
            found = await status(dsn)
            vector = found.vector_version or "not installed yet"
            says = f"PostgreSQL {found.server_version}, pgvector {vector}, schema {found.state}"
            findings = [
                Finding(what="Database", state="wrong" if found.state == "newer" else "ok", says=says)
            ]
            if found.state == "current":
                findings += await _contents(settings, dsn)
                findings += await _compare(settings, dsn) if deep else []
    except WhenceError as exc:
        return [Finding(what="Database", state="wrong", says=exc.message)]
    return findings


async def _compare(settings: "Settings", dsn: str) -> list[Finding]:
    from whence.cli.deep import examine
    from whence.errors import StorageUnavailable

    try:
        return await examine(settings, dsn)
    except StorageUnavailable as exc:
        return [Finding(what="Storage", state="wrong", says=exc.message)]


async def _contents(settings: "Settings", dsn: str) -> list[Finding]:
    from whence.store import Store

    async with Store.open(dsn, size=1) as store:
        active = sum(key.revoked_at is None for key in await store.keys.all())
        working = await store.queue.worker_alive()
        indexes = await _vector_indexes(store)
    keys: Literal["ok", "wrong"] = "wrong" if settings.auth_required and not active else "ok"
    needed = "required" if settings.auth_required else "not needed on this address"
    worker = "alive within the last half minute" if working else "none is running; `whence serve` brings one"
    return [
        Finding(what="API keys", state=keys, says=f"{active} active; {needed}"),
        Finding(what="Worker", state="ok" if working else "note", says=worker),
        *indexes,
    ]


async def _vector_indexes(store: "Store") -> list[Finding]:
    """Spaces that have an index or need one: without it a search reads every vector, which is correct but slow."""
    from whence.search.vectors import SWITCH

    findings = []
    for index in await store.nearest.indexes():
        name = f"Vectors of {index.space.model}"
        if index.state == "valid":
            says = f"about {index.vectors} in an index"
            findings.append(Finding(what=name, state="ok", says=says))
        elif index.state == "broken":
            says = "the making of their index was interrupted; the next document of a large project makes it anew"
            findings.append(Finding(what=name, state="note", says=says))
        elif index.used and await store.nearest.largest(index.space, most=SWITCH + 1) > SWITCH:
            says = (
                f"a project has more than {SWITCH} and no index yet; a worker makes it with the next document"
            )
            findings.append(Finding(what=name, state="note", says=says))
    return findings


async def _background(settings: "Settings") -> list[Finding]:
    """Failing background tasks of the server on the configured port; nothing if no server answers."""
    import httpx

    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 - to ask, not to listen
    url = httpx.URL(scheme="http", host=host, port=settings.port, path="/readyz")
    try:
        async with httpx.AsyncClient(timeout=_SERVER_SECONDS, trust_env=False) as client:
            failing = (await client.get(url)).json()["background"]
        says = [
            f"{one['name']} failed {one['times']} times since {one['since']}: {one['reason']}"
            for one in failing
        ]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):  # no server, or not ours
        return []
    return [Finding(what="Background work", state="wrong", says=one) for one in says]
