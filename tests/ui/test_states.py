"""Every list and pane in its four states: loading, failed, empty and with content."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect
from tests.chat_endpoint import says
from tests.ui.conftest import PATIENCE, QUESTION, SCHEMA, Site

from whence.models import DEFAULT_PROJECT_ID

NONE = {"items": [], "pagination": {"total": 0, "limit": 100, "offset": 0, "has_more": False}, "notes": []}
NO_GRAPH: dict[str, Any] = {"nodes": [], "edges": [], "total": 0, "types": {}}
NO_IMPACT = {
    **dict.fromkeys(
        ("chunks", "jobs", "original_bytes", "objects", "relationships", "properties", "answers"), 0
    ),
    "graph": {"objects": [], "properties": []},
}
NO_COST = {
    **dict.fromkeys(("chunks", "documents", "promptTokens", "completionTokens", "carriedOver"), 0),
    "extractor": "rules",
    "cost": None,
}
SAME = {"added": [], "removed": [], "renamed": [], "changed": [], "remerged": [], "needs_model": False}
FAILURE = {
    "success": False,
    "error": {"code": "OUT_OF_ORDER", "message": "The shelf fell over.", "details": {}},
}
ABSENCE = {
    "success": False,
    "error": {"code": "NOT_FOUND", "message": "There is no such thing.", "details": {}},
}
FIXED = ("main", ".evidence", ".evidence-body", ".document-left", ".side-body", ".graph-main")
"""Panes whose height does not depend on what is in them."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A list or a pane, the request that fills it, and what is in it."""

    path: str
    request: str
    pane: str
    content: str
    before: Callable[[Page], Awaitable[None]] | None = None
    """What to do until the request is sent."""
    empty: Any = None
    """The data of an answer without anything."""
    absent: str = ""
    """Instead, for one thing: where to go on if it does not exist."""
    never: str = ""
    """Instead, why there is always something."""
    known: str = ""
    """A part that the skeleton has, too; it neither moves nor grows."""
    says: str = ""
    button: str = ""
    """The one that fills what is empty."""


def click(*selectors: str) -> Callable[[Page], Awaitable[None]]:
    async def act(page: Page) -> None:
        for selector in selectors:
            await page.click(selector)

    return act


async def type_text(page: Page) -> None:
    await click("text=Add documents", "dialog .tabs >> text=Text")(page)
    await page.fill("dialog textarea", "# Typed\n\nBuoys are red.")


def part(title: str) -> str:
    return f".object-panel section:has(h3:text-is('{title}'))"


def panel(title: str) -> str:
    return f".panel:has(h2:text-is('{title}'))"


PAGE = ".page-body:not(.loading)"
ADD, EXTRACT, CLEAR = "Add documents", "Extract with the schema", "Clear the filters"
CASES = {
    "conversations": Case(
        path="/", request=r"/conversations\?", pane=".conversations", content="li",
        empty=NONE, says="Your questions appear here", button="New conversation",
    ),
    "conversation": Case(
        path="/c/{answered}", request="/conversations/{answered}$", pane=".turns", content=".turn",
        empty={"messages": [], "projectId": str(DEFAULT_PROJECT_ID)}, says="Ask your documents", button=ADD,
    ),
    "answer": Case(path="/a/{answer}", request="/answers/{answer}$", pane=".turns", content=".turn",
        absent="New conversation",
    ),
    "nearest": Case(
        path="/c/{unanswered}", request="/search$", pane=".near", content=".hits li",
        empty=NONE, says="nothing to read", button=ADD,
    ),
    "objects of an answer": Case(
        path="/c/{graphed}", request="/chunks/[^/]*/objects", pane=".from-graph", content=".badge",
        before=click("text=From the knowledge graph"), empty=NONE, says="No object is named", button="Open the graph",
    ),
    "evidence": Case(path="/search?at={pdf}:0-20", request="/spans", pane=".evidence", content=".rect",
        absent="See all documents", known=".evidence > header",
    ),
    "picture of a page": Case(
        path="/search?at={pdf}:0-20", request="/pages/1/image", pane=".evidence-body", content=".page img",
        never="a page is drawn, or fails", known=".page",
    ),
    "preview": Case(path="/documents?at={pdf}:0-0", request="/documents/{pdf}$", pane=".evidence", content=".cut",
        absent="See all documents", known=".evidence > header",
    ),
    "documents": Case(
        path="/documents", request=r"/documents\?", pane=PAGE, content=".rows-row a",
        empty=NONE, says="No documents yet", button="Choose files", known=".rows-head",
    ),
    "cuts": Case(
        path="/documents", request="/chunking/preview", pane="dialog", content=".cut", before=type_text,
        empty={"chunks": [], "summary": {}}, says="no text to cut",
    ),
    "impact": Case(
        path="/documents", request="/deletion-impact", pane="dialog", content="ul",
        before=click("[aria-label='Delete report.pdf']"), empty=NO_IMPACT, says="Nothing in the graph and no stored answer",
    ),
    "document": Case(path="/d/{pdf}", request="/documents/{pdf}$", pane="main", content=".document-page h1",
        absent="See all documents", known=".document-left",
    ),
    "text": Case(path="/d/{notes}", request="/documents/{notes}/text", pane="main", content=".document-left .cut",
        empty={"text": ""}, says="No text", button="New version",
    ),
    "pages": Case(
        path="/d/{pdf}", request=r"/documents/{pdf}/pages\?", pane=".document-left", content=".page img",
        empty=NONE, says="No pages", button="Show the text",
    ),
    "an older version": Case(
        path="/d/{chinese}?version=1", request="/versions/1", pane=".document-left", content=".stale",
        empty={"version": 1, "version_at": "2026-01-01T00:00:00Z", "text": "", "chunks": []},
        says="This version had no text", button="Open the current version",
    ),
    "chunks": Case(
        path="/d/{notes}", request=r"/documents/{notes}/chunks\?", pane="main", content=".chunk-list li",
        empty=NONE, says="No chunks", button="New version",
    ),
    "claims": Case(
        path="/d/{notes}?tab=claims", request=r"/documents/{notes}/claims", pane=".side-body",
        content=".claim-list .plain", empty=NONE, says="No claims", button=EXTRACT,
    ),
    "versions": Case(
        path="/d/{notes}?tab=versions", request=r"/versions\?", pane=".side-body", content=".versions li",
        empty=NONE, says="Not read yet",
    ),
    "jobs of a document": Case(
        path="/d/{notes}?tab=versions", request=r"/jobs\?", pane=".claim-group", content="li",
        empty=NONE, says="No job is kept",
    ),
    "hits": Case(
        path="/search?q=storm", request="/search$", pane=PAGE, content=".hits li",
        empty=NONE, says="Nothing is relevant enough", button="Show what is nearest",
    ),
    "nearest hits": Case(
        path="/search?q=storm&floor=off", request="/search$", pane=PAGE, content=".hits li",
        empty=NONE, says="nothing to search", button=ADD,
    ),
    "picture": Case(
        path="/graph", request="/graph/outline", pane=".graph-main", content=".canvas canvas >> nth=0",
        empty=NO_GRAPH, says="No objects", button=EXTRACT,
    ),
    "table": Case(
        path="/graph?view=table", request=r"/objects\?", pane=".graph-main", content=".rows-row a",
        empty=NONE, says="No objects", button=EXTRACT, known=".rows-head",
    ),
    "conflicts": Case(
        path="/graph?view=issues", request="/conflicts", pane=".graph-main", content=".claim button",
        empty=NONE, says="No two sources contradict each other",
    ),
    "suggestions": Case(
        path="/graph?view=issues", request="/merge-suggestions", pane=".graph-main", content=".pair",
        empty=NONE, says="No two objects look like one",
    ),
    "all corrections": Case(
        path="/graph?view=issues", request="/curations", pane=".graph-main", content=".claim >> text=Undo",
        empty=NONE, says="Nobody has corrected anything",
    ),
    "object": Case(path="/o/{object}", request="/objects/{object}$", pane=".object-panel", content="h2",
        absent="See the whole graph",
    ),
    "relationships": Case(
        path="/o/{object}?view=table", request="/relationships", pane=part("Relationships"), content="p",
        empty=NONE, says="No relationship is known",
    ),
    "may be the same": Case(
        path="/o/{object}?view=table", request="/merge-suggestions", pane=part("May be the same"), content=".pair",
        empty=NONE, says="No other object looks like this one",
    ),
    "merged": Case(
        path="/o/{object}?view=table", request="/objects/merges", pane=part("Merged"), content="p",
        empty=NONE, says="No other object became part of it",
    ),
    "corrections": Case(
        path="/o/{object}?view=table", request="/curations", pane=part("Corrections"), content=".claim",
        empty=NONE, says="Nobody has corrected it",
    ),
    "schema": Case(path="/schema", request="/projects/[^/]*/schema$", pane=PAGE, content="#schema-json",
        empty={"version": None, "schema": {"object_types": {}}}, says="No types yet", button="Add",
    ),
    "changes": Case(
        path="/schema", request="/schema/diff", pane=panel("Changes"), content=".diff li",
        empty=SAME, says="Nothing differs",
    ),
    "dry run": Case(path="/schema", request="/reextract", pane=panel("Extract"), content="p",
        empty=NO_COST, says="nothing is left",
    ),
    "jobs": Case(
        path="/jobs", request=r"/jobs\?", pane=PAGE, content=".rows-row a",
        empty=NONE, says="No jobs", button=ADD, known=".rows-head",
    ),
    "job": Case(path="/jobs?job={job}", request="/jobs/{job}$", pane=".object-panel", content="table",
        absent="See all jobs", known=".object-panel > header",
    ),
    "rejected": Case(
        path="/jobs?job={job}", request="/readings", pane=part("Rejected"), content="p",
        empty=NONE, says="Nothing was rejected",
    ),
    "projects": Case(path="/projects", request=r"/projects\?", pane="main", content="table",
        empty=NONE, says="There are no projects yet", button="Create",
    ),
    "keys": Case(
        path="/projects", request=r"/keys\?", pane=panel("Keys"), content="table",
        empty=NONE, says="There are no keys yet", button="Create a key",
    ),
    "readiness": Case(path="/status", request="/readyz", pane=PAGE, content=".badge", never="a server has a state"),
    "counts": Case(path="/status", request=r"/api/v1/graph\?", pane=panel("default"), content="table",
        empty=NO_GRAPH, says="none yet",
    ),
    "server": Case(path="/status", request="/api/v1/status", pane=panel("Server"), content=".findings",
        never="a check finds something",
    ),
    "reference": Case(path="/docs", request="/openapi.json", pane=PAGE, content=".reference", never="the server has routes"),
}  # fmt: skip


# To route requests would switch off the browser's cache for all of them.
FETCH = """{
    const real = window.fetch;
    window.fetch = async (...sent) => {
        const given = await window.answer(sent[0].url ?? String(sent[0]));
        return given ? Response.json(given.body, given) : real(...sent);
    };
}"""


@dataclass
class Answers:
    """Answers a request of the page as it is told: holds it back, fails, has nothing, or lets it through."""

    pattern: re.Pattern[str] = re.compile("(?!)")
    empty: Any = None
    mode: str = "hold"
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, pattern: str, empty: Any) -> None:
        self.pattern, self.empty, self.mode = re.compile(pattern), empty, "hold"
        self.asked, self.released = asyncio.Event(), asyncio.Event()

    async def answer(self, url: str) -> dict[str, Any] | None:
        """None lets the request through."""
        if not self.pattern.search(url):
            return None
        self.asked.set()
        if self.mode == "hold":
            await self.released.wait()
        if self.mode == "fail":
            return {"status": 500, "headers": {"X-Request-ID": "request-of-this-test"}, "body": FAILURE}
        if self.mode == "empty" and self.empty is None:
            return {"status": 404, "body": ABSENCE}
        if self.mode == "empty":
            return {"body": {"success": True, "data": self.empty}}
        return None

    def go_on(self, mode: str) -> None:
        self.mode = mode
        self.released.set()


@pytest.fixture(scope="module")
def ids(served: Site) -> dict[str, str]:
    """What the paths name: something for every list."""
    project = f"/projects/{DEFAULT_PROJECT_ID}"
    data = served.data
    more = {**SCHEMA["object_types"]["Requirement"]["properties"], "priority": {"type": "string"}}
    data("PUT", f"{project}/schema", json={"object_types": {"Requirement": {"properties": more}}})
    jobs = []
    for name, says_it in (
        ("old.md", "Harbour Master\n\nExpiration: 1 hour"),
        ("new.md", "Harbour Master\n\nExpiration: 2 hours"),
        ("alike.md", "Harbor Master\n\nExpiration: 2 hours"),
    ):
        ident = served.ingest(name, f"# Rules\n\nRequirement: {says_it}\n")
        jobs.append(data("POST", f"/documents/{ident}/extract", params={"wait": "true"})["jobId"])
    files = {"file": ("城市.txt", "东京是一座城市。")}
    data("PUT", f"/documents/{served.ids['chinese']}", files=files, params={"wait": "true"})
    found = next(one for one in data("GET", "/objects")["items"] if one["name"] == "Harbour Master")
    data("PATCH", f"/objects/{found['id']}", json={"set": {"expiration": "3 hours"}})
    data("POST", "/keys", json={"name": "one", "scope": "read"})
    asked = {"answered": QUESTION, "unanswered": "Which temperature melts tungsten carbide?"}
    asked["graphed"] = "What is the expiration of OAuth 2.0?"
    answers = {}
    for name, question in asked.items():
        if name == "graphed":
            served.model.script(says("The expiration of OAuth 2.0 is 1 hour. [1]"))
        body = {"projectId": str(DEFAULT_PROJECT_ID), "message": question, "store": True}
        answers[name] = served.http.post("/api/v1/chat", json=body).json()
    return {
        **served.ids,
        **{name: one["conversationId"] for name, one in answers.items()},
        "answer": answers["answered"]["answerId"],
        "object": found["id"],
        "job": jobs[0],
        "torn": served.ingest("torn.pdf", b"%PDF-1.7\nnothing more"),
    }


async def test_every_list_and_pane_has_four_states(site: Site, ids: dict[str, str]) -> None:
    page = await site.open("/status")
    answers = Answers()
    await page.expose_function("answer", answers.answer)
    await page.add_init_script(FETCH)
    for name, case in CASES.items():
        assert sum(map(bool, (case.empty, case.absent, case.never))) == 1, (
            f"{name}: what if there is nothing?"
        )
        try:
            answers.begin(case.request.format(**ids), case.empty)
            await show_states(page, site.url + case.path.format(**ids), case, answers)
        except (AssertionError, TimeoutError) as failed:
            failed.add_note(name)
            raise


async def show_states(page: Page, url: str, case: Case, answers: Answers) -> None:
    pane = page.locator(case.pane).first
    await visit(page, url, case)
    async with asyncio.timeout(PATIENCE / 1000):
        await answers.asked.wait()
    await expect(pane.locator(".loading, .bone").first).to_be_visible()
    before = await places(pane, case)
    answers.go_on("fail")
    failed = pane.locator(".failed").first
    await expect(failed).to_contain_text("The shelf fell over.")
    await expect(failed).to_contain_text("OUT_OF_ORDER · request request-of-this-test")
    answers.go_on("real" if case.never else "empty")
    await failed.locator("text=Try again").click()
    if not case.never:
        await expect(pane).to_contain_text(case.says or "There is no such")
        for button in filter(None, (case.button, case.absent)):
            await expect(page.locator(".button, button, a", has_text=button).first).to_be_visible()
        answers.go_on("real")
        await visit(page, url, case)
    await expect(pane.locator(case.content).first).to_be_visible()
    assert await places(pane, case) == before, "the skeleton has the place of the content"


async def visit(page: Page, url: str, case: Case) -> None:
    await page.goto(url)
    if case.before:
        await case.before(page)


async def places(pane: Locator, case: Case) -> list[int]:
    """Left and width of a pane; its top unless other lists are above; its height if it is fixed; all of the part that is known.

    How high a list is depends on what comes; no page jumps, another test says.
    """
    box = await pane.bounding_box()
    assert box
    is_below_others = ":has(" in case.pane or case.pane == ".claim-group"
    found = [box["x"], box["width"], *([] if is_below_others else [box["y"]])]
    if case.pane in FIXED:
        found.append(box["height"])
    if case.known:
        part = await pane.page.locator(case.known).first.bounding_box()
        assert part
        found += [part["x"], part["y"], part["width"], part["height"]]
    return [round(number) for number in found]


async def test_filters_that_nothing_passes_are_cleared(site: Site, ids: dict[str, str]) -> None:
    page = await site.open("/status")
    for path, content in (
        ("/documents?name=zebra&status=failed", ".rows-row a"),
        ("/jobs?status=cancelled", ".rows-row a"),
        ("/search?q=storm&since=2999-01-01", ".hits li"),
        ("/docs?q=zebra", ".reference"),
    ):
        await page.goto(site.url + path)
        await page.click(f".empty >> text={CLEAR}")
        await expect(page.locator(content).first).to_be_visible()
    await page.goto(f"{site.url}/d/{ids['torn']}")
    await expect(page.locator(".empty")).to_have_count(2)
    async with page.expect_response(re.compile("/retry$")) as answered:
        await page.click(".side-body >> text=Read it again")
    assert (await answered.value).status == 202


async def test_every_claim_of_a_document_is_listed(site: Site) -> None:
    rules = "\n\n".join(f"Requirement: Rule {n}\n\nExpiration: {n} hours" for n in range(1, 131))
    ident = site.ingest("rules.md", f"# Rules\n\n{rules}\n")
    site.data("POST", f"/documents/{ident}/extract", params={"wait": "true"})
    total = site.data("GET", f"/documents/{ident}/claims", params={"limit": 1})["pagination"]["total"]
    assert total > 200
    page = await site.open(f"/d/{ident}?tab=claims")
    await expect(page.locator(".side-body")).to_contain_text(f"{total} claims about")
    lines = page.locator(".claim-list li")
    assert await lines.count() < 80
    await page.evaluate("document.querySelector('.side-body').scrollTop = 1e6")
    last = page.locator(".claim-list .plain", has_text="expiration: 130 hours")
    await last.click()
    await expect(page.locator(".cut.on mark")).to_have_text(re.compile("130 hours"))
    site.data("DELETE", f"/documents/{ident}")
