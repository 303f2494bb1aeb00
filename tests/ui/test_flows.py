"""Two columns, the keyboard, dropped files, keys, hostile schemas, a large graph and a wide screen in a real browser."""

import re
from uuid import UUID

import psycopg
from playwright.async_api import expect
from tests.chat_endpoint import says
from tests.files.pdf import placed_pdf
from tests.ui.conftest import HOSTILE, PAGES, Site, ask, words_under

LEFT = ["The left column tells of the", "harbour and its old wharf."]
RIGHT = ["The right column has prices", "of apples and of pears."]
COLUMNS = placed_pdf(
    [
        [
            (x, 700.0 - 14 * row, line)
            for x, lines in ((60.0, LEFT), (330.0, RIGHT))
            for row, line in enumerate(lines)
        ]
    ]
)


async def test_the_arrow_keys_step_through_the_words_of_two_columns(site: Site) -> None:
    ident, right, left = site.ingest("columns.pdf", COLUMNS), " ".join(RIGHT), " ".join(LEFT)
    page = await site.open("/")
    site.model.script(says(f"{right} [1] {left} [1]"))
    await ask(page, "What do the left column and the right column tell?")
    await page.click(".chip >> nth=0")
    step, picture = page.locator(".stepper"), ".evidence .page img"
    for key, place, words in (
        (None, "1 of 2", right),
        ("ArrowRight", "2 of 2", left),
        ("ArrowLeft", "1 of 2", right),
    ):
        if key:
            await page.keyboard.press(key)
        await expect(step).to_contain_text(place)
        await expect(page.locator(".evidence blockquote")).to_contain_text(words.split()[1])
        await page.wait_for_selector(picture)
        assert await words_under(page, COLUMNS, number=1) == words
    site.data("DELETE", f"/documents/{ident}")


async def test_keys_of_the_keyboard(site: Site) -> None:
    page = await site.open("/documents")
    await page.wait_for_selector(".rows-row")
    await page.keyboard.press("?")
    await expect(page.locator("dialog")).to_contain_text("Step through the evidence")
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog")).to_have_count(0)
    await page.keyboard.press("/")
    await expect(page.locator("[data-main-input]")).to_be_focused()
    await page.keyboard.type("?/")
    await expect(page.locator("[data-main-input]")).to_have_value("?/")


async def test_a_dropped_file_shows_its_progress(site: Site, dsn: str) -> None:
    page = await site.open("/documents")
    await page.wait_for_selector(".rows-row")
    files = await page.evaluate_handle(
        """() => {
            const files = new DataTransfer();
            files.items.add(new File(["# Quay\\n\\nThe quay is dry."], "dropped.md", {type: "text/markdown"}));
            return files;
        }"""
    )
    await page.dispatch_event("main", "dragover", {"dataTransfer": files})
    await expect(page.locator(".drop-hint")).to_be_visible()
    row = page.locator(".rows-row", has_text="dropped.md")
    with psycopg.connect(dsn) as connection:
        # No chunk can be stored while this is held, so the job cannot end.
        connection.execute("LOCK TABLE kb.chunks IN EXCLUSIVE MODE")
        await page.dispatch_event("main", "drop", {"dataTransfer": files})
        await expect(row.locator("progress")).to_be_visible()
        await expect(page.locator(".drop-hint")).to_have_count(0)
    await expect(row).to_contain_text("done")
    await page.click("text=dropped.md")
    await expect(page.locator(".document-text")).to_contain_text("The quay is dry.")
    site.data("DELETE", f"/documents/{page.url.rpartition('/')[2]}")


async def test_a_key_is_shown_once_and_revoked(site: Site) -> None:
    page = await site.open("/projects", permissions=["clipboard-read", "clipboard-write"])
    await page.fill("[aria-label='What the new key is for']", HOSTILE)
    await page.select_option("[aria-label=Scope]", "write")
    await page.click("text=Create a key")
    secret = await page.inner_text(".secret")
    await page.click("text=Copy")
    await expect(page.locator("text=Copied")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == secret
    headers = {"X-API-Key": secret}
    assert site.data("GET", "/me", headers=headers)["scope"] == "write"
    await page.reload()
    row = page.locator("tr", has_text=secret[:15])
    await expect(row).to_contain_text(HOSTILE)
    assert await page.locator(".secret").count() == 0
    await row.locator("text=Revoke").click()
    await page.click("dialog .danger")
    await expect(row).to_contain_text("revoked")
    assert site.http.get("/api/v1/me", headers=headers).status_code == 401
    assert await page.evaluate("window.pwned") is None


async def test_a_hostile_schema_does_not_run(site: Site) -> None:
    made = site.data("POST", "/projects", json={"name": "hostile"})
    path = f"/projects/{made['id']}/schema"
    for properties in ({"a": {"type": "string", "description": HOSTILE}}, {"b": {"type": "string"}}):
        types = {"Thing": {"description": HOSTILE, "properties": properties}}
        site.data("PUT", path, json={"object_types": types})
    page = await site.open("/schema?project=hostile")
    await expect(page.locator("#schema-json")).to_have_value(re.compile(re.escape(HOSTILE)))
    await expect(page.locator(".diff")).to_contain_text("Thing.b")
    await page.fill("[aria-label='New type']", HOSTILE)
    await page.keyboard.press("Enter")
    await expect(page.locator("legend", has_text=HOSTILE)).to_be_visible()
    assert await page.evaluate("window.pwned") is None
    site.data("DELETE", f"/projects/{made['id']}")


async def test_a_graph_of_two_thousand_objects(site: Site, dsn: str) -> None:
    made = site.data("POST", "/projects", json={"name": "large", "config": {"extraction": "manual"}})
    with psycopg.connect(dsn) as connection:
        add_objects(connection, UUID(made["id"]), 2_000)
    page = await site.open("/graph?project=large")
    await expect(page.locator(".graph-main")).to_contain_text("2,000 objects, 1,999 relationships")
    await page.wait_for_selector(".canvas canvas")
    await page.click("text=Table")
    await page.wait_for_selector(".rows-row a")
    assert await page.locator(".rows-row").count() < 80
    await page.fill("[data-main-input]", "Berth 1234")
    await page.keyboard.press("Enter")
    await expect(page.locator(".rows-row")).to_have_count(1)
    await page.click("text=Picture")
    await expect(page.locator(".graph-main")).to_contain_text("1 object,")
    site.data("DELETE", f"/projects/{made['id']}")


def add_objects(connection: psycopg.Connection, project: UUID, number: int) -> None:
    """Objects in a chain."""
    ident = "md5(%(project)s::text || n)::uuid"
    given = {"project": project, "number": number}
    connection.execute(
        f"INSERT INTO kb.graph_objects SELECT %(project)s, {ident}, 'Berth', 'Berth ' || n, 'berth ' || n, '{{}}',"
        " now(), now() FROM generate_series(1, %(number)s) n",
        given,
    )
    connection.execute(
        "INSERT INTO kb.relationships (project_id, id, type, source_id, target_id, created_at, updated_at)"
        f" SELECT %(project)s, {ident}, 'beside', {ident}, {ident.replace('n)', '(n + 1))')}, now(), now()"
        " FROM generate_series(1, %(number)s - 1) n",
        given,
    )


async def test_every_page_fits_a_wide_screen(site: Site) -> None:
    page = await site.open("/", viewport={"width": 3840, "height": 2160})
    for path in [*PAGES, f"/d/{site.ids['pdf']}"]:
        await page.goto(site.url + path)
        await page.wait_for_selector("main h1")
        wide = "[document.documentElement, document.querySelector('main')].map(e => e.scrollWidth - e.clientWidth)"
        assert await page.evaluate(wide) == [0, 0], path
