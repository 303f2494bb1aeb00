"""Answers with tables and other scripts, hits far apart in a long document, the fields of requests, the size of the first load."""

from playwright.async_api import Response, expect
from tests.chat_endpoint import says
from tests.files.pdf import pdf
from tests.ui.conftest import PAGES, Site, ask, loaded

TABLE = """Spending [1]:

| Item | Budgeted | Spent | Difference | A remark about the difference |
|---|---:|---:|---:|---|
| Repairs | 1,234,567 | 1,240,967 | 6,400 | because of the storm of 9 February [1] |
| Administration | 141,205 | 141,205 | 0 | nothing |
"""
ARABIC = "تجاوزت الإصلاحات الميزانية. وافق المؤمن على المطالبة."


async def test_the_words_of_a_table_stay_whole(site: Site) -> None:
    site.model.script(says(TABLE))
    page = await site.open("/", viewport={"width": 380, "height": 780})
    await ask(page)
    lines = """() => [...document.querySelectorAll(".answer-text :is(th, td):not(:last-child)")].map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map((one) => Math.round(one.top))).size;
    })"""
    assert set(await page.evaluate(lines)) == {1}
    table = page.get_by_role("group", name="Table")
    assert await table.evaluate("box => box.scrollWidth > box.clientWidth"), "it scrolls instead"
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    number = page.locator(".answer-text td.number").first
    await expect(number).to_have_text("1,234,567")
    await expect(number).to_have_css("text-align", "right")


async def test_sentences_of_another_direction_do_not_mix_with_the_warning(site: Site) -> None:
    site.model.script(says(ARABIC))
    page = await site.open("/")
    await ask(page)
    bare = page.locator(".warning bdi")
    await expect(bare).to_have_text(["تجاوزت الإصلاحات الميزانية.", "وافق المؤمن على المطالبة."])
    assert await page.evaluate(
        "(([first, second]) => first.getBoundingClientRect().right <= second.getBoundingClientRect().left)"
        "(document.querySelectorAll('.warning bdi'))"
    )


async def test_hits_far_apart_in_a_long_document_name_their_pages(site: Site) -> None:
    padding = "The sea was calm and the wind was light, and nothing else was seen on that day."
    captains = {20: "Orla", 150: "Bram", 230: "Ines"}
    pages = [
        [padding, f"Captain {captains[n]} kept the log of the lugger."] if n in captains else [padding]
        for n in range(1, 241)
    ]
    ident = site.ingest("voyages.pdf", pdf(pages))
    page = await site.open("/search?q=captain+who+kept+the+log+of+the+lugger")
    for number, name in captains.items():
        hit = page.locator(".hits li", has_text=f"Captain {name}")
        await expect(hit.locator(".hit-head")).to_contain_text(f"page {number} ·")
    site.data("DELETE", f"/documents/{ident}")


async def test_one_types_a_question_as_soon_as_the_page_is_there(site: Site) -> None:
    page = await site.open(PAGES[0])
    await expect(page.locator("#question")).to_be_focused()
    await page.keyboard.type("Is it open?")
    await expect(page.locator("#question")).to_have_value("Is it open?")


async def test_the_reference_shows_the_fields_of_requests_and_answers(site: Site) -> None:
    page = await site.open("/docs?q=answer+a+question")
    await page.click("summary:has-text('/api/v1/chat')")
    route = page.locator(".reference > details", has_text="/api/v1/chat").first
    await route.locator("summary", has_text="ChatRequest").click()
    field = route.locator("tr", has=page.get_by_text("message", exact=True)).first
    await expect(field).to_contain_text("string, required")
    await route.locator("summary", has_text="HistoryTurn").click()
    role = route.locator("tr", has=page.get_by_text("role", exact=True)).first
    await expect(role).to_contain_text('"user"')


async def test_the_first_load_has_at_most_150_kilobytes_of_script(site: Site) -> None:
    page = await site.open("/healthz")
    scripts: list[Response] = []
    page.on("response", lambda one: scripts.append(one) if one.url.endswith(".js") else None)
    await page.goto(site.url)
    await loaded(page)
    sizes = [(await one.request.sizes())["responseBodySize"] for one in scripts]
    assert len(sizes) > 1
    assert sum(sizes) <= 150_000
