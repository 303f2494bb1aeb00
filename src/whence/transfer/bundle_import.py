"""Imports a bundle as a project of its own, completely or not at all.

    1  find the project: a new one, an empty one of that name, or the one that this bundle was imported to before
    2  write the originals, each noted in the inventory first
    3  insert all rows, check them and index them in one transaction

A failure leaves the database as it was and removes the originals of step 2. After a kill, tidying removes them.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any
from uuid import UUID

import psycopg

from whence.api.projects import ProjectConfig, ProjectCreate
from whence.api.reading import read
from whence.errors import BadInput, Conflict, ProjectNotFound
from whence.ingest.reembed import begin_move
from whence.models import EmbeddingSpace, Project, new_id
from whence.providers import Embedders
from whence.search.background import CALIBRATE
from whence.search.index import index_lock, reindex
from whence.search.vectors import ask_for_index
from whence.store import Store
from whence.store.bundle_rows import TABLES
from whence.store.storage import Storage
from whence.transfer.bundle_file import ORIGINALS, Bundle

IMPORTED = "imported"
"""Key in a project's config: the digest of the bundle that it came from. Never exported."""

_MAX_ROWS = 500
_MAX_BYTES = 4 * 1024 * 1024


class _DryRun(Exception):
    """Undoes the transaction of a dry run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedBundle:
    project: Project
    counts: dict[str, int]
    kept_id: bool
    """False if another project has the id that this one had where it was exported."""
    is_new: bool
    """False if the same bundle was imported before: nothing was changed."""
    embeds_with: str | None = None
    """The model that embeds the chunks again, because the bundle's vectors are of another."""


@dataclass(frozen=True, slots=True)
class BundleImport:
    store: Store
    storage: Storage
    embedders: Embedders

    async def run(self, bundle: Bundle, *, name: str | None = None, dry_run: bool = False) -> ImportedBundle:
        """`name` is the project's name here; the default is the one it had."""
        project = await self._target(bundle, name)
        if project.config.get(IMPORTED) == bundle.manifest.digest and not await self._is_empty(project):
            return self._report(bundle, project, is_new=False)
        project = replace(project, config={**_config(bundle), IMPORTED: bundle.manifest.digest})
        if dry_run:
            return await self._try(bundle, project)
        await self._put_originals(bundle, project.id)
        try:
            model = await self._insert(bundle, project)
        except BaseException:
            keys = [f"{project.id}/{key}" for key in bundle.originals]
            await asyncio.shield(self.storage.discard(project.id, keys))  # keeps those that are referred to
            raise
        return replace(self._report(bundle, project), embeds_with=model)

    async def _target(self, bundle: Bundle, name: str | None) -> Project:
        described = bundle.manifest.project
        fields = {**described, "name": name or described["name"], "config": {}}
        checked = read(ProjectCreate, {"name": fields["name"], "description": described["description"]})
        try:
            there = await self.store.projects.named(checked.name)
        except ProjectNotFound:
            try:
                await self.store.projects.get(described["id"])
                return Project(**{**fields, "name": checked.name, "id": new_id()})
            except ProjectNotFound:
                return Project(**{**fields, "name": checked.name})
        return replace(there, description=described["description"])

    async def _is_empty(self, project: Project) -> bool:
        return await self.store.bundle_rows.is_empty(project.id)

    async def _put_originals(self, bundle: Bundle, project_id: UUID) -> None:
        await self.storage.ensure_bound()
        await self.store.inventory.note([f"{project_id}/{key}" for key in bundle.originals])
        for key in bundle.originals:
            with bundle.content(ORIGINALS + key) as content:
                await self.storage.originals.put(f"{project_id}/{key}", content)

    async def _try(self, bundle: Bundle, project: Project) -> ImportedBundle:
        with suppress(_DryRun):
            await self._insert(bundle, project, dry_run=True)
        return self._report(bundle, project)

    async def _insert(self, bundle: Bundle, project: Project, *, dry_run: bool = False) -> str | None:
        """Insert all rows. Returns the model that embeds the chunks again, if one does."""
        async with self.store.transaction(patient=True) as tx:
            space = await _space(tx, bundle)
            try:
                await tx.bundle_rows.put_project(project, space)
            except psycopg.errors.UniqueViolation as exc:
                raise Conflict(f"There is a project named {project.name!r} already") from exc
            if not await tx.bundle_rows.is_empty(project.id):
                raise Conflict(
                    f"The project {project.name!r} is not empty. Give another name with --project, or delete it first. "
                    "Nothing was changed."
                )
            for table in TABLES:
                for lines in _batches(bundle.lines(table)):
                    await tx.bundle_rows.insert(table, project.id, space, lines)
            await self._check(tx, bundle, project)
            if dry_run:
                raise _DryRun
            return await self._finish(tx, project.id)

    async def _check(self, tx: Store, bundle: Bundle, project: Project) -> None:
        """Ids must be free, chunks as their documents say, and originals in the bundle."""
        if other := await tx.bundle_rows.holder_of_ids(project.id):
            raise Conflict(
                f"Documents of the bundle are in project {other!r} of this installation already. Delete that project "
                "first, or import the bundle into another installation. Nothing was changed."
            )
        if false := await tx.bundle_rows.count_false_chunks(project.id):
            raise BadInput(f"{false} of its chunks are not what their documents say")
        if await tx.bundle_rows.count_false_keys(project.id):
            raise BadInput("its jobs name originals by keys that are not valid")
        known = {f"{project.id}/{key}" for key in chain(bundle.originals, bundle.manifest.missing)}
        if lacking := set(await tx.bundle_rows.originals(project.id)) - known:
            raise BadInput(f"it lacks the original {min(lacking).partition('/')[2]}")

    async def _finish(self, tx: Store, project_id: UUID) -> str | None:
        await reindex(tx, project_id)
        target = await begin_move(tx, self.embedders, project_id)
        if target is None:
            await tx.queue.defer_once(CALIBRATE, lock=index_lock(project_id), project_id=str(project_id))
            await ask_for_index(tx, project_id)
        return None if target is None else target.model

    def _report(self, bundle: Bundle, project: Project, *, is_new: bool = True) -> ImportedBundle:
        return ImportedBundle(
            project=project,
            counts=bundle.manifest.counts,
            kept_id=project.id == bundle.manifest.project["id"],
            is_new=is_new,
        )


def _config(bundle: Bundle) -> dict[str, Any]:
    """The config that the API would accept."""
    config = dict(bundle.manifest.project["config"])
    language = config.pop("language", None)
    chosen = read(ProjectConfig, config).chosen()
    fields = {"name": "any"} if language is None else {"name": "any", "language": language}
    read(ProjectCreate, fields)
    return {**chosen, **({} if language is None else {"language": language})}


async def _space(tx: Store, bundle: Bundle) -> EmbeddingSpace | None:
    described = bundle.manifest.embedder
    if described is None:
        return None
    try:
        dimensions = int(described["dimensions"])
        return await tx.vectors.ensure_space(
            provider=str(described["provider"]), model=str(described["model"]), dimensions=dimensions
        )
    except (KeyError, TypeError, ValueError, psycopg.DataError, psycopg.IntegrityError) as exc:
        raise BadInput("its manifest is not valid: embedder") from exc


def _batches(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line)
        if len(batch) >= _MAX_ROWS or size > _MAX_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
