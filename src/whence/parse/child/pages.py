"""The pages of a PDF as displayed: sizes, characters with their boxes, and pictures."""

import ctypes
import struct
import zlib
from collections.abc import Callable
from contextlib import closing
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2 as pdfium
from numpy.typing import NDArray
from pypdfium2 import raw

from whence.parse.child.pdfium import opened, text_page
from whence.parse.child.scans import frame, frame_sizes, scan
from whence.parse.detect import PDF
from whence.parse.glyphs import shown_among
from whence.parse.parsed import Refused
from whence.parse.shown import BASE, LARGEST, MARK, SCALE, ShownPage

_HIGHEST = 4000
"""Maximum height of a picture in pixels. The picture of a long page becomes narrower."""
# pdfium writes one of the first two, and no line end, for a hyphen at the end of a line.
_HYPHENS, _LINE_ENDS = (0xFFFE, 0x02), (0x0D, 0x0A)
_THIN = 0.05
"""Points. A glyph without an outline has a box without a height."""
_LETTER = 0.8
"""Height of a letter above the base line, as a share of the font's height."""
_MARGIN = 3
"""Units of `SCALE` above and below a base line."""
_LESS = 0.01
"""Pixels: pdfium rounds up."""
_LEVEL = 3
_HIGH_SURROGATE, _LOW_SURROGATE, _NO_SURROGATE = 0xD800, 0xDC00, 0xE000
_POINTER = ctypes.c_void_p
Indexes = NDArray[np.intp]


def _address(function: Any) -> int:
    return ctypes.cast(function, _POINTER).value or 0


# Called with plain addresses and without releasing the lock: with pypdfium2's declarations the boxes take four times as long.
_unicode_at = ctypes.PYFUNCTYPE(ctypes.c_uint, _POINTER, ctypes.c_int)(_address(raw.FPDFText_GetUnicode))
_box_at = ctypes.PYFUNCTYPE(ctypes.c_int, _POINTER, ctypes.c_int, *(_POINTER,) * 4)(
    _address(raw.FPDFText_GetCharBox)
)


def shown(path: Path, numbers: list[int]) -> tuple[dict[str, Any], bytes]:
    """The pages that pdfium can load, as `ShownPage.packed`."""
    heads, contents = [], []
    with opened(path) as document:
        for number in numbers:
            if 1 <= number <= len(document):
                with text_page(document, number) as (page, text):
                    head, content = _read_page(page, text, number).packed()
                heads.append(head)
                contents.append(content)
    return {"pages": heads}, b"".join(contents)


def sizes(path: Path, mime: str) -> tuple[dict[str, Any], bytes]:
    """Width, height and rotation of every page."""
    if mime != PDF:
        return {"sizes": frame_sizes(path)}, b""
    with opened(path) as document:
        found = []
        for number in range(len(document)):
            with closing(document[number]) as page:
                found.append((*page.get_size(), page.get_rotation()))
    return {"sizes": found}, b""


def image(path: Path, number: int, width: int, mime: str) -> tuple[dict[str, Any], bytes]:
    """A PNG of the page, `width` pixels wide, or narrower where it would be too high. Raises `Refused` for a page that is too large."""
    if mime != PDF:
        with frame(path, number) as picture:
            scale = min(width / picture.width, _HIGHEST / picture.height)
            size = tuple(max(round(side * scale), 1) for side in picture.size)
            return {}, _encode_png(np.asarray(picture.resize(size)))
    with opened(path) as document:
        if not 1 <= number <= len(document):
            raise Refused("corrupt", f"The file has no page {number}")
        with closing(document[number - 1]) as page:
            across, down = page.get_size()
            if max(across, down) > LARGEST:
                shape, most = f"{across:,.0f} by {down:,.0f}", f"{LARGEST:,} by {LARGEST:,}"
                raise Refused(
                    "too_large", f"Page {number} is {shape} points; pages up to {most} are rendered"
                )
            scale = min((width - _LESS) / max(across, 1), (_HIGHEST - _LESS) / max(down, 1))
            with closing(page.render(scale=scale, rev_byteorder=True)) as bitmap:
                return {}, _encode_png(bitmap.to_numpy())


def _read_page(page: pdfium.PdfPage, text: pdfium.PdfTextPage, number: int) -> ShownPage:
    count, handle = text.count_chars(), ctypes.cast(text.raw, _POINTER).value
    codes = _read_codes(text, handle, count)
    is_hyphen = (codes == _HYPHENS[0]) | (codes == _HYPHENS[1])
    ends = is_hyphen | (codes == _LINE_ENDS[0]) | (codes == _LINE_ENDS[1])
    lines = ends.cumsum() - ends
    kept = np.flatnonzero(shown_among(codes) | is_hyphen)
    codes[is_hyphen] = ord(MARK)
    boxes = _read_boxes(handle, kept.tolist())
    # pdfium finds only these characters in an area, so the stored text has no others.
    seen = (boxes[:, :2] < boxes[:, 2:]).all(axis=1)
    kept, boxes = kept[seen], boxes[seen]
    width, height = page.get_size()
    thin = np.flatnonzero(boxes[:, 3] - boxes[:, 1] < _THIN)
    if len(thin):
        bases = _outline_boxes(text, kept, boxes, thin, max(width, height) / SCALE)
        kept, boxes = np.insert(kept, thin + 1, kept[thin]), np.insert(boxes, thin + 1, bases, axis=0)
    codes, lines = codes[kept], lines[kept]
    codes[thin + 1 + np.arange(len(thin))] = ord(BASE)
    placed = _place_boxes(boxes, page.get_bbox(), page.get_rotation())
    on_page = np.flatnonzero((placed[:, :2] < 1).all(axis=1) & (placed[:, 2:] > 0).all(axis=1))
    return ShownPage(
        number=number,
        width=width,
        height=height,
        rotation=page.get_rotation(),
        text=codes[on_page].tobytes().decode("utf-32-le"),
        lines=lines[on_page].astype(np.uint16).tobytes(),
        boxes=np.rint(placed[on_page].clip(0, 1) * SCALE).astype(np.uint16).tobytes(),
    )


def _outline_boxes(
    text: pdfium.PdfTextPage, kept: Indexes, boxes: NDArray[np.float64], thin: Indexes, unit: float
) -> NDArray[np.float64]:
    """Gives glyphs without an outline the boxes of letters; returns their own boxes with a margin.

    OCR programs lay such glyphs over a scan.
    """
    bases = boxes[thin] + np.array([0, -_MARGIN, 0, _MARGIN]) * unit
    for at, base in zip(thin, bases, strict=True):
        top = text.get_charbox(int(kept[at]), loose=True)[3]
        boxes[at] = (*base[:3], max(base[3], base[1] + _LETTER * (top - base[1])))
    return bases


def _read_codes(text: pdfium.PdfTextPage, handle: int | None, count: int) -> NDArray[np.uint32]:
    """The code of each character. Of a pair of surrogates the first becomes the character, the second 0."""
    buffer = (ctypes.c_ushort * (count + 1))()
    codes: NDArray[np.uint32]
    if raw.FPDFText_GetText(text, 0, count, buffer) == count + 1:  # it left none out
        codes = np.frombuffer(bytes(buffer), np.uint16, count).astype(np.uint32)
    else:
        codes = np.fromiter(map(_unicode_at, repeat(handle, count), range(count)), np.uint32, count)
    for at in np.flatnonzero((codes >= _HIGH_SURROGATE) & (codes < _NO_SURROGATE)):
        high, low = int(codes[at]), int(codes[at + 1]) if at + 1 < len(codes) else 0
        is_pair = high < _LOW_SURROGATE <= low < _NO_SURROGATE
        codes[at] = 0x10000 + (high - _HIGH_SURROGATE) * 0x400 + low - _LOW_SURROGATE if is_pair else 0
    return codes


def _read_boxes(handle: int | None, indexes: list[int]) -> NDArray[np.float64]:
    """Left, bottom, right and top of these characters in pdfium's coordinates: before rotation, upwards."""
    found = np.zeros((len(indexes), 4))
    first, size = found.ctypes.data, found.itemsize
    after, row = first + found.nbytes, 4 * size
    # pdfium's order is left, right, bottom, top.
    places = [range(first + column * size, after + column * size, row) for column in (0, 2, 1, 3)]
    for _ in map(_box_at, repeat(handle), indexes, *places):
        pass
    return found


def _place_boxes(
    boxes: NDArray[np.float64], page: tuple[float, float, float, float], rotation: int
) -> NDArray[np.float64]:
    """x0, y0, x1 and y1 from 0 to 1 of the page as displayed: cropped, rotated, downwards."""
    left, bottom, right, top = page
    x0, x1 = ((boxes[:, at] - left) / (right - left) for at in (0, 2))
    y0, y1 = ((top - boxes[:, at]) / (top - bottom) for at in (3, 1))
    turned = {
        0: (x0, y0, x1, y1),
        90: (1 - y1, x0, 1 - y0, x1),
        180: (1 - x1, 1 - y1, 1 - x0, 1 - y0),
        270: (y0, 1 - x1, y1, 1 - x0),
    }
    return np.stack(turned[rotation], axis=1)


def _encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """The picture as PNG, in colour, or in grey if the page has no colour."""
    height, width, _ = pixels.shape
    is_grey = bool((pixels == pixels[..., :1]).all())
    plain = pixels[..., :1] if is_grey else pixels
    rows = np.zeros((height, 1 + width * plain.shape[2]), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = plain.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 0 if is_grey else 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), _LEVEL)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


LOOKS: dict[str, Callable[..., tuple[dict[str, Any], bytes]]] = {
    "shown": shown,
    "sizes": sizes,
    "image": image,
    "scan": scan,
}
"""The functions that the server may call."""
