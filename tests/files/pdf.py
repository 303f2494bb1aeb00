"""PDF files, written by hand: pages of headings and paragraphs in any alphabet, encrypted or not, or without text."""

import hashlib
import math
import re
import zlib
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import NamedTuple

import pypdfium2 as pdfium
from tests.files.type1 import WIDTHS, named_font

from whence.parse.child.pdfium import text_inside

_WIDTH, _HEIGHT = 595, 842
_LEFT, _TOP = 60, 780
_LINE_LENGTH = 80
_SIZE, _HEADING_SIZE = 11, 20
# The padding of the PDF specification's algorithms 2 and 3.
_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_PERMISSIONS = -44
_FILE_ID = b"whence-test-file"


# Objects 3 to 6: Helvetica for western letters, and one whose codes the map after these explains.
_FONTS = (
    b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    b"<< /Type /Font /Subtype /Type0 /BaseFont /Other /Encoding /Identity-H /DescendantFonts [5 0 R] /ToUnicode 7 0 R >>",
    b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Other /DW 600 /FontDescriptor 6 0 R /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
    b"<< /Type /FontDescriptor /FontName /Other /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
)


class _Font(NamedTuple):
    """Codes for the characters that Helvetica has none for."""

    codes: dict[str, int]

    def code(self, character: str) -> int:
        return self.codes.setdefault(character, len(self.codes) + 1)


def pdf(
    pages: Sequence[Sequence[str]],
    *,
    user_password: str | None = None,
    owner_password: str | None = None,
    compressed: bool = True,
    shown: Sequence[str] = (),
) -> bytes:
    """Each page is a list of paragraphs; one that begins with `# ` is a heading, in larger letters.

    `shown` has further entries of each page, such as `/Rotate 90` or `/CropBox [0 0 300 400]`.

    With a user's password nobody can read the file without it; with an owner's alone everybody can.
    """
    font = _Font({})
    contents = [_content(paragraphs, font) for paragraphs in pages]
    encrypted = user_password is not None or owner_password is not None
    key, encryption = _encryption(user_password or "", owner_password or "") if encrypted else (None, None)
    return _write(contents, font, key=key, encryption=encryption, compressed=compressed, shown=shown)


def scanned_pdf(
    pages: int, picture: bytes = bytes(range(256)) * 4, width: int = 32, *, shown: Sequence[str] = ()
) -> bytes:
    """Pages that show a picture, as a scanner makes them. It has a byte of grey for each pixel."""
    content = f"q {_WIDTH} 0 0 {_HEIGHT} 0 0 cm /Im1 Do Q".encode()
    return _write(
        [content] * pages, _Font({}), compressed=True, picture=picture, picture_width=width, shown=shown
    )


def _content(paragraphs: Sequence[str], font: _Font) -> bytes:
    y, parts = float(_TOP), [b"BT"]
    for paragraph in paragraphs:
        heading = paragraph.startswith("# ")
        size = _HEADING_SIZE if heading else _SIZE
        for line in _wrapped(paragraph.removeprefix("# ")):
            parts.append(f"1 0 0 1 {_LEFT} {y:.1f} Tm".encode())
            parts.append(_shown(line, size, font))
            y -= size * 1.2
        y -= size * 1.5
    return b"\n".join([*parts, b"ET"])


def _wrapped(paragraph: str) -> list[str]:
    return re.findall(rf"\S.{{0,{_LINE_LENGTH - 1}}}(?=\s|\Z)|\S{{1,{_LINE_LENGTH}}}", paragraph)


def _shown(line: str, size: int, font: _Font) -> bytes:
    try:
        plain = line.encode("cp1252")
    except UnicodeEncodeError:
        codes = "".join(f"{font.code(character):04X}" for character in line)
        return f"/F2 {size} Tf <{codes}> Tj".encode()
    escaped = re.sub(rb"([\\()])", rb"\\\1", plain)
    return b"/F1 %d Tf (%s) Tj" % (size, escaped)


def _write(
    contents: Sequence[bytes],
    font: _Font,
    *,
    key: bytes | None = None,
    encryption: bytes | None = None,
    compressed: bool,
    picture: bytes | None = None,
    picture_width: int = 32,
    shown: Sequence[str] = (),
    named: bool = False,
) -> bytes:
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", *_FONTS]
    map_number = len(objects)
    objects.append(_stream(_to_unicode(font), map_number + 1, key, compressed=False))
    resources = b"/Font << /F1 3 0 R /F2 4 0 R >>"
    if picture is not None:
        size = b"/Width %d /Height %d" % (picture_width, len(picture) // picture_width)
        side = size + b" /ColorSpace /DeviceGray /BitsPerComponent 8 /Type /XObject /Subtype /Image"
        objects.append(_stream(picture, len(objects) + 1, key, compressed=True, more=side))
        resources += b" /XObject << /Im1 %d 0 R >>" % len(objects)
    if named:
        resources = resources.replace(b"/F2 4 0 R", b"/F2 4 0 R /F3 %d 0 R" % _append_named(objects))
    kids = []
    for number, content in enumerate(contents):
        more = shown[number] if number < len(shown) else ""
        if "/MediaBox" not in more:
            more += f"/MediaBox [0 0 {_WIDTH} {_HEIGHT}]"
        objects.append(_stream(content, len(objects) + 1, key, compressed=compressed))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R %s /Resources << %s >> /Contents %d 0 R >>"
            % (more.encode(), resources, len(objects))
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    return _assemble(objects, encryption)


def _append_named(objects: list[bytes]) -> int:
    """The number of the font's object."""
    program, lengths = named_font()
    first, widths = WIDTHS
    parts = b"/Length1 %d /Length2 %d /Length3 0" % lengths
    objects.append(_stream(program, len(objects) + 1, None, compressed=True, more=parts))
    descriptor = _FONTS[3].replace(b"/Other", b"/Named")
    objects.append(descriptor.replace(b">>", b"/FontFile %d 0 R >>" % len(objects)))
    known = f"/FirstChar {first} /LastChar {first + len(widths) - 1} /Widths [{' '.join(map(str, widths))}]"
    font = f"<< /Type /Font /Subtype /Type1 /BaseFont /Named {known} /FontDescriptor {len(objects)} 0 R >>"
    objects.append(font.encode())
    return len(objects)


def _assemble(objects: Sequence[bytes], encryption: bytes | None) -> bytes:
    out, offsets = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n"), []
    trailer = b"/Root 1 0 R /ID [<%s> <%s>]" % ((_FILE_ID.hex().encode(),) * 2)
    if encryption is not None:
        trailer += b" /Encrypt " + encryption
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(out)


def _stream(content: bytes, number: int, key: bytes | None, *, compressed: bool, more: bytes = b"") -> bytes:
    if compressed:
        content, more = zlib.compress(content), more + b" /Filter /FlateDecode"
    if key is not None:
        of_object = hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0", usedforsecurity=False).digest()
        content = _rc4(of_object[: len(key) + 5], content)
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), more, content)


def _to_unicode(font: _Font) -> bytes:
    pairs = [f"<{code:04X}> <{char.encode('utf-16-be').hex()}>" for char, code in font.codes.items()]
    blocks = [pairs[at : at + 100] for at in range(0, len(pairs), 100)]
    lines = ["/CIDInit /ProcSet findresource begin", "12 dict begin", "begincmap", "/CMapType 2 def"]
    lines += ["1 begincodespacerange", "<0000> <FFFF>", "endcodespacerange"]
    for block in blocks:
        lines += [f"{len(block)} beginbfchar", *block, "endbfchar"]
    return "\n".join([*lines, "endcmap", "end", "end"]).encode()


def _encryption(user: str, owner: str) -> tuple[bytes, bytes]:
    """The key and the dictionary of the standard security handler, revision 2: RC4 with 40 bits."""
    padded_user, padded_owner = ((word.encode("latin-1") + _PADDING)[:32] for word in (user, owner or user))
    of_owner = _rc4(hashlib.md5(padded_owner, usedforsecurity=False).digest()[:5], padded_user)
    seed = padded_user + of_owner + _PERMISSIONS.to_bytes(4, "little", signed=True) + _FILE_ID
    key = hashlib.md5(seed, usedforsecurity=False).digest()[:5]
    of_user = _rc4(key, _PADDING)
    return key, b"<< /Filter /Standard /V 1 /R 2 /P %d /O <%s> /U <%s> >>" % (
        _PERMISSIONS,
        of_owner.hex().encode(),
        of_user.hex().encode(),
    )


def _rc4(key: bytes, content: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in content:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def placed_pdf(
    pages: Sequence[Sequence[tuple[float, float, str]]], *, shown: Sequence[str] = (), angle: int = 0
) -> bytes:
    """Each page is a list of lines with their places, from the bottom left corner, in points. `angle` turns each counter-clockwise."""
    font = _Font({})
    along, up = round(math.cos(math.radians(angle))), round(math.sin(math.radians(angle)))
    contents = [
        b"\n".join(
            f"BT {along} {up} {-up} {along} {x} {y} Tm ".encode() + _shown(line, _SIZE, font) + b" ET"
            for x, y, line in page
        )
        for page in pages
    ]
    return _write(contents, font, compressed=True, shown=shown)


def drawn_pdf(content: bytes) -> bytes:
    """One page with these operators; /F1 is Helvetica, /F3 `named_font`."""
    return _write([content], _Font({}), compressed=True, named=True)


def read_back(content: bytes, number: int, rects: Iterable[Sequence[float]]) -> str:
    """The text that pdfium finds inside rectangles of a page as it is shown."""
    with closing(pdfium.PdfDocument(content)) as document:
        page = document[number - 1]
        left, bottom, right, top = page.get_bbox()
        width, height = right - left, top - bottom
        words = []
        for rect in rects:
            x0, y0, x1, y1 = rect
            for _ in range(page.get_rotation() // 90):
                x0, y0, x1, y1 = y0, 1 - x1, y1, 1 - x0
            inside = (left + x0 * width, top - y1 * height, left + x1 * width, top - y0 * height)
            words.append(text_inside(page.get_textpage(), inside).strip())
        return " ".join(words)
