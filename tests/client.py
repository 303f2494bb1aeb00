"""A client of the HTTP API, as a program of somebody else's would be: what there is, and whether it is whole."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx

PATIENCE = 240.0


@cache
def http() -> httpx.Client:
    """One for all: each would read all certificates of the machine again, and a test asks many times a second."""
    return httpx.Client(timeout=PATIENCE)


@dataclass(frozen=True, slots=True)
class Client:
    url: str

    def get(self, path: str, **query: Any) -> Any:
        answer = http().get(f"{self.url}/api/v1{path}", params=query, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def post(self, path: str, **body: Any) -> httpx.Response:
        return http().post(f"{self.url}/api/v1{path}", json=body, timeout=PATIENCE)

    def every(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """All items of a list, page by page."""
        found: list[dict[str, Any]] = []
        while True:
            page = self.get(path, **query, limit=100, offset=len(found))
            found += page["items"]
            if not page["pagination"]["has_more"]:
                return found

    def upload(self, content: bytes, name: str, **fields: str) -> dict[str, Any]:
        answer = self.try_upload(content, name, **fields)
        assert answer.status_code in (200, 202), answer.text
        item: dict[str, Any] = answer.json()["data"]["items"][0]
        return item

    def try_upload(self, content: bytes, name: str, **fields: str) -> httpx.Response:
        return http().post(
            f"{self.url}/api/v1/ingest/upload",
            files={"file": (name, content)},
            data=fields,
            timeout=PATIENCE,
        )

    def documents(self, **query: Any) -> dict[str, dict[str, Any]]:
        """By name."""
        return {document["name"]: document for document in self.every("/documents", **query)}

    def text(self, document_id: str) -> str:
        text: str = self.get(f"/documents/{document_id}/text")["text"]
        return text

    def file(self, document_id: str) -> bytes:
        """The original."""
        answer = http().get(f"{self.url}/api/v1/documents/{document_id}/file", timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        return answer.content

    def chunks(self, document_id: str, **query: Any) -> list[dict[str, Any]]:
        return self.every(f"/documents/{document_id}/chunks", **query)

    def job(self, job_id: str) -> dict[str, Any]:
        job: dict[str, Any] = self.get(f"/jobs/{job_id}")
        return job

    def job_when(
        self, job_id: str, condition: Callable[[dict[str, Any]], bool], *, patience: float = PATIENCE
    ) -> dict[str, Any]:
        """The job as soon as it is so."""
        deadline = time.monotonic() + patience
        while not condition(job := self.job(job_id)):
            assert time.monotonic() < deadline, job
            time.sleep(0.02)
        return job

    def ended(self, job_id: str, *, patience: float = PATIENCE) -> dict[str, Any]:
        return self.job_when(
            job_id, lambda job: job["status"] not in ("pending", "processing"), patience=patience
        )

    def whole(self, document_id: str) -> list[dict[str, Any]]:
        """The document's chunks, which are every part of its text, in order, each embedded, and none twice."""
        document = self.get(f"/documents/{document_id}")
        assert document["status"] == "completed", document
        text, chunks = self.text(document_id), self.chunks(document_id, include_embedding="true")
        assert chunks
        assert [chunk["chunk_index"] for chunk in chunks] == list(range(len(chunks)))
        end = 0
        for chunk in chunks:
            start, after = chunk["metadata"]["startOffset"], chunk["metadata"]["endOffset"]
            assert text[start:after] == chunk["content"]
            assert not text[end:start].strip(), "text between two chunks"
            assert chunk["embedding"], chunk
            end = after
        assert not text[end:].strip(), "text after the last chunk"
        return chunks
