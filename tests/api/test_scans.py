"""Scans: pages and pictures without text are recognised where the extra `ocr` is installed, and refused where it is not."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pypdfium2 as pdfium
import pytest
from numpy.typing import NDArray
from tests.api.ingesting import DOCUMENTS, data_of, upload
from tests.files.pdf import pdf, scanned_pdf

from whence.parse import ocr
from whence.parse.child.scans import scan as recognise
from whence.parse.detect import PNG
from whence.parse.shown import SCALE, ShownPage

pytestmark = pytest.mark.one_app
with_ocr = pytest.mark.skipif(not ocr.installed(), reason="the extra whence-kb[ocr] is not installed")

LINES = ["The harbour was dredged in 1911.", "Ships of ten metres could land."]


def picture() -> NDArray[np.uint8]:
    """The lines as a scanner sees them, in grey."""
    document = pdfium.PdfDocument(pdf([LINES]))
    pixels: NDArray[np.uint8] = document[0].render(scale=2, grayscale=True).to_numpy().copy()
    document.close()
    return pixels.reshape(pixels.shape[:2])


def png(pixels: NDArray[np.uint8]) -> bytes:
    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )


async def last_span_of(client: httpx.AsyncClient, document: str, words: str) -> Any:
    start = data_of(await client.get(f"{DOCUMENTS}/{document}/text"))["text"].rindex(words)
    params = {"start": start, "end": start + len(words)}
    return data_of(await client.get(f"{DOCUMENTS}/{document}/spans", params=params))


def scan(name: str, pixels: NDArray[np.uint8]) -> bytes:
    """The picture as a file of this kind. Pillow comes with the extra."""
    if name.endswith(".pdf"):
        turned = {"turned.pdf": 90, "upside-down.pdf": 180}.get(
            name, 0
        )  # as the page is shown, it is upright
        laid = np.rot90(pixels, turned // 90)
        return scanned_pdf(1, laid.tobytes(), laid.shape[1], shown=[f"/Rotate {turned}"])
    if name.endswith(".png"):
        return png(pixels)
    pillow = pytest.importorskip("PIL.Image")
    pages = [pillow.fromarray(pixels)] * (2 if name.endswith(".tiff") else 1)
    out = io.BytesIO()
    more: Any = {"save_all": True, "append_images": pages[1:]} if pages[1:] else {"quality": 90}
    pages[0].save(out, "TIFF" if pages[1:] else "JPEG", **more)
    return out.getvalue()


@with_ocr
@pytest.mark.parametrize(
    "name", ["scan.pdf", "turned.pdf", "upside-down.pdf", "scan.png", "scan.jpg", "scan.tiff"]
)
async def test_a_scan_has_text_rectangles_and_a_picture(client: httpx.AsyncClient, name: str) -> None:
    pixels = picture()
    if name == "turned.pdf":
        pixels = pixels[: round(pixels.shape[1] * 595 / 842)]  # a page across
    height, width = pixels.shape
    number = 2 if name == "scan.tiff" else 1
    document = (await upload(client, name, scan(name, pixels)))["documentId"]
    (chunk,) = data_of(await client.get(f"{DOCUMENTS}/{document}/chunks"))["items"]
    assert [line for line in chunk["content"].split("\n") if line] == LINES * number
    assert chunk["metadata"]["ocr"] is True
    assert 0.8 < chunk["metadata"]["confidence"] <= 1
    span = await last_span_of(client, document, "dredged in 1911")
    (page,) = span["pages"]
    assert (span["location"]["label"], page["reason"]) == (f"page {number}", None)
    assert 0.8 < page["confidence"] <= 1
    size = (842, 595) if name == "turned.pdf" else (595, 842) if name.endswith(".pdf") else (width, height)
    assert (page["width"], page["height"]) == size
    (rect,) = page["rects"]
    left, top, right, bottom = (
        round(rect[name] * side)
        for name, side in zip(("x0", "y0", "x1", "y1"), (width, height) * 2, strict=True)
    )
    # There is ink inside the rectangle, and none just above and below it.
    assert pixels[top:bottom, left:right].min() < 100
    assert pixels[top - 12 : top - 6, left:right].min() > 200
    assert pixels[bottom + 6 : bottom + 12, left:right].min() > 200
    image = await client.get(f"{DOCUMENTS}/{document}/pages/{number}/image", params={"width": 100})
    assert struct.unpack(">II", image.content[16:24]) == (100, round(100 * height / width))


@with_ocr
@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_scan_may_lie_on_its_side_or_head(turns: int, tmp_path: Path) -> None:
    pixels = np.ascontiguousarray(np.rot90(picture(), turns))
    path = tmp_path / "turned.png"
    path.write_bytes(png(pixels))
    answer, content = recognise(path, 1, PNG)
    assert answer["text"].split("\n") == LINES
    page, _ = ShownPage.unpacked(answer["page"], content)
    boxes = np.frombuffer(page.boxes, np.uint16).reshape(-1, 4) / SCALE
    outside = pixels < 100
    for x0, y0, x1, y1 in (boxes * ([*pixels.shape[::-1]] * 2)).round().astype(int):
        outside[y0:y1, x0:x1] = False
    assert outside.sum() < (pixels < 100).sum() / 10  # the ink is where the boxes are


@with_ocr
async def test_a_picture_without_words_is_refused(client: httpx.AsyncClient) -> None:
    receipt = await upload(client, "white.png", png(np.full((200, 200), 255, np.uint8)))
    assert receipt["error"]["details"]["reason"] == "no_text"


@pytest.mark.skipif(ocr.installed(), reason="the extra whence-kb[ocr] is installed")
@pytest.mark.parametrize("name", ["scan.pdf", "scan.png"])
async def test_without_the_extra_a_scan_is_refused_with_its_name(
    client: httpx.AsyncClient, name: str
) -> None:
    pixels = picture()
    content = scanned_pdf(1, pixels.tobytes(), pixels.shape[1]) if name.endswith(".pdf") else png(pixels)
    receipt = await upload(client, name, content)
    assert receipt["error"]["code"] == "UNREADABLE_DOCUMENT"
    assert "whence-kb[ocr]" in receipt["error"]["message"]
