"""Forms with files, as they come over the wire: whole, broken, cut off, too large."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from urllib.parse import urlsplit

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, UPLOAD, count, data_of, error_of, originals

from whence.settings import Settings
from whence.store import Store

pytestmark = pytest.mark.one_app(max_upload_mb=2)

FORM = {"content-type": "multipart/form-data; boundary=cut"}
MB = 1024 * 1024


def part(content: bytes, *, name: str = "file", file: str | None = "a.txt", more: str = "") -> bytes:
    named = "" if file is None else f'; filename="{file}"'
    head = f'--cut\r\nContent-Disposition: form-data; name="{name}"{named}\r\n{more}\r\n'
    return head.encode() + content + b"\r\n"


END = b"--cut--\r\n"


async def sent(client: httpx.AsyncClient, *parts: bytes, end: bytes = END) -> httpx.Response:
    return await client.post(UPLOAD, params={"wait": "true"}, content=b"".join(parts) + end, headers=FORM)


async def test_the_form_is_read_in_any_pieces(client: httpx.AsyncClient) -> None:
    """Boundaries, headers and letters of several bytes may be cut anywhere."""
    body = part("Größe 漢字 🙂".encode(), file="Größe 漢字.txt") + part(
        b"sentence", name="chunkingStrategy", file=None
    )

    async def bytewise() -> AsyncIterator[bytes]:
        for byte in body + END:
            yield bytes([byte])

    answer = await client.post(UPLOAD, params={"wait": "true"}, content=bytewise(), headers=FORM)
    (item,) = data_of(answer)["items"]
    assert (item["fileName"], item["status"]) == ("Größe 漢字.txt", "completed")
    file = await client.get(f"{DOCUMENTS}/{item['documentId']}/file")
    assert file.content == "Größe 漢字 🙂".encode()


async def test_a_field_that_is_sent_a_thousand_times_is_refused(client: httpx.AsyncClient) -> None:
    answer = await sent(client, part(b"", name="a", file=None) * 1101)
    reason = error_of(answer, 400, "INVALID_REQUEST")["details"]["reason"]
    assert reason == "it has more than 100 fields and 1000 files"


async def test_fields_may_stand_after_the_file(client: httpx.AsyncClient) -> None:
    answer = await sent(client, part(b"One. Two."), part(b"sentence", name="chunkingStrategy", file=None))
    (item,) = data_of(answer)["items"]
    document = data_of(await client.get(f"{DOCUMENTS}/{item['documentId']}"))
    assert document["chunking"]["strategy"] == "sentence"


async def test_names_that_hold_what_cannot_be_shown(client: httpx.AsyncClient) -> None:
    answer = await sent(
        client,
        part(b"One.", file="a\x00b\x1b.txt"),
        part(b"Two.", file="\udcff.txt".encode("utf-8", "surrogatepass").decode("latin-1")),
    )
    one, two = data_of(answer)["items"]
    assert one["fileName"] == "a b .txt"
    assert two["fileName"].endswith(".txt")
    raw = part(b"Three.").replace(b"a.txt", b"\xff\xfe.txt")
    (three,) = data_of(await sent(client, raw))["items"]
    assert three["fileName"] == "\ufffd\ufffd.txt"
    quoted = {'5" off.md': b"Four.", "back\\slash.md": b"Five.", "C:\\docs\\six.md": b"Six."}
    files = [("file", (name, content)) for name, content in quoted.items()]
    named = data_of(await client.post("/api/v1/ingest/upload", files=files), 202)["items"]
    assert [one["fileName"] for one in named] == ['5" off.md', "back\\slash.md", "six.md"]


async def test_an_empty_field_for_files_is_no_file(client: httpx.AsyncClient) -> None:
    """As a browser sends it where nobody chose one."""
    answer = await sent(client, part(b"", file=""))
    assert error_of(answer, 400, "INVALID_REQUEST")["details"]["field"] == "file"
    (item,) = data_of(await sent(client, part(b"", file=""), part(b"One.")))["items"]
    assert item["fileName"] == "a.txt"


async def test_a_file_without_bytes_is_kept_and_fails(client: httpx.AsyncClient) -> None:
    (item,) = data_of(await sent(client, part(b"", file="empty.txt")))["items"]
    assert (item["status"], item["error"]["details"]["reason"]) == ("failed", "empty")
    file = await client.get(f"{DOCUMENTS}/{item['documentId']}/file")
    assert (file.status_code, file.content, file.headers["content-length"]) == (200, b"", "0")


async def test_a_form_without_a_file_is_refused(client: httpx.AsyncClient) -> None:
    for answer in (
        await sent(client),
        await sent(client, part(b"x", name="other", file=None)),
        await sent(client, part(b"text and not a file", name="file", file=None)),
    ):
        assert error_of(answer, 400, "INVALID_REQUEST")["details"]["field"] == "file"


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "application/json",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/mixed; boundary=cut",
    ],
)
async def test_what_is_no_form_is_refused(client: httpx.AsyncClient, kind: str | None) -> None:
    headers = {} if kind is None else {"content-type": kind}
    answer = await client.post(UPLOAD, content=part(b"One.") + END, headers=headers)
    assert error_of(answer, 400, "INVALID_REQUEST")["details"]["field"] == "Content-Type"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (part(b"One.") + END, "multipart/form-data"),
        (part(b"One.") + END, "multipart/form-data; boundary="),
        (part(b"One.") + END, 'multipart/form-data; boundary=""'),
        (part(b"One.") + END, "multipart/form-data; boundary=" + "x" * 5000),
        (part(b"One.") + END, "multipart/form-data; boundary=other"),
        (part(b"One."), FORM["content-type"]),
        (part(b"One.")[:-5], FORM["content-type"]),
        (part(b"One.")[:20], FORM["content-type"]),
        (b"", FORM["content-type"]),
        (b"nonsense", FORM["content-type"]),
        (b"--cut\r\nno header\r\n\r\nOne.\r\n--cut--\r\n", FORM["content-type"]),
        (b"--cut\r\n" + b"X: " + b"y" * 20_000 + b"\r\n\r\nOne.\r\n--cut--\r\n", FORM["content-type"]),
        (b"--cut\r\n" + b"X: y\r\n" * 1000 + b"\r\nOne.\r\n--cut--\r\n", FORM["content-type"]),
        (part(b"\xff\xfe", name="projectId", file=None) + part(b"One.") + END, FORM["content-type"]),
        (part(b"x", name="n", file=None).join(part(b"x", name=f"n{n}", file=None) for n in range(120)) + END, FORM["content-type"]),
    ],
)  # fmt: skip
async def test_a_broken_form_is_refused_and_leaves_nothing(
    client: httpx.AsyncClient, store: Store, settings: Settings, body: bytes, kind: str
) -> None:
    answer = await client.post(UPLOAD, content=body, headers={"content-type": kind})
    error = error_of(answer, 400, "INVALID_REQUEST")
    assert error["message"] == "The form cannot be read"
    assert error["details"]["reason"]
    assert await count(store, "kb.documents") == 0
    assert originals(settings) == []
    assert list((settings.data_dir / "incoming").glob("*")) == []


async def test_an_unknown_field_is_refused_by_its_name(client: httpx.AsyncClient, store: Store) -> None:
    answer = await sent(client, part(b"One."), part(b"sentence", name="strategy", file=None))
    error = error_of(answer, 400, "INVALID_PARAMETER")
    assert error["details"]["parameter"] == "strategy"
    assert error["message"].startswith("strategy is unknown; known are file, folder, origin, projectId, ")
    assert await count(store, "kb.documents") == 0


async def test_too_many_files_are_refused(client: httpx.AsyncClient, store: Store) -> None:
    answer = await sent(client, *(part(b"x", file=f"{n}.txt") for n in range(1001)))
    assert "1000 files" in error_of(answer, 400, "INVALID_REQUEST")["details"]["reason"]
    assert await count(store, "kb.documents") == 0


async def test_a_field_that_is_too_long_is_refused_by_its_name(client: httpx.AsyncClient) -> None:
    answer = await sent(client, part(b"x" * 70_000, name="projectId", file=None), part(b"One."))
    assert error_of(answer, 413, "PAYLOAD_TOO_LARGE")["details"] == {"field": "projectId", "max_bytes": 65536}


@pytest.mark.parametrize("path", [UPLOAD, "/ingest/upload"])
async def test_over_the_limit_is_413_whether_its_length_is_told_or_not(
    client: httpx.AsyncClient, store: Store, settings: Settings, path: str
) -> None:
    limit = settings.max_upload_mb * MB
    large = part(b"x" * (limit + 1)) + END
    many = part(b"x" * MB) + part(b"y" * MB, file="b.txt") + part(b"z" * MB * 2, file="c.txt") + END

    async def in_parts(body: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(body), 65536):
            yield body[start : start + 65536]

    for body in (large, many):
        for content in (body, in_parts(body)):
            answer = await client.post(path, content=content, headers=FORM)
            assert error_of(answer, 413, "PAYLOAD_TOO_LARGE")["details"] == {"max_bytes": limit}
    assert await count(store, "kb.documents") == 0
    assert list((settings.data_dir / "incoming").glob("*")) == []
    fits = await client.post(path, content=part(b"word " * (limit // 5)) + END, headers=FORM)
    assert data_of(fits, 202)["items"][0]["status"] == "pending"


async def test_a_sender_that_goes_away_leaves_nothing(running: str, settings: Settings, store: Store) -> None:
    address = urlsplit(running)
    assert address.port is not None
    with socket.create_connection(("127.0.0.1", address.port)) as connection:
        head = f"POST {UPLOAD} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n"
        connection.sendall(head.encode() + b"Content-Type: multipart/form-data; boundary=cut\r\n\r\n")
        connection.sendall(part(b"x" * 1000))
        incoming = settings.data_dir / "incoming"
        await _until(lambda: incoming.is_dir() and any(incoming.iterdir()))
    await _until(lambda: not any(incoming.iterdir()))
    assert await count(store, "kb.documents") == 0


async def _until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # nobody tells of a file that goes
