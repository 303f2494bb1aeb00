"""Answers that come while the reader is elsewhere, questions that fail, and files dropped on any page."""

import base64
import re
import threading
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, Route, expect
from tests.chat_endpoint import event, events, in_words, says
from tests.files.pdf import pdf
from tests.loopback import Behaviour, Request, Stream, status
from tests.ui.conftest import QUESTION, Site, ask, expect_words_under, loaded

CITED = "Repairs went over budget because of the storm of 9 February."
OTHER = "When did the harbour library close its books?"


def halting(gate: threading.Event, first: str, rest: str) -> Behaviour:
    """Streams the first words, and the rest when the gate opens."""

    def chunks() -> Iterator[bytes]:
        for piece in in_words(first):
            yield event({"content": piece})
        assert gate.wait(120)
        yield from events(in_words(rest))

    def reply(_: Request) -> Stream:
        return Stream(chunks=chunks())

    return reply


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Opened at the end of the test, so that no model waits for ever."""
    made = threading.Event()
    yield made
    made.set()


async def begin(page: Page, question: str = QUESTION) -> None:
    await page.fill("#question", question)
    await page.keyboard.press("Enter")


async def test_an_answer_goes_on_while_the_reader_is_elsewhere(site: Site, gate: threading.Event) -> None:
    site.model.script(halting(gate, "Repairs went over", f" budget. {CITED} [1]"))
    page = await site.open("/")
    await begin(page)
    said = page.locator(".turn:last-of-type .answer-text")
    await expect(said).to_contain_text("Repairs went")
    for way_back in ("nav >> text=Ask", None):
        await page.click("nav >> text=Documents")
        await page.wait_for_selector(".rows-row")
        await (page.click(way_back) if way_back else page.go_back())
        await expect(page.locator(".turn h2")).to_have_text(QUESTION)
        await expect(said).to_contain_text("Repairs went")
        await expect(page.locator(".composer >> text=Stop")).to_be_visible()
    # Another conversation begins beside it, and is left in the list.
    await page.click("text=New conversation")
    await expect(page.locator(".turn")).to_have_count(0)
    await expect(page.locator("#question")).to_be_focused()
    entry = page.locator(".conversations li", has_text="answering")
    await entry.locator("a").click()
    await expect(said).to_contain_text("Repairs went")
    await page.click("nav >> text=Documents")
    async with page.expect_response(lambda answer: "/api/v1/answers/" in answer.url):
        gate.set()
    await page.click("nav >> text=Ask")
    await expect(page).to_have_url(re.compile("/c/"))
    await expect(page.locator(".turn .chip")).to_have_count(1)
    await expect(page.locator(".conversations .badge", has_text="answering")).to_have_count(0)
    await page.click("text=New conversation")
    await expect(page.locator("text=Ask your documents")).to_be_visible()


@pytest.mark.parametrize("by_menu", [True, False])
async def test_the_page_that_asked_finds_the_answer_that_came_meanwhile(
    site: Site, gate: threading.Event, *, by_menu: bool
) -> None:
    page = await site.open("/")
    await ask(page)
    site.model.script(halting(gate, "The harbour library", " closed its books on 31 March. [1]"))
    await begin(page, OTHER)
    await expect(page.locator(".turn")).to_have_count(2)
    conversation = page.url
    await page.click("nav >> text=Search")
    await page.wait_for_selector("[aria-label=Search]")
    async with page.expect_response(lambda answer: "/api/v1/answers/" in answer.url):
        gate.set()
    await (page.click("nav >> text=Ask") if by_menu else page.go_back())
    await expect(page.locator(".turn")).to_have_count(2)
    await expect(page.locator(".turn:last-of-type .chip")).to_have_count(1)
    assert page.url == conversation
    # Once it was seen, the menu begins a new conversation again.
    await page.click("nav >> text=Search")
    await page.wait_for_selector("[aria-label=Search]")
    await page.click("nav >> text=Ask")
    await expect(page.locator("text=Ask your documents")).to_be_visible()


async def test_a_reload_keeps_what_came_and_asks_again(site: Site, gate: threading.Event) -> None:
    site.model.script(halting(gate, "Repairs went over", " budget."))
    page = await site.open("/")
    await begin(page)
    await expect(page.locator(".answer-text")).to_contain_text("Repairs went")
    await page.reload()
    turn = page.locator(".turn")
    await expect(turn.locator("h2")).to_have_text(QUESTION)
    await expect(turn.locator(".answer-text")).to_contain_text("Repairs went")
    await expect(turn.locator(".failed")).to_contain_text("before the answer was complete")
    await turn.locator("text=Ask again").click()
    await expect(turn.locator(".chip")).to_have_count(1)
    await expect(turn.locator(".failed")).to_have_count(0)
    await page.reload()
    await expect(turn.locator(".chip")).to_have_count(1)


@pytest.mark.parametrize("then", ["Ask again", "reload"])
async def test_an_answer_that_was_stored_but_did_not_arrive_is_shown(site: Site, then: str) -> None:
    page = await site.open("/")
    await loaded(page)  # what is new is known by the conversations that were there

    async def lose(route: Route) -> None:
        sent = {**(route.request.post_data_json or {}), "stream": False}
        assert site.http.post("/api/v1/chat", json=sent).is_success
        await route.abort("connectionreset")

    await page.route("**/api/v1/chat", lose)
    await begin(page)
    await expect(page.locator(".failed")).to_contain_text("does not answer")
    asked = len(site.model.requests)
    await (page.reload() if then == "reload" else page.click("text=Ask again"))
    await expect(page.locator(".turn .chip")).to_have_count(1)
    await expect(page).to_have_url(re.compile("/c/"))
    await expect(page.locator(".turn")).to_have_count(1)
    assert len(site.model.requests) == asked, "the model is not asked a second time"


async def test_a_question_that_failed_stays_with_a_way_to_ask_again(site: Site) -> None:
    site.model.script(status(500, message="out of order"))
    page = await site.open("/")
    await ask(page)
    failed = page.locator(".turn .failed")
    await expect(failed).to_be_visible()
    await page.click("nav >> text=Documents")
    await page.wait_for_selector(".rows-row")
    await page.click("nav >> text=Ask")
    await expect(failed).to_be_visible()
    await page.reload()
    await expect(failed).to_be_visible()
    await page.click("text=Edit the question")
    await expect(page.locator("#question")).to_have_value(QUESTION)
    await expect(page.locator(".turn")).to_have_count(0)
    await expect(page.locator("#question")).to_be_focused()
    site.model.script(status(500, message="out of order"))
    await page.keyboard.press("Enter")
    await expect(failed).to_be_visible()
    await page.click("text=Ask again")
    await expect(page.locator(".turn .chip")).to_have_count(1)


async def test_one_types_on_while_an_answer_comes(site: Site, gate: threading.Event) -> None:
    for by_key in (True, False):
        gate.clear()
        site.model.script(halting(gate, "Repairs", f" went. {CITED} [1]"))
        page = await site.open("/")
        await page.fill("#question", QUESTION)
        await (page.keyboard.press("Enter") if by_key else page.click(".composer .primary"))
        await expect(page.locator(".answer-text")).to_contain_text("Repairs")
        await page.keyboard.type("And why")
        gate.set()
        await page.wait_for_selector(".turn .actions")
        await expect(page).to_have_url(re.compile("/c/"))
        await page.keyboard.type(" so late?")
        await expect(page.locator("#question")).to_have_value("And why so late?")
        assert await page.locator("dialog").count() == 0


async def test_evidence_that_is_opened_early_stays_open(site: Site, gate: threading.Event) -> None:
    site.model.script(halting(gate, f"{CITED} [1] The", " end."))
    page = await site.open("/")
    await begin(page)
    await page.click(".chip")
    await expect(page.locator(".evidence")).to_be_visible()
    gate.set()
    await page.wait_for_selector(".turn .actions")
    await expect(page).to_have_url(re.compile("/c/"))
    await expect(page.locator(".evidence h2")).to_have_text("report.pdf")


async def test_the_page_follows_an_answer_unless_the_reader_scrolls(
    site: Site, gate: threading.Event
) -> None:
    lines = "\n\n".join(f"Line {n} of the answer." for n in range(40))
    site.model.script(halting(gate, lines, f"\n\nThe last line. {CITED} [1]"))
    page = await site.open("/", viewport={"width": 1280, "height": 500})
    await begin(page)
    await expect(page.locator(".answer-text p", has_text="Line 39")).to_be_in_viewport()
    await page.locator(".answer-text p", has_text="Line 2 of").scroll_into_view_if_needed()
    await expect(page.locator(".answer-text p", has_text="Line 2 of")).to_be_in_viewport()
    gate.set()
    await page.wait_for_selector(".turn .actions")
    await expect(page.locator(".answer-text p", has_text="Line 2 of")).to_be_in_viewport()


async def test_every_tab_says_what_it_shows(site: Site) -> None:
    page = await site.open("/")
    await expect(page).to_have_title(re.compile(r"^Ask · (default · )?Whence$"))
    await ask(page)
    await expect(page).to_have_title(re.compile(rf"^{re.escape(QUESTION)} · Ask · "))
    listed = site.data("GET", "/objects")["items"][0]
    for path, title in (
        (f"/d/{site.ids['pdf']}", "report.pdf · Document · "),
        ("/documents", "Documents · "),
        ("/search?q=storm", "storm · Search · "),
        (f"/o/{listed['id']}?view=table", f"{listed['name']} · Graph · "),
        ("/jobs", "Jobs · "),
        ("/projects", "Projects and keys · "),
    ):
        await page.goto(site.url + path)
        await expect(page).to_have_title(re.compile(f"^{re.escape(title)}.*Whence$"))


async def test_escape_closes_the_panes_of_objects_and_jobs(site: Site) -> None:
    page = await site.open("/jobs")
    panel = page.locator(".object-panel")
    for path, closed in (("/jobs", "/jobs"), ("/graph?view=table", "/graph?view=table")):
        await page.goto(site.url + path)
        opener = page.locator(".rows-row a").first
        await opener.click()
        await expect(panel.locator("h2")).to_be_visible()
        await expect(page.locator(".rows-row.on")).to_have_count(1)
        await page.keyboard.press("Escape")
        await expect(panel).to_have_count(0)
        await expect(page.locator(".rows-row.on")).to_have_count(0)
        await expect(page).to_have_url(site.url + closed)
        await expect(opener).to_be_focused()
    # First the evidence, then the object; a box is only left.
    await page.locator(".rows-row a").first.click()
    await panel.locator(".claim .plain").first.click()
    await expect(page.locator(".evidence")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator(".evidence")).to_have_count(0)
    await page.focus("[data-main-input]")
    await page.keyboard.press("Escape")
    await expect(panel).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(panel).to_have_count(0)


DROPPED = """([name, content]) => {
    const files = new DataTransfer();
    const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
    files.items.add(new File([bytes], name, {type: "application/pdf"}));
    return files;
}"""


async def drop(page: Page, name: str, content: bytes) -> None:
    files = await page.evaluate_handle(DROPPED, [name, base64.b64encode(content).decode()])
    await page.dispatch_event("main", "dragover", {"dataTransfer": files})
    await expect(page.locator(".drop-hint")).to_be_visible()
    await page.dispatch_event("main", "drop", {"dataTransfer": files})
    await expect(page.locator(".drop-hint")).to_have_count(0)


async def test_from_a_dropped_pdf_to_the_line_on_its_page(site: Site) -> None:
    line = "The lighthouse of Brae burns 40 litres of oil in a night."
    content = pdf([["# Lights", line]])
    page = await site.open("/")
    await drop(page, "lights.pdf", content)
    arrivals = page.locator(".arrivals")
    await expect(arrivals.locator("a", has_text="lights.pdf")).to_be_visible()
    await expect(arrivals).to_contain_text("completed")
    await page.click("nav >> text=Jobs")
    await page.wait_for_selector(".rows-row")
    await arrivals.locator("text=Ask about it").click()
    await expect(page.locator("#question")).to_be_focused()
    site.model.script(says(f"{line} [1]"))
    await page.keyboard.type("How much oil does the lighthouse of Brae burn?")
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".turn .actions")
    await page.click(".chip")
    await page.wait_for_selector(".evidence .page img")
    await expect_words_under(page, content, line, number=1)
    await arrivals.locator("[aria-label='Close the list of added documents']").click()
    await expect(arrivals).to_have_count(0)
    await drop(page, "torn.pdf", b"%PDF-1.7\nnothing more")
    await expect(arrivals).to_contain_text("failed")
    await expect(arrivals.locator(".reason")).to_contain_text("damaged")
    for name in ("lights.pdf", "torn.pdf"):
        (found,) = site.data("GET", "/documents", params={"name": name})["items"]
        site.data("DELETE", f"/documents/{found['id']}")
