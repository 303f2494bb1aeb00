"""Bytes to text: every encoding that is known comes through unchanged."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.parse.decode import decode
from whence.parse.parsed import Refused

TEXTS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\ufeff", min_codepoint=32)
    | st.sampled_from("\r\n\t")
)
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@given(text=TEXTS)
def test_utf8(text: str) -> None:
    assert decode(text.encode()) == text


@pytest.mark.parametrize("encoding", MARKS)
@given(text=TEXTS)
def test_a_mark_tells_the_encoding(encoding: str, text: str) -> None:
    assert decode(MARKS[encoding] + text.encode(encoding)) == text


def test_windows() -> None:
    text = "Größe, “Zitat” – 5 €\r\n"
    assert decode(text.encode("cp1252")) == text
    assert decode(b"caf\xe9 \x81") == "café \N{REPLACEMENT CHARACTER}"


def test_what_is_said_counts_where_it_is_not_utf8() -> None:
    text = "Серая цапля"
    assert decode(text.encode("cp1251"), said="windows-1251") == text
    assert decode(text.encode(), said="windows-1251") == text
    assert decode("Größe".encode("cp1252"), said="no-such-encoding") == "Größe"
    assert decode("Größe".encode("cp1252"), said="ascii") == "Größe"


@pytest.mark.parametrize(
    "said", ["unicode_escape", "idna", "punycode", "zip", "rot13", "utf-7", "", "a\0b", "é"]
)
def test_what_is_no_encoding_of_texts(said: str) -> None:
    assert decode(b"\\ud800 caf\xe9", said=said) == "\\ud800 café"


@pytest.mark.parametrize(
    "said",
    ["windows-1251", "KOI8-R", "ISO-8859-5", "mac-cyrillic", "gb18030", "shift_jis", "euc-jp"],
)
def test_encodings_that_are_known(said: str) -> None:
    text = "Серая цапля" * 5
    assert decode(text.encode(said), said=said) == text


def test_a_few_bad_bytes_do_not_make_it_another_encoding() -> None:
    text = "Größe und Übermut, naïve Façaden. " * 20
    assert decode(text.encode() + b"\xff\xfe!") == text + "\N{REPLACEMENT CHARACTER}" * 2 + "!"


@given(content=st.binary(max_size=300))
def test_anything(content: bytes) -> None:
    try:
        text = decode(content)
    except Refused:
        return
    assert "\0" not in text
    text.encode()


def test_nul_cannot_be_stored() -> None:
    assert decode(b"a" * 500 + b"\0" + b"b") == "a" * 500 + "\N{REPLACEMENT CHARACTER}b"
    with pytest.raises(Refused):
        decode(b"a\0" * 100)
