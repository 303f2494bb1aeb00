"""`make pictures`: takes the pictures of the web pages for docs/images, in Chromium on a server of its own with the example documents.

The report is printed as a PDF of two columns. A scripted model answers, so that the picture shows every level of support;
rules extract.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from markdown_it import MarkdownIt
from playwright.async_api import Browser, Page, PdfMargins, async_playwright
from tests.chat_endpoint import MODEL, ChatEndpoint, says

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
EXAMPLES = ROOT / "examples"
REPORT = EXAMPLES / "documents" / "quarterly_report_2024.md"
OBJECT = "OAuth 2.0"
QUESTION = "Why did repairs go over budget?"
ANSWER = (
    "Repairs went over budget because of the storm of 9 February: water came through the roof of the east wing and the "
    "boiler had to be replaced. [1] The insurer has accepted the claim. [1] The insurer will repay 5,200 of it in May. [1] "
    "The boiler was insured by Lloyd's of London in 1912. [1]"
)
SYSTEMS = """# Systems of the library

The Catalogue Server replaces the Card Index. The Catalogue Server depends on the Backup Store.

The Sign-in Service is part of the Catalogue Server. The Sign-in Service depends on the Session Store.

The Reservation Desk uses the Catalogue Server. The Reading App depends on the Sign-in Service.

The Session Store depends on the Backup Store. The Web Catalogue uses the Search Index. The Search Index is part of the Catalogue Server.

Component: Catalogue Server

Owner: Dr. Amara Lindqvist

Component: Sign-in Service

Owner: Tomas Berg

Component: Session Store

Component: Backup Store

Component: Reading App

Component: Search Index

Component: Web Catalogue
"""
STYLE = """body { columns: 2; column-gap: 2em; font: 10pt/1.5 serif; text-align: justify } h1 { column-span: all }
table { width: 100%; border-collapse: collapse } th, td { text-align: left; border-bottom: 1px solid #999 }"""


@contextmanager
def serving(model: str) -> Iterator[str]:
    """`whence serve` with this model and a data directory that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: text for name, text in os.environ.items() if not name.startswith("WHENCE_")}
        environment |= {
            "WHENCE_DATA_DIR": f"{folder}/data",
            "WHENCE_LLM_BASE_URL": model,
            "WHENCE_LLM_MODEL": MODEL,
        }
        log = Path(folder) / "server.log"
        with log.open("wb") as out:
            command = [str(Path(sys.executable).with_name("whence")), "serve", "--port=0"]
            server = subprocess.Popen(command, env=environment, stderr=out)
        try:
            while not (found := re.search(r"serves (http://\S+)", log.read_text())):
                if server.poll() is not None:
                    sys.exit(f"The server did not start:\n{log.read_text()}")
                time.sleep(0.1)
            yield found[1]
        finally:
            server.terminate()
            server.wait()


class Demo:
    """The example documents on a server, and its pages in a browser."""

    def __init__(self, url: str, browser: Browser) -> None:
        self.url = url
        self.browser = browser
        self.http = httpx.Client(base_url=f"{url}/api/v1", timeout=120)

    def send(self, method: str, path: str, **more: Any) -> Any:
        return self.http.request(method, path, **more).raise_for_status().json()["data"]

    async def fill(self) -> None:
        project = f"/projects/{self.send('GET', '/projects')['items'][0]['id']}"
        self.send("PATCH", project, json={"config": {"extraction": "manual", "extractor": "rules"}})
        for name, content in (
            ("rules_of_the_reading_rooms.md", (EXAMPLES / "documents" / "reading_rooms.md").read_bytes()),
            ("sign_in.pdf", (EXAMPLES / "graph" / "sign_in.pdf").read_bytes()),
            ("systems.md", SYSTEMS.encode()),
            ("change_of_march.md", (EXAMPLES / "graph" / "change_of_march.md").read_bytes()),
            ("torn.pdf", b"%PDF-1.7\nnothing more"),
            ("quarterly_report_2024.pdf", await self.printed(REPORT.read_text(encoding="utf-8"))),
        ):
            cuts = {"chunkingStrategy": "paragraph", "chunkingOptions": '{"minChunkSize": 20}'}
            files = {"file": (name, content)}
            self.send("POST", "/ingest/upload", files=files, data=cuts, params={"wait": "true"})
        usual = self.send("GET", f"{project}/schema")["schema"]
        for version in (1, 2):
            schema = json.loads((EXAMPLES / "graph" / f"schema-v{version}.json").read_bytes())
            self.send("PUT", f"{project}/schema", json=schema)
            self.extract()
        usual["object_types"] |= schema["object_types"]
        self.send("PUT", f"{project}/schema", json=usual)
        self.extract()

    def extract(self) -> None:
        for one in self.send("GET", "/documents", params={"status": "completed"})["items"]:
            self.send("POST", f"/documents/{one['id']}/extract", params={"wait": "true"})

    async def printed(self, source: str) -> bytes:
        """A Markdown document as a PDF."""
        page = await self.browser.new_page()
        body = MarkdownIt().enable("table").render(source)
        await page.set_content(f"<style>{STYLE}</style>{body}")
        margin = PdfMargins(top="2cm", right="2cm", bottom="2cm", left="2cm")
        content = await page.pdf(format="A4", margin=margin)
        await page.close()
        return content

    async def open(self, path: str) -> Page:
        page = await self.browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        await page.goto(self.url + path)
        return page


async def take(page: Page, name: str) -> None:
    """A picture once the page and its pictures are there."""
    await page.wait_for_selector("main h1, main h2", state="attached")
    await page.wait_for_selector(".loading", state="detached")
    if await page.locator(".page").count():
        await page.wait_for_selector(".page img")
    await page.evaluate("Promise.all([...document.images].map((image) => image.decode()))")
    await page.mouse.move(0, 799)
    await page.screenshot(path=IMAGES / f"{name}.png")
    await page.close()
    sys.stdout.write(f"Wrote {name}.png.\n")


async def ask(demo: Demo) -> None:
    page = await demo.open("/")
    await page.fill("#question", QUESTION)
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".actions")
    await page.click(".chip >> nth=0")
    await page.wait_for_selector(".evidence .rect")
    await take(page, "ui-ask")


async def documents(demo: Demo) -> None:
    page = await demo.open("/documents?sort=name")
    await page.click("[aria-label^='Preview quarterly']")
    await page.wait_for_selector(".evidence .page img")
    await take(page, "ui-documents")


async def document(demo: Demo) -> None:
    (found,) = demo.send("GET", "/documents", params={"name": "quarterly"})["items"]
    page = await demo.open(f"/d/{found['id']}")
    await page.click(".chunk-list button >> nth=1")
    await page.wait_for_selector(".page .rect")
    await take(page, "ui-document")


async def search(demo: Demo) -> None:
    page = await demo.open("/search?q=when+do+tokens+expire")
    await page.click(".hits button >> nth=0")
    await page.wait_for_selector(".evidence .rect")
    await take(page, "ui-search")


async def graph(demo: Demo) -> None:
    found = demo.send("GET", "/objects", params={"name": OBJECT})["items"]
    page = await demo.open(f"/o/{next(one['id'] for one in found if one['name'] == OBJECT)}")
    await page.wait_for_selector(".canvas canvas")
    await page.click(".object-panel .claim .plain:visible:has-text('sign_in.pdf') >> nth=0")
    await page.wait_for_selector(".evidence .rect")
    await page.wait_for_selector(".canvas[aria-busy=false]")
    await take(page, "ui-graph")


async def main() -> None:
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with ChatEndpoint(says(ANSWER)) as model, serving(model.url) as url:
        async with async_playwright() as playwright:
            options = (
                ["--no-sandbox"] if os.geteuid() == 0 else []
            )  # root has none, and all documents are ours
            browser = await playwright.chromium.launch(executable_path=browser_path, args=options)
            demo = Demo(url, browser)
            await demo.fill()
            for picture in (ask, documents, document, search, graph):
                await picture(demo)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
