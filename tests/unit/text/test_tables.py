"""Tables as the parsers write them, whole and cut into chunks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.chunk import ChunkingOptions, strategy
from whence.text.tables import (
    delimited_tables,
    is_whole_row,
    read_table,
    table_heads,
)

PIPES = "| Service | Port |\n|---|--:|\n| Mail \\| Queue | 25 |\n| Web |  |\n\nNot a row."
COMMAS = 'Service,Port,Owner\n"Mail, Queue",25,Ann\nWeb,80,\n'


def test_a_markdown_table() -> None:
    table = read_table(PIPES.split("\n"), 0, accepts=lambda _: True)
    assert table is not None
    assert table.heads == ("Service", "Port")
    assert table.rows == (("Mail \\| Queue", "25"), ("Web", ""))
    assert table.end == 4


def test_a_markdown_table_without_outer_pipes() -> None:
    table = read_table(["Service | Port", "--- | ---", "Web | 80"], 0, accepts=lambda _: True)
    assert table is not None
    assert table.rows == (("Web", "80"),)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_with_separators(delimiter: str) -> None:
    lines = ["Service,Port,Owner", "Web,80,Ann", "", "Prose, that is, all"]
    table = read_table([line.replace(",", delimiter) for line in lines], 0, accepts=lambda _: True)
    assert table is not None
    assert (table.heads, table.rows, table.end) == (("Service", "Port", "Owner"), (("Web", "80", "Ann"),), 2)


def test_quoted_cells() -> None:
    table = read_table(COMMAS.splitlines(), 0, accepts=lambda _: True)
    assert table is not None
    assert table.rows == (("Mail, Queue", "25", "Ann"), ("Web", "80", ""))


def test_words_with_commas_are_a_table_only_if_the_heads_are_accepted() -> None:
    lines = ["Red, green", "blue, yellow"]
    assert read_table(lines, 0, accepts=lambda _: False) is None


def test_rows_of_a_table_that_began_earlier() -> None:
    table = read_table(["| Web | 80 |", "| Mail | 25"], 0, head="| Service | Port |", accepts=lambda _: True)
    assert table is not None
    assert (table.heads, table.rows) == (("Service", "Port"), (("Web", "80"),))  # the second is cut
    assert read_table(["| Web | 80 |"], 0, accepts=lambda _: True) is None


@pytest.mark.parametrize("text", [PIPES, COMMAS])
def test_the_head_of_each_place(text: str) -> None:
    head, second, third = text.splitlines()[:3]
    assert list(table_heads(text, [0, text.index(second), text.index(third) + 2])) == ["", head, head]


def test_no_head_behind_a_table() -> None:
    assert list(table_heads(PIPES, [PIPES.index("Not a row")])) == [""]
    assert list(table_heads("One line.\nAnother line.", [0, 10])) == ["", ""]
    assert list(table_heads("", [])) == []


@pytest.mark.parametrize("name", ["character", "sentence", "paragraph"])
@pytest.mark.parametrize("separator", [" | ", ","])
def test_every_row_of_a_cut_table_is_whole_in_one_chunk_or_known_to_be_cut(name: str, separator: str) -> None:
    """What a reader takes from two neighbours is never more than the rows that are there."""
    edge = "|" if separator == " | " else ""
    lines = [
        f"{edge}{separator.join((f'Service {at}', 'Ann Lee', str(1000 + at)))}{edge}" for at in range(200)
    ]
    head = f"{edge}{separator.join(('Service', 'Owner', 'Port'))}{edge}"
    rule = ["|---|---|---|"] if edge else []
    text = "\n".join([head, *rule, *lines])
    chunks = strategy(name).chunk(text, ChunkingOptions(max_chunk_size=600, min_chunk_size=50))
    heads = list(table_heads(text, [chunk.start_offset for chunk in chunks]))
    assert heads[0] == ""
    assert set(heads[1:]) == {head}
    for before, after in pairwise(chunks):
        last, first = before.text.splitlines()[-1], after.text.splitlines()[0]
        is_cut = last not in lines
        assert is_cut == (not is_whole_row(head, last)) or is_cut == (not is_whole_row(head, first))


@given(st.text(alphabet="a|,-\n ", max_size=80), st.lists(st.integers(0, 90)).map(sorted))
def test_a_head_for_each_place_whatever_the_text(text: str, starts: list[int]) -> None:
    heads = list(table_heads(text, starts))
    assert len(heads) == len(starts)
    assert all(head in text for head in heads)


def test_a_first_line_without_figures_is_the_head() -> None:
    (table,) = delimited_tables("name;hired\nAnn;2019\nBo;2021\n")
    assert table.head is not None
    assert table.head.cells == ("name", "hired")
    assert [row.cells for row in table.rows] == [("Ann", "2019"), ("Bo", "2021")]


def test_rows_know_where_they_stand() -> None:
    text = "The prices:\npart\tprice\tin\nWidget\t40\tOslo\n\nAll of them rose."
    (table,) = delimited_tables(text)
    assert table.head is not None
    assert text[table.head.start : table.head.end] == "part\tprice\tin"
    assert [text[row.start : row.end] for row in table.rows] == ["Widget\t40\tOslo"]


def test_a_cell_in_quotes_may_hold_what_parts_cells() -> None:
    (table,) = delimited_tables('"Berg, Ann",cook,"a ""b"""\nBo,clerk,c')
    assert [row.cells for row in table.rows] == [("Berg, Ann", "cook", 'a "b"'), ("Bo", "clerk", "c")]


@pytest.mark.parametrize(
    "text",
    [
        "We went to Rome, and then,\nwhen it rained, to Oslo,\nwhich is far, and cold, in May.",
        "1,000 apples\n2,000 pears\n3,000 plums",
        "\tfirst\n\tsecond\n\tthird",
        "one,two",
        "a,b\nc,d",
        "a,b,c\n\nd,e,f",
        "",
    ],
)
def test_prose_has_no_rows(text: str) -> None:
    assert delimited_tables(text) == []
