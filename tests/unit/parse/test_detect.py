"""What a file is: by its content, and by its name only among texts."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.every import every_format
from tests.files.office import encrypted_office, zipped
from tests.stalls import reference

from whence.parse import detect, ocr, readable
from whence.parse.detect import BINARY, HEAD, OLE, ZIP

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
ELF = b"\x7fELF\x02\x01\x01\x00" + bytes(40)


@pytest.mark.parametrize("name", ["a.txt", "a.pdf", "a.docx", "a", ""])
@pytest.mark.parametrize(
    ("content", "mime"),
    [
        (ELF, BINARY),
        (bytes(range(256)), BINARY),
        (encrypted_office(), OLE),
    ],
)
def test_binaries(name: str, content: bytes, mime: str) -> None:
    assert detect(name, content) == mime
    assert not readable(mime)


def test_a_picture_can_be_read_by_ocr() -> None:
    for content, mime in (
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"II*\0\x08", "image/tiff"),
    ):
        assert detect("a.txt", content) == mime
        assert readable(mime) == ocr.installed()


@pytest.mark.parametrize(
    ("name", "content", "mime"),
    [
        ("a.txt", b"<html><body>source of a page", "text/plain"),
        ("a.md", b"# Title", "text/markdown"),
        ("A.MD", b"# Title", "text/markdown"),
        ("page", b"  \n<!-- by hand -->\n<!DOCTYPE HTML><p>", "text/html"),
        ("page.pdf", b"<html><body>404 not found", "text/html"),
        ("page.php?id=1", b"<?xml version='1.0'?>\n<html xmlns='x'>", "text/html"),
        ("mail", b"Received: from a\n\tby b\r\nSubject: x\r\nFrom: a@b.c\r\n\r\nHello", "message/rfc822"),
        ("notes", b"Todo: one\nThen: two\n\nHello", "text/plain"),
        ("report.pdf", b"This is no PDF at all.", "text/plain"),
        ("report.docx", b"\xef\xbb\xbfplain", "text/plain"),
        ("utf16", "plain".encode("utf-16"), "text/plain"),
        ("main.rs", b"fn main() {}", "text/x-rust"),
        ("colours", b"\x1b[31mred\x1b[0m", "text/plain"),
        ("x.pdf", b"\n\n junk %PDF-1.4 ...", "application/pdf"),
        ("x.txt", b"{\\rtf1 hello}", "application/rtf"),
        ("x.odt", zipped({"a": "b"}), "application/vnd.oasis.opendocument.text"),
        ("x.zip", zipped({"a": "b"}), ZIP),
        ("x.zip", zipped({}), ZIP),
    ],
)
def test_names_and_contents(name: str, content: bytes, mime: str) -> None:
    assert detect(name, content) == mime


def test_a_binary_that_cannot_be_read_has_the_type_of_its_name() -> None:
    assert detect("a.png", PNG) == "image/png"


def test_what_the_sender_says_counts_last() -> None:
    assert detect("a", b"x,y", declared="text/csv; charset=utf-8") == "text/csv"
    assert detect("a.json", b"{}", declared="text/csv") == "application/json"
    assert detect("a", b"<html>", declared="text/csv") == "text/html"
    assert detect("a", b"x", declared="application/pdf") == "text/plain"
    assert detect("a", PNG, declared="text/plain") == "image/png"


def test_looking_takes_no_time() -> None:
    began = time.thread_time()
    for content in (
        b"<!-- -->" * 8000,
        b"a:\n" * 20_000,
        b"PK\x03\x04" * 16_000,
        b" " * HEAD,
        b"<?xml" * 10_000,
    ):
        detect("", content)
    assert time.thread_time() - began < 50 * reference()


def test_sixty_four_kilobytes_are_enough() -> None:
    for sample in every_format():
        assert detect("", sample.content[:HEAD], declared=sample.mime) == sample.mime


@given(name=st.text(max_size=20), content=st.binary(max_size=200))
def test_there_is_always_an_answer(name: str, content: bytes) -> None:
    assert "/" in detect(name, content)
