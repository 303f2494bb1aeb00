"""A real browser on a real server: Chromium, driven by Playwright. Without one these tests are skipped."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Any

import httpx
import pypdfium2
import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect
from tests.api.conftest import serve_in_thread, usual_settings
from tests.chat_endpoint import ChatEndpoint, says
from tests.conftest import TEMPLATE, make_database
from tests.files.office import docx
from tests.files.pdf import pdf
from tests.pages import ROOT, no_other_builds

from whence.models import DEFAULT_PROJECT_ID
from whence.store.postgres import EmbeddedPostgres
from whence.web.routes.pages import STATIC

AXE = ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE = 120_000
"""Milliseconds. The limit only finds out what hangs."""
expect.set_options(timeout=PATIENCE)
HOSTILE = "<img src=x onerror=window.pwned=1>"
REPORT = [
    ["# Harbour library", "The harbour library closed its books on 31 March."],
    ["# Spending", "Repairs went over budget because of the storm of 9 February.", "Staff cost 141,205."],
]
NOTES = "# Sign-in\n\nRequirement: OAuth 2.0\n\nExpiration: 1 hour\n\nPriority: high\n"
SCHEMA = {"object_types": {"Requirement": {"properties": {"expiration": {"type": "string"}}}}}

QUESTION = "Why did repairs go over budget?"
PAGES = [
    "/",
    "/documents",
    "/search?q=storm",
    "/graph?view=table",
    "/graph",
    "/schema",
    "/jobs",
    "/projects",
    "/status",
    "/docs?q=chat",
]


def find_browser() -> str | None:
    """Chromium without the windows of its desktop needs half the CPU time for a page."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def build_pages() -> None:
    """Builds the pages if they are missing or older than their sources; one test process at a time."""
    with no_other_builds():
        done = subprocess.run(
            [sys.executable, "hatch_build.py"], cwd=ROOT, capture_output=True, text=True, check=False
        )
    if done.returncode and not (STATIC / "index.html").exists():
        pytest.skip(f"the web pages are not built; `make ui` says why: {done.stderr[-300:]}")


@dataclass
class Site:
    """A server with documents, and a browser's pages of it."""

    url: str
    model: ChatEndpoint
    browser: Browser
    http: httpx.Client
    contexts: list[BrowserContext] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    async def open(self, path: str, **options: Any) -> Page:
        """A page in a browser of its own; it keeps what goes wrong in `problems`."""
        context = await self.browser.new_context(**options)
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = await context.new_page()
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("request", lambda request: self._check(request.url))
        page.on("console", lambda said: self._listen(said.text))
        page.on("response", lambda answer: self._refused(answer.status, answer.url))
        await page.goto(self.url + path)
        return page

    def _listen(self, said: str) -> None:
        if "Content Security" in said:
            self.problems.append(said)

    def _refused(self, status: int, url: str) -> None:
        if status == 403:
            self.problems.append(f"asked for what the key may not do: {url}")

    def _check(self, url: str) -> None:
        if not url.startswith((self.url, "blob:", "data:")):
            self.problems.append(f"a request to {url}")

    async def close(self) -> None:
        for context in self.contexts:
            await context.close()
        self.contexts.clear()

    def data(self, method: str, path: str, **more: Any) -> Any:
        answer = self.http.request(method, f"/api/v1{path}", **more)
        assert answer.is_success, answer.text
        return answer.json()["data"]

    def ingest(self, name: str, content: bytes | str) -> str:
        made = self.data("POST", "/ingest/upload", files={"file": (name, content)}, params={"wait": "true"})
        ident: str = made["items"][0]["documentId"]
        return ident


async def ask(page: Page, question: str = QUESTION) -> None:
    """Asks and waits for the end of the answer."""
    await page.fill("#question", question)
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".turn:last-of-type .actions, .turn:last-of-type .failed")


async def loaded(page: Page) -> None:
    """The page shows its data. Pages ask again and again while jobs are open, so the network need not ever be idle."""
    await page.wait_for_selector("main h1", state="attached")
    await expect(page.locator(".loading")).to_have_count(0)
    await until(page, "[...document.images].every((image) => image.complete)")


async def until(page: Page, expression: str, arg: object = None) -> None:
    """Waits for an expression. `wait_for_function` polls by `eval`, which the pages' policy forbids."""
    async with asyncio.timeout(120):
        while not await page.evaluate(expression, arg):  # noqa: ASYNC110 -- the page has no event for it
            await asyncio.sleep(0.05)


RECTANGLES = """() => {
    const whole = document.querySelector(".evidence .page").getBoundingClientRect();
    return [...document.querySelectorAll(".evidence .rect")].map((one) => {
        const part = one.getBoundingClientRect();
        const [left, right] = [part.left, part.right].map((x) => (x - whole.left) / whole.width);
        const [top, bottom] = [part.top, part.bottom].map((y) => (y - whole.top) / whole.height);
        return [left, bottom, right, top];
    });
}"""
"""All at once, because the page may scroll meanwhile."""


async def expect_words_under(page: Page, content: bytes, words: str, *, number: int) -> None:
    """The evidence's rectangles lie on these words of the PDF. Their places may come after the quote and the picture."""
    found = ""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE / 1000):
            while found != words:
                await asyncio.sleep(0.05)
                found = await words_under(page, content, number=number)
    assert found == words


async def words_under(page: Page, content: bytes, *, number: int) -> str:
    """The text of the PDF under the evidence's rectangles, by another library than the pages use."""
    sheet = pypdfium2.PdfDocument(BytesIO(content))[number - 1]
    text, (width, height) = sheet.get_textpage(), sheet.get_size()
    found = []
    for left, bottom, right, top in await page.evaluate(RECTANGLES):
        place = (left * width - 1, (1 - bottom) * height - 1, right * width + 1, (1 - top) * height + 1)
        found.append(text.get_text_bounded(*place).strip())
    return " ".join(found)


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    path = find_browser()
    if path is None:
        pytest.skip(
            "no Chromium was found: `apt-get install chromium-headless-shell`, or set CHROMIUM to its path"
        )
    build_pages()
    async with async_playwright() as playwright:
        # Root has no sandbox; the documents of these tests are our own.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(executable_path=path, args=options)
        yield browser
        await browser.close()


@pytest.fixture(scope="module")
def model() -> Iterator[ChatEndpoint]:
    with ChatEndpoint(says("Repairs went over budget because of the storm of 9 February. [1]")) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def dsn(postgres: EmbeddedPostgres) -> Iterator[str]:
    yield from make_database(postgres, TEMPLATE)


@pytest.fixture(scope="module")
async def served(
    dsn: str, browser: Browser, model: ChatEndpoint, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Site]:
    """One server for all tests: documents of several kinds, an object of the graph, a scripted model."""
    settings = replace(
        usual_settings(dsn, tmp_path_factory.mktemp("ui")),
        llm_base_url=model.url,
        llm_model="test",
        llm_attempts=1,
        llm_prompt_price=5_000.0,
        llm_completion_price=5_000.0,
    )
    with serve_in_thread(settings) as url, httpx.Client(base_url=url, timeout=60) as http:
        site = Site(url=url, model=model, browser=browser, http=http)
        project = f"/projects/{DEFAULT_PROJECT_ID}"
        site.data("PATCH", project, json={"config": {"extraction": "manual", "extractor": "rules"}})
        site.data("PUT", f"{project}/schema", json=SCHEMA)
        site.ids = {
            "pdf": site.ingest("report.pdf", pdf(REPORT)),
            "docx": site.ingest(
                "letter.docx", docx(["A letter about the harbour.", "It has two paragraphs."])
            ),
            "chinese": site.ingest("城市.txt", "东京是一座大城市。它有很多人。"),
            "notes": site.ingest("notes.md", NOTES),
            "hostile": site.ingest(f"{HOSTILE}.md", f"# {HOSTILE}\n\nNobody knows {HOSTILE} here."),
        }
        site.data("POST", f"/documents/{site.ids['notes']}/extract", params={"wait": "true"})
        yield site


@pytest.fixture
async def site(served: Site) -> AsyncIterator[Site]:
    """The server for one test, in which nothing may go wrong unseen."""
    yield served
    await served.close()
    problems, served.problems = served.problems, []
    assert problems == []


@pytest.fixture
def axe() -> Callable[[Page], Any]:
    source = AXE.read_text(encoding="utf-8")

    async def violations(page: Page) -> list[str]:
        await page.evaluate(source)
        found = await page.evaluate("() => axe.run()")
        return [
            json.dumps([one["id"], [node["html"][:150] for node in one["nodes"]]])
            for one in found["violations"]
        ]

    return violations
