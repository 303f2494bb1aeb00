"""What evidence costs a server that knows the pages: `python -m benchmarks.evidence FILE.pdf [--rounds 200]`.

CPU time of the server and its database together; what they need while nobody asks is subtracted.
"""

import argparse
import time
from pathlib import Path

import httpx
import orjson
import psutil
from benchmarks.chunk_api import serving
from benchmarks.wire import Client, get, post

from whence.chunk import sentences
from whence.models import DEFAULT_PROJECT_ID

_SENTENCE = range(40, 300)
_IDLE_SECONDS = 4


class Meter:
    def __init__(self, pid: int) -> None:
        self._server = psutil.Process(pid)
        began = self._used()
        time.sleep(_IDLE_SECONDS)
        self._idle = (self._used() - began) / _IDLE_SECONDS

    def _used(self) -> float:
        processes = [self._server, *self._server.children(recursive=True)]
        return float(sum(sum(one.cpu_times()[:2]) for one in processes))

    def measure(self, client: Client, requests: list[bytes]) -> float:
        """Milliseconds of CPU for each request."""
        began, used = time.monotonic(), self._used()
        for request in requests:
            client.ask(request)
        idle = self._idle * (time.monotonic() - began)
        return (self._used() - used - idle) * 1000 / len(requests)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("file", type=Path)
    options.add_argument("--rounds", type=int, default=200)
    given = options.parse_args()
    with serving() as server:
        document, text = _ingest(server.port, given.file)
        client = Client(server.port)
        quotes = [(start, end) for _, start, end in sentences(text) if end - start in _SENTENCE]
        chosen = quotes[:: max(len(quotes) // given.rounds, 1)][: given.rounds]
        spans = [get(f"/api/v1/documents/{document}/spans?start={start}&end={end}") for start, end in chosen]
        plain, placed = ([_question(text[slice(*span)], rects=on) for span in chosen] for on in (False, True))
        print(f"{given.file.name}: {len(text):,} characters, {len(chosen)} sentences")
        for request in (*spans, *plain, *placed):
            client.ask(request)
        meter = Meter(server.pid)
        print(f"a cached span {meter.measure(client, spans):.2f} ms of CPU (at most 5)")
        without, with_rects = meter.measure(client, plain), meter.measure(client, placed)
        ratio = with_rects / without
        print(f"chat {without:.1f} ms, with includeRects {with_rects:.1f}: {ratio:.2f} times (at most 1.2)")


def _ingest(port: int, path: Path) -> tuple[str, str]:
    """The id of the document, and its text."""
    with path.open("rb") as file, httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600) as client:
        sent = client.post("/api/v1/ingest/upload", files={"file": (path.name, file)}, data={"wait": "true"})
        ident: str = sent.json()["data"]["items"][0]["documentId"]
        text: str = client.get(f"/api/v1/documents/{ident}/text").json()["data"]["text"]
    return ident, text


def _question(words: str, *, rects: bool) -> bytes:
    body = {"projectId": str(DEFAULT_PROJECT_ID), "message": " ".join(words.split()), "includeRects": rects}
    return post("/api/v1/chat", orjson.dumps(body))


if __name__ == "__main__":
    main()
