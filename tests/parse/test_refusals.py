"""Every way a document cannot be read has its own reason, says it in plain words, and spoils nothing for the next."""

import io
import struct
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.files.every import SENTENCES, long_pdf
from tests.files.office import docx, encrypted_office, epub, html_body, odp, odt, pptx, xlsx, zipped
from tests.files.pdf import pdf, scanned_pdf

from whence.errors import UnreadableDocument
from whence.parse import Limits, Parser, ocr
from whence.parse.detect import ODP
from whence.parse.parsed import MEGABYTE

PARAGRAPHS = ["# Title", *SENTENCES]
PDF_FILE = pdf([PARAGRAPHS])
WORD_FILE = docx(PARAGRAPHS)


def bomb(size: int) -> bytes:
    return b"<w:p/>" * (size // 6)


def lying_zip() -> bytes:
    """A part that says it has ten bytes and has twenty million."""
    content = bytearray(docx(["x"], more={"word/footnotes.xml": b" " * 20 * MEGABYTE}))
    size = struct.pack("<I", 20 * MEGABYTE)
    while (at := content.find(size)) >= 0:
        content[at : at + 4] = struct.pack("<I", 10)
    return bytes(content)


def locked_zip() -> bytes:
    content = bytearray(WORD_FILE)
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := content.find(mark, at + 1)) >= 0:
            content[at + flags] |= 1
    return bytes(content)


def overlapping_zip() -> bytes:
    """Many names for one part, each of which looks harmless."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(range(256)) * 30_000)
        for number in range(80):
            entry = zipfile.ZipInfo(f"word/part{number}.xml")
            first = archive.infolist()[0]
            for name in ("compress_type", "CRC", "compress_size", "file_size", "header_offset"):
                setattr(entry, name, getattr(first, name))
            archive.filelist.append(entry)
    return out.getvalue()


LAUGHS = (
    "<!DOCTYPE x ["
    + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha" * 50}">' for n in range(10))
    + "]><x>&e9;</x>"
)
"""Entities that grow tenfold ten times."""
REFUSED = {
    "encrypted": {
        "user.pdf": pdf([PARAGRAPHS], user_password="secret"),  # noqa: S106 - the point
        "office.docx": encrypted_office(),
        "encrypted.odt": odt(PARAGRAPHS, encrypted=True),
        "locked.docx": locked_zip(),
    },
    "empty": {"empty.txt": b"", "empty.pdf": b"", "white.txt": b" \r\n\t\n", "bom.txt": b"\xef\xbb\xbf\n"},
    "corrupt": {
        "half.pdf": PDF_FILE[: len(PDF_FILE) // 3],
        "no pages.pdf": pdf([]),
        "head.pdf": b"%PDF-1.7\n",
        "half.docx": WORD_FILE[: len(WORD_FILE) // 2],
        "head.xlsx": b"PK\x03\x04",
        "broken.docx": WORD_FILE.replace(b"word/document.xml", b"word/docoment.xml"),
        "overlapping.docx": overlapping_zip(),
        "no content.odp": zipped({"a.xml": "x"}, first=("mimetype", ODP)),
        "laughs.odp": zipped({"content.xml": LAUGHS}, first=("mimetype", ODP)),
        "flipped.epub": bytes(
            byte ^ 0x55 if 900 < at < 1000 else byte for at, byte in enumerate(epub([PARAGRAPHS]))
        ),
    },
    "no_text": {
        "scanned.pdf": scanned_pdf(3),
        "blank.pdf": pdf([[], []]),
        "blank.docx": docx([]),
        "blank.html": b"<html><head><title>only</title></head><body><img src='x.png'></body></html>",
        "blank.pptx": pptx([[]]),
        "blank.odp": odp([[" "]]),
    },
    "too_large": {
        "bomb.docx": docx(["x"], more={"word/footnotes.xml": bomb(50 * MEGABYTE)}),
        "bomb.xlsx": zipped({"xl/workbook.xml": bomb(50 * MEGABYTE)}),
    },
    "unsupported": {
        "picture.txt": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        "program.pdf": b"\x7fELF\x02\x01\x01\x00" + bytes(100),
        "random.pdf": bytes(range(256)) * 10,
        "some.zip": zipped({"a.txt": "x"}),
        "some.docx": zipped({"a.txt": "x"}),
        "old.doc": encrypted_office().replace("EncryptedPackage".encode("utf-16-le"), bytes(32)),
        "late.txt": b"x" * 70_000 + bytes(range(32)) * 1000,
    },
}


@pytest.fixture
async def parser() -> AsyncIterator[Parser]:
    async with Parser() as parser:
        yield parser


async def refusal(parser: Parser, path: Path, name: str) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as error:
        await parser.parse(path, name=name)
    assert error.value.details["file_name"] == name
    assert str(path.parent) not in error.value.message
    assert error.value.message[0].isupper()
    return error.value


async def works(parser: Parser, folder: Path) -> bool:
    path = folder / "good"
    path.write_bytes(PDF_FILE)
    return SENTENCES[0] in (await parser.parse(path, name="good.pdf")).text


@pytest.mark.parametrize("reason", REFUSED)
async def test_reasons(parser: Parser, tmp_path: Path, reason: str) -> None:
    for name, content in REFUSED[reason].items():
        path = tmp_path / "original"
        path.write_bytes(content)
        error = await refusal(parser, path, name)
        is_picture = name == "picture.txt" and ocr.installed()  # it is read then, and found to be cut off
        assert error.details["reason"] == ("corrupt" if is_picture else reason), name
        assert error.code == "UNREADABLE_DOCUMENT"
        assert error.status == 400
    assert await works(parser, tmp_path)


async def test_sizes_that_lie(parser: Parser, tmp_path: Path) -> None:
    path = tmp_path / "original"
    path.write_bytes(lying_zip())
    assert (await refusal(parser, path, "lying.docx")).details["reason"] in {"too_large", "corrupt"}
    assert await works(parser, tmp_path)


async def test_an_owner_who_forbids_changes_does_not_forbid_reading(parser: Parser, tmp_path: Path) -> None:
    path = tmp_path / "original"
    path.write_bytes(pdf([PARAGRAPHS], owner_password="secret"))  # noqa: S106 - the point
    assert SENTENCES[2] in (await parser.parse(path, name="owned.pdf")).text


@pytest.mark.skipif(ocr.installed(), reason="the extra whence-kb[ocr] is installed")
async def test_scanned_pages_are_counted(parser: Parser, tmp_path: Path) -> None:
    path = tmp_path / "original"
    path.write_bytes(scanned_pdf(3))
    assert (
        await refusal(parser, path, "a.pdf")
    ).message == "Its 3 pages hold no text, as when paper is scanned; to read scans, install whence-kb[ocr]"


@pytest.mark.parametrize(
    ("limits", "reason", "message"),
    [
        (Limits(seconds=2), "too_slow", "Reading it took longer than 2 seconds"),
        (Limits(cpu_seconds=1), "too_slow", "Reading it took more than 1 seconds of computing"),
        (Limits(text=MEGABYTE // 4), "too_large", "The text is longer than 0.25 MB"),
        (Limits(pages=799, text=1000), "too_large", "It has more than 799 pages"),  # before it is read
    ],
)
async def test_limits_on_a_long_document(limits: Limits, reason: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "original"
    path.write_bytes(long_pdf(800, fillers=5))
    async with Parser(limits) as parser:
        error = await refusal(parser, path, "long.pdf")
        assert (error.details["reason"], error.message) == (reason, message)
        assert await works(parser, tmp_path)


@pytest.mark.parametrize("kind", ["html", "xlsx"])
async def test_too_much_memory(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "original"
    many = [f"{number} {SENTENCES[0]}" for number in range(60_000)]
    page = f"<html><body>{html_body(many * 2)}</body></html>".encode()
    path.write_bytes(page if kind == "html" else xlsx({"S": [[one, one] for one in many]}))
    async with Parser(Limits(memory=60 * MEGABYTE)) as parser:
        error = await refusal(parser, path, f"large.{kind}")
        assert error.details["reason"] == "out_of_memory"
        assert error.message == "Reading it takes more than 60 MB of memory"
        assert await works(parser, tmp_path)


async def test_a_text_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "original"
    async with Parser(Limits(text=1000)) as parser:
        for content in (b"x" * 1001, "é".encode() * 501, b"x" * 5000):
            path.write_bytes(content)
            assert (await refusal(parser, path, "a.txt")).details["reason"] == "too_large"
        for content in (b"x" * 1000, ("x" * 1000).encode("utf-16")):
            path.write_bytes(content)
            assert (await parser.parse(path, name="a.txt")).text == "x" * 1000
