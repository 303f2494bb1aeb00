"""Measures the web pages in Chromium: script sizes, from a click to the highlighted words, long lists and large graphs.

`make bench-ui` builds the pages and starts a server of its own with `examples/graph/sign_in.pdf`. The long list and the large graph
are made up in the browser, so only the pages are measured.
"""

import asyncio
import json
import os
import re
import shutil
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
from benchmarks.chunk_api import serving
from playwright.async_api import Page, Route, async_playwright

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "src" / "whence" / "web" / "static"
EXAMPLE = ROOT / "examples" / "graph" / "sign_in.pdf"
NOW = "2026-01-01T00:00:00Z"
ROUNDS = 5
_FRAMES = """() => new Promise(done => {
  const times = []; let last = performance.now();
  const tick = now => { times.push(now - last); last = now; times.length < 120 ? requestAnimationFrame(tick) : done(times); };
  requestAnimationFrame(tick);
})"""


def script_sizes() -> tuple[float, float]:
    """Kilobytes of compressed script at the first load, and of all scripts."""
    first = re.findall(r"/(assets/[\w.-]+\.js)", (STATIC / "index.html").read_text())
    packed = {path.name[:-3]: path.stat().st_size / 1000 for path in STATIC.glob("assets/*.js.gz")}
    return sum(packed[name.split("/")[1]] for name in first), sum(packed.values())


async def milliseconds(act: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    await act()
    return (time.perf_counter() - began) * 1000


async def trace(page: Page, url: str) -> tuple[float, float, float]:
    """From Enter to the first words of the answer; from the click to the highlighted page, and to its text."""
    await page.goto(url)
    await page.fill("#question", "When do tokens expire?")
    began = time.perf_counter()
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".answer-text p")
    words = (time.perf_counter() - began) * 1000
    await page.wait_for_selector(".actions")
    began = time.perf_counter()
    await page.click(".chip >> nth=0")
    await page.wait_for_selector(".evidence .page:has(.rect) img")
    picture = (time.perf_counter() - began) * 1000
    await page.wait_for_selector(".evidence .page-text p", state="attached")
    return words, picture, (time.perf_counter() - began) * 1000


async def long_list(page: Page, url: str, documents: int) -> float:
    async def answer(route: Route) -> None:
        offset = int(re.findall(r"offset=(\d+)", route.request.url)[0])
        items = [document(n) for n in range(offset, min(offset + 100, documents))]
        pages = {"total": documents, "limit": 100, "offset": offset, "has_more": True}
        await route.fulfill(body=json.dumps({"success": True, "data": {"items": items, "pagination": pages}}))

    await page.route("**/api/v1/documents?*", answer)
    took = await milliseconds(lambda: open_list(page, url))
    await page.evaluate("document.querySelector('main').scrollTop = 1e9")
    await page.wait_for_selector(f".rows-row:has-text('{documents - 1}.txt')")
    return took


async def open_list(page: Page, url: str) -> None:
    await page.goto(f"{url}/documents")
    await page.wait_for_selector(".rows-row a")


def document(n: int) -> dict[str, Any]:
    nothing = dict.fromkeys(
        ("origin", "job_id", "error", "chunking", "page_count", "extraction", "version_at", "valid_from")
    )
    some = {
        "id": f"00000000-0000-7000-8000-{n:012}",
        "project_id": "",
        "name": f"note-{n}.txt",
        "file_type": "text/plain",
    }
    more = {
        "file_size": 1,
        "sha256": "",
        "status": "completed",
        "chunk_count": 1,
        "metadata": {},
        "version": 1,
    }
    return {**nothing, **some, **more, "created_at": NOW, "updated_at": NOW}


async def large_graph(page: Page, url: str, objects: int) -> float:
    """The median time between two frames while the picture is dragged."""
    whole = {
        "nodes": [[f"n{n}", f"T{n % 5}", f"Object {n}"] for n in range(objects)],
        "edges": [[n, n // 3] for n in range(1, objects)],
        "total": objects,
        "types": {f"T{n}": objects // 5 for n in range(5)},
    }
    body = json.dumps({"success": True, "data": whole})
    await page.route("**/api/v1/graph/outline?*", lambda route: route.fulfill(body=body))
    await page.goto(f"{url}/graph")
    await page.wait_for_selector(".canvas canvas")
    await page.wait_for_selector(".canvas[aria-busy=false]")  # the worker has found the places
    frames = asyncio.create_task(page.evaluate(_FRAMES))
    await page.mouse.move(600, 400)
    await page.mouse.down()
    for n in range(60):
        await page.mouse.move(600 + n * 3, 400 + n)
    await page.mouse.up()
    times: list[float] = await frames
    return statistics.median(times)


def main() -> None:
    first, everything = script_sizes()
    print(f"script, compressed: {first:.0f} KB at the first load, {everything:.0f} KB in all")
    with serving() as served:
        url = f"http://127.0.0.1:{served.port}"
        files = {"file": (EXAMPLE.name, EXAMPLE.read_bytes())}
        httpx.post(
            f"{url}/api/v1/ingest/upload", files=files, params={"wait": "true"}, timeout=120
        ).raise_for_status()
        asyncio.run(measure(url))


async def measure(url: str) -> None:
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    async with async_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(executable_path=browser_path, args=options)
        runs = [await trace(await browser.new_page(), url) for _ in range(ROUNDS)]
        words, picture, text = (statistics.median(column) for column in zip(*runs, strict=True))
        print(f"from Enter to the first words: {words:.0f} ms")
        print(f"from the click to the highlighted page: {picture:.0f} ms, to its text: {text:.0f} ms")
        listed = await long_list(await browser.new_page(), url, 10_000)
        print(f"a list of 10,000 documents is there after {listed:.0f} ms")
        frame = await large_graph(await browser.new_page(), url, 5000)
        print(f"a graph of 5,000 objects, dragged: {frame:.0f} ms for a frame")
        await browser.close()


if __name__ == "__main__":
    main()
