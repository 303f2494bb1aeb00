"""Evidence: spans with their rectangles, pages with their sizes and pictures."""

import struct
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from tests.api.chatting import ABSENT
from tests.api.ingesting import DOCUMENTS, data_of, error_of, ingest, upload
from tests.files.office import odp, pptx, xlsx
from tests.files.pdf import pdf, read_back
from tests.graphs import key

from whence.chunk_findings import ChunkExtraction, FoundObject, FoundValue
from whence.evidence import service
from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store

pytestmark = pytest.mark.one_app

EVIDENCE = "/api/v1/evidence"
FIRST = "The harbour was dredged in 1911, and the wharf was built beside it. Ships of ten metres could land."
SECOND = "Later the mole was raised by a metre. Nobody paid for that."
TWO_PAGES = pdf([["# Harbour", FIRST], [SECOND]], shown=["", "/Rotate 90 /CropBox [40 60 560 820]"])


async def text_of(client: httpx.AsyncClient, document_id: str) -> str:
    text: str = data_of(await client.get(f"{DOCUMENTS}/{document_id}/text"))["text"]
    return text


async def span_of(client: httpx.AsyncClient, document_id: str, words: str) -> Any:
    start = (await text_of(client, document_id)).index(words)
    params = {"start": start, "end": start + len(words)}
    return data_of(await client.get(f"{DOCUMENTS}/{document_id}/spans", params=params))


def inside(content: bytes, page: dict[str, Any]) -> str:
    """The text that pdfium finds inside the rectangles."""
    sides = ("x0", "y0", "x1", "y1")
    return read_back(content, page["page"], ([rect[side] for side in sides] for rect in page["rects"]))


async def test_a_span_has_its_words_and_their_rectangles(client: httpx.AsyncClient) -> None:
    document = (await upload(client, "harbour.pdf", TWO_PAGES))["documentId"]
    quote = "the wharf was built beside it."
    span = await span_of(client, document, quote)
    assert (span["text"], span["document_name"], span["version"]) == (quote, "harbour.pdf", 1)
    assert span["before"].endswith("dredged in 1911, and ")
    assert span["after"].startswith(" Ships")
    assert span["headings"] == ["Harbour"]
    assert (span["location"]["kind"], span["location"]["label"], span["location"]["page"]) == (
        "page",
        "page 1",
        1,
    )
    (page,) = span["pages"]
    assert (page["page"], page["width"], page["height"], page["rotation"]) == (1, 595, 842, 0)
    assert page["reason"] is None
    assert inside(TWO_PAGES, page) == quote
    assert all(
        0 <= rect["x0"] < rect["x1"] <= 1 and 0 <= rect["y0"] < rect["y1"] <= 1 for rect in page["rects"]
    )
    # From the cache, the same.
    assert await span_of(client, document, quote) == span


async def test_a_span_over_two_pages_has_rectangles_on_both(client: httpx.AsyncClient) -> None:
    document = (await upload(client, "harbour.pdf", TWO_PAGES))["documentId"]
    text = await text_of(client, document)
    words = text[text.index("Ships of") : text.index("Nobody")].strip()
    first, second = (await span_of(client, document, words))["pages"]
    assert inside(TWO_PAGES, first) == "Ships of ten metres could land."
    assert inside(TWO_PAGES, second) == "Later the mole was raised by a metre."
    assert (second["rotation"], second["width"], second["height"]) == (90, 760, 520)
    assert text[second["start"] : second["end"]] == "Later the mole was raised by a metre."


async def test_an_update_has_rectangles_of_its_own(client: httpx.AsyncClient) -> None:
    document = (await upload(client, "harbour.pdf", TWO_PAGES))["documentId"]
    await span_of(client, document, "the wharf")
    changed = pdf([["# Pier", "First a pier, then the wharf was built."]])
    data_of(
        await client.put(
            f"{DOCUMENTS}/{document}", files={"file": ("harbour.pdf", changed)}, params={"wait": "true"}
        )
    )
    span = await span_of(client, document, "the wharf")
    assert span["version"] == 2
    assert inside(changed, span["pages"][0]) == "the wharf"


async def test_no_rectangles_are_guessed(client: httpx.AsyncClient, store: Store) -> None:
    document = (await upload(client, "harbour.pdf", TWO_PAGES))["documentId"]
    async with store._queries.connection() as conn:
        await conn.execute("UPDATE kb.documents SET text = replace(text, 'wharf was', 'wharf is ')")
    (page,) = (await span_of(client, document, "the wharf is"))["pages"]
    assert (page["rects"], page["reason"]) == (None, "text_differs")


async def test_a_long_text_is_not_kept_in_memory(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [
        (await ingest(client, "# Tides\n\nHigh at noon.", name=f"{name}.md"))["documentId"] for name in "ab"
    ]
    short = await span_of(client, made[0], "at noon")
    monkeypatch.setattr(service, "_LONG", 10)
    long = await span_of(client, made[1], "at noon")
    for name in ("text", "before", "after", "headings", "location"):
        assert long[name] == short[name]


@pytest.mark.parametrize(
    ("params", "parameter"),
    [
        ({"start": 5, "end": 5}, "end"),
        ({"start": 9, "end": 5}, "end"),
        ({"start": -1, "end": 5}, "start"),
        ({"start": 0, "end": 10_000}, "end"),
        ({"start": 10_000, "end": 10_001}, "start"),
        ({"start": "x", "end": 5}, "start"),
        ({"end": 5}, "start"),
    ],
)
async def test_a_span_outside_the_text_is_refused(
    client: httpx.AsyncClient, params: dict[str, Any], parameter: str
) -> None:
    document = (await ingest(client, "A short text.", name="short.txt"))["documentId"]
    error = error_of(
        await client.get(f"{DOCUMENTS}/{document}/spans", params=params), 400, "INVALID_PARAMETER"
    )
    assert error["details"]["parameter"] == parameter


async def test_every_kind_of_document_has_locations(client: httpx.AsyncClient) -> None:
    slides = pptx([["First slide", "Welcome"], ["Second slide", "Goodbye"]])
    sheets = xlsx(
        {"Prices": [["Item", "Price"], ["Apple", "3"], ["Pear", "4"]], "Shops": [["Shop"], ["Corner"]]}
    )
    mail = b"From: a@example.org\nTo: b@example.org\nSubject: Tides\n\nThe tide is high at noon.\n"
    places = [
        ("slides.pptx", slides, "Goodbye", "slide", "slide 2"),
        (
            "slides.odp",
            odp([["First slide", "Welcome"], ["Second slide", "Goodbye"]]),
            "Goodbye",
            "slide",
            "slide 2",
        ),
        ("sheets.xlsx", sheets, "Pear", "row", "Prices, row 3"),
        ("sheets.xlsx", sheets, "Corner", "row", "Shops, row 2"),
        ("items.csv", b'item,note\napple,"red\nand green"\npear,yellow\n', "pear", "row", "row 3"),
        ("tides.eml", mail, "high at noon", "part", "body"),
        ("tides.eml", mail, "b@example.org", "part", "headers"),
        (
            "notes.md",
            b"# Notes\n\nIn short.\n\n## Tides\n\nHigh at noon.\n",
            "High at noon",
            "section",
            "Notes › Tides",
        ),
        ("notes.txt", b"Nothing above.", "above", "text", "characters 8–13"),
    ]
    documents = {name: (await upload(client, name, content))["documentId"] for name, content, *_ in places}
    for name, _, words, kind, label in places:
        span = await span_of(client, documents[name], words)
        assert (span["location"]["kind"], span["location"]["label"]) == (kind, label), name
        assert span["text"] == words
        if kind == "slide":
            (page,) = span["pages"]
            assert (page["page"], page["rects"], page["reason"], page["width"]) == (
                2,
                None,
                "no_layout",
                None,
            )
        else:
            assert span["pages"] == []


async def test_the_evidence_for_chunks_and_spans(client: httpx.AsyncClient) -> None:
    document = (await upload(client, "harbour.pdf", TWO_PAGES))["documentId"]
    (chunk,) = data_of(await client.get(f"{DOCUMENTS}/{document}/chunks"))["items"]
    start = chunk["content"].index("the wharf")
    items = [
        {"chunkId": chunk["id"]},
        {"documentId": document, "startOffset": start, "endOffset": start + 9, "quote": "the wharf"},
        {"documentId": document, "start": start, "end": start + 9, "quote": "the quay"},
        {"chunk_id": str(uuid4())},
        {"claimId": str(uuid4())},
        {"documentId": document, "start": 0, "end": 10_000},
        {"documentId": str(uuid4()), "start": 0, "end": 1},
    ]
    found = data_of(await client.post(EVIDENCE, json={"items": items}))["items"]
    assert [(one["found"], one["reason"]) for one in found] == [
        (True, None),
        (True, None),
        (False, "text_changed"),
        *[(False, "not_found")] * 4,
    ]
    assert found[0]["quote"] == chunk["content"] == found[0]["span"]["text"]
    assert [page["page"] for page in found[0]["span"]["pages"]] == [1, 2]
    assert inside(TWO_PAGES, found[1]["span"]["pages"][0]) == "the wharf"
    assert all(one["span"] is None for one in found[2:])
    bare = data_of(await client.post(EVIDENCE, json={"items": items[1:2], "includeRects": False}))["items"]
    assert bare[0]["span"]["pages"] == []


async def test_a_claim_has_the_rectangles_of_its_quote(client: httpx.AsyncClient, store: Store) -> None:
    document = (await upload(client, "harbour.pdf", TWO_PAGES))["documentId"]
    (view,) = data_of(await client.get(f"{DOCUMENTS}/{document}/chunks"))["items"]
    start = view["content"].index("1911")
    dredged = FoundValue(value=1911, quote="1911", start_offset=start, end_offset=start + 4)
    unquoted = FoundValue(value="A harbour")
    found = FoundObject(key=key("Harbour"), name="Harbour", properties={"dredged": dredged, "kind": unquoted})
    async with store.transaction() as tx:
        await tx.graph.write_chunk(
            ChunkExtraction(
                project_id=DEFAULT_PROJECT_ID,
                chunk_id=UUID(view["id"]),
                job_id=UUID(view["job_id"]),
                schema_number=1,
                outcome="extracted",
                objects=(found,),
            )
        )
    claims = data_of(await client.get(f"{DOCUMENTS}/{document}/claims"))["items"]
    idents = {claim["property_name"]: claim["id"] for claim in claims}
    items = [{"claimId": idents["dredged"]}, {"claimId": idents["kind"]}]
    quoted, other = data_of(await client.post(EVIDENCE, json={"items": items}))["items"]
    assert (quoted["quote"], quoted["chunk_id"], quoted["claim_id"]) == (
        "1911",
        view["id"],
        idents["dredged"],
    )
    assert inside(TWO_PAGES, quoted["span"]["pages"][0]) == "1911"
    assert (other["found"], other["reason"]) == (False, "no_quote")
    path = f"{DOCUMENTS}/{document}/claims"
    claims = data_of(await client.get(path, params={"includeRects": "true", "property": "dredged"}))["items"]
    assert claims[0]["pages"] == quoted["span"]["pages"]
    path = f"/api/v1/objects/{claims[0]['object']['id']}/provenance"
    claims = data_of(await client.get(path, params={"includeRects": "true"}))["items"]
    pages = {claim["property_name"]: claim["pages"] for claim in claims}
    assert (pages["dredged"], pages["kind"]) == (quoted["span"]["pages"], [])


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "INVALID_REQUEST"),
        ({"items": [{}]}, "INVALID_REQUEST"),
        (
            {"items": [{"chunkId": str(DEFAULT_PROJECT_ID), "claimId": str(DEFAULT_PROJECT_ID)}]},
            "INVALID_REQUEST",
        ),
        ({"items": [{"documentId": str(DEFAULT_PROJECT_ID), "start": 1}]}, "INVALID_REQUEST"),
        ({"items": [{"chunkId": "1"}]}, "INVALID_UUID"),
        ({"items": [{"documentId": str(DEFAULT_PROJECT_ID), "start": -1, "end": 2}]}, "INVALID_PARAMETER"),
        ({"items": [{"chunkId": str(DEFAULT_PROJECT_ID)}] * 101}, "INVALID_PARAMETER"),
    ],
)
async def test_a_wrong_request_is_refused(client: httpx.AsyncClient, body: Any, code: str) -> None:
    error_of(await client.post(EVIDENCE, json=body), 400, code)


async def test_at_least_one_item_is_asked_for(client: httpx.AsyncClient) -> None:
    error = error_of(await client.post(EVIDENCE, json={"items": []}), 400, "INVALID_PARAMETER")
    assert error["message"] == "items must be at least 1 item"


@pytest.mark.parametrize("end", [3, 2, 0])
async def test_a_reversed_or_empty_span_is_refused(client: httpx.AsyncClient, end: int) -> None:
    items = [{"chunkId": ABSENT}, {"documentId": ABSENT, "startOffset": 3, "endOffset": end}]
    error = error_of(await client.post(EVIDENCE, json={"items": items}), 400, "INVALID_PARAMETER")
    assert error["details"]["parameter"] == "items[1].end"
    assert error["message"] == "items[1].end must be an integer above start, which is 3"


def size_of(image: bytes) -> tuple[int, int]:
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", image[16:24])
    return width, height


async def test_the_pages_of_a_document_and_their_pictures(client: httpx.AsyncClient) -> None:
    document = (await upload(client, "harbour.pdf", TWO_PAGES))["documentId"]
    data = data_of(await client.get(f"{DOCUMENTS}/{document}/pages", params={"limit": 1, "offset": 1}))
    (page,) = data["items"]
    assert (data["pagination"]["total"], page["page"], page["image"], page["reason"]) == (2, 2, True, None)
    assert (page["width"], page["height"], page["rotation"]) == (760, 520, 90)
    assert (await text_of(client, document))[page["start"] : page["end"]] == SECOND
    path = f"{DOCUMENTS}/{document}/pages/2/image"
    image = await client.get(path, params={"width": 380})
    assert (image.status_code, image.headers["content-type"]) == (200, "image/png")
    assert size_of(image.content) == (380, 260)
    again = await client.get(path, params={"width": 380}, headers={"If-None-Match": image.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    error_of(await client.get(path, params={"width": 100_000}), 400, "INVALID_PARAMETER")
    error_of(await client.get(f"{DOCUMENTS}/{document}/pages/3/image"), 404, "PAGE_NOT_FOUND")
    error_of(await client.get(f"{DOCUMENTS}/{document}/pages/0/image"), 400, "INVALID_PARAMETER")


async def test_the_lines_of_a_page_lie_over_their_words(client: httpx.AsyncClient) -> None:
    document = (await upload(client, "harbour.pdf", TWO_PAGES))["documentId"]
    text = await text_of(client, document)
    found = []
    for number in (1, 2):
        lines = data_of(await client.get(f"{DOCUMENTS}/{document}/pages/{number}/lines"))["lines"]
        assert lines
        for line in lines:
            assert text[line["start"] : line["end"]] == line["text"]
            assert inside(TWO_PAGES, {"page": number, "rects": [line["rect"]]}) == line["text"].lstrip("# ")
        found += [line["text"] for line in lines]
    assert " ".join(found).replace("# ", "") == f"Harbour {FIRST} {SECOND}"
    error_of(await client.get(f"{DOCUMENTS}/{document}/pages/3/lines"), 404, "PAGE_NOT_FOUND")
    note = (await ingest(client, "A short text.", name="lines.txt"))["documentId"]
    error_of(await client.get(f"{DOCUMENTS}/{note}/pages/1/lines"), 404, "PAGE_NOT_FOUND")


async def test_a_page_that_is_too_large_is_not_rendered(client: httpx.AsyncClient) -> None:
    boxes = ["/MediaBox [0 0 20000 20000]", "/MediaBox [0 0 100 200000]", "/MediaBox [0 0 100 14400]"]
    content = pdf([["Huge words."], ["Long."], ["Narrow."]], shown=boxes)
    document = (await upload(client, "huge.pdf", content))["documentId"]
    path = f"{DOCUMENTS}/{document}/pages"
    for number, size in ((1, "20,000 by 20,000"), (2, "100 by 200,000")):
        error = error_of(await client.get(f"{path}/{number}/image"), 400, "UNREADABLE_DOCUMENT")
        assert (
            error["message"] == f"Page {number} is {size} points; pages up to 14,400 by 14,400 are rendered"
        )
        assert error["details"] == {"document_id": document, "page": number, "reason": "too_large"}
    assert size_of((await client.get(f"{path}/3/image")).content) == (28, 4000)
    pages = data_of(await client.get(path))["items"]
    assert [page["image"] for page in pages] == [False, False, True]
    (page,) = (await span_of(client, document, "Huge"))["pages"]
    assert inside(content, page) == "Huge"


async def test_a_text_has_no_pages(client: httpx.AsyncClient) -> None:
    document = (await ingest(client, "A short text.", name="short.txt"))["documentId"]
    assert data_of(await client.get(f"{DOCUMENTS}/{document}/pages"))["items"] == []
    error_of(await client.get(f"{DOCUMENTS}/{document}/pages/1/image"), 404, "PAGE_IMAGE_NOT_FOUND")
    broken = (await upload(client, "broken.pdf", b"%PDF-1.4 broken"))["documentId"]
    error_of(await client.get(f"{DOCUMENTS}/{broken}/spans", params={"start": 0, "end": 1}), 404, "NOT_FOUND")
    assert data_of(await client.get(f"{DOCUMENTS}/{broken}/pages"))["items"] == []


async def test_the_citations_of_an_answer_have_rectangles(client: httpx.AsyncClient) -> None:
    await upload(client, "harbour.pdf", TWO_PAGES)
    question = {"projectId": str(DEFAULT_PROJECT_ID), "message": "Who paid for the mole?"}
    plain = (await client.post("/api/v1/chat", json=question)).json()
    assert {one["pages"] for one in plain["citations"]} == {None}
    answer = (await client.post("/api/v1/chat", json={**question, "includeRects": True})).json()
    cited = [one for one in answer["citations"] if one["quote"]]
    assert cited
    for one in cited:
        (page,) = one["pages"]
        assert inside(TWO_PAGES, page).split() == one["quote"].split()
    stored = (await client.post("/api/v1/chat", json={**question, "store": True})).json()
    assert [one["pages"] for one in stored["citations"]] == [one["pages"] for one in answer["citations"]]
