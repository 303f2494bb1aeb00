"""Rectangles of sentences in real PDF files: how many have them, and whether pdfium reads the same words inside them.

python -m benchmarks.rectangles FILE_OR_FOLDER… [--pages 6] [--files 200]

Debian's `*-doc` packages have many PDF files: `apt-get download texlive-lang-japanese r-doc-pdf`, `dpkg -x`.
"""

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from whence.chunk import sentences
from whence.evidence.layout import PageLayout, Rect
from whence.parse.child import pages, pdf
from whence.parse.child.pdfium import opened, text_inside, text_page
from whence.parse.glyphs import NOT_SHOWN
from whence.parse.parsed import Refused
from whence.parse.shown import ShownPage

_HEADING = re.compile(r"#{1,6} ")
_MARKS = re.compile("[\x02\ufffe]")
_JOINED = "\x02?"
_SAME = {"-": "[-\x02]"}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("paths", nargs="+", type=Path)
    options.add_argument("--pages", type=int, default=6, help="of each file, chosen at random")
    options.add_argument("--files", type=int, default=200, help="of all, chosen at random")
    given = options.parse_args()
    found = [path for one in given.paths for path in ([one] if one.is_file() else sorted(one.rglob("*.pdf")))]
    chance = random.Random(1)
    files = chance.sample(found, min(given.files, len(found)))
    counts, times = Counter[str](), Counter[str]()
    for path in files:
        try:
            _measure(path, given.pages, chance, counts, times)
        except Refused as exc:
            counts[f"refused: {exc.reason}"] += 1
    with_rects, number = counts["with rectangles"], counts["sentences"]
    print(f"{len(files)} files, {counts['pages']} pages, {number} sentences")
    print(f"with rectangles: {with_rects / number:.2%} (at least 99 %)")
    print(f"of those, pdfium reads the same inside: {counts['the same'] / with_rects:.2%} (100 %)")
    first, plain, again = (times[name] / counts["pages"] * 1000 for name in ("first", "pdfium", "again"))
    print(
        f"first time {first:.1f} ms of CPU for a page, pdfium alone {plain:.1f}: {first / plain:.2f} times (at most 1.5)"
    )
    print(f"from the cache {again:.2f} ms for a page and its sentences")
    print({name: count for name, count in counts.items() if ":" in name})


def _measure(path: Path, most: int, chance: random.Random, counts: Counter[str], times: Any) -> None:
    parsed = pdf.read(path)
    filled = [page for page in parsed.pages if page.start < page.end]
    for page in chance.sample(filled, min(most, len(filled))):
        text = parsed.text[page.start : page.end]
        counts["pages"] += 1
        _timed(times, "pdfium", partial(_plain, path, page.number))
        layout = _timed(times, "first", partial(_layout, path, page.number, text))
        spans = [(start, end) for _, start, end in sentences(text) if _letters(text[start:end])]
        _timed(times, "again", partial(_again, layout, layout.packed(), spans))
        with opened(path) as document, text_page(document, page.number) as (shown, words):
            for start, end in spans:
                areas = layout.rects(start, end)
                if not isinstance(areas, str):
                    back = "".join(text_inside(words, area) for area in _areas(shown, areas))
                    _compare(back, text[start:end], path, counts)
                else:
                    counts[f"without: {areas}"] += 1
                counts["sentences"] += 1


def _compare(back: str, quote: str, path: Path, counts: Counter[str]) -> None:
    counts["with rectangles"] += 1
    counts["the same" if _is_same(back, quote) else f"other words: {path.name}"] += 1


def _is_same(back: str, quote: str) -> bool:
    """Whether the characters are the same, in the same order.

    pdfium has a mark for a hyphen at a line's end; the stored text has the hyphen, or rejoined the word. The parser may have added
    the marks of headings.
    """
    wanted = ""
    for line in quote.split("\n"):
        heading = _HEADING.match(line)
        marks = line[: heading.end() - 1] if heading else ""
        rest = "".join(_SAME.get(one, re.escape(one)) + _JOINED for one in _letters(line[len(marks) :]))
        wanted += f"(?:{marks})?{rest}"
    return re.fullmatch(wanted, _letters(_MARKS.sub("\x02", back))) is not None


def _areas(shown: Any, rects: tuple[Rect, ...]) -> Iterator[tuple[float, float, float, float]]:
    """The rectangles as pdfium has them: left, bottom, right, top, before rotation."""
    left, bottom, right, top = shown.get_bbox()
    width, height = right - left, top - bottom
    for rect in rects:
        x0, y0, x1, y1 = rect
        for _ in range(shown.get_rotation() // 90):
            x0, y0, x1, y1 = y0, 1 - x1, y1, 1 - x0
        yield left + x0 * width, top - y1 * height, left + x1 * width, top - y0 * height


def _letters(text: str) -> str:
    """Without white space and what else has no glyph; marks of hyphenation are one character."""
    return "\x02".join(NOT_SHOWN.sub("", part) for part in text.split("\x02"))


def _plain(path: Path, number: int) -> str:
    with opened(path) as document, text_page(document, number) as (page, words):
        return text_inside(words, page.get_bbox())


def _layout(path: Path, number: int, text: str) -> PageLayout:
    answer, content = pages.shown(path, [number])
    page, _ = ShownPage.unpacked(answer["pages"][0], content)
    return PageLayout.aligned(page, text)


def _again(layout: PageLayout, packed: bytes, spans: list[tuple[int, int]]) -> None:
    known = PageLayout.unpacked(layout.width, layout.height, layout.rotation, packed)
    for start, end in spans:
        known.rects(start, end)


def _timed(times: Any, name: str, work: Callable[[], Any]) -> Any:
    began = time.process_time()
    done = work()
    times[name] += time.process_time() - began
    return done


if __name__ == "__main__":
    main()
