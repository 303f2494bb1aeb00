"""What the headers say of a file: names in every spelling that servers use, and none that is more than a name."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fetch.site import Fetching, Site

from whence.fetch import names

PAGE = httpx.URL("https://example.org/files/page.html?x=1")


def headers(name: str, value: bytes | str) -> httpx.Headers:
    return httpx.Headers([(name.encode(), value.encode() if isinstance(value, str) else value)])


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('attachment; filename="report.pdf"', "report.pdf"),
        ("attachment; filename=report.pdf", "report.pdf"),
        ("attachment; filename=two words.pdf", "two words.pdf"),
        ("ATTACHMENT ; FileName = report.pdf ; size=3", "report.pdf"),
        ("inline;filename=report.pdf", "report.pdf"),
        ("filename=report.pdf", "report.pdf"),
        (r'attachment; filename="a \"b\"; c.pdf"', 'a "b"; c.pdf'),
        ("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
        ("attachment; filename*=iso-8859-1'en'%A3.txt", "£.txt"),
        ("attachment; filename=\"euro.txt\"; filename*=utf-8''%e2%82%ac.txt", "€.txt"),
        ("attachment; filename*=utf-8''%e2%82%ac.txt; filename=euro.txt", "€.txt"),
        ("attachment; filename=euro.txt; filename*=utf-8''%ff.txt", "euro.txt"),
        ("attachment; filename=euro.txt; filename*=koi8-r''%ff.txt", "euro.txt"),
        ("attachment; filename=euro.txt; filename*=nonsense", "euro.txt"),
        ('attachment; filename="naïve.txt"', "naïve.txt"),
        ('attachment; filename="naïve.txt"'.encode("latin-1"), "naïve.txt"),
        ('attachment; filename="e\u0301.txt"', "\u00e9.txt"),
        ('attachment; filename="日本語.pdf"', "日本語.pdf"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        (r'attachment; filename="C:\\Users\\me\\a.doc"', "a.doc"),
        ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
        ("attachment; filename*=UTF-8''a%0Ab%00c%E2%80%A8d.txt", "a b c d.txt"),
        ('attachment; filename="\u202efdp.exe"', "fdp.exe"),
        ('attachment; filename="  .hidden.  "', "hidden"),
        ('attachment; filename=".."', "page.html"),
        ('attachment; filename=""', "page.html"),
        ("attachment", "page.html"),
        ("", "page.html"),
        (";;;=", "page.html"),
        ('attachment; filename="not closed.pdf', '"not closed.pdf'),
    ],
)
def test_content_disposition(disposition: str | bytes, name: str) -> None:
    assert names.file_name(headers("Content-Disposition", disposition), PAGE) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/a/b.txt", "b.txt"),
        ("/a/b/", "b"),
        ("/Stra%C3%9Fe%20(1).txt", "Straße (1).txt"),
        ("/wiki/日本語", "日本語"),
        ("/a%2Fb.txt", "b.txt"),
        ("/%ff.txt", "\ufffd.txt"),
        ("/", "example.org"),
        ("", "example.org"),
        ("/..%2f", "example.org"),
        ("/?name=x.txt", "example.org"),
    ],
)
def test_the_path(path: str, name: str) -> None:
    assert names.file_name(httpx.Headers(), httpx.URL(f"http://example.org{path}")) == name


def test_long_names_keep_their_ending() -> None:
    long = names.file_name(httpx.Headers(), httpx.URL(f"http://a/{'x' * 500}.tar.pdf"))
    assert len(long) == 200
    assert long.endswith("x.pdf")
    assert len(names.file_name(httpx.Headers(), httpx.URL(f"http://a/x.{'y' * 500}"))) == 200


@given(st.binary())
def test_whatever_is_sent_gives_a_name(sent: bytes) -> None:
    for value in (sent, b"attachment; filename=" + sent, b"a; filename*=utf-8''" + sent):
        name = names.file_name(headers("Content-Disposition", value), PAGE)
        assert 0 < len(name) <= 200
        assert name.isprintable() or not any(c < " " for c in name)
        assert name not in {".", ".."}
        assert "/" not in name
        assert "\\" not in name
        name.encode()


@pytest.mark.parametrize(
    ("sent", "kept"),
    [(b'"v1"', '"v1"'), (b' W/"v1" ', 'W/"v1"'), (b"", None), (b'"\xe9"', None), (b"x" * 1025, None)],
)
def test_validators_can_be_sent_back(sent: bytes, kept: str | None) -> None:
    assert names.plain_header(headers("ETag", sent), "etag") == kept


async def test_over_the_wire(site: Site, fetching: Fetching) -> None:
    site.sends("/a", 'Content-Disposition: attachment; filename="日本語.pdf"', "X-Other: é")
    assert (await fetching.file(site.url("/a"))).name == "日本語.pdf"
