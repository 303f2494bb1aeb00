"""Chat beside the real LightRAG server, which embeds with ours. It lives in a venv of its own."""

import json
import os
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.lightrag_endpoint import EXCHANGE
from tests.real_lightrag import ANSWER, DOCUMENTS, KEY, PYTHON, QUESTION, real_lightrag

from whence.models import DEFAULT_PROJECT_ID

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="no .lightrag-venv: run `make test-lightrag`")


def test_chat_uses_the_answer_and_the_chunks_of_lightrag(running: str, tmp_path: Path) -> None:
    with httpx.Client(base_url=running, timeout=60) as ours:
        document = {"text": DOCUMENTS["leave.md"], "name": "leave.md", "wait": True}
        ours.post("/api/v1/ingest/text", json=document).raise_for_status()
        vector = ours.post("/v1/embeddings", json={"input": "x"}).raise_for_status().json()
        dimensions = len(vector["data"][0]["embedding"])
        with real_lightrag(
            tmp_path, f"{running}/v1", model=vector["model"], dimensions=dimensions
        ) as lightrag:
            exchange = _exchange(lightrag)
            told = _ask(ours, str(lightrag.base_url), KEY)
            refused = _ask(ours, str(lightrag.base_url), "another-key")
    answer, aligned, foreign = told["sources"]
    assert told["notes"] == []
    assert (answer["source"], answer["chunkText"]) == ("LightRAG Answer", ANSWER)
    assert [answer[name] for name in ("id", "documentId", "chunkIndex", "distance")] == [None] * 4
    assert (aligned["source"], aligned["chunkIndex"], aligned["startOffset"]) == ("leave.md", 0, 0)
    ids = {one["file_path"]: one["chunk_id"] for one in exchange["/query/data"]["data"]["chunks"]}
    assert (foreign["id"], foreign["source"]) == (ids["elsewhere.md"], "elsewhere.md")
    assert foreign["chunkText"] == DOCUMENTS["elsewhere.md"]
    assert (foreign["documentId"], foreign["chunkIndex"]) == (None, None)
    assert refused["notes"] == ["LightRAG was not used: its key was refused (403)"]
    assert [one["source"] for one in refused["sources"]] == ["leave.md"]
    if os.environ.get("RECORD_LIGHTRAG"):
        EXCHANGE.write_text(json.dumps(exchange, indent=1, sort_keys=True) + "\n")
    assert _form(exchange) == _form(json.loads(EXCHANGE.read_text())), "run `make lightrag-exchange`"


def _ask(ours: httpx.Client, url: str, key: str) -> dict[str, Any]:
    config = {"lightragUrl": url, "lightragKey": key}
    ours.patch(f"/api/v1/projects/{DEFAULT_PROJECT_ID}", json={"config": config}).raise_for_status()
    answer = ours.post("/api/v1/chat", json={"project": "default", "message": QUESTION})
    told: dict[str, Any] = answer.raise_for_status().json()
    return told


def _exchange(lightrag: httpx.Client) -> dict[str, Any]:
    """What it answers to our two requests, without and with its key."""
    asked = {"query": QUESTION, "mode": "mix"}
    more = {"include_references": True, "include_chunk_content": True}
    return {
        "version": lightrag.get("/health").json()["core_version"],
        "/query/data": lightrag.post("/query/data", json=asked).raise_for_status().json(),
        "/query": lightrag.post("/query", json=asked | more).raise_for_status().json(),
        "refused": lightrag.post("/query", json=asked, headers={"X-API-Key": "another"}).json(),
    }


def _form(value: Any) -> Any:
    """The names and types of an answer, without its values."""
    if isinstance(value, dict):
        return {name: _form(one) for name, one in value.items()}
    return [_form(value[0])] if isinstance(value, list) and value else type(value).__name__
