"""What the address asks for and is not there, what a key may not do, drafts compared, lengths out of range, a phone's projects."""

import re
from dataclasses import replace
from typing import Any
from uuid import uuid4

import httpx
import pytest
from playwright.async_api import Browser, Page, Request, Route, expect
from tests.api.conftest import serve_in_thread, usual_settings
from tests.ui.conftest import PAGES, Site, loaded

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store
from whence.store.keys import Scope


async def test_a_search_of_the_graph_without_a_match(site: Site) -> None:
    page = await site.open("/graph?q=zebra")
    for view, found in (("picture", ".canvas canvas"), ("table", ".rows-row a")):
        await page.goto(f"{site.url}/graph?q=zebra&view={view}")
        await expect(page.locator(".empty")).to_contain_text("No object matches")
        await page.click(".empty >> text=Clear the filters")
        await expect(page.locator(found).first).to_be_visible()


async def test_what_the_address_names_and_is_not_there(site: Site) -> None:
    nobody, notes = uuid4(), site.ids["notes"]
    page = await site.open("/status")
    for path, says, way in (
        (f"/d/{nobody}", "no such document", "See all documents"),
        ("/d/abc", "no such document", "See all documents"),
        (f"/o/{nobody}?view=table", "no such object", "See the whole graph"),
        (f"/jobs?job={nobody}", "no such job", "See all jobs"),
        (f"/d/{notes}?version=9", "version of the document is not stored", "Open the current version"),
        (f"/d/{notes}?version=abc", "version must be", "Open the current version"),
        (f"/d/{notes}?span=0-5&v=9", "v must be a version from 1 to 1", "See the present text"),
        ("/schema?from=v8&to=v9", "There is no schema v8", "Compare the newest"),
        ("/documents?status=lost", "status must be one of", "Clear the filters"),
        ("/jobs?status=lost", "status must be one of", "Clear the filters"),
    ):
        await page.goto(site.url + path)
        failed = page.locator(".failed")
        await expect(failed).to_contain_text(says)
        await expect(failed.locator("text=Try again")).to_have_count(0)
        await failed.locator(f"text={way}").click()
        await expect(failed).to_have_count(0)
        await loaded(page)
    for path in (f"/d/{notes}?view=lost&tab=lost", "/graph?view=lost"):
        await page.goto(site.url + path)
        await expect(page.locator(".chunk-list li, .canvas canvas").first).to_be_visible()


async def test_a_span_that_the_text_does_not_have(site: Site) -> None:
    page = await site.open("/status")
    for name, span, says in (
        ("chinese", "0-5", None),
        ("chinese", "9000-9100", "names the characters 9,001 to 9,100, but the text has"),
        ("pdf", "9000-9100", "names the characters 9,001 to 9,100, but the text has"),
        ("notes", "5-5", "names no words: “5-5” is no span such as 120-240"),
        ("notes", "here", "names no words: “here” is no span"),
    ):
        await page.goto(f"{site.url}/d/{site.ids[name]}?span={span}")
        await expect(page.locator(".cut, .page img").first).to_be_visible()
        note = page.locator(".document-head .note")
        if says is None:
            await expect(note).to_have_count(0)
        else:
            await expect(note).to_contain_text(says)


async def test_a_draft_is_compared_with_the_saved_version(site: Site) -> None:
    made = site.data("POST", "/projects", json={"name": "drafting"})
    path = f"/projects/{made['id']}/schema"
    page = await site.open("/schema?project=drafting")
    changes = page.locator(".panel", has=page.locator("h2", has_text="Changes"))
    await page.fill("[aria-label='New type']", "Ship")
    await page.keyboard.press("Enter")
    await expect(changes.locator(".diff")).to_have_text("added object type Ship")
    for names in (["size"], ["size", "owner"]):
        properties = {name: {"type": "string"} for name in names}
        site.data("PUT", path, json={"object_types": {"Thing": {"properties": properties}}})
    await page.reload()
    await page.click("text=Discard changes")
    await expect(changes.locator(".diff")).to_have_text("added property Thing.owner")
    await page.click("[aria-label='Remove Thing.size']")
    await expect(changes.locator(".diff")).to_have_text("removed property Thing.size")
    await expect(changes).to_contain_text("No chunk must be read again.")
    assert await changes.locator("select").evaluate_all("all => all.map(one => one.value)") == ["v2", "draft"]
    await changes.locator("select").first.select_option("v1")
    await expect(changes.locator(".diff li")).to_have_count(2)
    await page.reload()
    await expect(changes.locator(".diff li")).to_have_count(2)
    await changes.locator("select").nth(1).select_option("v2")
    await expect(changes.locator(".diff")).to_have_text("added property Thing.owner")
    await page.fill("#schema-json", "{")
    await changes.locator("select").nth(1).select_option("draft")
    await expect(changes).to_contain_text("The draft is not valid yet.")
    site.data("DELETE", f"/projects/{made['id']}")


async def test_correcting_can_be_given_up(site: Site) -> None:
    page = await site.open("/graph?view=table")
    await page.click(".rows-row a")
    await page.click("text=Correct")
    await page.fill(".edit [aria-label^='New value']", "for ever")
    await page.click(".edit >> text=Cancel")
    await expect(page.locator(".edit")).to_have_count(0)
    await expect(page.locator(".property-value", has_text="for ever")).to_have_count(0)
    await page.click("text=Correct")
    await expect(page.locator(".edit [aria-label^='New value']")).not_to_have_value("for ever")


def keep_lengths(request: Request, asked: list[Any]) -> None:
    """A preview is asked for some time after its options are chosen."""
    if request.url.endswith("/chunking/preview"):
        asked.append((request.post_data_json or {}).get("chunkingOptions"))


async def test_a_length_out_of_range_is_told_at_its_field(site: Site) -> None:
    page = await site.open("/documents")
    asked: list[Any] = []
    page.on("request", lambda request: keep_lengths(request, asked))
    await page.click("text=Add documents")
    await page.click("dialog .tabs >> text=Text")
    await page.fill("dialog textarea", "Buoys are red.")
    await page.select_option("dialog select", "sentence")
    await expect(page.locator(".cuts .cut")).to_contain_text("Buoys are red.")
    most, least = page.locator(".length").nth(0), page.locator(".length").nth(1)
    add = page.locator("dialog .primary")
    for field, given, says in (
        (most, "5", "From 100 to 10,000 characters."),
        (most, "", "From 100 to 10,000 characters."),
        (least, "2000", "From 10 to 1,000 characters."),
    ):
        usual = await field.locator("input").input_value()
        await field.locator("input").fill(given)
        await field.locator("input").blur()
        await expect(field.locator(".reason")).to_have_text(says)
        await expect(field.locator("input")).to_have_attribute("aria-invalid", "true")
        await expect(add).to_be_disabled()
        await field.locator("input").fill(usual)
        await field.locator("input").blur()
        await expect(add).to_be_enabled()
        await expect(page.locator(".cuts .cut")).to_be_visible()
    await most.locator("input").fill("100")
    await most.locator("input").blur()
    await expect(least.locator(".reason")).to_have_text("Less than “at most”.")
    usual_lengths = {"maxChunkSize": 1200, "minChunkSize": 100}
    assert usual_lengths in asked
    assert all(one in ({}, usual_lengths) for one in asked), "no preview with a length out of range"
    await page.click("dialog >> text=Cancel")
    await page.click("text=Add documents")  # what is wrong is forgotten with the dialog
    await expect(page.locator("dialog select")).to_have_value("")


async def test_projects_and_keys_fit_a_phone(site: Site) -> None:
    made = site.data("POST", "/projects", json={"name": "a-project-with-a-rather-long-name-2026"})
    site.data("POST", "/keys", json={"name": "a key with a rather long name", "projectId": made["id"]})
    page = await site.open("/projects", viewport={"width": 380, "height": 780})
    await loaded(page)
    buttons = page.locator("table button")
    names = await buttons.all_inner_texts()
    assert {"Open", "Delete", "Revoke"} <= set(names)
    for button in await buttons.all():
        box = await button.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 380
    site.data("DELETE", f"/projects/{made['id']}")


async def enter(page: Page, key: str) -> None:
    await page.fill("#key", key)
    await page.keyboard.press("Enter")
    await page.wait_for_selector("main h1")


async def buttons(page: Page, address: str) -> set[str]:
    """What a page offers."""
    await page.goto(address)
    await loaded(page)
    names = "all => all.map((one) => one.ariaLabel ?? one.textContent.trim())"
    return set(await page.locator("main :is(button, .button):visible").evaluate_all(names))


KEYS: dict[str, tuple[Scope, bool]] = {
    "read": ("read", False),
    "write": ("write", False),
    "admin": ("admin", False),
    "admin everywhere": ("admin", True),
}


@pytest.mark.parametrize("what", KEYS)
async def test_a_key_is_offered_what_it_may_do(
    what: str,
    browser: Browser,
    dsn: str,
    served: Site,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    scope, everywhere = KEYS[what]
    settings = replace(usual_settings(dsn, tmp_path_factory.mktemp("offers")), auth="required")
    other = served.data("POST", "/projects", json={"name": f"other {what}"})
    named = served.data("GET", "/objects")["items"][0]["id"]
    async with Store.open(dsn, size=2) as store:
        project = None if everywhere else DEFAULT_PROJECT_ID
        key, secret = await store.keys.create(name="offers", scope=scope, project_id=project)
    with serve_in_thread(settings) as url, httpx.Client(base_url=url, timeout=60) as http:
        site = Site(url=url, model=served.model, browser=browser, http=http)
        page = await site.open("/projects")
        await enter(page, secret.reveal())
        more = (f"/d/{served.ids['notes']}", f"/o/{named}?view=table")
        offered = {
            path.partition("?")[0].split("/")[1]: await buttons(page, url + path) for path in (*PAGES, *more)
        }
        writes = scope != "read"
        for place, name in (
            ("documents", "Add documents"),
            ("documents", "Delete notes.md"),
            ("d", "New version"),
            ("d", "Delete"),
            ("o", "Correct"),
            ("o", "Reject the object"),
            ("schema", "Save as a new version"),
            ("schema", "Start"),
        ):
            assert (name in offered[place]) is writes, (place, name)
        projects = offered["projects"]
        assert ("Create a key" in projects) is (scope == "admin")
        assert ("Revoke offers" in projects) is (scope == "admin")
        assert ("Save" in projects) is (scope == "admin")
        assert ("Create" in projects) is everywhere
        assert (f"Delete {other['name']}" in projects) is everywhere
        assert "Delete default" not in projects, "the server keeps it"
        assert ("Check again" in offered["status"]) is everywhere
        await site.close()
        assert site.problems == []
    served.data("DELETE", f"/keys/{key.id}")
    served.data("DELETE", f"/projects/{other['id']}")


async def test_a_jobs_panel_follows_the_job(site: Site) -> None:
    made = site.data(
        "POST", "/ingest/upload", files={"file": ("torn.pdf", b"%PDF-1.7\nno")}, params={"wait": "true"}
    )
    (item,) = made["items"]
    page = await site.open(f"/jobs?job={item['jobId']}")
    attempts = page.locator(".object-panel tr", has_text="attempts").locator("td")
    await expect(attempts).to_have_text("1")
    await page.locator(".rows-row", has_text="torn.pdf").locator("text=Retry").click()
    await expect(attempts).to_have_text("2")
    await expect(page.locator(".object-panel tr", has_text="status")).to_contain_text("failed")
    site.data("DELETE", f"/documents/{item['documentId']}")


async def test_a_job_of_a_whole_project(site: Site) -> None:
    config = {"extraction": "manual", "extractor": "rules"}
    made = site.data("POST", "/projects", json={"name": "whole", "config": config})
    files = [("file", (f"rule-{n}.md", f"Requirement: Rule {n}\n\nExpiration: {n} hours")) for n in (1, 2)]
    site.data("POST", "/ingest/upload", files=files, data={"projectId": made["id"]}, params={"wait": "true"})
    job = site.data("POST", f"/projects/{made['id']}/reextract", json={"scope": "all"})["jobId"]
    page = await site.open(f"/jobs?project=whole&job={job}")
    panel = page.locator(".object-panel")
    await expect(panel).to_contain_text("Extraction of 2 documents")
    await expect(panel.locator("tr", has_text="documents").last).to_contain_text("2 of 2")
    assert await panel.locator("table a").count() == 0, "it has no one document"
    site.data("DELETE", f"/projects/{made['id']}")


async def test_a_list_says_how_much_of_it_is_shown(site: Site) -> None:
    page = await site.open("/status")

    async def as_of_many(route: Route) -> None:
        answer = await route.fetch()
        body = await answer.json()
        body["data"]["pagination"]["total"] = 1_060
        await route.fulfill(response=answer, json=body)

    await page.route(re.compile(r"/versions\?"), as_of_many)
    await page.goto(f"{site.url}/d/{site.ids['notes']}?tab=versions")
    await expect(page.locator(".side-body")).to_contain_text("The first 1 of 1,060.")
