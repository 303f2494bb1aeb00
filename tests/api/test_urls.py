"""Documents from URLs: fetched once, asked for again only if they changed, and never from inside."""

from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.api.ingesting import (
    DOCUMENTS,
    URL,
    chunks_of,
    count,
    data_of,
    ended,
    error_of,
    no_embedding,
    only_original,
    originals,
    upload,
)
from tests.fetch.site import Answer, Site, raw

from whence.settings import Settings
from whence.store import Store

pytestmark = pytest.mark.one_app

FIRST, SECOND = b"The first version of the page.", b"The second version of the page."


async def visit(client: httpx.AsyncClient, url: str, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = data_of(await client.post(URL, json={"url": url, "wait": True, **fields}))
    return found


async def test_a_page_becomes_a_document(client: httpx.AsyncClient, site: Site) -> None:
    body = "<html><body><h1>Größe</h1><p>Ein Absatz.</p></body></html>".encode()
    url = site.sends("/guide/heron.html", "Content-Type: text/html; charset=utf-8", body=body)
    item = await visit(client, url, chunkingStrategy="paragraph")
    assert (item["fileName"], item["status"], item["alreadyExists"]) == ("heron.html", "completed", False)
    document = data_of(await client.get(f"{DOCUMENTS}/{item['documentId']}"))
    assert (document["origin"], document["file_type"]) == (url, "text/html")
    assert document["chunking"]["strategy"] == "paragraph"
    (chunk,) = await chunks_of(client, item["documentId"])
    assert chunk["content"] == "# Größe\n\nEin Absatz."
    assert (await client.get(f"{DOCUMENTS}/{item['documentId']}/file")).content == body


async def test_the_encoding_that_a_server_names(client: httpx.AsyncClient, site: Site) -> None:
    body = "Серая цапля ждёт.".encode("koi8-r")
    url = site.sends("/heron", "Content-Type: text/plain; charset=koi8-r", body=body)
    item = await visit(client, url)
    (chunk,) = await chunks_of(client, item["documentId"])
    assert chunk["content"] == "Серая цапля ждёт."


@pytest.mark.parametrize("validator", ['ETag: "v1"', "Last-Modified: Mon, 01 Jun 2026 10:00:00 GMT"])
async def test_what_did_not_change_is_not_sent_again(
    client: httpx.AsyncClient, site: Site, store: Store, validator: str
) -> None:
    url = site.sends("/page.txt", validator, body=FIRST)
    first = await visit(client, url)
    site.sends("/page.txt", status="304 Not Modified")
    again = await visit(client, url)
    assert again == {**first, "alreadyExists": True}
    name, value = validator.split(": ", 1)
    asked = {"ETag": "if-none-match", "Last-Modified": "if-modified-since"}[name]
    assert [request.headers.get(asked) for request in site.requests] == [None, value]
    assert await count(store, "kb.jobs") == 1


async def test_the_same_content_sent_again_is_no_work(
    client: httpx.AsyncClient, site: Site, store: Store
) -> None:
    url = site.sends("/page.txt", body=FIRST)
    first = await visit(client, url)
    assert await visit(client, url) == {**first, "alreadyExists": True}
    assert (await count(store, "kb.jobs"), len(site.requests)) == (1, 2)


async def test_the_same_content_by_another_validator(
    client: httpx.AsyncClient, site: Site, store: Store
) -> None:
    """As after a move to another server: the page is asked for by what the last answer said."""
    url = site.sends("/page.txt", 'ETag: "v1"', body=FIRST)
    first = await visit(client, url)
    site.sends("/page.txt", 'ETag: "v2"', "Last-Modified: Mon, 01 Jun 2026 10:00:00 GMT", body=FIRST)
    assert await visit(client, url) == {**first, "alreadyExists": True}
    site.sends("/page.txt", status="304 Not Modified")
    assert await visit(client, url) == {**first, "alreadyExists": True}
    asked = [request.headers.get("if-none-match") for request in site.requests]
    assert asked == [None, '"v1"', '"v2"']
    assert site.requests[-1].headers["if-modified-since"] == "Mon, 01 Jun 2026 10:00:00 GMT"
    assert await count(store, "kb.jobs") == 1


async def test_another_validator_while_the_page_is_under_way(
    client: httpx.AsyncClient, site: Site, dsn: str
) -> None:
    """The job that stores it does not bring the old one back."""
    url = site.sends("/page.txt", 'ETag: "v1"', body=FIRST)
    async with no_embedding(dsn):
        item = data_of(await client.post(URL, json={"url": url}), 202)
        site.sends("/page.txt", 'ETag: "v2"', body=FIRST)
        again = data_of(await client.post(URL, json={"url": url}), 202)
        assert (again["jobId"], again["alreadyExists"]) == (item["jobId"], True)
    assert (await ended(client, item["jobId"]))["status"] == "completed"
    site.sends("/page.txt", status="304 Not Modified")
    await visit(client, url)
    assert site.requests[-1].headers["if-none-match"] == '"v2"'


async def test_what_changed_is_a_new_version_of_the_same_document(
    client: httpx.AsyncClient, site: Site, settings: Settings
) -> None:
    url = site.sends("/page.txt", 'ETag: "v1"', body=FIRST)
    first = await visit(client, url)
    site.sends("/page.txt", 'ETag: "v2"', body=SECOND)
    second = await visit(client, url)
    assert second["documentId"] == first["documentId"]
    assert second["jobId"] != first["jobId"]
    assert second["alreadyExists"] is False
    (chunk,) = await chunks_of(client, first["documentId"])
    assert chunk["content"] == SECOND.decode()
    site.sends("/page.txt", status="304 Not Modified")
    await visit(client, url)
    assert [request.headers.get("if-none-match") for request in site.requests] == [None, '"v1"', '"v2"']
    await only_original(settings)


async def test_another_chunking_of_an_unchanged_page(client: httpx.AsyncClient, site: Site) -> None:
    url = site.sends("/page.txt", 'ETag: "v1"', body=FIRST * 20)
    first = await visit(client, url, chunkingStrategy="sentence")
    site.sends("/page.txt", status="304 Not Modified")
    other = await visit(client, url, chunkingOptions={"maxChunkSize": 100, "minChunkSize": 10})
    assert (other["documentId"], other["alreadyExists"]) == (first["documentId"], False)
    assert other["chunkCount"] > first["chunkCount"]
    document = data_of(await client.get(f"{DOCUMENTS}/{first['documentId']}"))
    assert document["chunking"] == {"strategy": "sentence", "max_chunk_size": 100, "min_chunk_size": 10}
    again = await visit(client, url)
    assert (again["alreadyExists"], again["chunkCount"]) == (True, other["chunkCount"])


async def test_a_page_that_could_not_be_read_is_tried_again(client: httpx.AsyncClient, site: Site) -> None:
    url = site.sends("/page.pdf", 'ETag: "v1"', body=b"%PDF-1.4 broken")
    failed = await visit(client, url)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "UNREADABLE_DOCUMENT")
    site.sends("/page.pdf", status="304 Not Modified")
    again = await visit(client, url)
    assert (again["documentId"], again["status"]) == (failed["documentId"], "failed")
    assert again["jobId"] != failed["jobId"]


async def test_a_page_with_the_bytes_of_a_document(client: httpx.AsyncClient, site: Site) -> None:
    known = await upload(client, "known.txt", FIRST)
    url = site.sends("/page.txt", body=FIRST)
    found = await visit(client, url)
    assert (found["documentId"] == known["documentId"], found["alreadyExists"]) == (False, False)
    same_name = site.sends("/known.txt", body=FIRST)
    assert (await visit(client, same_name))["documentId"] == known["documentId"]
    other = site.sends("/other.txt", body=SECOND)
    first = await visit(client, other)
    site.sends("/other.txt", body=FIRST)
    second = await visit(client, other)
    assert (second["documentId"], second["status"]) == (first["documentId"], "completed")


async def test_each_project_has_its_own(client: httpx.AsyncClient, site: Site, store: Store) -> None:
    project = await store.projects.create(name="elsewhere")
    url = site.sends("/page.txt", 'ETag: "v1"', body=FIRST)
    here, there = await visit(client, url), await visit(client, url, projectId=str(project.id))
    assert here["documentId"] != there["documentId"]
    assert [request.headers.get("if-none-match") for request in site.requests] == [None, None]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/x",
        "no url",
        "http://",
        "http://localhost/",
        "http://127.0.0.2/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://user:password@example.org/",
        "http://exa\x00mple.org/",
        "http://example.org/a\x00b",
    ],
)
async def test_urls_that_are_not_fetched(
    client: httpx.AsyncClient, store: Store, settings: Settings, url: str
) -> None:
    error = error_of(await client.post(URL, json={"url": url}), 400, "URL_REFUSED")
    assert error["details"]["reason"]
    assert "password" not in str(error)
    assert await count(store, "kb.documents") == 0
    assert originals(settings) == []


async def test_a_redirect_inside_is_not_followed(client: httpx.AsyncClient, site: Site) -> None:
    url = site.redirects("/away", "http://127.0.0.2:1/")
    error_of(await client.post(URL, json={"url": url}), 400, "URL_REFUSED")
    site.sends("/page.txt", body=FIRST)
    there = site.redirects("/moved", "/page.txt")
    assert (await visit(client, there))["fileName"] == "page.txt"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (raw(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), "status"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), "protocol"),
        (raw(b"nonsense\r\n\r\n"), "protocol"),
    ],
)
async def test_what_cannot_be_fetched_is_502(
    client: httpx.AsyncClient, site: Site, settings: Settings, answer: Answer, reason: str
) -> None:
    url = site.plays("/bad", answer)
    error = error_of(await client.post(URL, json={"url": url}), 502, "FETCH_FAILED")
    assert error["details"]["reason"] == reason
    assert originals(settings) == []
    assert list((settings.data_dir / "incoming").glob("*")) == []


@pytest.mark.own_app
class TestSmall:
    """With little patience for size and time."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, fetch_max_mb=1, fetch_seconds=1)

    async def test_too_large_is_413(self, client: httpx.AsyncClient, site: Site) -> None:
        url = site.sends("/large.txt", body=b"x" * (1024 * 1024 + 1))
        error = error_of(await client.post(URL, json={"url": url}), 413, "PAYLOAD_TOO_LARGE")
        assert error["details"]["max_bytes"] == 1024 * 1024

    async def test_too_slow_is_504(self, client: httpx.AsyncClient, site: Site) -> None:
        url = site.plays("/slow", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", b"x", pause=5))
        error_of(await client.post(URL, json={"url": url}), 504, "FETCH_TIMEOUT")
