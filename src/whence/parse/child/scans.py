"""Recognises the text of scanned pages and pictures with rapidocr, whose models are part of its wheel."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.parse.child.pdfium import opened
from whence.parse.detect import PDF
from whence.parse.ocr import HINT
from whence.parse.parsed import Refused
from whence.parse.shown import SCALE, ShownPage

_LONGEST = 2000
"""Pixels of the longer side of the picture passed to OCR."""
_MOST_PIXELS = 50_000_000
_SURE = 0.85
"""Confidence from which a page is not tried upside down."""
_OPTIONS = {
    "Global.log_level": "critical",
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    "Rec.rec_batch_num": 1,  # larger pictures take more memory
    "Det.limit_type": "max",
    "Det.limit_side_len": 960,
}


def scan(path: Path, number: int, mime: str) -> tuple[dict[str, Any], bytes]:
    """The recognised text of a page, with the box of each word, as `ShownPage.packed`; and the mean confidence."""
    pixels, (width, height, rotation) = _render_picture(path, number, mime)
    found, turns = _recognise(pixels) if pixels.min() < pixels.max() else (None, 0)
    lines = []
    if found is not None and found.txts:
        lines = list(zip(found.txts, found.word_results, map(_around, found.boxes), strict=True))
    characters, places, numbers = [], [], []
    for line, (text, words, box) in enumerate(lines):
        letters = "".join(text.split())
        known = [(word.replace(" ", ""), _around(corners)) for word, _, corners in words]
        if "".join(word for word, _ in known) != letters:
            known = [(letters, box)]
        characters.append(letters)
        places += [place for word, place in known for _ in word]
        numbers += [line] * len(letters)
    across, down = pixels.shape[1::-1] if turns % 2 == 0 else pixels.shape[:2]
    boxes = np.array(places, float).reshape(-1, 4) / (across, down, across, down)
    for _ in range(turns):
        boxes = np.stack([1 - boxes[:, 3], boxes[:, 0], 1 - boxes[:, 1], boxes[:, 2]], axis=1)
    page = ShownPage(
        number=number,
        width=width,
        height=height,
        rotation=rotation,
        text="".join(characters),
        lines=np.array(numbers, np.uint16).tobytes(),
        boxes=np.rint(boxes.clip(0, 1) * SCALE).astype(np.uint16).tobytes(),
    )
    head, content = page.packed()
    answer = {
        "page": head,
        "text": "\n".join(text for text, *_ in lines),
        "confidence": _compute_confidence(found),
    }
    return answer, content


def _recognise(pixels: NDArray[np.uint8]) -> tuple[Any, int]:
    """The lines, and by how many quarters of a turn, counter-clockwise, the picture was turned to read them.

    A page whose lines stand upright lies on its side; one that is read badly may be upside down.
    """
    upright = _read(pixels, 0)
    if not upright.txts:
        return upright, 0
    sizes = np.array([np.ptp(np.asarray(corners), axis=0) for corners in upright.boxes])
    if (sizes[:, 1] > sizes[:, 0]).mean() > 1 / 2:
        tried = {turns: _read(pixels, turns) for turns in (1, 3)}
    else:
        tried = {0: upright}
        if _compute_confidence(upright) < _SURE:
            tried[2] = _read(pixels, 2)
    turns = max(tried, key=lambda one: _compute_confidence(tried[one]))
    return tried[turns], turns


def _read(pixels: NDArray[np.uint8], turns: int) -> Any:
    return _load_engine()(np.ascontiguousarray(np.rot90(pixels, turns)), use_cls=False, return_word_box=True)


def _compute_confidence(found: Any) -> float:
    return float(np.mean(found.scores)) if found is not None and found.txts else 0.0


def _around(corners: Any) -> tuple[float, ...]:
    """x0, y0, x1, y1 of four corners."""
    points = np.asarray(corners, float)
    return (*points.min(axis=0), *points.max(axis=0))


def _render_picture(path: Path, number: int, mime: str) -> tuple[NDArray[np.uint8], tuple[float, float, int]]:
    if mime != PDF:
        with frame(path, number) as image:
            size = float(image.width), float(image.height), 0
            image.thumbnail((_LONGEST, _LONGEST))
            return np.asarray(image)[..., ::-1], size
    with opened(path) as document:
        page = document[number - 1]
        width, height = page.get_size()
        pixels: NDArray[np.uint8] = page.render(scale=_LONGEST / max(width, height, 1)).to_numpy()
        return pixels, (width, height, page.get_rotation())


@contextmanager
def frame(path: Path, number: int) -> Iterator[Any]:
    """A page of a picture, upright and in colours. Only TIFF files have more than one."""
    with _open_picture(path) as image:
        image.seek(number - 1)
        from PIL import ImageOps

        yield ImageOps.exif_transpose(image).convert("RGB")


def frame_sizes(path: Path) -> list[tuple[float, float, int]]:
    """Width, height and rotation of each page of a picture."""
    with _open_picture(path) as image:
        count = getattr(image, "n_frames", 1)
    sizes = []
    for number in range(1, count + 1):
        with frame(path, number) as shown:
            sizes.append((float(shown.width), float(shown.height), 0))
    return sizes


@contextmanager
def _open_picture(path: Path) -> Iterator[Any]:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as exc:
        raise Refused("unsupported", f"This is a picture; {HINT}") from exc
    Image.MAX_IMAGE_PIXELS = _MOST_PIXELS // 2  # it refuses twice as many
    try:
        with Image.open(path, formats=("PNG", "JPEG", "TIFF")) as image:
            yield image
    except Image.DecompressionBombError as exc:
        raise Refused("too_large", f"The picture has more than {_MOST_PIXELS:,} pixels") from exc
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as exc:
        raise Refused("corrupt", cause=f"{type(exc).__name__}: {exc}") from exc


@cache
def _load_engine() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(params=_OPTIONS)
