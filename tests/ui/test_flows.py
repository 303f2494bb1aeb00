"""Two columns, chunks on pages, the keyboard, dropped files, keys, schemas, answers again, a large graph and a wide screen."""

import json
import re
from uuid import UUID

import psycopg
from playwright.async_api import expect
from tests.chat_endpoint import says
from tests.files.pdf import pdf, placed_pdf
from tests.ui.conftest import HOSTILE, PAGES, Site, ask, expect_words_under, loaded, until

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
        await expect_words_under(page, COLUMNS, words, number=1)
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
    await page.keyboard.press("Control+k")
    await expect(page).to_have_url(f"{site.url}/search")
    await expect(page.locator("[aria-label=Search]")).to_be_focused()
    await page.goto(f"{site.url}/jobs")  # it has no box of its own
    await loaded(page)
    await page.keyboard.press("/")
    await expect(page.locator("[aria-label=Search]")).to_be_focused()


async def test_a_document_is_previewed_beside_the_list(site: Site) -> None:
    page = await site.open("/documents?sort=name")
    await page.click("[aria-label='Preview report.pdf']")
    await page.wait_for_selector(".evidence .page img")
    preview = page.locator(".evidence")
    await expect(preview.locator(".cut")).to_contain_text("The harbour library closed its books")
    await expect(preview.locator("footer")).to_contain_text("2 pages · 1 chunk")
    await page.keyboard.press("ArrowRight")
    await expect(preview.locator("h2")).to_have_text("城市.txt")
    await page.reload()
    await expect(preview.locator(".cut")).to_contain_text("东京")
    await page.click("[aria-label=Previous]")
    await expect(preview.locator("h2")).to_have_text("report.pdf")
    await page.keyboard.press("Escape")
    await expect(preview).to_have_count(0)
    await page.locator(".rows-row", has_text="letter.docx").locator(".type").click()
    await expect(preview.locator("h2")).to_have_text("letter.docx")


async def test_a_long_list_of_chunks_has_only_those_in_view(site: Site) -> None:
    berths = "\n\n".join(
        f"Berth {n} is {n}0 metres long, and its crane lifts {n} tonnes at high water." for n in range(1, 121)
    )
    form = {
        "chunkingStrategy": "sentence",
        "chunkingOptions": json.dumps({"maxChunkSize": 100, "minChunkSize": 10}),
    }
    files = {"file": ("quays.txt", berths)}
    made = site.data("POST", "/ingest/upload", files=files, data=form, params={"wait": "true"})
    ident = made["items"][0]["documentId"]
    page = await site.open(f"/d/{ident}")
    listed = page.locator(".chunk-list li")
    await expect(listed.first).to_contain_text("Berth 1 is")
    assert await listed.count() < 60
    # Chunks get their real height when they come into view: a pointer could press on one and let go over another.
    await page.locator(".cut", has_text="Berth 120 is").dispatch_event("click")
    await expect(page.locator(".chunk-list li.on")).to_be_in_viewport()
    await expect(page.locator(".chunk-list li.on")).to_contain_text("Berth 120 is")
    await expect(page.locator(".chunk-list li", has_text="Berth 119 is")).to_be_visible()
    site.data("DELETE", f"/documents/{ident}")


async def test_a_chip_of_a_source_that_supports_another_sentence_only(site: Site) -> None:
    said = "Repairs went over budget because of the storm of 9 February."
    near = "Repairs went over budget because of a storm in February."
    other = "Elephants prefer to swim in warm lakes near Kampala."
    site.model.script(says(f"{said} [1] {near} [1] {other} [1]"))
    page = await site.open("/")
    await ask(page, "Why did repairs go over budget?")
    chips = page.locator(".chip")
    await expect(chips.nth(0)).to_have_class(re.compile("verbatim"))
    await expect(chips.nth(2)).to_have_class(re.compile("none"))
    await expect(page.locator(".warning")).to_contain_text(other)
    level, step = page.locator(".evidence .level"), page.locator(".stepper")
    await chips.nth(2).click()
    await expect(level).to_have_text("none")
    await page.click(".sentence.verbatim")
    await expect(level).to_have_text("verbatim")
    # All three cite one place: the address says which is meant.
    for nth, key in ((1, "ArrowRight"), (2, "ArrowRight"), (1, "ArrowLeft")):
        await page.keyboard.press(key)
        await expect(step).to_contain_text(f"{nth + 1} of 3")
        classes = await chips.nth(nth).get_attribute("class") or ""
        (own,) = {"close", "loose", "none"}.intersection(classes.split())
        for _ in range(2):
            await expect(page.locator(".chip.on")).to_have_count(1)
            await expect(chips.nth(nth)).to_have_class(re.compile(r"\bon\b"))
            await expect(level).to_have_text(own)
            await page.reload()
            await expect(step).to_contain_text(f"{nth + 1} of 3")
    await page.keyboard.press("Escape")
    await expect(page.locator(".chip.on")).to_have_count(0)
    await page.go_back()
    await expect(chips.nth(1)).to_have_class(re.compile(r"\bon\b"))
    # A source that supports no sentence can be read all the same.
    site.model.script(says(f"{other} [1]"))
    await page.goto(site.url)
    await ask(page, "Why did repairs go over budget?")
    await expect(chips).to_have_class([re.compile("none")])
    await chips.click()
    await expect(page.locator(".evidence .rect").first).to_be_visible()
    await expect(page.locator(".evidence .level")).to_have_text("none")


async def test_addresses_of_other_sites_are_links_where_a_project_allows_them(site: Site) -> None:
    config = {"extraction": "manual", "media": "allowed"}
    made = site.data("POST", "/projects", json={"name": "linking", "config": config})
    files = {"file": ("pier.md", "# Pier\n\nThe pier is long.\n")}
    site.data("POST", "/ingest/upload", files=files, data={"projectId": made["id"]}, params={"wait": "true"})
    site.model.script(
        says("The pier is [long](https://other.example/long). [1] ![x](https://other.example/x.png)")
    )
    page = await site.open("/?project=linking")
    await ask(page, "Is the pier long?")
    link = page.locator(".answer-text a")
    await expect(link).to_have_attribute("href", "https://other.example/long")
    await expect(link).to_have_attribute("rel", "noopener noreferrer")
    assert await page.locator(".answer-text img").count() == 0, "images never load"
    site.data("DELETE", f"/projects/{made['id']}")


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
    await expect(row).to_contain_text("completed")
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


async def test_a_lightrag_server_is_named_and_its_key_is_not_shown(site: Site) -> None:
    made = site.data("POST", "/projects", json={"name": "linked"})
    page = await site.open("/projects?project=linked")
    await page.fill("[aria-label='Address of the LightRAG server']", "http://10.0.0.1:9621")
    save = page.locator("form", has_text="LightRAG server of linked").locator("button")
    await save.click()
    await expect(page.locator("[role=alert]")).to_contain_text("private address")
    await page.fill("[aria-label='Address of the LightRAG server']", "https://93.184.215.14")
    await page.fill("[aria-label='Key of the LightRAG server']", "a-secret-key")
    await save.click()
    key = page.locator("[aria-label='Key of the LightRAG server']")
    await expect(key).to_have_attribute("placeholder", "Key (set)")
    await expect(key).to_have_value("")
    config = site.data("GET", f"/projects/{made['id']}")["config"]
    assert (config["lightragUrl"], config["lightragKey"]) == ("https://93.184.215.14", "set")
    await page.reload()
    await expect(page.locator("[aria-label='Address of the LightRAG server']")).to_have_value(
        "https://93.184.215.14"
    )
    assert "a-secret-key" not in await page.content()
    site.data("DELETE", f"/projects/{made['id']}")


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


async def test_the_schema_is_checked_as_you_type(site: Site) -> None:
    made = site.data("POST", "/projects", json={"name": "checked"})
    page = await site.open("/schema?project=checked")
    types = {"Thing": {"properties": {"size": {"type": "nope"}, "owner": {"type": "string"}}}}
    box, said = page.locator("#schema-json"), page.locator("#schema-said")
    await expect(said).to_have_text("Valid.")
    await box.fill(json.dumps({"object_types": types}, indent=2))
    await expect(said).to_contain_text("Line 6: object_types.Thing.properties.size.type must be")
    field = page.locator(".row", has=page.locator("[aria-label='Type of Thing.size']"))
    await expect(field.locator("select")).to_have_attribute("aria-invalid", "true")
    await expect(field).to_contain_text("must be")
    await expect(page.locator("text=Save as a new version")).to_be_disabled()
    await page.click("text=Show line 6")
    chosen = "(box) => box.value.slice(box.selectionStart, box.selectionEnd)"
    assert await box.evaluate(chosen) == '"nope"'
    await field.locator("select").select_option("integer")
    await expect(said).to_have_text("Valid.")
    await expect(page.locator("text=Save as a new version")).to_be_enabled()
    site.data("DELETE", f"/projects/{made['id']}")


async def test_chunks_have_borders_on_the_pages(site: Site) -> None:
    sentences = [
        f"Berth {n} is {n}0 metres long, and its crane lifts {n} tonnes at high water." for n in range(1, 5)
    ]
    content = pdf([sentences[:2], sentences[2:]])
    cuts = {"maxChunkSize": 100, "minChunkSize": 10}
    form = {"chunkingStrategy": "sentence", "chunkingOptions": json.dumps(cuts)}
    files = {"file": ("berths.pdf", content)}
    made = site.data("POST", "/ingest/upload", files=files, data=form, params={"wait": "true"})
    ident = made["items"][0]["documentId"]
    page = await site.open(f"/d/{ident}")
    listed, borders = page.locator(".chunk-list li"), page.locator(".border")
    await expect(borders).to_have_count(2)
    await borders.nth(1).click(force=True)  # the text layer is above
    await expect(listed.nth(1)).to_have_class(re.compile("on"))
    await expect(page.locator(".rect").first).to_be_visible()
    line, border = await page.locator(".rect").first.bounding_box(), await borders.nth(1).bounding_box()
    assert line
    assert border
    assert border["y"] - 1 <= line["y"] <= line["y"] + line["height"] <= border["y"] + border["height"] + 1
    await listed.nth(3).locator("button").click()
    await expect(borders.nth(3)).to_have_class(re.compile("on"))
    await expect(page.locator("[data-page='2'] .rect").first).to_be_in_viewport()
    await listed.nth(2).hover()
    await expect(borders.nth(2)).to_have_class(re.compile("near"))
    site.data("DELETE", f"/documents/{ident}")


async def test_answering_again_shows_what_changed_and_feedback_is_kept(site: Site) -> None:
    fee = "The mooring fee of the pier is 40 crowns a week."
    ident = site.ingest("pier.md", f"# Fees\n\n{fee}\n")
    site.model.script(says(f"{fee} [1]"))
    page = await site.open("/")
    await ask(page, "What is the mooring fee of the pier?")
    files = {"file": ("pier.md", f"# Fees\n\n{fee.replace('40', '55')}\n")}
    site.data("PUT", f"/documents/{ident}", files=files, params={"wait": "true"})
    await page.reload()
    await expect(page.locator(".stale")).to_contain_text("55 crowns")
    site.model.script(says(f"{fee.replace('40', '55')} [1]"))
    await page.click("text=Answer again")
    changed = page.locator(".changed")
    await expect(changed.locator("del")).to_contain_text("40 crowns")
    await expect(changed.locator("ins")).to_contain_text("55 crowns")
    await page.click("text=Not helpful")
    await page.fill(".feedback textarea", "The fee is older.")
    await page.check(".feedback [type=checkbox]")
    await page.click(".feedback >> text=Send")
    await expect(page.locator(".feedback")).to_contain_text("Kept.")
    kept = site.data("GET", "/answers", params={"feedback": "down"})["items"][0]["feedback"]
    assert (kept["comment"], kept["wrongCitations"]) == ("The fee is older.", [0])
    await page.reload()
    await expect(page.locator(".feedback textarea")).to_have_value("The fee is older.")
    await expect(page.locator(".feedback [type=checkbox]")).to_be_checked()
    site.data("DELETE", f"/documents/{ident}")


async def test_a_question_that_nothing_answers_offers_what_is_near(site: Site) -> None:
    page = await site.open("/")
    await ask(page, "Which temperature melts tungsten carbide?")
    await page.click(".near .hits button")
    await expect(page.locator(".evidence")).to_be_visible()


async def test_the_source_of_the_graph_shows_its_objects(site: Site) -> None:
    site.model.script(says("The expiration of OAuth 2.0 is 1 hour. [1]"))
    page = await site.open("/")
    await ask(page, "What is the expiration of OAuth 2.0?")
    await page.click("text=From the knowledge graph")
    await page.click(".from-graph .badge >> text=OAuth 2.0")
    await expect(page.locator(".object-panel h2")).to_have_text("OAuth 2.0")


async def test_a_small_screen_has_the_type_and_the_whole_form(site: Site) -> None:
    page = await site.open("/documents", viewport={"width": 380, "height": 780})
    row = page.locator(".rows-row", has_text="report.pdf")
    await expect(row.locator(".kind")).to_contain_text("PDF")
    await expect(row.locator(".kind")).to_be_visible()
    await page.click("text=Add documents")
    ends = (
        "[...document.querySelectorAll('dialog, dialog *')].map((one) => one.getBoundingClientRect().right)"
    )
    assert max(await page.evaluate(ends)) <= 380


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
    page = await site.open("/", viewport={"width": 3840, "height": 600})  # drawing more costs seconds
    for path in [*PAGES, f"/d/{site.ids['pdf']}"]:
        await page.goto(site.url + path)
        await page.wait_for_selector("main h1")
        wide = "[document.documentElement, document.querySelector('main')].map(e => e.scrollWidth - e.clientWidth)"
        assert await page.evaluate(wide) == [0, 0], path
    # Rows grow with the text.
    cut = (
        "[...document.querySelectorAll('.chunk-list li')].filter(e => e.scrollHeight > e.clientHeight).length"
    )
    await page.wait_for_selector(".chunk-list li")
    assert await page.evaluate(cut) == 0
    # Arabic is read from the right.
    ident = site.ingest("ميناء.txt", "تجاوزت الإصلاحات الميزانية.")
    await page.goto(f"{site.url}/d/{ident}")
    await expect(page.locator(".document-text .cut")).to_be_visible()
    gaps = """() => {
        const cut = document.querySelector(".document-text .cut"), range = document.createRange();
        range.selectNodeContents(cut);
        const [outer, inner] = [cut.getBoundingClientRect(), range.getBoundingClientRect()];
        return inner.left - outer.left > outer.right - inner.right;
    }"""
    assert await page.evaluate(gaps)
    site.data("DELETE", f"/documents/{ident}")


async def test_the_words_of_a_page_are_selected_found_and_enlarged(site: Site) -> None:
    ident = site.ingest("columns.pdf", COLUMNS)
    options = {
        "permissions": ["clipboard-read", "clipboard-write"],
        "viewport": {"width": 1000, "height": 700},
    }
    page = await site.open(f"/d/{ident}", **options)
    lines = page.locator(".page-text p")
    await expect(lines).to_have_text([*LEFT, *RIGHT])
    # The text lies where the picture has it.
    whole = await page.locator(".page").bounding_box()
    first, last = await lines.first.bounding_box(), await lines.nth(2).bounding_box()
    assert whole
    assert first
    assert last
    assert abs((first["x"] - whole["x"]) / whole["width"] - 60 / 595) < 0.01
    assert abs((last["x"] - whole["x"]) / whole["width"] - 330 / 595) < 0.01
    # A double click selects a word; a click selects the chunk.
    await lines.nth(1).dblclick(position={"x": first["width"] * 0.1, "y": first["height"] / 2})
    assert await page.evaluate("getSelection().toString().trim()") == "harbour"
    await page.keyboard.press("ControlOrMeta+c")
    assert (await page.evaluate("navigator.clipboard.readText()")).strip() == "harbour"
    assert await page.evaluate("find('prices')")
    await page.evaluate("getSelection().empty()")
    await lines.first.click()
    await expect(page.locator(".chunk-list li.on")).to_have_count(1)
    await expect(page.locator(".page .rect").first).to_be_visible()
    # Larger, in the document and in the evidence pane.
    await page.click("[aria-label='Larger']")
    await until(
        page,
        "width => document.querySelector('.page').offsetWidth === Math.round(1.5 * width)",
        round(whole["width"]),
    )
    await page.click("[aria-label='Larger']")
    await expect(page.locator(".zoom")).to_contain_text("200 %")
    await page.goto(f"{site.url}/search?q=prices")
    await page.click(".hits .plain")
    await expect(page.locator(".evidence .rect").first).to_be_in_viewport()
    await expect(page.locator(".evidence .zoom")).to_contain_text("200 %")
    await expect(page.locator(".evidence .page-text p").nth(2)).to_have_text(RIGHT[0])
