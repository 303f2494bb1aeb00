"""Evidence files: self-contained, with the highlighted lines of pages, and data in W3C's forms."""

import json
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from prov.model import ProvAgent, ProvAttribution, ProvDerivation, ProvDocument, ProvEntity
from tests.api.chatting import LEAVE, PROJECT, QUESTION, first_chunk
from tests.api.ingesting import DOCUMENTS, data_of, error_of, put, upload
from tests.files.office import pptx
from tests.files.pdf import pdf
from tests.graphs import say, thing

from whence.store import Store

pytestmark = pytest.mark.one_app

ANSWERS = "/api/v1/answers"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src") and tag != "a"]


@pytest.fixture
async def handbook(by_hand: httpx.AsyncClient) -> str:
    made = await upload(by_hand, "leave.pdf", pdf([[LEAVE]]))
    ident: str = made["documentId"]
    return ident


async def ask_stored(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.post(
        "/api/v1/chat", json={"projectId": PROJECT, "message": QUESTION, "store": True}
    )
    told: dict[str, Any] = answer.json()
    assert told["citations"]
    return told


@pytest.mark.usefixtures("handbook")
async def test_an_answer_as_one_page(client: httpx.AsyncClient) -> None:
    told = await ask_stored(client)
    answer = await client.get(f"{ANSWERS}/{told['answerId']}/evidence.html")
    assert answer.headers["content-type"].startswith("text/html")
    tags = Tags()
    tags.feed(answer.text)
    assert "script" not in tags.names
    assert all(link.startswith(("data:image/png;base64,", "#p")) for link in tags.links)
    assert told["citations"][0]["quote"] in answer.text
    for said in (
        QUESTION,
        "leave.pdf",
        "verbatim",
        "extractive",
        told["citations"][0]["url"].replace("&", "&amp;"),
    ):
        assert said in answer.text
    frozen = data_of(await client.get(f"{ANSWERS}/{told['answerId']}"))["citations"][0]["pages"]
    assert frozen[0]["rects"]
    assert tags.names.count("use") == tags.names.count("rect") > 0


@pytest.mark.usefixtures("handbook")
async def test_an_answer_as_data(client: httpx.AsyncClient) -> None:
    told = await ask_stored(client)
    found = (await client.get(f"{ANSWERS}/{told['answerId']}/evidence.json")).json()
    require_sound(found["prov"])
    assert len(found["prov"]["wasDerivedFrom"]) == 2 * len(told["citations"])
    result = f"whence:answer-{told['answerId']}"
    assert found["prov"]["wasAttributedTo"]["_:a1"]["prov:entity"] == result
    text = data_of(await client.get(f"/api/v1/documents/{told['sources'][0]['documentId']}/text"))["text"]
    entities = {name.replace("whence:", "urn:whence:") for name in found["prov"]["entity"]}
    assert {annotation["id"] for annotation in found["annotations"]} <= entities
    for annotation, citation in zip(found["annotations"], told["citations"], strict=True):
        assert (annotation["@context"], annotation["type"]) == (
            "http://www.w3.org/ns/anno.jsonld",
            "Annotation",
        )
        chosen = {one["type"]: one for one in annotation["target"]["selector"]}
        place, quote = (resolve(text, chosen[f"Text{name}Selector"]) for name in ("Position", "Quote"))
        assert place == quote
        assert text[slice(*place)] == chosen["TextQuoteSelector"]["exact"] == citation["quote"]
        assert annotation["target"]["source"] == f"{citation['url'].partition('?')[0]}?v=1"
        assert chosen["FragmentSelector"]["value"] == "page=1"


async def test_an_object(client: httpx.AsyncClient, store: Store, handbook: str) -> None:
    chunk = await first_chunk(store, {"documentId": handbook})
    written = await say(store, chunk, thing("Leave <b>", days=30))
    path = f"/api/v1/objects/{written.objects[0]}"
    page = (await client.get(f"{path}/evidence.html")).text
    assert "Leave &lt;b&gt; (Thing)" in page
    assert "days: 30" in page
    found = (await client.get(f"{path}/evidence.json")).json()["prov"]
    require_sound(found)
    assert [one["prov:label"] for one in found["agent"].values()] == ["Whence"], "no reader is recorded"


async def test_a_slide_is_no_page_of_a_pdf(by_hand: httpx.AsyncClient) -> None:
    await upload(by_hand, "leave.pptx", pptx([["Welcome"], LEAVE.split(". ")]))
    path = f"{ANSWERS}/{(await ask_stored(by_hand))['answerId']}"
    assert "<dt>place</dt><dd>slide 2</dd>" in (await by_hand.get(f"{path}/evidence.html")).text
    (found, *_) = (await by_hand.get(f"{path}/evidence.json")).json()["annotations"]
    kinds = {one["type"] for one in found["target"]["selector"]}
    assert kinds == {"TextQuoteSelector", "TextPositionSelector"}


async def test_a_changed_document_keeps_the_quote(client: httpx.AsyncClient, handbook: str) -> None:
    told = await ask_stored(client)
    await put(client, handbook, text="Something else.")
    page = (await client.get(f"{ANSWERS}/{told['answerId']}/evidence.html")).text
    assert told["citations"][0]["quote"] in page
    assert "leave.pdf has changed since and does not have the quoted words any more" in page
    assert "<use" not in page
    await put(client, handbook, text=f"Once more. {told['citations'][0]['quote']}")
    page = (await client.get(f"{ANSWERS}/{told['answerId']}/evidence.html")).text
    assert "leave.pdf has changed since; the quoted words are still there" in page
    await client.delete(f"{DOCUMENTS}/{handbook}")
    page = (await client.get(f"{ANSWERS}/{told['answerId']}/evidence.html")).text
    assert "leave.pdf was deleted since" in page


async def test_what_is_absent(client: httpx.AsyncClient) -> None:
    absent = "550e8400-e29b-41d4-a716-446655440000"
    error_of(await client.get(f"{ANSWERS}/{absent}/evidence.html"), 404, "ANSWER_NOT_FOUND")
    error_of(await client.get(f"/api/v1/objects/{absent}/evidence.json"), 404, "OBJECT_NOT_FOUND")


def require_sound(written: dict[str, Any]) -> None:
    """The PROV data model's own library reads it: nothing is lost, and relations are between things that are there."""
    document = ProvDocument.deserialize(content=json.dumps(written), format="json")
    kinds = {
        "entity": ProvEntity,
        "agent": ProvAgent,
        "wasDerivedFrom": ProvDerivation,
        "wasAttributedTo": ProvAttribution,
    }
    assert {*written} == {"prefix", *kinds}
    for name, kind in kinds.items():
        assert len(list(document.get_records(kind))) == len(written[name]), name
    things = [*document.get_records(ProvEntity), *document.get_records(ProvAgent)]
    known = {str(record.identifier) for record in things}
    for relation in (*document.get_records(ProvDerivation), *document.get_records(ProvAttribution)):
        assert {str(end) for _, end in relation.formal_attributes if end is not None} <= known
    assert ProvDocument.deserialize(content=document.serialize(format="json"), format="json") == document


def resolve(text: str, selector: dict[str, Any]) -> tuple[int, int]:
    """The span that a selector of a Web Annotation chooses; it must be the only one."""
    if selector["type"] == "TextPositionSelector":
        return selector["start"], selector["end"]
    around = selector["prefix"] + selector["exact"] + selector["suffix"]
    assert text.count(around) == 1
    start = text.index(around) + len(selector["prefix"])
    return start, start + len(selector["exact"])
