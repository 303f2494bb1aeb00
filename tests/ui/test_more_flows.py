"""Copying, trying again, folders, addresses, what differs, what may be one, a schema's price and form, a dead model, zones, no jumps."""

import json
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import psycopg
import pytest
from playwright.async_api import Browser, Page, expect
from tests.api.conftest import serve_in_thread, usual_settings
from tests.chat_endpoint import says
from tests.fetch.site import opened
from tests.loopback import closed_port
from tests.ui.conftest import PAGES, Site, ask, loaded

RULES = {"extraction": "manual", "extractor": "rules"}
JUMPS = """new PerformanceObserver((seen) => {
    for (const one of seen.getEntries()) if (!one.hadRecentInput) window.jumped = (window.jumped ?? 0) + one.value;
}).observe({type: "layout-shift", buffered: true})"""


@pytest.fixture
def graph(site: Site) -> Any:
    """A project in which two documents differ and two names look like one."""
    made = site.data("POST", "/projects", json={"name": "settling", "config": RULES})
    types = {"Requirement": {"properties": {"expiration": {"type": "string"}}}}
    site.data("PUT", f"/projects/{made['id']}/schema", json={"object_types": types})
    for name, said in (
        ("old.md", "Requirement: Harbour Master\n\nExpiration: 1 hour"),
        ("new.md", "Requirement: Harbour Master\n\nExpiration: 2 hours"),
        ("other.md", "Requirement: Harbor Master\n\nExpiration: 2 hours"),
    ):
        form = {"projectId": made["id"]}
        files = {"file": (name, f"# Rules\n\n{said}\n")}
        added = site.data("POST", "/ingest/upload", files=files, data=form, params={"wait": "true"})
        ident = added["items"][0]["documentId"]
        site.data("POST", f"/documents/{ident}/extract", params={"wait": "true"})
    yield made["id"]
    site.data("DELETE", f"/projects/{made['id']}")


async def test_an_answer_is_copied_with_its_footnotes(site: Site) -> None:
    page = await site.open("/", permissions=["clipboard-read", "clipboard-write"])
    await ask(page)
    await page.click("text=Copy with footnotes")
    await expect(page.locator("text=Copied")).to_be_visible()
    copied = await page.evaluate("navigator.clipboard.readText()")
    said = "Repairs went over budget because of the storm of 9 February."
    assert copied == f'{said} [1]\n\n[1] report.pdf, page 2: "{said}"\n'
    site.model.script(says(f"{said} [1] Elephants **prefer** to swim near Kampala. [1]"))
    await ask(page)
    await expect(page.locator(".warning")).to_have_text(
        "⚠ No source for: “Elephants prefer to swim near Kampala.”"
    )
    await page.click(".turn:last-of-type >> text=Copy with footnotes")
    await expect(page.locator("text=Copied")).to_have_count(2)
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert "\n\n⚠ No source for: “Elephants prefer to swim near Kampala.”\n\n[1] report.pdf" in copied


async def test_a_failed_document_is_tried_again(site: Site) -> None:
    files = {"file": ("torn.pdf", b"%PDF-1.7\nnothing more")}
    made = site.data("POST", "/ingest/upload", files=files, params={"wait": "true"})["items"][0]
    page = await site.open("/documents?status=failed")
    row = page.locator(".rows-row", has_text="torn.pdf")
    await expect(row.locator(".reason")).not_to_be_empty()
    assert site.data("GET", f"/jobs/{made['jobId']}")["attempts"] == 1
    async with page.expect_response(re.compile("/retry$")) as answered:
        await row.locator("text=Retry").click()
    assert (await answered.value).status == 202
    await page.goto(f"{site.url}/documents")
    await expect(row.locator("text=Retry")).to_be_visible()
    await expect(row.locator(".reason")).to_contain_text("damaged")
    assert site.data("GET", f"/jobs/{made['jobId']}")["attempts"] == 2
    site.data("DELETE", f"/documents/{made['documentId']}")


async def test_a_job_shows_its_stages(site: Site) -> None:
    made = site.data(
        "POST",
        "/ingest/upload",
        files={"file": ("tide.txt", "High tide is at six.")},
        params={"wait": "true"},
    )
    (item,) = made["items"]
    page = await site.open("/jobs")
    await page.locator(".rows-row", has_text="tide.txt").locator("a").click()
    rows = page.get_by_label("Job", exact=True).locator("tr")
    for stage in ("parsing", "chunking", "embedding", "storing"):
        header = page.get_by_role("rowheader", name=re.compile(f"^. {stage}$"))
        await expect(rows.filter(has=header).locator("td")).to_have_text(re.compile(r"\d+ ms|[\d.]+ s"))
    site.data("DELETE", f"/documents/{item['documentId']}")


async def test_a_dropped_folder_brings_its_files(site: Site, tmp_path: Path) -> None:
    inner = tmp_path / "wharf" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "outside.md").write_text("# Outside\n\nThe outer wharf.")
    (inner / "inside.md").write_text("# Inside\n\nThe inner wharf.")
    page = await site.open("/documents")
    await page.wait_for_selector(".rows-row")
    devtools = await page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(inner.parent)], "dragOperationsMask": 1}

    async def drag(kind: str) -> None:
        await devtools.send("Input.dispatchDragEvent", {"type": kind, "x": 400, "y": 400, "data": data})

    await drag("dragEnter")
    while not await page.locator(".drop-hint").count():  # the page listens only after it is drawn
        await drag("dragOver")
    await drag("drop")
    for name in ("outside.md", "inside.md"):
        row = page.locator(".rows-row", has_text=name)
        await expect(row).to_contain_text("completed")
        ident = (await row.locator("a").get_attribute("href") or "").rpartition("/")[2]
        site.data("DELETE", f"/documents/{ident}")


async def test_an_address_and_a_text_are_added(site: Site) -> None:
    page = await site.open("/documents")
    async with opened() as web:
        address = web.sends("/tides", "Content-Type: text/html", body=b"<h1>Tides</h1><p>High at noon.</p>")
        await page.click("text=Add documents")
        await page.click("dialog >> text=Web page")
        await page.fill("dialog [type=url]", address)
        await page.click("dialog .primary")
        row = page.locator(".rows-row", has_text="tides")
        await expect(row).to_contain_text("completed")
    await page.click("text=Add documents")
    await page.click("dialog .tabs >> text=Text")
    await page.fill("dialog [placeholder='notes.md']", "typed.md")
    await page.fill("dialog textarea", "# Typed\n\nBuoys are red.")
    await expect(page.locator(".cuts .cut")).to_contain_text("Buoys are red.")
    await page.click("dialog .primary")
    await expect(page.locator(".rows-row", has_text="typed.md")).to_contain_text("completed")
    for name, words, origin in (("typed.md", "Buoys are red.", "null"), ("tides", "High at noon.", address)):
        await page.locator(".rows-row", has_text=name).locator("a").click()
        await expect(page.locator(".document-text")).to_contain_text(words)
        await page.click(".document-side >> text=Metadata")
        shown = json.loads(await page.inner_text(".document-side pre"))
        assert json.dumps(shown["origin"]).strip('"') == origin
        site.data("DELETE", f"/documents/{shown['id']}")
        await page.goto(f"{site.url}/documents")


async def test_a_hit_is_shown_with_what_is_around_it(site: Site) -> None:
    cuts = {"maxChunkSize": 100, "minChunkSize": 10}
    form = {"chunkingStrategy": "sentence", "chunkingOptions": json.dumps(cuts)}
    berths = "".join(
        f"Berth {n} is {n}0 metres long, and its {what} lifts {n} tonnes at high water. "
        for n, what in enumerate(("crane", "windlass", "davit"), 1)
    )
    files = {"file": ("lifting.txt", berths)}
    made = site.data("POST", "/ingest/upload", files=files, data=form, params={"wait": "true"})
    page = await site.open("/search?q=windlass")
    await expect(page.locator(".hits mark").first).to_have_text("windlass")
    await expect(page.locator(".neighbour")).to_have_count(0)
    await page.check("text=With context")
    await expect(page).to_have_url(re.compile("context=on"))
    hit = page.locator(".hits li", has_text="windlass").first
    await expect(hit.locator(".neighbour").nth(0)).to_contain_text("before: Berth 1 is")
    await expect(hit.locator(".neighbour").nth(1)).to_contain_text("after: Berth 3 is")
    site.data("DELETE", f"/documents/{made['items'][0]['documentId']}")


async def test_more_hits_and_those_of_a_day(site: Site) -> None:
    made = site.data("POST", "/projects", json={"name": "hits", "config": RULES})
    files = [("file", (f"gull-{n:02}.txt", f"Gull {n} sleeps on the pier.")) for n in range(45)]
    asked = {"data": {"projectId": made["id"]}, "params": {"wait": "true"}}
    site.data("POST", "/ingest/upload", files=files, **asked)
    page = await site.open("/search?project=hits&q=gull+pier")
    hits, more = page.locator(".hits li"), page.locator("text=Show more hits")
    await expect(hits).to_have_count(30)
    await more.click()
    await expect(hits).to_have_count(45)
    await expect(more).to_have_count(0)
    await page.reload()
    await expect(hits).to_have_count(45)
    await page.fill("input[type=date]", "2999-01-01")
    await expect(page).to_have_url(re.compile("since=2999-01-01"))
    await expect(hits).to_have_count(0)
    await page.go_back()
    await expect(hits).to_have_count(45)
    await page.fill("[data-main-input]", "gull 7")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile("q=gull.7"))
    await page.go_back()
    await expect(page.locator("[data-main-input]")).to_have_value("gull pier")
    site.data("DELETE", f"/projects/{made['id']}")


async def test_older_conversations(site: Site, dsn: str) -> None:
    made = site.data("POST", "/projects", json={"name": "old talks", "config": RULES})
    for n in range(3):
        site.data("POST", "/conversations", json={"projectId": made["id"], "title": f"Talk {n}"})
    with psycopg.connect(dsn) as connection:
        connection.execute(
            """
            INSERT INTO kb.conversations SELECT (jsonb_populate_record(one, jsonb_build_object(
                'id', gen_random_uuid(), 'title', 'Copy ' || n))).*
            FROM (SELECT c FROM kb.conversations c WHERE title = 'Talk 0') AS found(one), generate_series(1, 57) n
            """
        )
    page = await site.open("/?project=old+talks")
    listed = page.locator(".conversations li")
    await expect(listed).to_have_count(50)
    await page.click("text=Show older ones")
    await expect(listed).to_have_count(60)
    await expect(page.locator("text=Show older ones")).to_have_count(0)
    site.data("DELETE", f"/projects/{made['id']}")


@pytest.mark.usefixtures("graph")
async def test_a_phone_has_a_drawer_and_sheets(site: Site) -> None:
    page = await site.open("/jobs?project=settling", viewport={"width": 380, "height": 780})
    jobs = page.locator(".rows-row", has_text="old.md")
    await expect(jobs.locator(".kind")).to_have_text(["extraction", "ingest"])
    sheet = page.locator(".object-panel")
    for path in ("/jobs", "/graph?view=table"):
        await page.goto(f"{site.url}{path}{'&' if '?' in path else '?'}project=settling")
        await page.click(".rows-row a")
        await expect(sheet.locator("h2").first).to_be_visible()
        box = await sheet.bounding_box()
        assert box
        assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 380, 780)
    await page.goto(f"{site.url}/?project=settling")
    drawer = page.locator(".drawer")
    for is_by_key in (True, False):
        await page.click(".conversations summary")
        await expect(drawer).to_be_in_viewport()
        await (page.keyboard.press("Escape") if is_by_key else page.mouse.click(370, 400))
        await expect(drawer).not_to_be_visible()


async def test_a_phone_has_a_sheet_for_what_was_made_of_a_document(site: Site) -> None:
    page = await site.open(f"/d/{site.ids['notes']}", viewport={"width": 380, "height": 780})
    side, chunks = page.locator(".document-side"), page.locator(".side-body .chunk-list li")
    await expect(side.locator("text=Claims")).to_be_in_viewport()
    await expect(page.locator(".side-body")).to_have_count(0)
    for opener in (".cut >> nth=0", ".document-side >> text=Chunks"):
        await page.click(opener)
        await expect(chunks.first).to_be_in_viewport()
        await expect(page.locator(".side-body li.on")).to_be_in_viewport()
        box = await side.bounding_box()
        assert box
        assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 380, 780)
        await page.reload()
        await expect(chunks.first).to_be_in_viewport()
        await page.click("[aria-label='Close the list']")
        await expect(page.locator(".side-body")).to_have_count(0)


@pytest.mark.usefixtures("graph")
async def test_what_differs_is_settled(site: Site) -> None:
    page = await site.open("/graph?project=settling&view=issues")
    differs = page.locator("section.property", has_text="Harbour Master: expiration")
    await expect(differs.locator(".claim")).to_have_count(2)
    await differs.locator(".claim button", has_text="1 hour").click()
    await expect(page.locator(".evidence mark")).to_have_text("1 hour")
    await page.keyboard.press("Escape")
    await differs.locator("a").click()
    panel = page.locator(".object-panel")
    await expect(panel.locator(".badge", has_text="2 values")).to_be_visible()
    value = panel.locator("section", has=page.locator("h3", has_text="expiration")).locator(".property-value")
    await expect(value).to_have_text("2 hours")
    await panel.locator(
        ".claim:has-text('2 hours') [aria-label='Reject this claim about expiration']"
    ).click()
    await expect(value).to_have_text("1 hour")
    await panel.locator("text=Undo").click()
    await expect(value).to_have_text("2 hours")


@pytest.mark.usefixtures("graph")
async def test_two_that_may_be_one_are_kept_apart_or_merged(site: Site, graph: str) -> None:
    path = f"/projects/{graph}/merge-suggestions"
    page = await site.open("/graph?project=settling&view=issues")
    pair = page.locator(".pair", has_text="Harbor Master")
    await pair.locator("text=Keep apart").click()
    await expect(pair).to_have_count(0)
    (dismissed,) = site.data("GET", path, params={"dismissed": "true"})["items"]
    site.data("POST", f"{path}/{dismissed['id']}/undo")
    await page.reload()
    await pair.locator("text=Merge").click()
    await expect(pair).to_have_count(0)
    await page.click("text=Table")
    await expect(page.locator(".rows-row")).to_have_count(1)
    # The object says what became part of it. Apart again, each offers the other.
    await page.click(".rows-row a")
    panel = page.locator(".object-panel")
    await panel.locator("section", has_text="Merged").locator("text=Undo").click()
    await expect(page.locator(".rows-row")).to_have_count(2)
    for name in ("Harbor Master", "Harbour Master"):
        await page.click(f".rows-row a:has-text('{name}')")
        await expect(panel.locator("h2")).to_have_text(name)
        await expect(panel.locator(".pair")).to_contain_text("Harbor Master")
    await panel.locator("text=Merge").first.click()
    await expect(page.locator(".rows-row")).to_have_count(1)
    await expect(panel.locator("section", has_text="Merged")).to_be_visible()


@pytest.mark.usefixtures("graph")
async def test_a_rejected_object_comes_back(site: Site) -> None:
    page = await site.open("/graph?project=settling&view=table")
    await page.click(".rows-row a:has-text('Harbour Master')")
    await page.click("text=Reject the object")
    await expect(page).to_have_url(re.compile("/graph"))
    await page.goto(f"{site.url}/graph?project=settling&view=issues")
    correction = page.locator(".claim", has_text="Harbour Master: object rejected")
    await correction.locator("text=Undo").click()
    await expect(correction).to_have_count(0)
    await page.click("text=Table")
    await expect(page.locator(".rows-row", has_text="Harbour Master")).to_have_count(1)


async def test_a_dry_run_tells_the_price(site: Site, graph: str) -> None:
    site.data("PATCH", f"/projects/{graph}", json={"config": {"extractor": "model"}})
    page = await site.open("/schema?project=settling")
    await page.check("text=also chunks that this version has read")
    cost = page.locator(".panel", has_text="Extract").locator("p").first
    await expect(cost).to_contain_text(
        re.compile(
            r"3 chunks of 3 documents by .*; [\d,]+ tokens, about \d+\.\d\d in the currency of WHENCE_LLM_PROMPT_PRICE"
        )
    )


async def test_no_page_jumps_while_it_loads(site: Site) -> None:
    page = await site.open("/status")
    await page.add_init_script(JUMPS)
    for path in [*PAGES, f"/d/{site.ids['pdf']}"]:
        await page.goto(site.url + path)
        await loaded(page)
        assert await jumped(page) < 0.1, path


async def jumped(page: Page) -> float:
    """How far parts of the page have moved by themselves, as browsers count it."""
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    moved: float = await page.evaluate("window.jumped ?? 0")
    return moved


async def test_a_question_that_is_asked_at_once_is_answered(site: Site) -> None:
    """Enter comes before the browser has drawn the page."""
    page = await site.open("/status")
    await page.add_init_script(
        """new MutationObserver((_, observer) => {
            const box = document.querySelector("#question");
            if (!box) return;
            observer.disconnect();
            box.value = "Why did repairs go over budget?";
            box.dispatchEvent(new InputEvent("input", {bubbles: true}));
            box.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}));
        }).observe(document, {childList: true, subtree: true})"""
    )
    await page.goto(f"{site.url}/")
    await page.wait_for_selector(".turn .actions")


async def test_relationship_types_are_edited_in_the_form(site: Site) -> None:
    made = site.data("POST", "/projects", json={"name": "related"})
    path = f"/projects/{made['id']}/schema"
    site.data("PUT", path, json={"object_types": {"Ship": {}, "Berth": {}}})
    page = await site.open("/schema?project=related")
    await page.fill("[aria-label='New relationship type']", "lies_at")
    await page.keyboard.press("Enter")
    await page.fill("[aria-label='lies_at: types it goes from']", "Ship")
    await page.fill("[aria-label='lies_at: types it goes to']", "Pier, Berth")
    wrong = page.locator(".relation-type .reason")
    await expect(wrong).to_contain_text("must be names of object types: Ship, Berth")
    await expect(page.locator("[aria-label='lies_at: types it goes to']")).to_have_value("Pier, Berth")
    await page.fill("[aria-label='lies_at: types it goes to']", "Berth, ")
    await expect(wrong).to_have_count(0)
    await page.click("text=Save as a new version")
    await expect(page.locator(".page-head")).to_contain_text("version v2")
    related = site.data("GET", path)["schema"]["relationship_types"]["lies_at"]
    assert (related["from"], related["to"]) == (["Ship"], ["Berth"])
    await page.click("[aria-label='Remove lies_at']")
    await expect(page.locator(".relation-type")).to_have_count(0)
    site.data("DELETE", f"/projects/{made['id']}")


async def test_a_model_that_is_gone(
    browser: Browser, dsn: str, served: Site, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = replace(
        usual_settings(dsn, tmp_path_factory.mktemp("gone")),
        llm_base_url=f"http://127.0.0.1:{closed_port()}/v1",
        llm_model="gone-1",
        llm_attempts=1,
    )
    with serve_in_thread(settings) as url, httpx.Client() as http:
        site = Site(url=url, model=served.model, browser=browser, http=http)
        page = await site.open("/status")
        row = page.locator(".findings tr", has_text="Chat model")
        await expect(row.locator(".badge")).to_have_text("wrong")
        await page.click("text=Ask")
        await ask(page)
        await expect(page.locator(".failed")).to_contain_text("MODEL_UNAVAILABLE")
        await expect(page.locator(".turn >> text=Ask again")).to_be_visible()
        await site.close()
        assert site.problems == []


async def test_times_are_in_the_readers_zone(site: Site) -> None:
    (document,) = site.data("GET", "/documents", params={"name": "report.pdf"})["items"]
    at = datetime.fromisoformat(document["updated_at"])
    for zone in ("Asia/Tokyo", "America/Lima"):
        page = await site.open("/documents?name=report.pdf", timezone_id=zone)
        clock = at.astimezone(ZoneInfo(zone)).strftime("%H:%M:%S")
        await expect(page.locator(".rows-row time").first).to_have_attribute("title", re.compile(clock))
