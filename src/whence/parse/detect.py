"""Detects a file's type from its first bytes. The name decides between text formats, and where a zip file is unclear. Pure."""

import re
from mimetypes import MimeTypes
from pathlib import PurePosixPath

from whence.parse import ocr

OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = OFFICE + "wordprocessingml.document"
PPTX = OFFICE + "presentationml.presentation"
XLSX = OFFICE + "spreadsheetml.sheet"
ODT = "application/vnd.oasis.opendocument.text"
ODP = "application/vnd.oasis.opendocument.presentation"
EPUB = "application/epub+zip"
PDF = "application/pdf"
MARKDOWN = "text/markdown"
RTF = "application/rtf"
HTML = "text/html"
MAIL = "message/rfc822"
PLAIN = "text/plain"
ZIP = "application/zip"
GZIP = "application/gzip"
OLE = "application/x-ole-storage"
BINARY = "application/octet-stream"
PNG = "image/png"
JPEG = "image/jpeg"
TIFF = "image/tiff"

NAMED_ZIPS = (ODT, ODP, EPUB)
"""Formats that are zip files whose first entry names the type."""
ZIPPED = frozenset({DOCX, PPTX, XLSX, *NAMED_ZIPS})
"""Formats that are zip files."""
IMAGES = frozenset({PNG, JPEG, TIFF})
"""Pictures, which only OCR can read."""
READ_BY_CHILD = ZIPPED | {PDF, RTF, HTML, MAIL}
"""Formats that the child process reads; others are only decoded."""

HEAD = 65_536
"""Number of first bytes that `detect` looks at."""

_CODE_FORMATS = {
    "application/json": (".json",),
    "application/jsonl": (".jsonl", ".ndjson"),
    "application/yaml": (".yaml", ".yml"),
    "application/toml": (".toml",),
    "application/xml": (".xml",),
    "application/sql": (".sql",),
    "text/x-python": (".py",),
    "text/javascript": (".js",),
    "text/x-typescript": (".ts",),
    "text/x-java": (".java",),
    "text/x-c": (".c", ".h"),
    "text/x-c++": (".cpp",),
    "text/x-csharp": (".cs",),
    "text/x-go": (".go",),
    "text/x-rust": (".rs",),
    "text/x-ruby": (".rb",),
    "text/x-php": (".php",),
    "text/x-shellscript": (".sh",),
    "text/css": (".css",),
}
"""Source code and structured data."""
_TEXT_FORMATS = _CODE_FORMATS | {
    MARKDOWN: (".md", ".markdown"),
    "text/csv": (".csv",),
    "text/tab-separated-values": (".tsv",),
    PLAIN: (".txt", ".text", ".log"),
    "text/x-rst": (".rst",),
    HTML: (".html", ".htm", ".xhtml"),
    MAIL: (".eml",),
}
_TEXT_SUFFIXES = {suffix: mime for mime, suffixes in _TEXT_FORMATS.items() for suffix in suffixes}
_ZIP_SUFFIXES = {".docx": DOCX, ".pptx": PPTX, ".xlsx": XLSX, ".odt": ODT, ".odp": ODP, ".epub": EPUB}
_IMAGE_ENDINGS = {".png": PNG, ".jpg": JPEG, ".jpeg": JPEG, ".tif": TIFF, ".tiff": TIFF}
_ENDINGS = {**_TEXT_SUFFIXES, **_ZIP_SUFFIXES, **_IMAGE_ENDINGS, ".pdf": PDF, ".rtf": RTF}
_KNOWN_TYPES = MimeTypes()
ZIP_FOLDERS = {"word/": DOCX, "ppt/": PPTX, "xl/": XLSX}
"""A folder inside the zip file that only this format has."""
_MARKS = {
    b"{\\rtf": RTF,
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": OLE,
    b"\x1f\x8b\x08": GZIP,
    b"\x89PNG\r\n\x1a\n": PNG,
    b"\xff\xd8\xff": JPEG,
    b"II*\0": TIFF,
    b"MM\0*": TIFF,
}
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
# Like PDF readers, accept the mark anywhere in the first kilobyte.
_PDF_MARK = re.compile(rb"(?s).{0,1024}%PDF-\d")
_HTML_MARK = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?><!--.*?-->\s*)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_MAIL_HEADER = re.compile(rb"(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){2,}\r?(?:\n|\Z)")
_MAIL_MARK = re.compile(rb"(?im)^(?:from|received|message-id|return-path|delivered-to):")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b"))
_MOST_CONTROL = 0.01


def detect(name: str, first_bytes: bytes, *, declared: str | None = None) -> str:
    """The media type of a file that begins with these bytes; `HEAD` bytes are enough.

    `declared` is the sender's Content-Type; it counts only if name and content decide nothing.
    A text named `.pdf` is not a PDF: for texts, the name only chooses between text formats.
    """
    head = first_bytes[:HEAD]
    suffix = PurePosixPath(name.lower().replace("\\", "/")).suffix
    if _PDF_MARK.match(head):
        return PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_format(head, suffix)
    if marked := next((mime for mark, mime in _MARKS.items() if head.startswith(mark)), None):
        return marked
    if not is_text(head):
        guessed, _ = _KNOWN_TYPES.guess_type(name)
        return guessed if guessed and not readable(guessed) else BINARY
    return _TEXT_SUFFIXES.get(suffix) or _text_format(head, declared)


def charset_of(declared: str | None) -> str | None:
    """The charset in a Content-Type: `text/html; charset=…`."""
    found = _CHARSET.search(declared or "")
    return found[1] if found else None


def is_text(head: bytes) -> bool:
    if head.startswith(_BYTE_ORDER_MARKS):
        return True
    return b"\0" not in head and is_mostly_printable(head)


def is_mostly_printable(content: bytes) -> bool:
    return len(content) - len(content.translate(None, _CONTROL)) <= len(content) * _MOST_CONTROL


def readable(mime: str) -> bool:
    """Whether files of this type can become documents: a format with a reader, a text format, or one of them packed."""
    is_picture = mime in IMAGES and ocr.installed()
    return mime in READ_BY_CHILD or mime in _TEXT_FORMATS or mime == GZIP or is_picture


def is_code(mime: str) -> bool:
    """Whether the type is source code or structured data, where a line that begins with # is a comment."""
    return mime in _CODE_FORMATS


def type_of_ending(ending: str) -> str | None:
    """The media type for this ending if the child process reads it (`.pdf`), else None (`.txt`)."""
    mime = _ENDINGS.get(ending)
    return mime if mime in READ_BY_CHILD or mime in IMAGES else None


def _zip_format(head: bytes, suffix: str) -> str:
    for mime in NAMED_ZIPS:
        if head[30:].startswith(b"mimetype" + mime.encode() + b"PK"):
            return mime
    names = re.findall(rb"PK\x03\x04.{26}([\x20-\x7e]{1,100})", head, re.DOTALL)
    for folder, mime in ZIP_FOLDERS.items():
        if any(name.startswith(folder.encode()) for name in names):
            return mime
    return _ZIP_SUFFIXES.get(suffix, ZIP)


def _text_format(head: bytes, declared: str | None) -> str:
    if _HTML_MARK.match(head):
        return HTML
    if _MAIL_HEADER.match(head) and _MAIL_MARK.search(head):
        return MAIL
    said = (declared or "").partition(";")[0].strip().lower()
    return said if said in _TEXT_FORMATS else PLAIN
