"""Scans: pages and pictures without text are recognised where the extra `ocr` is installed, and refused where it is not."""

import struct
import zlib
from typing import Any

import httpx
import numpy as np
import pypdfium2 as pdfium
import pytest
from numpy.typing import NDArray
from tests.api.ingesting import DOCUMENTS, data_of, upload
from tests.files.pdf import pdf, scanned_pdf

from whence.parse import ocr

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


async def span_of(client: httpx.AsyncClient, document: str, words: str) -> Any:
    start = data_of(await client.get(f"{DOCUMENTS}/{document}/text"))["text"].index(words)
    params = {"start": start, "end": start + len(words)}
    return data_of(await client.get(f"{DOCUMENTS}/{document}/spans", params=params))


@with_ocr
@pytest.mark.parametrize("name", ["scan.pdf", "scan.png"])
async def test_a_scan_has_text_rectangles_and_a_picture(client: httpx.AsyncClient, name: str) -> None:
    pixels = picture()
    height, width = pixels.shape
    is_pdf = name.endswith(".pdf")
    content = scanned_pdf(1, pixels.tobytes(), width) if is_pdf else png(pixels)
    document = (await upload(client, name, content))["documentId"]
    (chunk,) = data_of(await client.get(f"{DOCUMENTS}/{document}/chunks"))["items"]
    assert chunk["content"].split("\n") == LINES
    assert chunk["metadata"]["ocr"] is True
    assert 0.8 < chunk["metadata"]["confidence"] <= 1
    span = await span_of(client, document, "dredged in 1911")
    (page,) = span["pages"]
    assert (span["location"]["label"], page["reason"]) == ("page 1", None)
    assert 0.8 < page["confidence"] <= 1
    assert (page["width"], page["height"]) == ((595, 842) if is_pdf else (width, height))
    (rect,) = page["rects"]
    left, top, right, bottom = (
        round(rect[name] * side)
        for name, side in zip(("x0", "y0", "x1", "y1"), (width, height) * 2, strict=True)
    )
    # There is ink inside the rectangle, and none just above and below it.
    assert pixels[top:bottom, left:right].min() < 100
    assert pixels[top - 12 : top - 6, left:right].min() > 200
    assert pixels[bottom + 6 : bottom + 12, left:right].min() > 200
    image = await client.get(f"{DOCUMENTS}/{document}/pages/1/image", params={"width": 100})
    assert struct.unpack(">II", image.content[16:24]) == (100, round(100 * height / width))


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
