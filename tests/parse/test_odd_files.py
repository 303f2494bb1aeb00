"""Files as they really come: damaged, mislabelled, in old encodings."""

import gzip
import io
import random
import zipfile
from collections.abc import AsyncIterator
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path

import pytest
from tests.files.every import SENTENCES, FileSample, every_format
from tests.files.office import docx, html_body, odp, pptx, zipped
from tests.files.pdf import pdf

from whence.errors import UnreadableDocument
from whence.parse import Limits, Parsed, Parser

CYRILLIC = SENTENCES[4]


@pytest.fixture
async def parser() -> AsyncIterator[Parser]:
    async with Parser() as parser:
        yield parser


class Reader:
    def __init__(self, parser: Parser, folder: Path) -> None:
        self._parser, self._path = parser, folder / "original"

    async def __call__(self, content: bytes, name: str = "a", mime: str | None = None) -> Parsed:
        self._path.write_bytes(content)
        return await self._parser.parse(self._path, name=name, mime=mime)


@pytest.fixture
def read(parser: Parser, tmp_path: Path) -> Reader:
    return Reader(parser, tmp_path)


@pytest.mark.parametrize("sample", every_format(), ids=lambda sample: sample.name)
async def test_damage_is_survived(read: Reader, sample: FileSample) -> None:
    chance = random.Random(7)
    for _ in range(15):
        content = bytearray(sample.content)
        for _ in range(chance.randint(1, 30)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        end = chance.choice([len(content), len(content) - 40])
        with suppress(UnreadableDocument):
            assert "\0" not in (await read(bytes(content[:end]), sample.name)).text


async def test_web_pages_in_old_encodings(read: Reader) -> None:
    page = f"<html><head><meta http-equiv='Content-Type' content='text/html; charset=windows-1251'></head><p>{CYRILLIC}</p>"
    assert CYRILLIC in (await read(page.encode("cp1251"), "a.html")).text
    bare = f"<html><body><p>{CYRILLIC}</p></body></html>".encode("cp1251")
    assert CYRILLIC in (await read(bare, "a", "text/html; charset=windows-1251")).text
    assert CYRILLIC in (await read(page.encode("utf-16"), "a.html")).text
    assert "Größe" in (await read("<html><p>Größe".encode("cp1252"))).text


async def test_the_sender_may_say_the_encoding(read: Reader) -> None:
    parsed = await read(CYRILLIC.encode("cp1251"), "a.csv", "text/csv; charset=windows-1251")
    assert (parsed.text, parsed.mime) == (CYRILLIC, "text/csv")


async def test_what_browsers_do_not_show_is_not_text(read: Reader) -> None:
    page = (
        "<!doctype html><html><head><title>Title</title><meta name='author' content='x'></head><body>"
        f"<nav>Home</nav>{html_body(SENTENCES[:2])}<img src='data:image/png;base64,AAAA' alt='a heron'>"
        "<img src='x.png'><script>let x = 1</script></body></html>"
    )
    text = (await read(page.encode(), "a.html")).text
    assert text.split() == f"{SENTENCES[0]} {SENTENCES[1]} a heron".split()


async def test_mail_without_plain_text(read: Reader) -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "Two\thérons", "ana@example.org"
    mail.set_content(f"<h2>Seen</h2><p>{SENTENCES[2]}</p>", subtype="html", charset="iso-8859-1")
    text = (await read(mail.as_bytes(), "a.eml")).text
    assert text == f"# Two hérons\n\nFrom: ana@example.org\n\n## Seen\n\n{SENTENCES[2]}"


async def test_mail_that_breaks_the_rules(read: Reader) -> None:
    mail = b"From: \xff\xfe <a@b>\r\nSubject: =?x-none?q?abc?=\r\nContent-Type: text/plain; charset=none\r\nDate: soon\r\n\r\nBody caf\xe9\r\n"
    assert "Body café" in (await read(mail, "a.eml")).text


async def test_characters_that_are_markup(read: Reader) -> None:
    sentence = "AT&T says \"x < y > z\" & 'C# *is* fine_too' [1] `a\\b`; 5 &amp; 6."
    for content, name in ((docx([sentence]), "a.docx"), (pptx([["Title", sentence]]), "a.pptx")):
        assert sentence in (await read(content, name)).text, name


async def test_numbered_references(read: Reader) -> None:
    word = docx(["PLACE"])
    assert "PLACE" in (await read(word, "a.docx")).text
    with zipfile.ZipFile(io.BytesIO(word)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["word/document.xml"] = parts["word/document.xml"].replace(
        b"PLACE", b"&#65;&#x4e8c;&#38;&#x3C;b&#62;"
    )
    assert "A二&<b>" in (await read(zipped(parts), "a.docx")).text


async def test_words_in_angle_brackets_stay_in_a_pdf(read: Reader) -> None:
    lines = ["See <https://example.org/> and xml:lang, <b>bold</b> & more.", "by. the way, this is no list."]
    parsed = await read(pdf([lines]), "a.pdf")
    assert all(line in parsed.text for line in lines)


async def test_no_such_file(parser: Parser, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await parser.parse(tmp_path / "nowhere", name="a.pdf")


@pytest.mark.parametrize("sample", every_format()[:3], ids=lambda sample: sample.name)
async def test_a_packed_file_reads_like_the_file_in_it(read: Reader, sample: FileSample) -> None:
    plain = await read(sample.content, sample.name)
    packed = await read(gzip.compress(sample.content), f"{sample.name}.gz")
    assert (packed.text, packed.pages, packed.mime) == (plain.text, plain.pages, "application/gzip")


async def test_packed_files_that_are_refused(read: Reader, tmp_path: Path) -> None:
    text = gzip.compress(b"One two three. " * 1000)
    for content, reason in ((text[:-20], "corrupt"), (gzip.compress(text), "unsupported")):
        with pytest.raises(UnreadableDocument) as error:
            await read(content, "a.txt.gz")
        assert error.value.details["reason"] == reason
    async with Parser(Limits(text=1000)) as small:
        with pytest.raises(UnreadableDocument, match="Unpacked, the file is larger"):
            await Reader(small, tmp_path)(gzip.compress(bytes(10_000_000)), "bomb.gz")


async def test_a_presentation_of_libreoffice(read: Reader) -> None:
    content = odp(
        [["One", "First.", "- a & b", "- c"], ["Two"]], table=[["x", "y"], ["1", "2"]], notes={1: "Wave."}
    )
    parsed = await read(content, "a.odp")
    first, second = (parsed.text[page.start : page.end] for page in parsed.pages)
    assert first == "## One\n\nFirst.\n\n- a & b\n- c\n\nNotes: Wave."
    assert second == "## Two\n\n| x | y |\n| --- | --- |\n| 1 | 2 |"


async def test_notes_of_the_speaker_are_on_their_slide(read: Reader) -> None:
    content = pptx([["One", "first"], ["Two", "second"]], notes={2: "Mention the heron."})
    parsed = await read(content, "talk.pptx")
    first, second = (parsed.text[page.start : page.end] for page in parsed.pages)
    assert second.endswith("Notes: Mention the heron.")
    assert "Notes" not in first
    assert "the picture" not in parsed.text


async def test_a_web_page_without_menus_and_link_targets(read: Reader) -> None:
    page = """<html><body><nav><ul><li><a href="/a">Home page</a></li></ul></nav>
    <div role="navigation"><a href="/b">Sitemap</a></div>
    <p>The <a href="https://example.org/heron_(bird)" title="x">grey heron</a> is <b>patient</b>. Call <code>f[0](x)</code>.</p>
    </body></html>"""
    parsed = await read(page.encode(), "a.html")
    assert "The grey heron is **patient**. Call `f[0](x)`." in parsed.text
    assert not any(word in parsed.text for word in ("Home page", "Sitemap", "example.org"))


MADE = Path(__file__).parents[1] / "files" / "made"
"""Files by python-pptx 1.0, reportlab 5.1, Chromium 150, Sphinx 9.0 and MkDocs with its theme Material."""


@pytest.mark.parametrize("name", ["birds.pptx", "birds.pptx.gz"])
async def test_notes_of_real_slides(read: Reader, name: str) -> None:
    content = (MADE / "birds.pptx").read_bytes()
    parsed = await read(gzip.compress(content) if name.endswith("gz") else content, name)
    first, second, third = (parsed.text[page.start : page.end] for page in parsed.pages)
    assert "They wait in the shallows.\n\nNotes: Mention the count of 2023: forty pairs." in first
    assert "Notes" not in second
    assert third.endswith("Notes: First line of notes.\nSecond line of notes.")


async def test_hyphens_of_a_real_pdf(read: Reader) -> None:
    text = (await read((MADE / "report.pdf").read_bytes(), "report.pdf")).text
    for kept in (
        "fourth-quarter rose",
        "well-known",
        "long-term",
        "state-of-the-art",
        "mother-in-law",
        "COVID-19",
    ):
        assert kept in text
    for joined in ("appendix;", "documentation"):
        assert joined in text


async def test_paragraphs_of_a_real_pdf_with_tags(read: Reader) -> None:
    text = (await read((MADE / "columns-tagged.pdf").read_bytes(), "columns.pdf")).text
    blocks = [" ".join(block.split()) for block in text.split("\n\n")]
    assert blocks[:2] == ["# Harbour library: report of the first quarter of the year", "## Spending"]
    assert [block[:13] for block in blocks[2:]] == [
        "The library s",
        "The insurance",
        "## Visitors",
        "In the first ",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "sphinx.html",
            """# Birds of the canal\n\nThe heron waits in the shallows, as the survey of 2023 says. See also Otters.\n
## Counts\n\nForty pairs were counted in the fourth quarter.\n\n- Otters\n\n©.""",
        ),
        (
            "mkdocs.html",
            """Skip to content\n\n# Birds of the canal\n\nThe heron waits, as the survey says.\n\n## Counts\n
Forty pairs.\n\n Made with Material for MkDocs""",
        ),
    ],
)
async def test_menus_of_real_web_pages(read: Reader, name: str, text: str) -> None:
    assert (await read((MADE / name).read_bytes(), name)).text.strip() == text


async def test_a_menu_without_end_is_kept(read: Reader) -> None:
    page = "<nav><nav>Inside.</nav>Menu.</nav><p>One.</p><div role='navigation'><p>Two.</p></body></html>"
    assert (await read(page.encode(), "a.html")).text.split() == ["One.", "Two."]
