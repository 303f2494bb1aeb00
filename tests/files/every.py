"""One file of every format that is read, each with sentences that must come out and the pages they stand on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path

from tests.files.office import docx, epub, html_body, odp, odt, pptx, xlsx
from tests.files.pdf import pdf

HEADINGS = ("The grey heron", "Größe und Übermut")
SENTENCES = (
    "The grey heron waits in shallow water & does not move.",
    "It eats fish < 25 cm, frogs and now and then a mouse.",
    "Die Straße führt über die Brücke, naïve façades inbegriffen.",
    "Η γκρίζα τσικνιά περιμένει στα ρηχά.",
    "Серая цапля ждёт на мелководье.",
    "灰色の鷺は浅瀬で待っている。",
)
FILLER = (
    "Between the reeds it is quiet, the wind hardly moves the water, and nobody is in a hurry to leave. " * 3
)
ROWS = (("bird", "length"), ("heron", "98 cm"), ("bittern", "75 cm"))

_OFFICE = "application/vnd.openxmlformats-officedocument."


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSample:
    name: str
    mime: str
    content: bytes
    sentences: tuple[str, ...] = SENTENCES
    headings: tuple[str, ...] = ()
    pages: Mapping[str, int] = field(default_factory=dict)
    """Sentence to page number; empty for a format without pages."""
    cells: tuple[str, ...] = ()
    """Cells of a table that must come out as one."""
    faithful: str | None = None
    """The whole text, where it must come through unchanged."""


def every_format() -> list[FileSample]:
    return [*_documents(), *_texts()]


def write_every_format(folder: Path) -> list[FileSample]:
    """A folder with a file of every format, as somebody might upload it."""
    samples = every_format()
    for sample in samples:
        (folder / sample.name).write_bytes(sample.content)
    return samples


def numbered_sentence(page: int) -> str:
    return f"Page number {page} says that herons were seen {page * 7} times."


def long_pdf(pages: int, *, fillers: int = 1) -> bytes:
    """Each page has its `numbered_sentence`."""
    rest = [FILLER] * fillers
    return pdf([[f"# Chapter {number}", numbered_sentence(number), *rest] for number in range(1, pages + 1)])


def _documents() -> list[FileSample]:
    paragraphs = [f"# {HEADINGS[0]}", *SENTENCES[:2], f"# {HEADINGS[1]}", *SENTENCES[2:]]
    # Three short lines alone would pass for a table.
    pages = [[*paragraphs[:3], FILLER], paragraphs[3:5], [], *([sentence] for sentence in SENTENCES[3:])]
    on_page = dict(zip(SENTENCES, (1, 1, 2, 4, 5, 6), strict=True))
    slides = [[HEADINGS[0], *SENTENCES[:2]], [HEADINGS[1], *SENTENCES[2:]]]
    on_slide = {sentence: 1 if number < 2 else 2 for number, sentence in enumerate(SENTENCES)}
    cells = tuple(cell for row in ROWS for cell in row)
    return [
        FileSample(
            name="heron.pdf", mime="application/pdf", content=pdf(pages), headings=HEADINGS, pages=on_page
        ),
        FileSample(
            name="heron.docx",
            mime=_OFFICE + "wordprocessingml.document",
            content=docx(paragraphs, table=ROWS),
            headings=HEADINGS,
            cells=cells,
        ),
        FileSample(
            name="heron.pptx",
            mime=_OFFICE + "presentationml.presentation",
            content=pptx(slides),
            headings=HEADINGS,
            pages=on_slide,
        ),
        FileSample(
            name="heron.xlsx",
            mime=_OFFICE + "spreadsheetml.sheet",
            content=xlsx({"Birds & more": [*ROWS, *((sentence, "") for sentence in SENTENCES)]}),
            headings=("Birds & more",),
            cells=cells,
        ),
        FileSample(
            name="heron.odt",
            mime="application/vnd.oasis.opendocument.text",
            content=odt(paragraphs, table=ROWS),
            headings=HEADINGS,
            cells=cells,
        ),
        FileSample(
            name="heron.odp",
            mime="application/vnd.oasis.opendocument.presentation",
            content=odp(slides, table=ROWS),
            headings=HEADINGS,
            cells=cells,
            pages=on_slide,
        ),
        FileSample(
            name="heron.epub",
            mime="application/epub+zip",
            content=epub([paragraphs[:3], paragraphs[3:]]),
            headings=HEADINGS,
        ),
        FileSample(
            name="heron.html", mime="text/html", content=_html(paragraphs), headings=HEADINGS, cells=cells
        ),
        FileSample(name="heron.rtf", mime="application/rtf", content=_rtf(SENTENCES)),
        FileSample(
            name="heron.eml", mime="message/rfc822", content=_mail(SENTENCES), headings=(HEADINGS[1],)
        ),
    ]


def _texts() -> list[FileSample]:
    paragraphs = "\r\n\r\n".join(SENTENCES) + "\r\n"
    texts = {
        "heron.txt": ("text/plain", paragraphs),
        "heron.md": (
            "text/markdown",
            f"# {HEADINGS[0]}\n\n" + "\n\n".join(SENTENCES) + "\n\n```\n# code\n```\n",
        ),
        "heron.csv": ("text/csv", "bird,says\r\n" + "".join(f'heron,"{one}"\r\n' for one in SENTENCES)),
        "heron.json": ("application/json", "[\n" + ",\n".join(f'  "{one}"' for one in SENTENCES) + "\n]\n"),
        "heron.py": ("text/x-python", "".join(f"# {one}\n" for one in SENTENCES) + "\n\tx = 1 \\\n\t\t+ 2\n"),
    }
    return [
        FileSample(name=name, mime=mime, content=text.encode(), faithful=text)
        for name, (mime, text) in texts.items()
    ]


def _html(paragraphs: list[str]) -> bytes:
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
    head = "<head><meta charset='utf-8'><title>Not part of it</title><style>p { margin: 0 }</style></head>"
    body = f"{html_body(paragraphs)}<table>{rows}</table><script>var notPartOfIt = 1;</script>"
    return f"<!DOCTYPE html>\n<html lang='en'>{head}<body>{body}</body></html>".encode()


def _rtf(paragraphs: tuple[str, ...]) -> bytes:
    body = "\\par\n".join(
        "".join(char if char.isascii() else f"\\u{ord(char)}?" for char in paragraph)
        for paragraph in paragraphs
    )
    return ("{\\rtf1\\ansi\\ansicpg1252\\uc1{\\fonttbl{\\f0 Arial;}}\\f0\\fs22 " + body + "\\par}").encode()


def _mail(paragraphs: tuple[str, ...]) -> bytes:
    message = EmailMessage()
    message["From"] = "Ana Lindqvist <ana@example.org>"
    message["To"] = "bo@example.org"
    message["Date"] = "Mon, 01 Jun 2026 10:00:00 +0000"
    message["Subject"] = HEADINGS[1]
    message.set_content("\n\n".join(paragraphs))
    message.add_alternative("<p>Not part of it, as there is a plain text.</p>", subtype="html")
    message.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename="nest.bin")
    return message.as_bytes()
