"""The real server of `lightrag-hku`, in a process of its own, with a scripted model and an embedder elsewhere.

`make lightrag-exchange` records what it answers into `tests/files/lightrag.json`, for `tests/lightrag_endpoint.py`.
"""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from tests.chat_endpoint import ChatEndpoint, Messages, says

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / ".lightrag-venv" / "bin" / "python"
KEY = "lightrag-key"
PATIENCE = 120

DOCUMENTS = {
    "leave.md": "Everyone has thirty days of leave in a year. Days that are left at the end of March are lost.",
    "elsewhere.md": "Parental leave is granted for twelve months. It is asked for in writing.",
}
QUESTION = "How many days of leave does everyone have in a year?"
ANSWER = "Everyone has thirty days of leave in a year [1].\n\n### References\n\n- [1] leave.md"
GRAPH = """\
entity<|#|>Everyone<|#|>person<|#|>Everyone has leave.
entity<|#|>Leave<|#|>concept<|#|>Leave is thirty days in a year.
relation<|#|>Everyone<|#|>Leave<|#|>has<|#|>Everyone has thirty days of leave.
<|COMPLETE|>"""


def script(messages: Messages) -> str:
    """As a model answers LightRAG's three kinds of prompts."""
    prompt = " ".join(one["content"] or "" for one in messages)
    if "keyword extractor" in prompt:
        return json.dumps({"high_level_keywords": ["leave"], "low_level_keywords": ["days of leave"]})
    return GRAPH if "Knowledge Graph Specialist" in prompt else ANSWER


@contextmanager
def real_lightrag(folder: Path, embeddings: str, *, model: str, dimensions: int) -> Iterator[httpx.Client]:
    """A client of the server, which has read the documents. `embeddings` speaks OpenAI's protocol."""
    port = _free_port()
    with ChatEndpoint(says(script)) as chat, (folder / "lightrag.log").open("wb") as log:
        settings = {
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "LIGHTRAG_API_KEY": KEY,
            "WORKING_DIR": str(folder / "storage"),
            "INPUT_DIR": str(folder / "inputs"),
            "LOG_DIR": str(folder),
            "LLM_BINDING": "openai",
            "LLM_BINDING_HOST": chat.url,
            "LLM_BINDING_API_KEY": "x",
            "LLM_MODEL": "gpt-4o-mini",
            "EMBEDDING_BINDING": "openai",
            "EMBEDDING_BINDING_HOST": embeddings,
            "EMBEDDING_BINDING_API_KEY": "x",
            "EMBEDDING_MODEL": model,
            "EMBEDDING_DIM": str(dimensions),
        }
        server = subprocess.Popen(
            [str(PYTHON), str(ROOT / "tests" / "lightrag_server.py")],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), **settings},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            with httpx.Client(
                base_url=f"http://127.0.0.1:{port}", headers={"X-API-Key": KEY}, timeout=60
            ) as client:
                _wait(server, client, log.name)
                _read_documents(client)
                yield client
        finally:
            server.terminate()
            server.wait(timeout=PATIENCE)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def _wait(server: "subprocess.Popen[bytes]", client: httpx.Client, log: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert server.poll() is None, Path(log).read_text(errors="replace")[-3000:]
        try:
            client.get("/health").raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError(Path(log).read_text(errors="replace")[-3000:])


def _read_documents(client: httpx.Client) -> None:
    for name, text in DOCUMENTS.items():
        client.post("/documents/text", json={"text": text, "file_source": name}).raise_for_status()
    deadline = time.monotonic() + PATIENCE
    states: list[str] = []
    while states != ["processed"] * len(DOCUMENTS):
        assert "failed" not in states
        assert time.monotonic() < deadline, states
        time.sleep(0.2)
        page = client.post("/documents/paginated", json={"page": 1, "page_size": 10}).raise_for_status()
        states = [one["status"] for one in page.json()["documents"]]
