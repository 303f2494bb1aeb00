"""What becomes of words: terms, the places of phrases, and the spans that are shown."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from whence.errors import BadInput
from whence.text.lexer import LANGUAGES, key, lexer, merged

ENGLISH = lexer("english")
SIMPLE = lexer("simple")

WORDS = st.one_of(
    st.text(),
    st.text(alphabet="aAzZ09._-'’ \"“”éüß\u0301\u00ad\u200dक्ि東ｶﾞกี한🙂\n"),
    st.lists(st.sampled_from(["e-mail", "CamelCase", "v1.2", "the", "東京都", "naïve"])).map(" ".join),
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The houses were running", ["hous", "run"]),
        ("What is the capital of France?", ["capit", "franc"]),
        ("Smith's dog, Smith’s dogs'", ["smith", "dog", "smith", "dog"]),
        ("don't DON’T", []),
        ("café CAFE cafe\u0301 ｃａｆｅ", ["cafe"] * 4),
        ("résumé resume", ["resum"] * 2),
        ("Straße STRASSE", ["strass"] * 2),
        ("e-mail email", ["email", "e", "mail", "email"]),
        ("v1.2", ["v1.2", "v1", "2"]),
        ("snake_case SnakeCase", ["snakecas", "snake", "case"] * 2),
        ("HTTPServer IPv4 PDFs", ["httpserver", "http", "server", "ipv4", "pdfs"]),
        ("The end. Next...And--so.", ["end", "next"]),
        ("one--two", ["one", "two"]),
        ("example.org", ["example.org", "exampl", "org"]),
        ("soft\u00adware", ["softwar"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("東京都", ["東京", "京都"]),
        ("猫", ["猫"]),
        ("PDF文件", ["pdf", "文件"]),
        ("ｶﾞｷﾞ ガギ", ["ガギ", "ガギ"]),
        ("한국어", ["한국", "국어"]),
        ("กขค", ["กข", "ขค"]),
        ("", []),
        ("?! … _ -", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert ENGLISH.terms(text) == terms


def test_simple_words_stay_as_they_are() -> None:
    assert SIMPLE.terms("The houses were running, l’été") == [
        *["the", "houses", "were", "running"],
        *["lete", "l", "ete"],
    ]


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("german", "Häuser", "Haus"),
        ("french", "l'animal", "animaux"),
        ("spanish", "canciones", "canción"),
        ("russian", "кошками", "кошка"),
    ],
)
def test_other_languages_have_stems_too(language: str, one: str, other: str) -> None:
    reader = lexer(language)
    assert set(reader.terms(one)) & set(reader.terms(other))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_reads_everything(language: str) -> None:
    text = "Every 東京 word-with_parts v1.2, don't Ünïcödé کتاب \ud800 " + "x" * 10_000
    reader = lexer(language)
    assert [key(term) for term in reader.terms(text)] == reader.keys(text)


@pytest.mark.parametrize("language", ["klingon", "", "English", "porter"])
def test_a_language_that_there_is_not(language: str) -> None:
    with pytest.raises(BadInput) as error:
        lexer(language)
    assert error.value.details["provided"] == language


def test_places_count_every_word() -> None:
    assert ENGLISH.places("The state-of-the-art e-mail") == ["the", "state", "of", "the", "art", "e", "mail"]


def test_a_key_is_a_number_of_64_bits_that_never_changes() -> None:
    assert key("word") == -7_669_973_388_465_560_502
    assert key("東京") != key("京都")


@given(text=WORDS)
def test_keys_are_those_of_the_terms(text: str) -> None:
    for reader in (ENGLISH, SIMPLE):
        assert reader.keys(text) == [key(term) for term in reader.terms(text)]


@given(text=WORDS)
def test_terms_are_never_empty_and_have_no_spaces(text: str) -> None:
    for reader in (ENGLISH, SIMPLE):
        for term in [*reader.terms(text), *reader.places(text)]:
            assert term
            assert not any(letter.isspace() for letter in term)


@given(text=WORDS)
@example("㐀.\u093a")
@example("0'_")
@example("_\u200c'0")
def test_spans_are_slices_that_hold_the_terms(text: str) -> None:
    keys = frozenset(ENGLISH.keys(text))
    spans = ENGLISH.spans(text, keys)
    assert spans == sorted(spans)
    end = -1
    for start, stop in spans:
        assert end < start < stop <= len(text)
        end = stop
        assert keys & set(ENGLISH.keys(text[start:stop]))
    assert bool(spans) == bool(keys)


@given(text=WORDS, data=st.data())
def test_spans_are_those_of_the_pieces(text: str, data: st.DataObject) -> None:
    """Also of text that takes the short way."""
    for written in (text, text.encode("ascii", "replace").decode()):
        keys = frozenset(data.draw(st.lists(st.sampled_from(ENGLISH.keys(written) or [0]))))
        covered = {
            place
            for offset, piece in ENGLISH.pieces_of(written)
            if piece.term is not None and key(piece.term) in keys
            for place in range(offset + piece.start, offset + piece.end)
        }
        spans = ENGLISH.spans(written, keys)
        assert {place for span in spans for place in range(*span)} == covered


@given(before=WORDS, after=WORDS)
def test_what_stands_around_a_word_does_not_change_it(before: str, after: str) -> None:
    assert key("hous") in ENGLISH.keys(f"{before} houses {after}")


@given(text=st.text(max_size=30))
def test_case_makes_no_difference_to_words_of_one_part(text: str) -> None:
    text = text.lower()
    assert SIMPLE.keys(text) == SIMPLE.keys(text.title().lower())


@given(
    words=st.lists(
        st.sampled_from(
            [
                "rivers",
                "River",
                "RIVER",
                "e-mail",
                "riverBank",
                "x",
                "3.5",
                "don't",
                "-river",
                "river.",
                "ríver",
            ]
        ),
        max_size=12,
    ),
    glue=st.sampled_from([" ", ", ", "--", "-", ".", "'", "_", "(", "\n"]),
)
def test_spans_of_words_with_signs_between_them(words: list[str], glue: str) -> None:
    reader, text = lexer("english"), glue.join(words)
    keys = frozenset(reader.keys("river e-mail x"))
    pieces = [(at + each.start, at + each.end, each.term) for at, each in reader.pieces_of(text)]
    expected = merged((start, end) for start, end, term in pieces if term is not None and key(term) in keys)
    assert reader.spans(text, keys) == expected
