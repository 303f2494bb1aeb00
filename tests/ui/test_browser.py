"""The main flow of every page in a real browser."""

import asyncio
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest
from playwright.async_api import Browser, FilePayload, Page, Route, expect
from tests.api.conftest import serve_in_thread, usual_settings
from tests.chat_endpoint import cut, says
from tests.files.pdf import pdf
from tests.samples import make_sample
from tests.ui.conftest import HOSTILE, PAGES, QUESTION, REPORT, Site, ask, expect_words_under, loaded

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store

EVIL = "https://evil.example/?q=secret"
PHONE = {"width": 380, "height": 780}
CITED = "Repairs went over budget because of the storm of 9 February."


async def test_from_a_question_to_the_words_on_the_page(site: Site) -> None:
    page = await site.open("/")
    await ask(page)
    chip, quote = page.locator(".chip"), page.locator("[role=tooltip]")
    await chip.hover()
    await expect(quote).to_contain_text(CITED)
    assert await chip.get_attribute("aria-describedby") == await quote.get_attribute("id")
    await page.keyboard.press("Escape")
    await expect(quote).to_have_count(0)
    await page.keyboard.press("Tab")
    await chip.focus()
    await expect(quote).to_be_visible()
    await chip.click()
    await expect(quote).to_have_count(0)
    await page.wait_for_selector(".evidence .page img")
    await expect_words_under(page, pdf(REPORT), CITED, number=2)
    await expect(page.locator(".evidence")).to_contain_text("page 2")
    await expect(page.locator(".sentence")).to_have_class(re.compile("verbatim"))
    address = page.url
    await page.reload()
    await page.wait_for_selector(".evidence .page img")
    await page.keyboard.press("Escape")
    await expect(page.locator(".evidence")).to_have_count(0)
    await page.go_back()
    await page.wait_for_selector(".evidence .rect")
    assert page.url == address


async def test_an_evidence_file_opens_with_its_style(site: Site) -> None:
    page = await site.open("/")
    await ask(page)
    async with page.context.expect_page() as opened:
        await page.click("text=Evidence file")
    file = await opened.value
    await expect(file.locator("blockquote")).to_contain_text(CITED)
    whole, mark = await file.locator(".crop").bounding_box(), await file.locator(".crop rect").bounding_box()
    assert whole
    assert mark
    assert whole["y"] < mark["y"] < whole["y"] + whole["height"]
    assert await file.evaluate("getComputedStyle(document.querySelector('.crop')).display") == "block"


async def test_a_link_of_an_older_version(site: Site) -> None:
    ident = site.ingest("rules.md", "Books are lent for 3 weeks.\n\nFilms are lent for 2 days.\n")
    new = "Opened in 1911.\n\nBooks are lent for 3 weeks.\n"
    site.data("PUT", f"/documents/{ident}", files={"file": ("rules.md", new)}, params={"wait": "true"})
    page = await site.open(f"/d/{ident}?span=0-27&v=1")
    await expect(page.locator(".stale")).to_contain_text("made under version 1: the text is now here")
    await expect(page.locator(".document-text mark")).to_have_text("Books are lent for 3 weeks.")
    await page.goto(f"{site.url}/d/{ident}?span=29-55&v=1")
    await expect(page.locator(".stale")).to_contain_text("is gone")
    await expect(page.locator(".stale blockquote")).to_have_text("Films are lent for 2 days.")
    await page.click("text=Versions")
    versions = page.locator(".versions li")
    await expect(versions.nth(0)).to_contain_text(
        re.compile(r"Version 2.*current.*new content.*1 chunk", re.DOTALL)
    )
    await versions.nth(1).locator("a").click()
    await expect(page.locator(".document-left")).to_contain_text("Films are lent for 2 days.")
    await page.reload()
    await expect(page.locator(".document-left .stale")).to_contain_text("This is version 1")
    await page.click("text=Open the current version")
    await expect(page.locator(".document-left")).to_contain_text("Opened in 1911.")
    site.data("DELETE", f"/documents/{ident}")


async def test_a_broken_stream_keeps_what_came(site: Site) -> None:
    site.model.script(cut(after=3, text="Repairs went over budget"))
    page = await site.open("/")
    await ask(page)
    await expect(page.locator(".turn .failed")).to_be_visible()
    await expect(page.locator(".answer-text")).to_contain_text("Repairs went")
    await expect(page.locator(".turn")).to_contain_text("Asking again")
    await page.click(".turn >> text=Ask again")
    await page.wait_for_selector(".chip")


async def test_a_server_that_is_gone_and_comes_back(site: Site) -> None:
    page = await site.open("/documents")
    await page.wait_for_selector(".rows-row")
    await page.context.set_offline(True)
    await page.fill("[data-main-input]", "report")
    await expect(page.locator(".failed")).to_contain_text("does not answer")
    await page.context.set_offline(False)
    await page.click(".failed button")
    await expect(page.locator(".rows-row")).to_have_count(1)
    # The code of another page is not there yet.
    await page.context.set_offline(True)
    await page.click("nav >> text=Schema")
    failed = page.locator(".failed")
    await expect(failed).to_contain_text("The server does not answer")
    assert ".js" not in await failed.inner_text()
    await failed.locator("button").click()
    await expect(failed).to_contain_text("The server does not answer")
    await page.context.set_offline(False)
    await failed.locator("button").click()
    await expect(page.locator("#schema-json")).to_be_visible()


async def test_nothing_that_others_wrote_runs(site: Site) -> None:
    site.model.script(
        says(f"<script>window.pwned=1</script> {HOSTILE} [x](javascript:window.pwned=1) {EVIL} [1]")
    )
    page = await site.open("/")
    await ask(page, "Who knows it here?")
    await expect(page.locator(".answer-text")).to_contain_text(EVIL)
    assert await page.locator(".answer-text a").count() == 0, "the address of another site is text"
    for path in ("/documents", f"/d/{site.ids['hostile']}", "/search?q=nobody+knows", f"/search?q={HOSTILE}"):
        await page.goto(site.url + path)
        await page.wait_for_selector(".rows-row, .document-text, .hits, .empty")
    assert await page.evaluate("window.pwned") is None
    site.data("DELETE", f"/documents/{site.ids.pop('hostile')}")


async def test_adding_previewing_and_deleting_a_document(site: Site) -> None:
    page = await site.open("/documents")
    await page.click("text=Add documents")
    file = FilePayload(
        name="added.md", mimeType="text/markdown", buffer=b"# One\n\nFirst.\n\n# Two\n\nSecond."
    )
    await page.set_input_files("dialog input[type=file]", file)
    await expect(page.locator(".cuts .cut")).to_have_count(2)
    await page.click("dialog .primary")
    row = page.locator(".rows-row", has_text="added.md")
    await expect(row).to_contain_text("completed")
    await page.fill("[data-main-input]", "added")
    await expect(page).to_have_url(re.compile("name=added"))
    await expect(page.locator(".rows-row")).to_have_count(1)
    await page.click("[aria-label='Delete added.md']")
    await expect(page.locator("dialog")).to_contain_text("2 chunks")
    await expect(page.locator("dialog")).to_contain_text("no stored answer rests on it")
    await page.click("dialog .danger")
    await expect(row).to_have_count(0)


async def test_a_long_list_has_only_the_rows_in_view(site: Site, dsn: str) -> None:
    made = site.data("POST", "/projects", json={"name": "long", "config": {"extraction": "manual"}})
    async with Store.open(dsn, size=2) as store, store.transaction() as tx:
        for number in range(300):
            sample = make_sample(chunks=1, project_id=UUID(made["id"]), name=f"note-{number:03}.txt")
            await tx.documents.insert(sample.document)
            await tx.jobs.insert(sample.job)
            await tx.chunks.insert(sample.chunks)
    page = await site.open(f"/documents?project={made['id']}")
    await expect(page.locator(".page-head")).to_contain_text("300 documents")
    assert await page.locator(".rows-row").count() < 80
    await page.evaluate("document.querySelector('main').scrollTop = 1e6")
    await expect(page.locator(".rows-row", has_text="note-000.txt")).to_be_visible()
    site.data("DELETE", f"/projects/{made['id']}")


async def test_a_document_and_its_chunks(site: Site) -> None:
    page = await site.open(f"/d/{site.ids['pdf']}")
    await page.wait_for_selector(".page img")
    await page.click(".chunk-list button")
    await page.wait_for_selector(".page .rect")
    await page.click("text=Text")
    await expect(page.locator(".cut.on mark")).to_contain_text("Spending")
    await page.click("text=Claims")
    await page.goto(f"{site.url}/d/{site.ids['notes']}?tab=claims")
    await page.click("text=expiration: 1 hour")
    await expect(page.locator(".cut.on mark")).to_contain_text("1 hour")


async def test_words_that_changed_or_went_are_not_marked(site: Site) -> None:
    trail = "\n\n".join(f"{'#' * n} A heading that says far too much, number {n}" for n in range(1, 6))
    fee, text = "The mooring fee of the quay is 40 crowns a week.", "# Fees\n\n{}\n"
    ident = site.ingest("fees.md", f"{trail}\n\n{fee}\n")
    site.model.script(says(f"{fee} [1]"))
    page = await site.open("/", viewport=PHONE)
    await ask(page, "What is the mooring fee of the quay?")
    await page.click(".chip")
    evidence, cross = page.locator(".evidence"), page.locator("[aria-label='Close the evidence']")
    await expect(evidence.locator("mark")).to_have_text(fee)
    box = await cross.bounding_box()
    assert box
    assert box["x"] + box["width"] <= PHONE["width"]
    await page.keyboard.press("Escape")
    await expect(page.locator(".chip").first).to_be_focused()
    await page.click(".chip")
    files = {"file": ("fees.md", text.format(fee.replace("40", "55")))}
    site.data("PUT", f"/documents/{ident}", files=files, params={"wait": "true"})
    await page.reload()
    await expect(evidence).to_contain_text("has changed since")
    await expect(evidence).to_contain_text("55 crowns")
    await expect(evidence.locator("blockquote").first).to_have_text(fee)
    assert await evidence.locator("mark, .level").count() == 0
    site.data("DELETE", f"/documents/{ident}")
    await page.reload()
    await expect(evidence).to_contain_text("was deleted")
    await expect(evidence.locator("blockquote")).to_have_text(fee)


async def test_a_page_that_is_too_large_says_so(site: Site) -> None:
    boxes = ["/MediaBox [0 0 20000 20000]", ""]
    ident = site.ingest("wall.pdf", pdf([["A wall."], ["A page."]], shown=boxes))
    page = await site.open(f"/d/{ident}")
    await expect(page.locator("[data-page='1']")).to_contain_text("Page 1 is 20,000 by 20,000 points")
    assert await page.locator("[data-page='1'] img").count() == 0
    await page.locator("[data-page='2']").scroll_into_view_if_needed()
    await page.wait_for_selector("[data-page='2'] img")
    site.data("DELETE", f"/documents/{ident}")


async def test_a_new_version_comes_without_a_reload(site: Site) -> None:
    ident = site.ingest("tide.md", "# Tide\n\nHigh water is at six.\n")
    page = await site.open(f"/d/{ident}")
    file = FilePayload(
        name="tide.md", mimeType="text/markdown", buffer=b"# Tide\n\nHigh water is at seven.\n"
    )
    await page.set_input_files(".document-head input[type=file]", file)
    await expect(page.locator(".document-head")).to_contain_text("version 2")
    await expect(page.locator(".document-left")).to_contain_text("at seven")
    site.data("DELETE", f"/documents/{ident}")


async def test_an_answer_leaves_the_reader_where_he_went(site: Site) -> None:
    gate = threading.Event()
    site.model.script(says(lambda _: f"{CITED} [1]" if gate.wait(60) else ""))
    page = await site.open("/")
    await page.fill("#question", QUESTION)
    await page.keyboard.press("Enter")
    await page.click("nav >> text=Documents")
    await page.wait_for_selector(".rows-row")
    async with page.expect_response(lambda answer: "/api/v1/answers/" in answer.url):
        gate.set()
    await expect(page).to_have_url(f"{site.url}/documents")


async def test_the_default_schema_can_be_edited_and_an_unknown_project_is_named(site: Site) -> None:
    made = site.data("POST", "/projects", json={"name": "fresh"})
    page = await site.open("/schema?project=fresh")
    await expect(page.locator("[role=status]", has_text="Valid.")).to_be_visible()
    await page.goto(f"{site.url}/schema?project=nowhere")
    await expect(page.locator("main")).to_contain_text("no project “nowhere”")
    for path, way in (
        (f"/d/{made['id']}", "See all documents"),
        (f"/o/{made['id']}", "See the whole graph"),
        (f"/c/{made['id']}", "New conversation"),
        (f"/jobs?job={made['id']}", "See all jobs"),
    ):
        await page.goto(f"{site.url}{path}")
        failed = page.locator(".failed")
        await expect(failed).to_contain_text("NOT_FOUND")
        assert await failed.locator("text=Try again").count() == 0
        await failed.locator(f"text={way}").click()
        await expect(failed).to_have_count(0)
    site.data("DELETE", f"/projects/{made['id']}")


async def test_a_conversation_of_another_project(site: Site) -> None:
    made = site.data("POST", "/projects", json={"name": "pier", "config": {"extraction": "manual"}})
    files = {"file": ("pier.md", "# Pier\n\nThe pier is long.\n")}
    site.data("POST", "/ingest/upload", files=files, data={"projectId": made["id"]}, params={"wait": "true"})
    allowed = ["clipboard-read", "clipboard-write"]
    page = await site.open("/?project=pier", viewport={"width": 1280, "height": 420}, permissions=allowed)
    turns = page.locator(".turn")
    for question in ("Is the pier long?", "Is the long pier long?"):
        site.model.script(says("The pier is long. [1] The pier is long. [1]"))
        await ask(page, question)
        await expect(turns.last.locator("text=Copy the link")).to_be_in_viewport()
    await page.click(".turn:last-of-type .chip")
    await expect(page.locator(".evidence mark")).to_have_text("The pier is long.")
    await expect(page.locator(".stepper")).to_contain_text("1 of 2")
    await page.keyboard.press("Escape")
    await turns.last.locator("text=Copy the link").click()
    await expect(turns.last.locator("text=Copied")).to_be_visible()
    alone = (await page.evaluate("navigator.clipboard.readText()")).split("?")[0]
    await page.goto(alone)
    await expect(turns).to_have_count(1)
    await expect(page.locator("[aria-label=Project]")).to_have_value(made["id"])
    listed = page.locator(".conversations li", has_text="Is the pier long?")  # not one of another project
    await listed.locator("a").click()
    await expect(turns).to_have_count(2)
    await page.click("[aria-label=More]")
    await page.click(".conversation")
    await expect(page.locator(".more[open]")).to_have_count(0)
    await listed.locator("button").click()
    await page.click("dialog >> text=Keep")
    await expect(listed).to_have_count(1)
    await page.select_option("[aria-label=Project]", label="default")
    await expect(page).to_have_url(f"{site.url}/")
    await page.goto(alone)
    await listed.locator("button").click()
    await page.click("dialog .danger")
    await expect(listed).to_have_count(0)
    site.data("DELETE", f"/projects/{made['id']}")


async def test_a_late_list_of_the_project_before_is_ignored(site: Site) -> None:
    made = site.data("POST", "/projects", json={"name": "quay", "config": {"extraction": "manual"}})
    asked = {"projectId": made["id"], "message": "Is the quay long?", "store": True}
    answer = site.http.post("/api/v1/chat", json=asked).json()
    page = await site.open("/search")
    is_other_there = asyncio.Event()

    async def hold(route: Route) -> None:
        """The list of the default project comes after that of the answer's own."""
        if made["id"] in route.request.url:
            await route.continue_()
            return
        await is_other_there.wait()
        await route.continue_()
        is_late_there.set()

    is_late_there = asyncio.Event()
    await page.route("**/api/v1/conversations?*", hold)
    await page.goto(f"{site.url}/a/{answer['answerId']}")
    listed = page.locator(".conversations li", has_text="Is the quay long?")
    await expect(listed).to_have_count(1)
    async with page.expect_response(lambda one: "/conversations?" in one.url and made["id"] not in one.url):
        is_other_there.set()
    await is_late_there.wait()
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    await expect(listed).to_have_count(1)
    site.data("DELETE", f"/projects/{made['id']}")


async def test_search_with_both_scores(site: Site) -> None:
    page = await site.open("/search")
    await page.wait_for_selector("[data-main-input]")
    await page.keyboard.press("/")
    await page.keyboard.type("storm budget")
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".hits mark")
    assert await page.locator(".hits li").first.locator("[role=meter]").count() == 2
    await expect(page.locator(".hit-head").first).to_contain_text("page 2")  # its chunk begins on page 1
    await page.click(".hits button")
    await page.wait_for_selector(".evidence .rect")
    await expect(page.locator(".evidence header")).to_contain_text("page 2")
    await page.wait_for_selector(".evidence .page img")
    await expect_words_under(page, pdf(REPORT), CITED, number=2)
    await page.click("text=Open the document")
    await expect(page.locator("[data-page='2'] .rect")).to_be_in_viewport()
    await page.go_back()
    await expect(page.locator(".evidence header")).to_contain_text("page 2")
    await page.go_back()
    await expect(page.locator(".evidence")).to_have_count(0)
    await page.go_forward()
    await expect(page.locator(".evidence header")).to_contain_text("page 2")
    await page.keyboard.press("Escape")
    await expect(page.locator("#floor-hint")).to_contain_text("none of the ten best hits")
    await page.uncheck("text=Relevance threshold")
    await expect(page).to_have_url(re.compile("floor=off"))
    await expect(page.locator("#floor-hint")).to_contain_text("the nearest chunks")
    await page.goto(f"{site.url}/search?q=storrm+budget")
    await expect(page.locator(".note")).to_have_text("Searched for “storm” instead of “storrm”")
    await expect(page.locator(".hits mark").first).to_be_visible()


async def test_a_property_leads_to_its_chunk_and_schema_version(site: Site) -> None:
    page = await site.open("/graph?view=table")
    await page.click(".rows-row a")
    await page.click(".claim .plain:has-text('1 hour')")
    evidence = page.locator(".evidence")
    await expect(evidence.locator("mark")).to_have_text("1 hour")
    facts = re.compile(r"support\s*verbatim.*chunk\s*1.*schema\s*v1", re.DOTALL)
    await expect(evidence.locator(".facts")).to_contain_text(facts)
    claim = page.locator(".object-panel .claim.on")
    await expect(claim).to_have_text(re.compile(r"1 hour.*verbatim.*schema v1 · document added", re.DOTALL))
    await page.reload()
    await expect(evidence.locator(".facts")).to_contain_text(facts)
    await expect(claim).to_contain_text("1 hour")
    await page.keyboard.press("Escape")
    await page.click("text=Correct")
    await page.fill("[aria-label='New value of expiration']", "2 hours")
    await page.click(".edit .primary")
    await expect(page.locator(".property-value", has_text="2 hours")).to_be_visible()
    await page.click("text=Undo")
    await expect(page.locator(".property-value", has_text="1 hour")).to_be_visible()
    await page.goto(f"{site.url}/graph")
    await page.wait_for_selector(".canvas canvas")


async def test_a_new_version_of_the_schema(site: Site) -> None:
    page = await site.open("/schema")
    await page.fill("#schema-json", "{")
    await expect(page.locator("[role=status].reason")).to_be_visible()
    await page.reload()
    await expect(page.locator("#schema-json")).to_have_value("{")
    await page.click("text=Discard changes")
    await page.fill("[aria-label='New property of Requirement']", "owner")
    await page.keyboard.press("Enter")
    await page.click("text=Save as a new version")
    await expect(page.locator(".page-head")).to_contain_text("version v2")
    await expect(page.locator(".diff")).to_contain_text("Requirement.owner")
    await expect(page.locator(".panel", has_text="Extract")).to_contain_text("chunk")
    await page.click(".panel >> text=Start")
    done = page.locator(".panel [role=status]", has_text="See the jobs")
    await expect(done).to_contain_text("completed")
    await page.reload()
    await expect(done).to_contain_text("completed")
    await done.locator("a").click()
    await page.click(".rows-row a")
    await expect(page.locator(".object-panel tr", has_text="status")).to_contain_text("completed")


async def test_keys_open_projects(
    browser: Browser, dsn: str, served: Site, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = replace(usual_settings(dsn, tmp_path_factory.mktemp("keys")), auth="required")
    torn = served.ingest("torn.pdf", b"%PDF-1.4 torn")
    named = served.data("GET", "/objects")["items"][0]["id"]
    served.data("PATCH", f"/objects/{named}", json={"set": {"expiration": "2 hours"}})
    async with Store.open(dsn, size=2) as store:
        second = await store.projects.create(name="second")
        _, everywhere = await store.keys.create(name="all", scope="admin", project_id=None)
        _, alone = await store.keys.create(name="one", scope="read", project_id=second.id)
        _, reader = await store.keys.create(name="reader", scope="read", project_id=DEFAULT_PROJECT_ID)
    with serve_in_thread(settings) as url, httpx.Client(base_url=url, timeout=60) as http:
        site = Site(url=url, model=served.model, browser=browser, http=http)
        page = await site.open("/documents")
        await page.fill("#key", "wh_wrong")
        await page.keyboard.press("Enter")
        await expect(page.locator(".gate")).to_contain_text("does not accept")
        await page.fill("#key", everywhere.reveal())
        await page.keyboard.press("Enter")
        await page.wait_for_selector(".rows-row")
        await expect(page.locator("text=Add documents")).to_be_visible()
        await page.click("text=Graph")
        await page.click("text=Table")
        await page.click(".rows-row a")
        async with page.expect_download() as saved:
            await page.click("text=Evidence file")
        assert "1 hour" in (await (await saved.value).path()).read_text()
        await page.click("text=Documents")
        await page.select_option("[aria-label=Project]", str(second.id))
        await expect(page.locator(".empty")).to_contain_text("No documents yet")
        await page.reload()
        await expect(page.locator(".empty")).to_contain_text("No documents yet")
        other = await site.open("/documents")
        await other.fill("#key", alone.reveal())
        await other.keyboard.press("Enter")
        await expect(other.locator(".empty")).to_contain_text("No documents yet")
        await offers_nothing(other)
        served.data("POST", "/conversations", json={"title": "Made without a key"})
        own = {"Authorization": f"Bearer {reader.reveal()}"}
        site.data("POST", "/conversations", json={"title": "Its own"}, headers=own)
        looking = await site.open("/documents")
        await look_only(looking, reader.reveal())
        for path in [*PAGES, f"/d/{served.ids['notes']}?tab=claims", f"/o/{named}?view=table", "/a/none"]:
            await looking.goto(url + path)
            await loaded(looking)
        await expect(looking.locator(".conversations li")).not_to_have_count(0)
        await expect(looking.locator("[aria-label='Delete Its own']")).to_have_count(1)
        assert await looking.locator("[aria-label='Delete Made without a key']").count() == 0
        await site.close()
        assert site.problems == []
    served.data("DELETE", f"/documents/{torn}")


async def offers_nothing(page: Page) -> None:
    """An empty project, with a key that may only read."""
    assert await page.locator("[aria-label=Project]").count() == 0
    assert await page.locator("text=Add documents").count() == 0, "the key may only read"
    assert await page.locator("text=Drop files").count() == 0
    await page.click("nav >> text=Ask")
    await expect(page.locator("text=Ask your documents")).to_be_visible()
    assert await page.locator("text=/add documents/i").count() == 0
    await page.click("nav >> text=Graph")
    await expect(page.locator("text=No objects")).to_be_visible()
    assert await page.locator("text=Extract with").count() == 0
    await page.click("nav >> text=Documents")
    await expect(page.locator(".note")).to_contain_text("needs a key with the scope write")
    await page.click("nav >> text=Schema")
    await expect(page.locator("[aria-label='New type']")).to_be_disabled()
    await expect(page.locator("#schema-json")).not_to_be_editable()
    await expect(page.locator(".note")).to_contain_text("changing the schema needs")
    assert await page.locator("text=Extract").count() == 0


async def look_only(page: Page, key: str) -> None:
    """What has failed or was corrected is shown to a key that may read; mending it is not offered."""
    await page.fill("#key", key)
    await page.keyboard.press("Enter")
    for path in ("Documents", "Jobs"):
        await page.click(f"nav >> text={path}")
        await expect(page.locator(".rows-row", has_text="torn.pdf")).to_contain_text("failed")
        assert await page.locator("text=Retry").count() == 0
    await page.click("nav >> text=Graph")
    await page.click("text=Table")
    await page.click(".rows-row a")
    await expect(page.locator(".object-panel")).to_contain_text("Corrections")
    assert await page.locator("text=/^(Undo|Correct|Reject.*)$/").count() == 0


@pytest.mark.parametrize("look", ["light", "dark"])
async def test_every_page_is_accessible_and_fits(site: Site, axe: Callable[[Page], Any], look: str) -> None:
    options = {"color_scheme": "dark", "viewport": PHONE} if look == "dark" else {"color_scheme": "light"}
    page = await site.open("/", reduced_motion="reduce", **options)
    wrong = {}
    for path in [*PAGES, f"/d/{site.ids['pdf']}", f"/d/{site.ids['notes']}?tab=claims"]:
        await page.goto(site.url + path)
        await loaded(page)
        overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if found := [*await axe(page), *(["too wide"] if overflow > 0 else [])]:
            wrong[path] = found
    assert wrong == {}


async def test_an_answer_on_a_phone(site: Site, axe: Callable[[Page], Any]) -> None:
    page = await site.open("/", viewport=PHONE)
    await ask(page)
    await page.click(".chip")
    await page.wait_for_selector(".evidence .page img")
    assert await axe(page) == []
    box = await page.locator(".evidence").bounding_box()
    assert box
    assert box["width"] == PHONE["width"]
