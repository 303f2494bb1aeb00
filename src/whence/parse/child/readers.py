"""Reads each format into its text and pages."""

import email
import email.policy
import html
import io
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from email.errors import MessageError
from email.message import EmailMessage
from pathlib import Path

from whence.models import Page, is_blank
from whence.parse import ocr
from whence.parse.child import archive, odp, pdf
from whence.parse.child.archive import parts_of
from whence.parse.child.kreuzberg import (
    MARK,
    date_of,
    extract,
    unescape,
    without_link_targets,
    without_pictures,
)
from whence.parse.child.pdfium import opened
from whence.parse.dates import file_date
from whence.parse.decode import decode
from whence.parse.detect import DOCX, EPUB, HTML, MAIL, ODP, PDF, PPTX, ZIPPED
from whence.parse.parsed import Parsed, Refused, join_pages

# Pictures and embedded files may be large, and no text is read from them.
_NOT_READ = ("word/media/", "word/embeddings/")
_SLIDE = re.compile(MARK.strip().replace("{page_num}", r"\d+"))
_SLIDES = {PPTX: ("ppt/presentation.xml", "}sldId"), ODP: ("content.xml", "}page")}
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
# Matches the text of an empty slide.
_RULE = re.compile(r"[\s-]*")
_REFERENCE = re.compile(rb"&(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});")
# Placeholders for markup characters: Unicode reserves these for use inside one program.
_STAND_INS = {character: chr(0xFDD0 + number) for number, character in enumerate("&<>\"'")}
_BACK = {ord(stand_in): character for character, stand_in in _STAND_INS.items()}
_OTHER_ENCODING = re.compile(rb"\A[^>]{0,200}encoding=[\"'](?!utf-8)", re.IGNORECASE)
# Removed, because kreuzberg would turn title and metadata into mangled front matter.
_HEAD = re.compile(r"<head\b[^>]*>.*?</head\s*>", re.IGNORECASE | re.DOTALL)
_HEAD_PARTS = re.compile(
    r"<title\b[^>]*>.*?</title\s*>|<(?:meta|link|base)\b[^>]*>", re.IGNORECASE | re.DOTALL
)
# Links of Sphinx and MkDocs to their own heading.
_PERMALINK = re.compile(r"<a\b[^>]*\bheaderlink\b[^>]*>[^<]*</a\s*>", re.IGNORECASE)
_PERHAPS_MENU = re.compile(r"<(/?)(nav|ul|ol|div|section|aside|form)\b([^>]*)>", re.IGNORECASE)
_MENU_ROLE = re.compile(r"\brole=[\"']?(?:navigation|search)\b", re.IGNORECASE)
_TAG = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)
_WORD = re.compile(r"\w")
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.IGNORECASE)
_LOOK = 4096
_HEADERS = ("From", "To", "Cc", "Date")


def read(path: Path, mime: str, *, charset: str | None, memory: int, pages: int | None) -> Parsed:
    if mime in ZIPPED:
        mime = archive.inspect(path, most=memory)
    if pages is not None and _count_pages(path, mime) > pages:  # checked before the work
        raise Refused("too_large", f"It has more than {pages} pages")
    if mime in _READERS:
        parsed = _READERS[mime](path)
    elif mime == HTML:
        parsed = Parsed(text=_read_html(_prepare_html(path.read_bytes(), charset)), mime=mime)
    else:
        result = extract(path, mime)
        parsed = Parsed(text=unescape(result.content), mime=mime, dated_at=date_of(result))
    if is_blank(parsed.text) and not (mime == PDF and ocr.installed()):
        raise Refused("no_text")
    # PostgreSQL cannot store NUL.
    return replace(parsed, text=parsed.text.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def _count_pages(path: Path, mime: str) -> int:
    """Pages or slides; 0 for other formats, and for a PDF that pdfium cannot open."""
    if mime == PDF:
        with suppress(Refused), opened(path) as document:
            return len(document)
    if mime in _SLIDES:
        name, tag = _SLIDES[mime]
        with zipfile.ZipFile(path) as presentation:
            return sum(part.tag.endswith(tag) for part in parts_of(presentation, name))
    return 0


def _read_pptx(path: Path) -> Parsed:
    """A slide is a page."""
    result = extract(path, PPTX, marked=True)
    text, pages = unescape(result.content), tuple[Page, ...]()
    before, *slides = _SLIDE.split(text)
    if slides:
        slides[0] = before + slides[0]
        notes = _read_speaker_notes(path)
        slides = [f"{slide.rstrip()}\n\n{notes.get(number, '')}" for number, slide in enumerate(slides, 1)]
        text, pages = join_pages("" if _RULE.fullmatch(slide) else slide for slide in slides)
    return Parsed(text=text, mime=PPTX, pages=pages, dated_at=date_of(result))


def _read_speaker_notes(path: Path) -> dict[int, str]:
    """The notes of each slide, by its number."""
    found: dict[int, str] = {}
    with zipfile.ZipFile(path) as opened:
        show = parts_of(opened, "ppt/presentation.xml")
        targets = parts_of(opened, "ppt/_rels/presentation.xml.rels")
        slides = {part.get("Id"): part.get("Target", "").rpartition("/")[2] for part in targets}
        order = [part.get(_RELATION) for part in show if part.tag.endswith("}sldId")]
        for number, slide in enumerate(order, 1):
            for part in parts_of(opened, f"ppt/slides/_rels/{slides.get(slide)}.rels"):
                if part.get("Type", "").endswith("/notesSlide"):
                    found[number] = _read_notes(
                        opened, "ppt/notesSlides/" + part.get("Target", "").rpartition("/")[2]
                    )
    return found


def _read_notes(opened: zipfile.ZipFile, name: str) -> str:
    """The text of the placeholder for notes; others repeat the slide's number or date."""
    shapes = [part for part in parts_of(opened, name) if part.tag.endswith("}sp")]
    bodies = [
        shape
        for shape in shapes
        if any(part.get("type") == "body" for part in shape.iter() if part.tag.endswith("}ph"))
    ]
    lines = [
        "".join(part.text or "" for part in line.iter() if part.tag.endswith("}t")).strip()
        for shape in bodies
        for line in shape.iter()
        if line.tag.endswith("}p")
    ]
    said = "\n".join(line for line in lines if line)
    return f"Notes: {said}" if said else ""


def _read_docx(path: Path) -> Parsed:
    """Replaces `&amp;` and the like by placeholders, because kreuzberg 4 drops them from Word documents ("ATT")."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(path) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target,
    ):
        for entry in source.infolist():
            if entry.filename.startswith(_NOT_READ):
                continue
            part = source.read(entry)
            is_text = entry.filename.startswith("word/") and entry.filename.endswith(".xml")
            if is_text and not _OTHER_ENCODING.match(part):
                part = _REFERENCE.sub(_stand_in, part)
            target.writestr(entry.filename, part)
    result = extract(out.getvalue(), DOCX)
    return Parsed(text=unescape(result.content).translate(_BACK), mime=DOCX, dated_at=date_of(result))


def _stand_in(found: re.Match[bytes]) -> bytes:
    character = html.unescape(found[0].decode())
    if len(character) != 1 or character < " " or character == "\N{REPLACEMENT CHARACTER}":
        return found[0]
    return _STAND_INS.get(character, character).encode()


def _prepare_html(content: bytes, charset: str | None) -> bytes:
    """The page in UTF-8, the only encoding that kreuzberg reads, without head and navigation."""
    said = _CHARSET.search(content, 0, _LOOK)
    page = decode(content, said=charset or (said[1].decode() if said else None))
    body = _PERMALINK.sub("", _HEAD_PARTS.sub("", _HEAD.sub("", page, count=1)))
    without_menus = _drop_menus(body)
    # A page that is all navigation, such as a table of contents, keeps it.
    return (without_menus if _WORD.search(_TAG.sub("", without_menus)) else body).encode()


def _drop_menus(page: str) -> str:
    """The page without menus, each up to the end of its own element. One that does not end is kept."""
    kept: list[str] = []
    start = end = depth = 0
    menu = ""
    for tag in _PERHAPS_MENU.finditer(page):
        is_end, name = bool(tag[1]), tag[2].lower()
        if depth:
            depth += 0 if name != menu else -1 if is_end else 1
            if not depth:
                kept.append(page[end:start])
                end = tag.end()
        elif not is_end and (name == "nav" or _MENU_ROLE.search(tag[3])):
            menu, start, depth = name, tag.start(), 1
    return "".join([*kept, page[end:]])


def _read_html(prepared: bytes) -> str:
    """Takes the prepared page, so that the original is freed before kreuzberg needs memory."""
    if not prepared.strip():
        raise Refused("no_text")
    return without_link_targets(without_pictures(extract(prepared, HTML).content))


def _read_mail(path: Path) -> Parsed:
    """Subject, headers and attachment names, then the body."""
    with path.open("rb") as file:
        message = email.message_from_binary_file(file, policy=email.policy.default)
    try:
        subject = _one_line(message["Subject"])
        lines = [f"{name}: {_one_line(message[name])}" for name in _HEADERS if message[name]]
        attached = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()]
        lines += [f"Attachment: {_one_line(name)}" for name in attached]
        parts = [f"# {subject}" if subject else "", "\n".join(lines), _read_body(message)]
        sent_at = file_date(getattr(message["Date"], "datetime", None))
    except (MessageError, ValueError, LookupError, AttributeError, TypeError) as exc:
        # The standard library's parser stumbles over some headers that break the rules.
        raise Refused("corrupt", "The message is damaged", cause=f"{type(exc).__name__}: {exc}") from exc
    return Parsed(text="\n\n".join(part for part in parts if part), mime=MAIL, dated_at=sent_at)


def _one_line(header: object) -> str:
    return " ".join(str(header or "").split())


def _read_body(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    content = part.get_payload(decode=True) if part else None
    if part is None or not isinstance(content, bytes) or not content.strip():
        return ""
    if part.get_content_subtype() == "html":
        return _read_html(_prepare_html(content, part.get_content_charset())).strip()
    return decode(content, said=part.get_content_charset()).strip()


_READERS: dict[str, Callable[[Path], Parsed]] = {
    PDF: pdf.read,
    PPTX: _read_pptx,
    ODP: odp.read,
    DOCX: _read_docx,
    EPUB: lambda path: Parsed(
        text=without_link_targets(without_pictures(extract(path, EPUB).content)), mime=EPUB
    ),
    MAIL: _read_mail,
}
