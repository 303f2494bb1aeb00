"""`whence ingest --server`: uploads files that are new or have changed, and waits for their jobs on the server.

A document stores its file as its origin, `upload://<host>/<path>`. So a changed file becomes a new version, and `--prune` finds
the documents of files that were uploaded from this folder of this machine and no longer exist.
"""

import asyncio
import hashlib
import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import unquote_to_bytes
from uuid import UUID

import click
from pydantic.alias_generators import to_camel

from whence.api.ingest import UPLOADED
from whence.api.jobs import JobModel
from whence.cli.api import Api
from whence.cli.file_moves import is_gone
from whence.cli.files import FoundFile
from whence.cli.ingest_run import FileOutcome, IngestRequest, bars
from whence.cli.options import DEFAULT_STRATEGY
from whence.cli.output import counted
from whence.cli.watching import Snapshot, look
from whence.ingest import Receipt
from whence.ingest.file_identity import Placed
from whence_client import Forbidden, NoAnswer, Unauthorized, WhenceClientError
from whence_client.types import DocumentModel, Ingested

_PAUSE = 0.3
_LOOKED_AT = 20
"""Number of jobs polled at once. Jobs end in about the order in which they were queued."""


def origin_of(path: Path) -> str:
    return f"{_get_origin_prefix()}{path.absolute().as_uri().removeprefix('file://')}"


def _path_of(origin: str) -> Path:
    return Path(os.fsdecode(unquote_to_bytes(origin.removeprefix(_get_origin_prefix()))))


def _get_origin_prefix() -> str:
    return f"{UPLOADED}//{socket.gethostname()}"


@dataclass(slots=True, kw_only=True)
class RemoteFeed:
    api: Api
    project: str | None
    wanted: IngestRequest
    as_json: bool

    async def once(self) -> list[FileOutcome]:
        snapshot = await asyncio.to_thread(look, self.wanted.selection)
        outcomes = [FileOutcome(source=str(one.path), reason=one.reason) for one in snapshot.skipped]
        skipped = len(outcomes)
        count = len(snapshot.files) + len(self.wanted.urls) + self.wanted.stdin
        try:
            with bars(count, quiet=self.as_json) as show:
                async for outcome in self._send_sources(snapshot):
                    outcomes.append(outcome)
                    await self._look(outcomes)
                    show(outcomes[skipped:])
                while any(one.pending for one in outcomes):
                    await asyncio.sleep(_PAUSE)
                    await self._look(outcomes)
                    show(outcomes[skipped:])
        except asyncio.CancelledError:
            self._report_rest(sum(one.pending for one in outcomes))
            raise
        return outcomes

    async def kinds(self, files: Sequence[FoundFile]) -> dict[str, str]:
        """The state of each file: `new`, `changed` or `unchanged`."""
        known = await self._known()
        kinds = {}
        for file in files:
            document = known.get(origin_of(file.path))
            is_same = document is not None and document["sha256"] == await _hash_file(file.path)
            kinds[file.name] = "new" if document is None else "unchanged" if is_same else "changed"
        return kinds

    async def gone(self) -> list[Placed]:
        """The documents of files that were uploaded from these folders and no longer exist."""
        folders = tuple(
            f"{origin_of(path).rstrip('/')}/" for path in self.wanted.selection.paths if path.is_dir()
        )
        documents = (await self._known()).items() if folders else ()
        return [
            Placed(id=UUID(one["id"]), name=one["name"], origin=origin, sha256=bytes.fromhex(one["sha256"]))
            for origin, one in documents
            if origin.startswith(folders) and await asyncio.to_thread(is_gone, _path_of(origin))
        ]

    def _report_rest(self, rest: int) -> None:
        if rest:
            named = f" --project {quote(self.project)}" if self.project else ""
            count = counted(rest, "document")
            stop = f"`whence jobs cancel --all{named}`"
            click.echo(f"{count} handed in and not done: the server goes on. Stop it with {stop}.", err=True)

    async def _known(self) -> dict[str, DocumentModel]:
        """The documents that came from files of this machine, by origin."""
        found = self.api.client.documents(project=self.project)
        by_origin = {one["origin"] or "": one async for one in found}
        return {
            origin: one for origin, one in by_origin.items() if origin.startswith(f"{_get_origin_prefix()}/")
        }

    async def _send_sources(self, snapshot: Snapshot) -> AsyncIterator[FileOutcome]:
        known = await self._known() if snapshot.files else {}
        chunking = await self._choose_chunking()
        for file in snapshot.found:
            document = known.get(origin_of(file.path))
            name = document["name"] if document else file.name
            yield await self._hand_in(name, self._upload_file(file, document, chunking))
        for url in self.wanted.urls:
            sent = self.api.client.ingest_url(
                url, project=self.project, metadata=self.wanted.metadata, wait=False, **chunking
            )
            yield await self._hand_in(url, sent)
        if self.wanted.stdin:
            content = await asyncio.to_thread(sys.stdin.buffer.read)
            sent = self.api.client.ingest(
                content,
                name=self.wanted.stdin_name,
                project=self.project,
                metadata=self.wanted.metadata,
                wait=False,
                **chunking,
            )
            yield await self._hand_in(self.wanted.stdin_name, sent)

    async def _choose_chunking(self) -> dict[str, Any]:
        """The chunking of new documents: from the command line, else the project's, else by paragraphs."""
        if self._given:
            return self._given
        named = self.project
        ident = await (self.api.find_project_id(named) if named else self.api.own_project_id())
        project = await self.api.client.request("GET", f"/projects/{ident}", has=("config",))
        return {} if project["config"]["chunking"] else {"chunking_strategy": DEFAULT_STRATEGY}

    @property
    def _given(self) -> dict[str, Any]:
        fields = self.wanted.chunking_fields
        sizes = {to_camel(name): size for name, size in (fields.chunking_options or {}).items()}
        given = {"chunking_strategy": fields.chunking_strategy, "chunking_options": sizes}
        return {name: value for name, value in given.items() if value}

    async def _upload_file(
        self, file: FoundFile, document: DocumentModel | None, chunking: dict[str, Any]
    ) -> Ingested:
        """Uploads the file, unless its document has the same bytes and nothing else changes."""
        client, metadata = self.api.client, self.wanted.metadata
        folder, _, name = file.name.rpartition("/")
        if document is None:
            return await client.ingest(
                file.path,
                name=name,
                folder=folder or None,
                origin=origin_of(file.path),
                project=self.project,
                metadata=metadata,
                wait=False,
                **chunking,
            )
        is_same = document["sha256"] == await _hash_file(file.path) and document["status"] == "completed"
        if is_same and metadata is None and not self._given:
            return {
                "fileName": document["name"],
                "documentId": document["id"],
                "jobId": None,
                "status": "completed",
                "alreadyExists": True,
                "error": None,
                "chunkCount": document["chunk_count"],
            }
        return await client.update_document(
            document["id"], file.path, name=document["name"], metadata=metadata, wait=False, **self._given
        )

    async def _hand_in(self, source: str, sending: Awaitable[Ingested]) -> FileOutcome:
        try:
            made = await sending
        except (Unauthorized, Forbidden):
            raise
        except WhenceClientError as exc:
            if isinstance(exc, NoAnswer):  # the server refused this file, or is unavailable: then this raises
                await self.api.client.request("GET", "/me")
            return FileOutcome(source=source, reason=getattr(exc, "message", str(exc)))
        except OSError as exc:
            return FileOutcome(source=source, reason=exc.strerror or str(exc))
        if made["documentId"] is None:
            return FileOutcome(source=source, reason=made["error"] and made["error"]["message"])
        receipt = Receipt(
            file_name=made["fileName"],
            document_id=UUID(made["documentId"]),
            job_id=UUID(made["jobId"]) if made["jobId"] else None,
            status=made["status"],
            already_exists=made["alreadyExists"],
        )
        chunks = made.get("chunkCount", 0)
        if receipt.already_exists and not chunks:
            chunks = (await self.api.client.document(made["documentId"]))["chunk_count"]
        return FileOutcome(source=source, receipt=receipt, status=receipt.status, chunks=chunks)

    async def _look(self, outcomes: list[FileOutcome]) -> None:
        """Updates the first pending outcomes."""
        waiting = [n for n, one in enumerate(outcomes) if one.pending][:_LOOKED_AT]
        for n in waiting:
            receipt = outcomes[n].receipt
            if receipt is not None and receipt.job_id is not None:
                job = await self.api.get(f"/jobs/{receipt.job_id}", JobModel)
                outcomes[n] = replace(
                    outcomes[n],
                    status=job.status,
                    reason=job.error.message if job.error else None,
                    stage=job.stage,
                    chunks=job.done,
                    total=job.total,
                )


async def _hash_file(path: Path) -> str | None:
    def read() -> str | None:
        try:
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:  # sending the file will report the reason
            return None

    return await asyncio.to_thread(read)
