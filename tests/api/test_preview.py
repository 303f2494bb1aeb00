"""Contract D7: how a text would be chunked, storing nothing."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from fastapi import FastAPI
from tests.api.ingesting import upload
from tests.distributions import offer_strategy
from tests.files.pdf import pdf

from whence.store import Store

if TYPE_CHECKING:
    from whence.app import App

pytestmark = pytest.mark.one_app

PREVIEW = "/api/v1/chunking/preview"
TEXT = (
    "# Title\n\n"
    + "Dr. Lindqvist paid 3.5 million for it. Was it worth that? 東京は大きい。 " * 8
    + "\n\n## Part\n\nShort."
)


async def previewed(client: httpx.AsyncClient, **body: Any) -> Any:
    answer = await client.post(PREVIEW, json={"text": TEXT, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


@pytest.mark.parametrize("strategy", ["character", "sentence", "paragraph"])
async def test_chunks_are_slices_and_nothing_is_lost(client: httpx.AsyncClient, strategy: str) -> None:
    options = {"maxChunkSize": 120, "minChunkSize": 20}
    data = await previewed(client, chunkingStrategy=strategy, chunkingOptions=options)
    assert data["chunkingStrategy"] == strategy
    assert data["chunkingOptions"] == options
    end = 0
    for index, chunk in enumerate(data["chunks"]):
        assert chunk["index"] == index
        assert chunk["text"] == TEXT[chunk["startOffset"] : chunk["endOffset"]]
        assert chunk["size"] == len(chunk["text"]) <= 120
        assert not TEXT[end : chunk["startOffset"]].strip()
        end = chunk["endOffset"]
    assert not TEXT[end:].strip()
    sizes = sorted(chunk["size"] for chunk in data["chunks"])
    summary = data["summary"]
    assert summary["count"] == len(sizes)
    assert (summary["minSize"], summary["maxSize"]) == (sizes[0], sizes[-1])
    assert 0 <= summary["sentenceEndShare"] <= 1


async def test_in_a_file_of_source_code_a_remark_is_no_header(client: httpx.AsyncClient) -> None:
    remarks = b"# One.\nfirst = 1\n\n# Two.\nsecond = 2\n"
    found = {}
    for name in ("a.py", "a.yaml", "a.md", "a.txt"):
        answer = await client.post(
            PREVIEW, files={"file": (name, remarks)}, data={"chunkingStrategy": "paragraph"}
        )
        found[name] = [chunk["boundaryType"] for chunk in answer.json()["data"]["chunks"]]
    text = ["section", "section"]
    assert found == {"a.py": ["paragraph"], "a.yaml": ["paragraph"], "a.md": text, "a.txt": text}


async def test_without_fields_it_is_character_at_1200(client: httpx.AsyncClient) -> None:
    data = await previewed(client, text="x" * 2500)
    assert data["chunkingStrategy"] == "character"
    assert data["chunkingOptions"] == {"maxChunkSize": 1200, "minChunkSize": 100}
    assert [chunk["size"] for chunk in data["chunks"]] == [1200, 1200, 100]
    assert {chunk["boundaryType"] for chunk in data["chunks"]} == {"character"}


async def test_the_smallest_maximum_needs_no_minimum(client: httpx.AsyncClient) -> None:
    data = await previewed(client, chunkingOptions={"maxChunkSize": 100})
    assert data["chunkingOptions"] == {"maxChunkSize": 100, "minChunkSize": 50}


async def test_snake_case_and_whole_floats_are_taken(client: httpx.AsyncClient) -> None:
    options = {"max_chunk_size": 300.0, "min_chunk_size": 10}
    data = await previewed(client, chunking_strategy="sentence", chunking_options=options)
    assert data["chunkingStrategy"] == "sentence"
    assert data["chunkingOptions"] == {"maxChunkSize": 300, "minChunkSize": 10}


async def test_sections_know_their_headings(client: httpx.AsyncClient) -> None:
    data = await previewed(client, chunkingStrategy="paragraph")
    assert data["chunks"][-1]["boundaryType"] == "section"
    assert data["chunks"][-1]["headings"] == ["Title", "Part"]


async def test_a_file_is_previewed_like_its_text(client: httpx.AsyncClient) -> None:
    fields = {"chunkingStrategy": "sentence", "chunkingOptions": json.dumps({"maxChunkSize": 200})}
    for content in (TEXT.encode(), b"\xef\xbb\xbf" + TEXT.encode()):
        files = {"file": ("notes.md", content, "text/markdown")}
        answer = await client.post(PREVIEW, files=files, data=fields)
        assert answer.status_code == 200, answer.text
        same = await previewed(client, chunkingStrategy="sentence", chunkingOptions={"maxChunkSize": 200})
        assert answer.json()["data"] == same


async def test_the_kind_of_a_body_is_read_in_any_case(client: httpx.AsyncClient) -> None:
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nOne.\r\n--x--\r\n'
    answer = await client.post(
        PREVIEW, content=form, headers={"content-type": "Multipart/Form-Data; boundary=x"}
    )
    assert answer.status_code == 200, answer.text


async def test_an_empty_text_has_no_chunks(client: httpx.AsyncClient) -> None:
    for text in ("", " \n\t "):
        data = await previewed(client, text=text)
        assert data["chunks"] == []
        assert data["summary"]["count"] == 0
        assert data["summary"]["sentenceEndShare"] is None


@pytest.mark.parametrize(
    ("fields", "parameter"),
    [
        ({"chunkingStrategy": "semantic"}, "chunkingStrategy"),
        ({"chunkingStrategy": 5}, "chunkingStrategy"),
        ({"chunkingStrategy": {}}, "chunkingStrategy"),
        ({"chunkingStrategy": ["sentence"]}, "chunkingStrategy"),
        ({"chunkingOptions": {"maxChunkSize": 99}}, "maxChunkSize"),
        ({"chunkingOptions": {"maxChunkSize": 10_001}}, "maxChunkSize"),
        ({"chunkingOptions": {"maxChunkSize": "500"}}, "maxChunkSize"),
        ({"chunkingOptions": {"maxChunkSize": True}}, "maxChunkSize"),
        ({"chunkingOptions": {"minChunkSize": 9}}, "minChunkSize"),
        ({"chunkingOptions": {"minChunkSize": 1001}}, "minChunkSize"),
        ({"chunkingOptions": {"minChunkSize": 200, "maxChunkSize": 200}}, "minChunkSize"),
        ({"chunkingOptions": {"maxSize": 500}}, "chunkingOptions.maxSize"),
        ({"chunkingOptions": []}, "chunkingOptions"),
        ({"chunkingOptions": "nonsense"}, "chunkingOptions"),
    ],
)
async def test_wrong_fields_are_named(client: httpx.AsyncClient, fields: Any, parameter: str) -> None:
    answer = await client.post(PREVIEW, json={"text": TEXT, **fields})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "INVALID_PARAMETER")
    assert error["details"]["parameter"] == parameter
    assert error["details"]["expected"]


@pytest.mark.parametrize("name", ["strategy", "options", "chunkingstrategy", "maxChunkSize"])
async def test_a_field_that_means_nothing_is_named_with_the_known_ones(
    client: httpx.AsyncClient, name: str
) -> None:
    for answer, known in (
        (await client.post(PREVIEW, json={"text": TEXT, name: "sentence"}), "text"),
        (await client.post(PREVIEW, files={"file": ("a.txt", b"x")}, data={name: "sentence"}), "file"),
    ):
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (400, "INVALID_PARAMETER")
        assert error["message"] == f"{name} is unknown; known are {known}, chunkingStrategy, chunkingOptions"
        assert error["details"]["provided"] == "sentence"


async def test_a_strategy_that_loses_text_is_reported(
    client: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
        class Strategy:
            name = "forgetful"

            def chunk(self, text, options):
                return []
    """
    offer_strategy(tmp_path, name="forgetful", value="offered_to_preview:Strategy", source=source)
    monkeypatch.syspath_prepend(str(tmp_path))
    answer = await client.post(PREVIEW, json={"text": TEXT, "chunkingStrategy": "forgetful"})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (500, "STRATEGY_ERROR")
    assert error["message"] == "The chunking strategy 'forgetful' left out some of the text"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"{}", b'{"text": 5}', b'{"text": null}', b'{"text": "\\ud800"}']
)
async def test_a_body_without_a_text_is_refused(client: httpx.AsyncClient, body: bytes) -> None:
    answer = await client.post(PREVIEW, content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_REQUEST")


async def test_forms_without_a_readable_file_are_refused(client: httpx.AsyncClient) -> None:
    multipart = {"content-type": "multipart/form-data; boundary=x"}
    for answer in (
        await client.post(PREVIEW, files={"chunkingStrategy": (None, b"sentence")}),
        await client.post(PREVIEW, files=[("file", ("a.txt", b"x")), ("file", ("b.txt", b"y"))]),
        await client.post(PREVIEW, content=b"nonsense", headers=multipart),
        await client.post(PREVIEW, content=b"--x\r\n", headers=multipart),
        await client.post(PREVIEW, content=b"", headers={"content-type": "multipart/form-data"}),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_REQUEST"), answer.text


async def test_any_file_that_can_be_ingested_can_be_previewed(client: httpx.AsyncClient) -> None:
    content = pdf([["One page tells of herons."], ["Another tells of storks."]])
    answer = await client.post(PREVIEW, files={"file": ("birds.pdf", content)})
    assert answer.status_code == 200, answer.text
    assert "herons" in answer.json()["data"]["chunks"][0]["text"]
    broken = await client.post(PREVIEW, files={"file": ("a.pdf", content[:200])})
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, "UNREADABLE_DOCUMENT")


async def test_a_preview_that_takes_long_does_not_hold_up_what_is_ingested(
    client: httpx.AsyncClient, web: FastAPI
) -> None:
    app: App = web.state.whence
    content = pdf([["One page tells of herons."]])
    async with app.previewer._turns.turn("a reader whose document takes long"):
        preview = asyncio.create_task(client.post(PREVIEW, files={"file": ("a.pdf", content)}))
        item = await upload(client, "b.pdf", content)
        assert item["status"] == "completed"
        assert not preview.done()
    assert (await preview).status_code == 200


async def test_too_much_is_413(client: httpx.AsyncClient) -> None:
    text = await client.post(PREVIEW, json={"text": "x" * 1_100_000})
    file = await client.post(PREVIEW, files={"file": ("large.txt", b"x" * (16 * 1024 * 1024 + 1))})
    fits = await client.post(PREVIEW, files={"file": ("fits.txt", b"word. " * 400_000)})
    assert [answer.status_code for answer in (text, file, fits)] == [413, 413, 200]
    assert file.json()["error"]["code"] == "PAYLOAD_TOO_LARGE"


async def test_nothing_is_stored(client: httpx.AsyncClient, store: Store) -> None:
    await previewed(client)
    for table in ("documents", "jobs", "chunks"):
        assert await store._queries.one(f"SELECT count(*) FROM kb.{table}") == (0,)


async def test_the_answer_is_bounded_and_says_so(client: httpx.AsyncClient) -> None:
    trail = "".join(f"{'#' * level} {'x' * 30_000}\n" for level in range(1, 7))
    text = trail + "Some words. " * 60_000
    answer = await client.post(
        PREVIEW,
        json={"text": text, "chunkingStrategy": "paragraph", "chunkingOptions": {"maxChunkSize": 100}},
    )
    data = answer.json()["data"]
    assert len(answer.content) < 8_000_000
    assert data["summary"]["truncated"]
    assert data["summary"]["count"] > len(data["chunks"]) > 1000
    assert max(len(heading) for chunk in data["chunks"] for heading in chunk["headings"]) == 200
