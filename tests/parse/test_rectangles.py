"""Rectangles on pages of every kind: what pdfium reads inside them is what the stored text says there."""

import re
from pathlib import Path

import pytest
from tests.files.pdf import drawn_pdf, pdf, placed_pdf, read_back

from whence.chunk import sentences
from whence.evidence.layout import PageLayout
from whence.parse.child import pages
from whence.parse.child import pdf as reader
from whence.parse.shown import ShownPage

FIRST, SECOND = (
    "The harbour was dredged in 1911. Ships of ten metres could land.",
    "Nobody paid for the mole.",
)
LEFT = ["The left column tells of the", "harbour and its old wharf.", "It ends here."]
RIGHT = ["The right column has prices", "of apples and of pears.", "They were low."]
HEBREW = "הנמל נבנה בשנת תרע"
ODD = {
    "turned": pdf(
        [[FIRST], [FIRST], [FIRST], [SECOND]], shown=[f"/Rotate {turn}" for turn in (0, 90, 180, 270)]
    ),
    "cropped": pdf(
        [[FIRST], [SECOND], [FIRST]],
        shown=[
            "/CropBox [40 60 560 820]",
            "/Rotate 90 /CropBox [50 700 595 842]",
            "/MediaBox [-20 -30 595 842] /Rotate 270 /CropBox [10 20 580 830]",
        ],
    ),
    "mixed sizes": pdf(
        [[FIRST], [SECOND], [FIRST]],
        shown=[
            "/MediaBox [0 0 595 842]",
            "/MediaBox [0 0 1191 1684]",
            "/MediaBox [0 0 842 1200] /Rotate 180",
        ],
    ),
    "two columns": placed_pdf(
        [
            [(60.0, 700.0 - 14 * row, line) for row, line in enumerate(LEFT)]
            + [(330.0, 700.0 - 14 * row, line) for row, line in enumerate(RIGHT)]
        ]
    ),
    "table": placed_pdf([[(60 + 120 * at % 360, 700 - 14 * (at // 3), f"cell{at}") for at in range(9)]]),
    "right to left": placed_pdf([[(60.0, 700.0, HEBREW[::-1]), (60.0, 680.0, "The harbour in Hebrew.")]]),
    "chinese": pdf([["港口于一九一一年疏浚。十米长的船可以靠岸。", "東京は大きい。"]]),
    "ligatures": pdf([["The ﬁrst ofﬁce on the ﬂoor was ﬁlled. It was eﬃcient.", "No ﬂood."]]),
    "mathematics": pdf([["Let 𐅅 be 𐅄. Then 𐅆 is 𐅅𐅄 and the harbour is deep.", "The end is here."]]),
    "glyphs by name": drawn_pdf(
        b"BT 60 700 Td /F1 11 Tf (Let ) Tj /F3 11 Tf (AAAA) Tj /F1 11 Tf ( be deep. It ends here.) Tj ET"
    ),
    "a glyph without a width": drawn_pdf(
        b"BT 60 700 Td /F1 11 Tf (Let ) Tj /F3 11 Tf (ABA) Tj /F1 11 Tf ( be deep. It is old.) Tj ET"
    ),
    "recognised by another program": drawn_pdf(
        b"BT /F3 11 Tf 60 700 Td (the harbour was dredged) Tj 0 -10 Td (and the mole is high) Tj 0 -9 Td (close) Tj ET"
    ),
    "soft hyphens": placed_pdf(
        [[(60.0, 700.0, "All of the infor\u00ad"), (60.0, 686.0, "mation is here. Noth\u00ading in 東京.")]]
    ),
    "hyphens": placed_pdf(
        [
            [
                (60.0, 700.0, "In the fourth-"),
                (60.0, 686.0, "quarter the infor-"),
                (60.0, 672.0, "mation came, a quarter of it, the fourth."),
            ]
        ]
    ),
    "overlapping": placed_pdf(
        [[(60.0, 700.0, "One line of words."), (60.0, 692.0, "Another close below it.")]]
    ),
}
"""Files by what is odd about them."""


@pytest.mark.parametrize("what", ODD)
def test_sentences_and_words_have_exactly_their_letters_in_their_rectangles(
    what: str, tmp_path: Path
) -> None:
    require_exact(ODD[what], tmp_path)


def test_the_end_of_a_page_is_kept_also_after_characters_of_two_code_units(tmp_path: Path) -> None:
    """pdfium gives the length of a text in characters, and then the text in code units."""
    assert require_exact(ODD["glyphs by name"], tmp_path) == "Let 𐅅𐅅𐅅𐅅 be deep. It ends here."


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_turned_lines_keep_their_order(angle: int, turn: int, tmp_path: Path) -> None:
    lines = [f"In the year {year} the harbour had {year - 1800} ships and" for year in range(1901, 1907)]
    places = {0: (60, 780, 0, -14), 90: (60, 60, 14, 0), 180: (540, 60, 0, 14), 270: (540, 780, -14, 0)}
    x, y, right, up = places[angle]
    page = [(x + right * number, y + up * number, line) for number, line in enumerate(lines)]
    text = require_exact(placed_pdf([page], shown=[f"/Rotate {turn}"], angle=angle), tmp_path)
    assert [line for line in text.split("\n") if line] == lines


def require_exact(content: bytes, folder: Path) -> str:
    """Gives the stored text."""
    path = folder / "odd.pdf"
    path.write_bytes(content)
    parsed = reader.read(path)
    seen = 0
    for page in parsed.pages:
        text = parsed.text[page.start : page.end]
        answer, packed = pages.shown(path, [page.number])
        shown, _ = ShownPage.unpacked(answer["pages"][0], packed)
        layout = PageLayout.aligned(shown, text)
        words = [found.span() for found in re.finditer(r"\S+", text)]
        for start, end in [(start, end) for _, start, end in sentences(text)] + words:
            found = layout.rects(start, end)
            assert not isinstance(found, str), (found, text[start:end])
            assert letters(read_back(content, page.number, found)) == letters(text[start:end])
            assert all(0 <= one.x0 < one.x1 <= 1 and 0 <= one.y0 < one.y1 <= 1 for one in found)
            seen += 1
    assert seen > 1
    return parsed.text


def letters(text: str) -> list[str]:
    """Without white space, marks of headings and hyphens of line ends; in any order, as pdfium's may be another."""
    return sorted(re.sub(r"[\s#\u00ad\ufffe\x02-]", "", text))
