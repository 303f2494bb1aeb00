import re
from itertools import pairwise

import pytest
from hypothesis import given
from tests.texts import MARKDOWN, options, texts

from whence.chunk import ChunkingOptions, ChunkResult, ParagraphStrategy
from whence.chunk.boundaries import line_feeds
from whence.chunk.markdown import landmarks

SMALL = ChunkingOptions(max_chunk_size=100, min_chunk_size=10)


def chunk(text: str, size: int = 1200, shortest: int = 10) -> list[ChunkResult]:
    return ParagraphStrategy().chunk(text, ChunkingOptions(max_chunk_size=size, min_chunk_size=shortest))


def cut(text: str, size: int = 1200, shortest: int = 10) -> list[str]:
    return [one.text for one in chunk(text, size, shortest)]


class TestParagraphs:
    @pytest.mark.parametrize("blank", ["\n\n", "\n \t \n", "\r\n\r\n", "\r\r", "\n\n\n\n\n", "\n\u00a0\n"])
    def test_blank_lines_part_them(self, blank: str) -> None:
        text = blank.join(["a" * 60, "b" * 60, "c" * 30])
        assert cut(text, 100) == ["a" * 60, f"{'b' * 60}{blank}{'c' * 30}"]

    def test_as_many_as_fit(self) -> None:
        text = "\n\n".join(["p" * 30] * 7)
        assert [len(one) for one in cut(text, 100)] == [94, 94, 30]
        assert {one.boundary_type for one in chunk(text, 100)} == {"paragraph"}

    def test_one_over_the_maximum_falls_back_to_sentences(self) -> None:
        text = "Intro of a few words.\n\n" + "A sentence of thirty letters. " * 6 + "\n\nEnd."
        found = chunk(text, 100, 10)
        kinds = [(one.boundary_type, len(one.text)) for one in found]
        assert kinds == [("paragraph", 21), ("paragraph", 89), ("sentence", 96)]

    def test_a_sentence_over_the_maximum_falls_back_to_characters(self) -> None:
        assert [(one.boundary_type, len(one.text)) for one in chunk("w" * 250, 100)] == [
            ("paragraph", 100),
            ("character", 100),
            ("character", 50),
        ]

    def test_first_to_white_space(self) -> None:
        assert {one[-4:] for one in cut("and more " * 40, 100)} == {"more"}

    def test_a_short_paragraph_joins_a_neighbour(self) -> None:
        text = "Short.\n\n" + "x" * 80 + "\n\n" + "y" * 80
        assert cut(text, 100, 50) == ["Short.\n\n" + "x" * 80, "y" * 80]


class TestHeaders:
    def test_a_header_starts_a_chunk(self) -> None:
        assert cut("Before.\n\n# One\n\nText.\n\n## Two\n\nMore.") == [
            "Before.",
            "# One\n\nText.",
            "## Two\n\nMore.",
        ]

    def test_also_without_blank_lines(self) -> None:
        assert cut("Before.\n# One\nText.\n## Two\nMore.") == ["Before.", "# One\nText.", "## Two\nMore."]

    def test_also_when_its_section_is_short(self) -> None:
        """That a header always starts a chunk (D3) is stronger than the minimum (D4)."""
        assert cut("# A\n\na\n\n# B\n\nb", shortest=100) == ["# A\n\na", "# B\n\nb"]

    def test_short_pieces_of_one_section_are_joined(self) -> None:
        text = "# A\n\n" + "a" * 90 + "\n\ntail"
        assert cut(text, 100, 50) == ["# A\n\n" + "a" * 90, "tail"]
        assert cut(text, 120, 50) == [text]

    def test_a_deeper_header_stays_with_the_one_above(self) -> None:
        assert cut("# Title\n\n## Part\n\nText.\n\n## Next\n\nMore.") == [
            "# Title\n\n## Part\n\nText.",
            "## Next\n\nMore.",
        ]

    def test_an_empty_section_stands_alone(self) -> None:
        assert cut("## A\n\n## B\n\nText.\n\n# C") == ["## A", "## B\n\nText.", "# C"]

    def test_a_header_is_never_left_behind(self) -> None:
        text = "## Header of it\n\n" + "A sentence of thirty letters. " * 3
        found = chunk(text, 100)
        assert (
            found[0].text == "## Header of it\n\nA sentence of thirty letters. A sentence of thirty letters."
        )
        assert [one.boundary_type for one in found] == ["section", "sentence"]

    def test_not_even_when_the_first_sentence_is_too_long(self) -> None:
        found = chunk("# Header\n\n" + "x" * 95, 100)
        assert [(len(one.text), one.boundary_type) for one in found] == [(100, "section"), (5, "character")]

    def test_not_even_before_code_or_a_table(self) -> None:
        code = "```\n" + "line of code\n" * 7 + "```"
        assert cut(f"# Header\n\n{code}", 100)[0].startswith("# Header\n\n```\nline")

    @pytest.mark.parametrize(
        "line", ["#no space", "####### seven", "\\# escaped", "    # indented", "text # inside"]
    )
    def test_what_is_no_header(self, line: str) -> None:
        assert cut(f"Before\n\n{line}\n\nafter") == [f"Before\n\n{line}\n\nafter"]

    @pytest.mark.parametrize(
        "header", ["# H", "   ###### H", "#\tH", "H\n===", "H\n---", "  H\n  =  ", "# H #", "#\nH"]
    )
    def test_what_is_a_header(self, header: str) -> None:
        found = chunk(f"Before\n\n{header}\n\nafter")
        assert [one.boundary_type for one in found] == ["paragraph", "section"]
        assert found[1].text == f"{header.lstrip()}\n\nafter"

    @pytest.mark.parametrize(
        "text",
        ["Two\nlines\n---\nafter", "- item\n---\nafter", "a\n\n---\n\nb", "a\n\n***\n\nb", "> q\n---\nb"],
    )
    def test_a_rule_is_no_underline(self, text: str) -> None:
        assert cut(text) == [text]

    @pytest.mark.parametrize("title", ["Of two\nlines", "  Of three  \n lines\nand no more"])
    def test_a_title_over_equals_signs_may_take_up_to_three_lines(self, title: str) -> None:
        found = chunk(f"Before\n\n{title}\n===\nafter")
        assert [one.boundary_type for one in found] == ["paragraph", "section"]
        assert found[1].headings == (" ".join(title.split()),)
        assert found[1].text == f"{title.lstrip()}\n===\nafter"

    @pytest.mark.parametrize(
        "text",
        [
            "1\n2\n3\n4\n===\nafter",
            "- item\nof two\n===\nafter",
            "===\nBanner\n===\nafter",
            "1\n\n===\nafter",
            "\n===\nafter",
        ],
    )
    def test_what_equals_signs_do_not_underline(self, text: str) -> None:
        assert cut(f"Before\n\n{text}") == [f"Before\n\n{text}"]

    def test_settings_in_front_are_no_header(self) -> None:
        text = "---\ntitle: x\n---\n\nBody."
        assert [(one.text, one.boundary_type) for one in chunk(text)] == [(text, "paragraph")]

    def test_windows_lines(self) -> None:
        assert cut("A\r\n\r\nTitle\r\n=====\r\n\r\ntext\r\n# B\r\nb") == [
            "A",
            "Title\r\n=====\r\n\r\ntext",
            "# B\r\nb",
        ]


class TestHeadings:
    def test_the_trail_of_titles(self) -> None:
        """LightRAG#3131: chunks lose their parent heading."""
        text = "Pre.\n\n# A #\n\na\n\n## B ##\n\nb\n\n### C#\n\nc\n\n## D\n\nd\n\nE\n=\n\ne"
        assert [one.headings for one in chunk(text)] == [
            (),
            ("A",),
            ("A", "B"),
            ("A", "B", "C#"),
            ("A", "D"),
            ("E",),
        ]

    def test_every_chunk_of_a_section_knows_it(self) -> None:
        text = "# A\n\n## B\n\n" + "A sentence of thirty letters. " * 9
        found = chunk(text, 100)
        assert len(found) > 2
        assert {one.headings for one in found} == {("A", "B")}

    def test_an_empty_title_is_none(self) -> None:
        assert [one.headings for one in chunk("#\n\ntext\n\n## B\n\nb")] == [(), ("B",)]


class TestCodeAndTables:
    @pytest.mark.parametrize(
        "code",
        [
            "```\n# no header\n\nx\n```",
            "~~~ py\n# no\n```\n# no\n~~~",
            "````\n```\n# no\n```\n````",
            "   ```\n# no\n   ```",
            "```\n# no\n\nTitle\n=====\n\nnever closed",
            "```\n# no\n    ```\n# no\n```",
        ],
    )
    def test_headers_in_code_are_none(self, code: str) -> None:
        assert cut(f"Before.\n\n{code}") == [f"Before.\n\n{code}"]

    def test_after_the_closing_fence_headers_count_again(self) -> None:
        assert cut("```\n# no\n```\n# Yes\ntext") == ["```\n# no\n```", "# Yes\ntext"]

    def test_inline_code_is_no_fence(self) -> None:
        assert cut("```inline``` code\n# Yes") == ["```inline``` code", "# Yes"]

    def test_code_is_kept_together_when_it_fits(self) -> None:
        code = "```\nfirst line\n\nsecond line\n\nthird line\n```"
        text = "Words. " * 9 + f"\n{code}\n" + "More words. " * 3
        assert any(code in one for one in cut(text, 100))

    @pytest.mark.parametrize(
        "item",
        [
            "1. Step\n\n    ```\n    first line\n\n    second line\n    ```",
            "- Step\n\n\t~~~ sh\n\tfirst line\n\n\tsecond line\n\t~~~",
            "- Step\n    - Deeper\n\n        ```\n        first\n\n        second\n        ```",
            "1. ```\n   first line\n\n   second line\n   ```",
            "* ```\n  first line\n\n  second line\n  ```",
        ],
    )
    def test_code_in_a_list_item_is_kept_together_when_it_fits(self, item: str) -> None:
        code = item[re.search(r".*(```|~~~)", item).start() :].lstrip()  # type: ignore[union-attr]
        for words in range(4, 16):
            text = "Words. " * words + f"\n\n{item}\n\n" + "More words. " * 3
            assert any(code in one for one in cut(text, 100)), words

    @pytest.mark.parametrize(
        "item",
        [
            "1. Step\n\n    ```\n    x\n    ```",
            "1. Step\n\n    ```\n    x\n   ```",
            "1. Step\n\n    ```\n    never closed",
            "1. ```\n   x\n   ```",
            "- ```\n  never closed",
        ],
    )
    def test_code_in_a_list_item_ends_with_the_item(self, item: str) -> None:
        assert cut(f"{item}\n\n# Yes\n\ntext") == [item, "# Yes\n\ntext"]

    def test_headers_in_the_code_of_a_list_item_are_none(self) -> None:
        item = "- ```\n  # no\n\n  # no\n  ```"
        assert cut(item) == [item]

    def test_too_much_code_is_cut_between_lines(self) -> None:
        code = "```\n" + "".join(f"line number {n}\n" for n in range(20)) + "```"
        found = chunk(code, 100)
        assert all(
            re.fullmatch(r"(```|line number \d+)(\n(```|line number \d+))*", one.text) for one in found
        )
        assert {one.boundary_type for one in found[1:]} == {"sentence"}

    @pytest.mark.parametrize(
        "table",
        ["| a | b |\n|---|---|\n| x. Y | z. W |\n| 1. A | 2. B |", "a | b\n--|--\nx. Y | z. W\nq. R | s. T"],
    )
    def test_a_table_is_kept_together_when_it_fits(self, table: str) -> None:
        text = "Words are here. " * 5 + f"Below:\n{table}\n\nAfter. " + "Even more. " * 5
        assert any(table in one for one in cut(text, 100))

    def test_a_large_table_is_cut_between_rows(self) -> None:
        text = "\n".join(f"| row {n} | Mr. X. | Yes. No. |" for n in range(20))
        assert all(one.startswith("| row") and one.endswith("|") for one in cut(text, 100))


def test_plain_text_rule_override() -> None:
    found = ParagraphStrategy(re.compile(";")).chunk("one two three. four; " * 10, SMALL)
    assert all(one.text.endswith(";") for one in found)


@given(texts(), options())
def test_every_header_starts_a_chunk_or_stands_in_its_leading_headers(
    text: str, chosen: ChunkingOptions
) -> None:
    found = ParagraphStrategy().chunk(text, chosen)
    spans = [(one.start_offset, one.end_offset) for one in found]
    headers = [one for one in landmarks(line_feeds(text)) if one.kind == "header"]
    ends = {header.start: header.end for header in headers}
    for header in headers:
        start = next(first for first, end in spans if first <= header.start < end)
        while start != header.start:
            assert start in ends, "a header in the middle of a chunk"
            start = ends[start] + len(text[ends[start] :]) - len(text[ends[start] :].lstrip())


@given(texts(), options())
def test_no_chunk_ends_in_a_header_whose_section_follows(text: str, chosen: ChunkingOptions) -> None:
    found = ParagraphStrategy().chunk(text, chosen)
    headers = {one.end: one for one in landmarks(line_feeds(text)) if one.kind == "header"}
    for before, after in pairwise(found):
        header = headers.get(before.end_offset)
        if header is not None and after.start_offset - before.start_offset < chosen.max_chunk_size:
            assert after.boundary_type == "section"


def test_real_markdown() -> None:
    found = chunk(MARKDOWN, 400)
    assert all("# no header" not in one.text.splitlines()[0] for one in found)
    assert {one.headings[0] for one in found} == {"Title", "Setext"}


CODE = """import os

# Where things are.
HERE = os.curdir


# What is done with them.
def work() -> None:
    # At once.
    print(HERE)
"""


def test_in_source_code_a_remark_is_no_header() -> None:
    sizes = ChunkingOptions(max_chunk_size=100, min_chunk_size=10)
    found = ParagraphStrategy(code=True).chunk(CODE, sizes)
    assert {one.boundary_type for one in found} == {"paragraph"}
    assert {one.headings for one in found} == {()}
    assert "".join("".join(one.text.split()) for one in found) == "".join(CODE.split())
    assert "section" in {one.boundary_type for one in ParagraphStrategy().chunk(CODE, sizes)}


def test_headings_in_the_trail_are_cut() -> None:
    trail = "".join(f"{'#' * level} {'x' * 300_000}\n" for level in (1, 2, 3))
    found = chunk(trail + "A sentence. " * 50, 400)
    assert max(sum(map(len, one.headings)) for one in found) == 600


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\f", "\v", "\x85", "\u2028", "\u2029"])
def test_every_line_end_ends_a_heading(line_end: str) -> None:
    (found,) = chunk(f"# Title{line_end}{line_end}A sentence.", 400)
    assert found.headings == ("Title",)
