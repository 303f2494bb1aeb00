"""TLS: the name is proved although the address is what is connected to.

The certificate in `tls/` is its own authority, for `wiki.example`; its key protects nothing.
"""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fetch.conftest import Names
from tests.fetch.site import Fetching, Site, opened

from whence.errors import FetchFailed, URLRefused
from whence.fetch import answers

FOLDER = Path(__file__).parent / "tls"


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    answers._tls.cache_clear()
    yield
    answers._tls.cache_clear()


@pytest.fixture
def context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(FOLDER / "certificate.pem", FOLDER / "key.pem")
    return context


@pytest.mark.parametrize("host", ["wiki.example", "other.example"])
async def test_only_the_name_of_the_certificate(
    host: str,
    context: ssl.SSLContext,
    fetching: Fetching,
    names: Names,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(FOLDER / "certificate.pem"))
    names(host, ("127.0.0.1",))
    async with opened(context) as site:
        site.sends("/", body=b"private")
        url = site.url(host=host, scheme="https")
        if host == "wiki.example":
            await fetching.file(url)
            assert fetching.into.read_bytes() == b"private"
        else:
            with pytest.raises(FetchFailed, match=r"certificate of other\.example is not trusted"):
                await fetching(url)
            assert site.requests == []


async def test_an_unknown_authority(context: ssl.SSLContext, fetching: Fetching, names: Names) -> None:
    names("wiki.example", ("127.0.0.1",))
    async with opened(context) as site:
        with pytest.raises(FetchFailed, match="not trusted") as error:
            await fetching(site.url(host="wiki.example", scheme="https"))
    assert error.value.details == {"host": "wiki.example", "reason": "certificate"}


async def test_no_tls(site: Site, fetching: Fetching) -> None:
    site.greeting = b"220 mail.example ESMTP\r\n"
    with pytest.raises(FetchFailed, match="over TLS") as error:
        await fetching(site.url(scheme="https"))
    assert error.value.details["reason"] == "tls"


async def test_a_redirect_that_gives_tls_up(
    context: ssl.SSLContext,
    fetching: Fetching,
    names: Names,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(FOLDER / "certificate.pem"))
    names("wiki.example", ("127.0.0.1",))
    async with opened(context) as site:
        site.redirects("/", "http://wiki.example/")
        with pytest.raises(URLRefused, match="from https to http"):
            await fetching(site.url(host="wiki.example", scheme="https"))
