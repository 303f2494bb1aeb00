"""Receives documents: stores the original, then the document, its job and its task in one transaction.

The inventory lists an original's key before the object is written, so a killed process leaves no unlisted object. If the
ingest then fails or is cancelled, the document stays as it was, and an extraction that it displaced is queued again.
"""

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from uuid import UUID

import psycopg

from whence.errors import Conflict, DocumentNotFound, JobNotFound, ProjectNotFound
from whence.extract.scheduling import EXTRACT, put_order
from whence.ingest.inbox import IncomingFile
from whence.ingest.job_spec import (
    Chunking,
    Receipt,
    chunking_of,
    clean_name,
    document_of,
    is_same_work,
    job_of,
    known_originals,
    original_of,
)
from whence.models import OPEN, Document, Job, new_id
from whence.parse import HEAD, detect
from whence.store import Store
from whence.store.document_identity import Original
from whence.store.storage import Storage

log = logging.getLogger("whence.ingest")

INGEST = "whence:ingest"
"""The task that runs a `document_processing` job."""

THEN_EXTRACT = "then_extract"
"""Key in a job's `config`: the job displaced an extraction, which is queued again when the job ends."""

Metadata: TypeAlias = Mapping[str, Any]
"""A document's metadata. It is merged into the stored metadata; None removes a key."""

_BROKEN_OFF = {"failed", "cancelled"}


class _Changed(Exception):
    """Another transaction changed the document, or removed the shared original, between the read and the lock."""


@dataclass(frozen=True, slots=True)
class Receiver:
    store: Store
    storage: Storage

    async def receive(
        self,
        file: IncomingFile,
        *,
        name: str,
        project_id: UUID,
        chunking: Chunking,
        metadata: Metadata | None = None,
        origin: str | None = None,
    ) -> Receipt:
        """Create a document, unless the project has it: the same bytes from the same origin or of the same name.

        Documents with the same bytes share their original.
        """
        await self.storage.ensure_bound()
        name = clean_name(name)
        if twin := await self.store.documents.same(project_id, file.sha256, name=name, origin=origin):
            with suppress(DocumentNotFound):  # deleted meanwhile, so the file is new
                await self._mend_original(twin, file)
                return await self._receive_again(twin, name, chunking, metadata)
        document_id = new_id()
        shared = await self._find_shared_key(project_id, file)
        key = shared or _make_key(project_id, document_id)
        original = _build_original(file, name, key, origin)
        job = job_of(project_id, document_id, original, chunking)
        if shared is None:
            await self._keep(key, file)
        document = document_of(job, original, metadata or {})
        try:
            is_new = await self._begin(document, job, shared=shared is not None)
        except _Changed:
            return await self.receive(
                file, name=name, project_id=project_id, chunking=chunking, metadata=metadata, origin=origin
            )
        except psycopg.errors.ForeignKeyViolation as exc:
            await self.storage.discard(project_id, [key])
            raise ProjectNotFound(details={"project_id": str(project_id)}) from exc
        if is_new:
            return Receipt.of(job)
        await self.storage.discard(project_id, [key])
        if twin := await self.store.documents.same(project_id, file.sha256, name=name, origin=origin):
            with suppress(DocumentNotFound):
                return await self._receive_again(twin, name, chunking, metadata)
        raise Conflict("The same file was deleted while it came in; send it again")

    async def _begin(self, document: Document, job: Job, *, shared: bool) -> bool:
        """Insert document, job and task. Raises `_Changed` if the shared original is being removed."""
        if not shared:
            return await self.store.documents.begin(document, config=job.config, task=INGEST)
        async with self.store.transaction() as tx:
            await _share(tx, document.project_id, document.original_key)
            return await tx.documents.begin(document, config=job.config, task=INGEST)

    async def update(
        self,
        document: Document,
        *,
        file: IncomingFile | None = None,
        name: str | None = None,
        chunking: Chunking | None = None,
        metadata: Metadata | None = None,
    ) -> Receipt:
        """Queue new bytes, a new name or other chunking for a document. Readers see the old version until the job is done.

        Metadata changes at once, unless the update is refused.
        """
        receipt: Receipt | None = None
        while receipt is None:
            try:
                receipt = await self._update(document, file, name, chunking)
            except _Changed:
                document = await self.store.documents.get(document.id, project_id=document.project_id)
        if metadata:
            await self.store.documents.describe(document.project_id, document.id, metadata)
        return receipt

    async def _update(
        self, document: Document, file: IncomingFile | None, name: str | None, chunking: Chunking | None
    ) -> Receipt:
        if file is not None:
            await self._mend_original(document, file)
        last = await self._find_current_job(document)
        wanted = chunking or chunking_of(last)
        known = known_originals(document, last)
        shared = await self._find_shared_key(document.project_id, file) if file is not None else None
        key = shared or _make_key(document.project_id, document.id)
        original = await self._make_original(document, known, file, name, key)
        if last and last.status not in _BROKEN_OFF and is_same_work(last, original, wanted):
            if file and file.fetched:
                await self._use_validators(document, last, original)
                return await self.existing(document)
            # Sending the same file again restores chunks that were deleted.
            total = last.total or 0 if file is not None and last.status == "completed" else 0
            if await self.store.chunks.count(last.project_id, last.document_id) >= total:
                return await self.existing(document)
        await self.store.documents.require_unlike_others(document.project_id, document.id, original)
        job = job_of(document.project_id, document.id, original, wanted)
        new = file is not None and original.key not in {one.key for one in known}
        if file is not None and new and original.key != shared:
            await self._keep(original.key, file)
        try:
            async with self.store.transaction() as tx:
                if original.key == shared:
                    await _share(tx, document.project_id, shared)
                await _supersede(tx, document, job, last)
        except (_Changed, DocumentNotFound):
            if new:
                await self.storage.discard(document.project_id, [original.key])
            raise
        return Receipt.of(job)

    async def _keep(self, key: str, file: IncomingFile) -> None:
        await self.storage.ensure_bound()
        await self.store.inventory.note([key])
        await self.storage.put(key, file.path)

    async def _find_shared_key(self, project_id: UUID, file: IncomingFile) -> str | None:
        """The key of an original with these bytes that the storage has undamaged."""
        key = await self.store.documents.shared_key(project_id, file.sha256)
        return key if key is not None and await self._is_whole(key, file) else None

    async def _is_whole(self, key: str, file: IncomingFile) -> bool:
        return await self.storage.originals.matches(key, size=file.size, sha256=file.sha256)

    async def _mend_original(self, document: Document, file: IncomingFile) -> None:
        """Store the original again if the storage lost or damaged it and the file has the same bytes."""
        key = document.original_key
        if key is None or document.sha256 != file.sha256 or await self._is_whole(key, file):
            return
        async with self.store.transaction(patient=True) as tx:
            # The lock keeps another version from replacing the original.
            if (await tx.documents.lock(document.project_id, document.id)).original_key == key:
                await self._keep(key, file)
                log.warning("The original %s was missing or damaged; the same file was sent again", key)

    async def move(
        self, project_id: UUID, places: Mapping[UUID, str | None], *, names: Mapping[str, str]
    ) -> None:
        """Give documents new origins and names in one transaction, without parsing them again.

        A document keeps its name if `names` has none for the new origin, or if the new name would change its type: then
        an update renames and parses it.
        """
        named = {
            ident: await self._name_at(project_id, ident, names[place])
            for ident, place in places.items()
            if place is not None and place in names
        }
        async with self.store.transaction() as tx:
            for ident in sorted(places):
                document = await tx.documents.lock(project_id, ident)
                name, origin = named.get(ident), places[ident]
                await tx.documents.move(replace(document, name=name or document.name, origin=origin))
                if document.current_job_id is not None:
                    job = await tx.jobs.get(document.current_job_id, project_id=project_id)
                    await tx.jobs.amend(job, origin=origin, **({"name": name} if name else {}))

    async def _name_at(self, project_id: UUID, document_id: UUID, name: str) -> str | None:
        """The cleaned name; None if it would change the document's type."""
        document = await self.store.documents.get(document_id, project_id=project_id)
        known = known_originals(document, await self._find_current_job(document))
        named = [await self._rename_original(one, clean_name(name)) for one in known[:1]]
        return clean_name(name) if [one.mime for one in named] == [one.mime for one in known[:1]] else None

    async def retry(self, job: Job) -> Job:
        """Queue a failed or cancelled job again; it resumes after its last finished step."""
        async with self.store.transaction() as tx:
            document = await tx.documents.lock(job.project_id, job.document_id)
            if document.current_job_id != job.id:
                raise Conflict(
                    "A newer job took its place", details={"current_job_id": str(document.current_job_id)}
                )
            retried = await tx.jobs.retry(job)
            await tx.queue.withdraw(INGEST, lock=str(job.document_id))
            await _enqueue(tx, retried)
        return retried

    async def chunking(self, document: Document | None, default: Chunking | None = None) -> Chunking:
        """The document's chunking, else `default`."""
        job = await self._find_current_job(document) if document else None
        return default if default and not job else chunking_of(job)

    async def existing(self, document: Document) -> Receipt:
        """Receipt for a stored document, with the job that made its chunks even if a later job failed."""
        job = await self._find_current_job(document)
        if (
            job
            and job.status in _BROKEN_OFF
            and await self.store.chunks.count(document.project_id, document.id)
        ):
            made, _ = await self.store.jobs.page(
                document.project_id,
                document_id=document.id,
                job_type="document_processing",
                status="completed",
                limit=1,
                offset=0,
            )
            job = made[0] if made else job
        return Receipt(
            file_name=document.name,
            document_id=document.id,
            job_id=None if job is None else job.id,
            status="cancelled" if job is None else job.status,
            already_exists=True,
            error=None if job is None else job.error_details,
        )

    async def _receive_again(
        self, twin: Document, name: str, chunking: Chunking, metadata: Metadata | None
    ) -> Receipt:
        """Receipt for bytes the project has. Runs a new job if the last one failed, was cancelled or was deleted."""
        if metadata:
            await self.store.documents.describe(twin.project_id, twin.id, metadata)
        receipt = await self.existing(twin)
        if receipt.status in _BROKEN_OFF:
            return await self.update(twin, name=name, chunking=chunking)
        return receipt

    async def _find_current_job(self, document: Document) -> Job | None:
        """Raises `DocumentNotFound` if the document was deleted since it was read."""
        while document.current_job_id is not None:
            try:
                return await self.store.jobs.get(document.current_job_id, project_id=document.project_id)
            except JobNotFound:
                document = await self.store.documents.get(document.id, project_id=document.project_id)
        return None

    async def _make_original(
        self,
        document: Document,
        known: list[Original],
        file: IncomingFile | None,
        name: str | None,
        key: str,
    ) -> Original:
        """A known original with the same bytes, or one for the file at `key`."""
        for one in known:
            if file is None or file.sha256 == one.sha256:
                named = await self._rename_original(one, clean_name(name) if name else one.name)
                return replace(named, fetched=(file and file.fetched) or one.fetched)
        if file is None:
            raise Conflict("The original of this document was not kept; send the file again")
        return _build_original(file, name or document.name, key, document.origin)

    async def _use_validators(self, document: Document, job: Job, original: Original) -> None:
        """Store new HTTP validators for unchanged bytes; the next fetch sends them."""
        if original_of(job).fetched == original.fetched == document.fetched:
            return
        async with self.store.transaction() as tx:
            await tx.documents.lock(document.project_id, document.id)
            await tx.documents.use_validators(document.project_id, document.id, original)
            await tx.jobs.amend(job, fetched=original.fetched)

    async def _rename_original(self, original: Original, name: str) -> Original:
        """The original under another name, with its type detected again."""
        if name == original.name:
            return original
        head = await self.storage.originals.head(original.key, HEAD)
        before, after = (detect(one, head, declared=original.declared) for one in (original.name, name))
        return replace(original, name=name, mime=original.mime if before == after else after)


async def fail(store: Store, job: Job, run_id: UUID, reason: dict[str, Any]) -> bool:
    """Return False if the run no longer owns the job."""
    try:
        async with store.transaction() as tx:
            document = await tx.documents.lock(job.project_id, job.document_id)
            ended = await tx.jobs.end(job, run_id, "failed", error=reason)
            if ended:
                await resume(tx, document, job)
            return ended
    except DocumentNotFound:
        return False


async def cancel_ingest(store: Store, job: Job) -> Job:
    async with store.transaction() as tx:
        document = await tx.documents.lock(job.project_id, job.document_id)
        cancelled = await tx.jobs.cancel(job)
        await resume(tx, document, job)
        return cancelled


async def resume(tx: Store, document: Document, job: Job) -> None:
    """Queue the displaced extraction again. Call in the transaction that ends the job and holds the document's lock."""
    if job.config.get(THEN_EXTRACT):
        await put_order(tx, document, "stale")


async def _share(tx: Store, project_id: UUID, key: str | None) -> None:
    if key is None or not await tx.inventory.share(project_id, key):
        raise _Changed


async def _supersede(tx: Store, seen: Document, job: Job, last: Job | None) -> None:
    """Replace the document's open jobs with this one. Raises `_Changed` if the document changed since it was read."""
    document = await tx.documents.lock(seen.project_id, seen.id)
    if _get_state(document) != _get_state(seen):
        raise _Changed
    stopped = await tx.jobs.supersede(document.project_id, document.id)
    if "extraction" in stopped or (last and last.status in OPEN and last.config.get(THEN_EXTRACT)):
        job = replace(job, config={**job.config, THEN_EXTRACT: True})
    await tx.jobs.insert(job)
    if last is not None:
        kept, original = last.config.get("original", {}), original_of(job)
        same = (kept.get("key"), kept.get("mime")) == (original.key, original.mime)
        await tx.staging.inherit(job.project_id, job.id, from_id=last.id, same_text=same)
    await tx.documents.use_job(document.project_id, document.id, job.id)
    await tx.queue.withdraw(INGEST, lock=str(document.id))
    await tx.queue.withdraw(EXTRACT, lock=str(document.id))
    await _enqueue(tx, job)


def _get_state(document: Document) -> tuple[UUID | None, str | None, str | None]:
    return document.current_job_id, document.original_key, document.origin


def _make_key(project_id: UUID, document_id: UUID) -> str:
    return f"{project_id}/{document_id}/{new_id()}"


def _build_original(file: IncomingFile, name: str, key: str, origin: str | None) -> Original:
    name = clean_name(name)
    return Original(
        key=key,
        name=name,
        mime=detect(name, file.head(HEAD), declared=file.declared),
        size=file.size,
        sha256=file.sha256,
        origin=origin,
        fetched=file.fetched,
        declared=file.declared,
    )


async def _enqueue(tx: Store, job: Job) -> None:
    await tx.queue.defer(
        INGEST, lock=str(job.document_id), project_id=str(job.project_id), job_id=str(job.id)
    )
