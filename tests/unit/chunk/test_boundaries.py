"""Where sentences end. Each row is a text whose sentences are parted by `|`, which is not in the text itself."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import texts

from whence.chunk import sentences
from whence.chunk.boundaries import sentence_ends
from whence.chunk.graphemes import first_content
from whence.chunk.periods import LISTED, SHORT_WORDS

ENGLISH = [
    "Dr. Smith met Mr. J. R. Jones at 5 p.m. on Jan. 5.| They talked.",
    "It is 3.14.| Version 2.0.1 is out.| It costs $5.99 now.",
    "See https://example.com/a.b?c=d.e for more.| Mail me at a.b@c.org.| Open notes.txt.| Done.",
    "The file v1.2.tar.gz is here.| Node.js is fine.",
    "Wait... what?| He left…| Nobody knew why... but they did.",
    '"Stop!" he said.| "Why?" she asked.| (Nobody knew.)| It ended.',
    'She wrote "The End."| Then she slept.| He said “yes.”| It was over.',
    "Really?!| Yes!!!| No way.",
    "The U.S. Army came.| He lives in the U.S.| The weather is fine.",
    "Apple Inc. released it.| He works at Apple Inc.| The pay is good.",
    "Use tools, e.g. hammers, i.e. heavy ones, etc.| Then rest.",
    "No. 5 is alive.| No.| I will not go to room No. 7.| See Fig. 3 and vol. 2 of it.",
    "J. K. Rowling wrote it.| George W. Bush did not.| Plan B.| The end.",
    "She has a Ph.D. in physics.| He is the C.E.O. of it.",
    "First fact.[12]| Second fact.¹| Third fact.",
    "First fact. [24]| Second fact? [3, 4] [5–7]| He wrote “so.” [8]| [Editor's note.]| See Fig. [9] here.| [10]: no mark.",
    "i like it.| it is good.| see you soon.",
    "**Bold end.**| Then _this one._| More.",
    "P.S. I love you.",
    "Born ca. 1900 in St. Louis vs. the world.",
    "Spaced out .| This is tokenised text .| So it is !",
    "At 10 a.m. Monday it began.| It was Sept. 3 or Tues. 4.",
    "(This is aside.) and it goes on.| See?",
]

LISTS = [
    "1. First item\n|2. Second item\n|10. Tenth item",
    "Some items:\n|- one\n|- two\n|* three\n|• four",
    "It has three. 1. Begin.| 2. Go on.| 3. End.".replace(". 1.", ".| 1."),
    "a. First\nb. Second",
    "A title without a stop\n\n|A paragraph.",
    "Line one of a\nwrapped sentence goes on.| Next\none.",
    "Blank line with spaces \n \t\n|Next.",
    "Windows lines.\r\n|Go on.\r\n\r\n|New paragraph\r\n\r\n|Last",
    "Old Mac\r\r|lines",
    "Text\n|# Header\n|## Another\n\n|Body.",
]

LINES = [
    "From the paper comes this story :\n|The president has nominated two people to replace the judges.\n|More soon",
    "Dear Nina,\n|Thanks.\n|Regards,\n|Kevin A. Boone\n|The office",
    f"{'no wrapped line is as long as this, ' * 7}\n|it ends there",
    "A line that was wrapped before the name of President\nBush, and therefore goes on with the next line.",
    "In proportional type, a line may be some letters\nShorter than the next, although it goes on with it.",
    "A line is short before a word that is too long:\nDonaudampfschifffahrtsgesellschaft is one of them.",
    "A line that goes on with\na small letter, however long the next line is, does not end its sentence.",
]

LANGUAGES = [
    # German
    "Am 3. Oktober 1990 war es soweit.| Der 1. Platz ging an Dr. Müller.",
    "Es gibt z. B. Obst, d. h. Äpfel bzw. Birnen.| Vgl. Abs. 2 und Nr. 5.| Ende.",
    "„Halt!“ rief er.| „Warum?“| Keiner wusste es.",
    # French, Spanish, Italian, Portuguese, Dutch
    "M. Dupont est venu.| « Bonjour ! » dit-il.| « Il part. »| Elle reste.| Voir p. 12.",
    "El Sr. García llegó a las 5.| ¿Qué pasa?| ¡Nada!| Véase la pág. 12.",
    "Il dott. Rossi è qui.| Perché?| Non lo so.",
    "O Sr. Silva chegou.| Quem é?| Não sei.",
    "Hij kwam om ca. 5 uur, bijv. met de trein.| Wie?| Niemand.",
    # Czech, Polish, Hungarian, Turkish
    "Bylo to 3. října.| Konec.",
    "Mieszka na ul. Długiej.| To jest dom.",
    "A 2. emelet üres.| Dr. Kovács jött.",
    "Bu bir cümle.| İkinci cümle.| Prof. Dr. Ali geldi.",
    # Russian, Greek, Georgian, Armenian
    "Он жил на ул. Ленина.| Цена 5 тыс. руб. за штуку.| Потом уехал.",
    "Αυτό είναι.| Ο κ. Παπαδόπουλος ήρθε.| Καλά.",
    "ეს არის.| ეს მეორეა.",
    "Τι κάνεις;| Καλά.| «Ποιος είναι;»| Ο Νίκος; όχι.| Τι είναι;| Αυτό.",
    "Բարեւ։| Ինչպես ես։| Լավ։",
    "Բարեւ:| Նա ասաց «այո»:| «Լավ է»:| Երկու բան: մեկ, երկու:",
    "Ես գնում եմ:| Նա մնում է:",
    # Arabic, Urdu, Hindi, Burmese, Amharic
    "هل هذا صحيح؟| نعم.| هذا جيد.",
    "یہ ایک جملہ ہے۔| یہ دوسرا ہے۔",
    "यह एक वाक्य है।| क्या यह दूसरा है?| हाँ।",
    "ဒါက ပထမ။| ဒုတိယ။",
    "ይህ ነው።| ሁለተኛ።",
    # Chinese, Japanese, Korean
    "你好。|我是学生！|真的吗？|他说：“好。”|然后走了。",
    "真的吗?|是的!|再见。",
    "私は学生です。|「はい。」と言った。|本当？|行く。",
    "３．１４です。|終わり。",
    "我看了《你好！世界》和《八仙！》这两部电影。|很好！|“好。我走了。”|他走了。[1]|そして。",
    "彼は「はい。そうです。」と言った。|終わり。",
    "한국어 문장입니다.| 두 번째 문장입니다!| 세 번째?",
]

INITIALS = [
    "The work of J. A. Smith is known.| So is that of W. E. B. Du Bois.",
    "Smith, J. A. (2020).| Did you see Albert I. Jones?| T. I. Brown saw him.",
    "Did you know?| Plan A.| The next one.",
    "P. O. Box 5 is here.| La C. E. E. también.",
    "Книга Н. В. Гоголя и И. А. Крылова.| Вот она.",
    "J.-P. Sartre est né après J.-C. à Paris.| Il y mourut.",
]

SHORT_FORMS = [
    "Max Müller (* 3. Oktober 1930 in Köln; † 5. Mai 2020 in Bonn).| Sein 50. Geburtstag war schön.",
    "Die Firma (gegr. 1890) liegt in der Hauptstr. 5 in Köln.| Dr. med. Meyer nicht.| Er wog 80 kg.| Heute weniger.",
    "L'art. 5 est clair, c.-à-d. évident.| L’avv. Verdi lo sa.| MM. Dupont et Durand aussi.",
    "La Dra. Gómez vive en EE. UU.| Luego volvió a la Av. Libertador.| El Sig. Rossi no.",
    "Lt. Col. Smith left for Tuscaloosa, Ala. and Macon, Ga. at 5 p.m.| Nobody came.| I don’t.| You do.| I’ll.| We go.",
    "См. табл. 3 и т. д.| Потом ушёл.",
]

UNBROKEN = [
    "Dr.\u00a0Smith",
    "12.\u202f000",
    "3.14",
    "a.b.c",
    "...",
    "e.g. this",
    "。」、続く",
    "、",
    "Mr.",
    "x. y. z.",
    "of α; β; and γ",
    "Note: This",
]


@pytest.mark.parametrize("row", [*ENGLISH, *LISTS, *LINES, *LANGUAGES, *INITIALS, *SHORT_FORMS])
def test_sentences(row: str) -> None:
    found = [sentence.text for sentence in sentences(row.replace("|", ""))]
    assert found == [part.strip() for part in row.split("|")]


@pytest.mark.parametrize("text", UNBROKEN)
def test_one_sentence(text: str) -> None:
    assert [sentence.text for sentence in sentences(text)] == [text]


def test_offsets_point_into_the_text() -> None:
    text = "  One. 「はい。」 Zwei!\r\n\r\n 👍🏽 three  "
    found = sentences(text)
    assert [text[one.start_offset : one.end_offset] for one in found] == [one.text for one in found]
    assert [one.text for one in found] == ["One.", "「はい。」", "Zwei!", "👍🏽 three"]


def test_no_sentence_in_nothing() -> None:
    assert sentences("") == sentences(" \n\n ") == []


def test_a_mark_on_a_space_stays_with_it() -> None:
    assert [one.text for one in sentences("One. \u0301Two.")] == ["One.", " \u0301Two."]


@given(texts())
def test_sentences_hold_the_whole_text(text: str) -> None:
    reached = 0
    for one in sentences(text):
        assert text[one.start_offset : one.end_offset] == one.text != ""
        assert not text[reached : one.start_offset].strip()
        reached = one.end_offset
    assert not text[reached:].strip()


@given(texts(), st.data())
def test_looking_back_finds_what_segmenting_finds(text: str, data: st.DataObject) -> None:
    content = len(text.rstrip())
    if content < 2:
        return
    ends = [one.end_offset for one in sentences(text)]
    scanned = sentence_ends(text)
    high = data.draw(st.integers(1, content - 1))
    low = first_content(text, data.draw(st.integers(0, high - 1)))
    if low < high:
        assert scanned(low, high) == max((end for end in ends if low < end <= high), default=-1)


@pytest.mark.parametrize("stops", ["J. ", ". ", "Dr. ", "? , ", "."])
@pytest.mark.parametrize(
    "before",
    ["So do I. ", "It is of AT&T. ", "It ends. ", "It ends? ", "(J. ", "Elle dit: « Oui. » ", "終。", ""],
)
def test_no_end_is_passed_over_with_the_stops_after_it_that_end_nothing(before: str, stops: str) -> None:
    text = f"{before}{stops * 20}and so on"
    ends = [one.end_offset for one in sentences(text)]
    scanned = sentence_ends(text)
    for high in range(1, len(text)):
        assert scanned(0, high) == max((end for end in ends if end <= high), default=-1)


@pytest.mark.parametrize(
    "after", [". Then it", " . Then it", ". then it", ". Bob it", ". 5 it", "! Then it", ".\n\nThen it"]
)
def test_a_quick_look_sees_what_a_long_one_sees(after: str) -> None:
    words = sorted(LISTED | SHORT_WORDS | {"something", "xviii", "x.com", "II", "Jan", "Thurs"})
    for word, before in product(words, ("", "\n", "And so ", "(")):
        text = f"{before}{word}{after} goes on for a while"
        ends = [one.end_offset for one in sentences(text)]
        high = text.index("goes")
        found = sentence_ends(text)(0, high)
        assert found == max((end for end in ends if end <= high), default=-1), text


class TestOverride:
    def test_a_pattern(self) -> None:
        found = sentences("a; b. c; d", re.compile(r";"))
        assert [one.text for one in found] == ["a;", "b. c;", "d"]

    def test_a_text_is_no_rule(self) -> None:
        with pytest.raises(TypeError, match=r"re\.compile"):
            sentences("One. Two.", r"\.")  # type: ignore[arg-type]

    def test_a_callable(self) -> None:
        found = sentences("aaaa bbbb cc", lambda text: range(5, len(text), 5))
        assert [(one.text, one.start_offset) for one in found] == [("aaaa", 0), ("bbbb", 5), ("cc", 10)]

    def test_offsets_out_of_place_do_no_harm(self) -> None:
        found = sentences(" ab cd ", lambda _: [99, 4, -3, 4, 0, 1, 6, 7])
        assert [one.text for one in found] == ["ab", "cd"]

    def test_the_last_end_of_a_list(self) -> None:
        ends = sentence_ends("aa bb cc dd", lambda _: [2, 5, 8])
        assert [ends(0, 7), ends(5, 7), ends(0, 1), ends(3, 8)] == [
            5,
            -1,
            -1,
            8,
        ]
