"""What a site may answer, well or badly, and what becomes of it."""

import asyncio
import gzip
import hashlib
import socket
import threading
import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fetch.conftest import Names
from tests.fetch.site import HERE, Fetching, Site, forever, raw

from whence import __version__
from whence.errors import FetchFailed, FetchTimeout, PayloadTooLarge, URLRefused
from whence.fetch import Fetched, FetchRules
from whence.settings import Settings

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
MB = 1 << 20


def reason(error: pytest.ExceptionInfo[FetchFailed]) -> str:
    return str(error.value.details["reason"])


async def test_a_file(site: Site, fetching: Fetching) -> None:
    body = b"%PDF-1.7 and so on"
    site.sends(
        "/docs/report.pdf",
        "Content-Type: Application/PDF; charset=UTF-8",
        'ETag: "v1"',
        "Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT",
        body=body,
    )
    url = site.url("/docs/report.pdf?download=1")
    assert await fetching(url + "#page=2") == Fetched(
        url=url,
        name="report.pdf",
        content_type="Application/PDF; charset=UTF-8",
        etag='"v1"',
        last_modified="Wed, 21 Oct 2015 07:28:00 GMT",
        size=len(body),
        sha256=hashlib.sha256(body).digest(),
    )
    assert fetching.into.read_bytes() == body
    (request,) = site.requests
    assert request.path == "/docs/report.pdf?download=1"
    assert request.headers == {
        "host": f"127.0.0.1:{site.port}",
        "user-agent": f"whence/{__version__}",
        "accept": "*/*",
        "accept-encoding": "gzip",
        "connection": "keep-alive",
    }


async def test_a_file_that_says_nothing_of_itself(site: Site, fetching: Fetching) -> None:
    fetched = await fetching.file(site.sends("/"))
    assert (fetched.name, fetched.size) == ("127.0.0.1", 0)
    assert (fetched.content_type, fetched.etag, fetched.last_modified) == (None,) * 3
    assert fetching.into.read_bytes() == b""


async def test_the_name_is_asked_for_at_the_address(site: Site, fetching: Fetching, names: Names) -> None:
    names("xn--bcher-kva.example", ("127.0.0.1",))
    site.sends("/")
    fetched = await fetching.file(site.url(host="bücher.example"))
    assert site.requests[0].headers["host"] == f"xn--bcher-kva.example:{site.port}"
    assert fetched.url == site.url(host="xn--bcher-kva.example")
    assert fetched.name == "bücher.example"


async def test_the_next_address_is_tried(site: Site, fetching: Fetching, names: Names) -> None:
    rules = replace(fetching.rules, allow=replace(HERE, hosts=frozenset({"two.example"})))
    names("two.example", ("127.0.0.2", "127.0.0.1"))  # the site listens on the second only
    site.sends("/", body=b"here")
    await replace(fetching, rules=rules).file(site.url(host="two.example"))
    assert fetching.into.read_bytes() == b"here"


class TestRedirects:
    async def test_a_chain(self, site: Site, fetching: Fetching) -> None:
        site.redirects("/1", "/2", "301 Moved Permanently")
        site.redirects("/2", "3", "302 Found")
        site.redirects("/3", site.url("/4#there"), "303 See Other")
        site.redirects("/4", f"//127.0.0.1:{site.port}/5", "307 Temporary Redirect")
        site.redirects("/5", "/fil%C3%A9.txt", "308 Permanent Redirect")
        site.sends("/fil%C3%A9.txt", "Set-Cookie: a=b", body=b"arrived")
        fetched = await fetching.file(site.url("/1"))
        assert (fetched.url, fetched.name) == (site.url("/fil%C3%A9.txt"), "filé.txt")
        assert fetching.into.read_bytes() == b"arrived"

    async def test_a_loop(self, site: Site, fetching: Fetching) -> None:
        with pytest.raises(FetchFailed, match="redirects more than 5 times") as error:
            await fetching(site.redirects("/", "/"))
        assert reason(error) == "redirects"
        assert len(site.requests) == 6

    async def test_cookies_are_not_kept(self, site: Site, fetching: Fetching) -> None:
        site.sends("/", "Location: /next", "Set-Cookie: a=b", status="302 Found")
        site.sends("/next")
        await fetching.file(site.url())
        assert all("cookie" not in request.headers for request in site.requests)

    async def test_nowhere(self, site: Site, fetching: Fetching) -> None:
        with pytest.raises(FetchFailed, match="answered 302") as error:
            await fetching(site.sends("/", status="302 Found"))
        assert error.value.details == {"host": "127.0.0.1", "reason": "status", "status": 302}

    @pytest.mark.parametrize("location", ["http://[::1", ":http://@]", "//xn--a/", "xn--ahttps:é"])
    async def test_to_no_url(self, location: str, site: Site, fetching: Fetching) -> None:
        with pytest.raises((FetchFailed, URLRefused)):
            await fetching(site.redirects("/", location))
        assert len(site.requests) == 1


class TestStatus:
    @pytest.mark.parametrize(
        "status", ["202 Accepted", "204 No Content", "206 Partial Content", "300 Many", "304 Not Modified",
                   "401 Unauthorized", "404 Not Found", "418 Teapot", "500 Internal Server Error", "503 Busy"]
    )  # fmt: skip
    async def test_what_is_no_document(self, status: str, site: Site, fetching: Fetching) -> None:
        code = int(status[:3])
        with pytest.raises(FetchFailed, match=f"answered {code}") as error:
            await fetching(site.sends("/", status=status))
        assert error.value.details == {"host": "127.0.0.1", "reason": "status", "status": code}
        assert not fetching.into.exists()

    async def test_not_modified(self, site: Site, fetching: Fetching) -> None:
        url = site.sends("/", status="304 Not Modified")
        modified = "Wed, 21 Oct 2015 07:28:00 GMT"
        assert await fetching(url, etag='W/"v1"', last_modified=modified) is None
        headers = site.requests[0].headers
        assert (headers["if-none-match"], headers["if-modified-since"]) == ('W/"v1"', modified)
        assert not fetching.into.exists()

    async def test_modified(self, site: Site, fetching: Fetching) -> None:
        result = await fetching(site.sends("/", 'ETag: "v2"', body=b"new"), etag='"v1"')
        assert isinstance(result, Fetched)
        assert result.etag == '"v2"'


class TestSize:
    @pytest.fixture
    def fetching(self, fetching: Fetching) -> Fetching:
        return replace(fetching, rules=replace(fetching.rules, max_bytes=MB))

    async def too_large(self, fetching: Fetching, url: str) -> None:
        with pytest.raises(PayloadTooLarge, match="larger than 1 MB") as error:
            await fetching(url)
        assert error.value.details == {"host": "127.0.0.1", "max_bytes": MB}
        assert not fetching.into.exists()

    async def test_as_large_as_allowed(self, site: Site, fetching: Fetching) -> None:
        assert (await fetching.file(site.sends("/", body=b"x" * MB))).size == MB

    async def test_announced(self, site: Site, fetching: Fetching) -> None:
        """Not even the first byte of the body has to come."""
        head = OK + f"Content-Length: {MB + 1}\r\n\r\n".encode()
        await self.too_large(fetching, site.plays("/", raw(head, pause=30)))

    async def test_endless(self, site: Site, fetching: Fetching) -> None:
        await self.too_large(fetching, site.plays("/", forever(OK + b"\r\n", b"x" * 65_536)))

    async def test_endless_in_chunks(self, site: Site, fetching: Fetching) -> None:
        await self.too_large(fetching, site.plays("/", forever(CHUNKED, b"1000\r\n" + b"x" * 4096 + b"\r\n")))

    async def test_a_gzip_bomb(self, site: Site, fetching: Fetching) -> None:
        bomb = _bomb(256)
        assert len(bomb) < MB
        url = site.sends("/", "Content-Encoding: gzip", body=bomb)
        tracemalloc.start()
        try:
            await self.too_large(fetching, url)
            assert tracemalloc.get_traced_memory()[1] < 8 * MB
        finally:
            tracemalloc.stop()

    async def test_gzip_that_unpacks_to_nothing(self, site: Site, fetching: Fetching) -> None:
        head = OK + b"Content-Encoding: gzip\r\n\r\n"
        await self.too_large(fetching, site.plays("/", forever(head, gzip.compress(b"") * 1000)))

    async def test_limits_in_bytes(self, site: Site, fetching: Fetching) -> None:
        small = replace(fetching, rules=replace(fetching.rules, max_bytes=10))
        with pytest.raises(PayloadTooLarge, match="larger than 10 bytes"):
            await small(site.sends("/", body=b"x" * 11))


class TestGzip:
    @pytest.mark.parametrize("size", [0, 1, 1 << 18, 3 << 18, (1 << 20) + 7])
    async def test_unpacked(self, size: int, site: Site, fetching: Fetching) -> None:
        body = b"whence" * (size // 6 + 1)
        fetched = await fetching.file(
            site.sends("/", "Content-Encoding: gzip", body=gzip.compress(body[:size]))
        )
        assert fetching.into.read_bytes() == body[:size]
        assert (fetched.size, fetched.sha256) == (size, hashlib.sha256(body[:size]).digest())

    async def test_members_and_padding(self, site: Site, fetching: Fetching) -> None:
        packed = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 100
        parts = [packed[at : at + 7] for at in range(0, len(packed), 7)]
        await fetching.file(
            site.plays("/", raw(OK + b"Content-Encoding: x-gzip\r\n\r\n", *parts, pause=0.001))
        )
        assert fetching.into.read_bytes() == b"one two"

    async def test_cut(self, site: Site, fetching: Fetching) -> None:
        with pytest.raises(FetchFailed, match="only part") as error:
            await fetching(site.sends("/", "Content-Encoding: gzip", body=gzip.compress(b"x" * 99)[:-9]))
        assert reason(error) == "cut"
        assert not fetching.into.exists()

    async def test_not_gzip(self, site: Site, fetching: Fetching) -> None:
        with pytest.raises(FetchFailed, match="not gzip") as error:
            await fetching(site.sends("/", "Content-Encoding: gzip", body=b"plain"))
        assert reason(error) == "encoding"

    @pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "zstd"])
    async def test_what_was_not_asked_for(self, encoding: str, site: Site, fetching: Fetching) -> None:
        with pytest.raises(FetchFailed, match="not asked for"):
            await fetching(site.sends("/", f"Content-Encoding: {encoding}", body=b"x"))


class TestTime:
    @pytest.fixture
    def fetching(self, fetching: Fetching) -> Fetching:
        return replace(fetching, rules=replace(fetching.rules, seconds=0.3))

    @pytest.mark.parametrize(
        ("head", "part"),
        [
            (b"", b"H"),  # never a whole line
            (OK, b"X-Header: x\r\n"),  # never an end of the head
            (OK + b"\r\n", b"x"),  # never an end of the body
        ],
    )
    async def test_a_drip(self, head: bytes, part: bytes, site: Site, fetching: Fetching) -> None:
        with pytest.raises(FetchTimeout, match=r"longer than 0\.3 seconds") as error:
            await fetching(site.plays("/", forever(head, part, pause=0.05)))
        assert error.value.details == {"host": "127.0.0.1", "reason": "deadline", "seconds": 0.3}
        assert not fetching.into.exists()

    async def test_slow_redirects_share_one_deadline(self, site: Site, fetching: Fetching) -> None:
        head = b"HTTP/1.1 302 Found\r\nLocation: /\r\n"
        with pytest.raises(FetchTimeout):
            await fetching(site.plays("/", raw(head, b"Content-Length: 0\r\n\r\n", pause=0.1)))

    async def test_a_slow_look_up(self, fetching: Fetching, monkeypatch: pytest.MonkeyPatch) -> None:
        answers = threading.Event()
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers.wait(60))
        try:
            with pytest.raises(FetchTimeout):
                await fetching("http://slow.example/")
        finally:
            answers.set()

    async def test_cancelled(self, site: Site, fetching: Fetching) -> None:
        patient = replace(fetching, rules=replace(fetching.rules, seconds=60))
        task = asyncio.create_task(patient(site.plays("/", forever(OK + b"\r\n", b"x" * 65_536, pause=0.01))))
        while not fetching.into.exists():  # noqa: ASYNC110 - there is nothing to be told by
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not fetching.into.exists()


class TestBroken:
    async def test_nobody_listens(self, fetching: Fetching) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            with pytest.raises(FetchFailed, match="could not be connected to") as error:
                await fetching(f"http://127.0.0.1:{unused.getsockname()[1]}/")
        assert reason(error) == "connection"

    @pytest.mark.parametrize(
        "sent",
        [
            b"",
            b"HTTP/1.1 200",
            b"220 mail.example ESMTP\r\n",
            OK + b"Content-Length: 100\r\n\r\nshort",
            OK + b"Content-Length: many\r\n\r\nx",
            OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx",
            CHUNKED + b"5\r\nwhe",
            CHUNKED + b"zz\r\nwhence\r\n",
            OK + b"X: " + b"x" * 200_000,
        ],
    )
    async def test_cut_or_not_http(self, sent: bytes, site: Site, fetching: Fetching) -> None:
        with pytest.raises(FetchFailed, match="broke off or did not keep to HTTP") as error:
            await fetching(site.plays("/", raw(sent)))
        assert reason(error) == "protocol"
        assert not fetching.into.exists()

    async def test_more_than_announced(self, site: Site, fetching: Fetching) -> None:
        await fetching.file(site.plays("/", raw(OK + b"Content-Length: 5\r\n\r\nwhence and more")))
        assert fetching.into.read_bytes() == b"whenc"

    async def test_a_reset(self, site: Site, fetching: Fetching) -> None:
        async def reset(writer: asyncio.StreamWriter) -> None:
            writer.write(OK + b"Content-Length: 100\r\n\r\nx")
            await writer.drain()
            linger = b"\1\0\0\0\0\0\0\0"  # on, for no time: the connection is not closed but reset
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

        with pytest.raises(FetchFailed) as error:
            await fetching(site.plays("/", reset))
        assert reason(error) in {"connection", "protocol"}
        assert not fetching.into.exists()

    async def test_a_folder_that_is_not_there(self, site: Site, fetching: Fetching, tmp_path: Path) -> None:
        """The disk is the caller's: its errors are not the site's."""
        with pytest.raises(FileNotFoundError):
            await replace(fetching, into=tmp_path / "no" / "folder")(site.sends("/"))


def test_rules_come_from_the_settings() -> None:
    settings = Settings(fetch_allow=("wiki.corp", "127.0.0.1/32"), fetch_max_mb=3, fetch_seconds=7)
    rules = FetchRules.of(settings)
    assert (rules.max_bytes, rules.seconds, rules.redirects) == (3 * MB, 7, 5)
    assert rules.allow == replace(HERE, hosts=frozenset({"wiki.corp"}))
    assert FetchRules.of(Settings()) == FetchRules()


def _bomb(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(bytes(MB)) for _ in range(megabytes)), packer.flush()])
