"""Lines of cells, told from prose."""

import pytest

from whence.text.delimited_rows import delimited


def test_a_first_line_without_figures_is_the_head() -> None:
    (table,) = delimited("name;hired\nAnn;2019\nBo;2021\n")
    assert table.head is not None
    assert table.head.cells == ("name", "hired")
    assert [row.cells for row in table.rows] == [("Ann", "2019"), ("Bo", "2021")]


def test_rows_know_where_they_stand() -> None:
    text = "The prices:\npart\tprice\tin\nWidget\t40\tOslo\n\nAll of them rose."
    (table,) = delimited(text)
    assert text[table.start : table.end] == "part\tprice\tin\nWidget\t40\tOslo"
    assert [text[row.start : row.end] for row in table.rows] == ["Widget\t40\tOslo"]


def test_a_cell_in_quotes_may_hold_what_parts_cells() -> None:
    (table,) = delimited('"Berg, Ann",cook,"a ""b"""\nBo,clerk,c')
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
    assert delimited(text) == []
