"""Plain questions that are answered in other words, or by something that only looks like an answer."""

import pytest
from tests.unit.chat.test_extractive import extract, passage

KILN = passage(
    1,
    "The kiln in the yard was bought in 2011. The kiln weighs 214 kg and stands on four wheels.",
    document="kiln",
)
ROOF = passage(
    2,
    "The council met on 3 May. The roof of the hall will be replaced in August for $87,500. The chair thanked everybody.",
    document="roof",
)
FERRY = passage(
    3,
    "A ticket for the ferry costs 14 euros. The telescope on the deck is made of brass.",
    document="ferry",
)
CLINIC = passage(
    4,
    "Dr. Aasland leads the clinic. Dr. Aasland joined after two years in Bergen. Dr. Moe is 48 years old.",
    document="clinic",
)
INVOICE = passage(
    5,
    "Invoice number 2025/00318 was paid. Invoice number 2025/00319 was paid on 4 March.",
    document="invoice",
)
LEAVE = passage(
    6,
    "Wer erkrankt, muss sich am ersten Tag bis 9 Uhr melden. Der Urlaubsantrag ist vier Wochen vorher zu stellen.",
    document="leave",
)
CONGES = passage(
    7,
    "Les salariés qui sont malades doivent prévenir le service avant 9 heures. La demande de congé est à déposer un mois avant.",
    document="conges",
)
TORN = "ield ; mount for a list of the mounts. The mount command shows the mounts of the disk."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How heavy is the kiln?", "The kiln weighs 214 kg"),
        ("What is the weight of the kiln?", "The kiln weighs 214 kg"),
        ("How much will the new roof cost?", "for $87,500"),
        ("What is the price of the roof?", "for $87,500"),
        ("How much does a ticket cost?", "14 euros"),
        ("How old is Dr. Moe?", "48 years"),
        ("When was invoice 2025/00319 paid?", "4 March"),
    ],
)
def test_what_is_said_in_other_words(question: str, answer: str) -> None:
    found = extract(question, [KILN, ROOF, FERRY, CLINIC, INVOICE])
    assert found
    assert answer in found
    assert found.count("[") == 1


@pytest.mark.parametrize(
    "question",
    [
        "How much does the telescope cost?",  # the ticket does
        "How old is Dr. Aasland?",
        "When was invoice 2025/00318 paid?",  # its number is no day
    ],
)
def test_what_only_looks_like_an_answer(question: str) -> None:
    assert extract(question, [FERRY, CLINIC, passage(5, "Invoice number 2025/00318 was paid.")]) is None


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "Bis wann muss ich den Urlaubsantrag stellen?",
            "Der Urlaubsantrag ist vier Wochen vorher zu stellen. [1]",
        ),
        (
            "Quand est-ce que je dois déposer la demande de congé ?",
            "La demande de congé est à déposer un mois avant. [2]",
        ),
    ],
)
def test_words_that_hold_a_sentence_together_count_little(question: str, answer: str) -> None:
    assert extract(question, [LEAVE, CONGES]) == answer


def test_the_rest_of_a_sentence_is_not_quoted_where_a_whole_one_answers() -> None:
    whole = "The mount command shows the mounts of the disk. [1]"
    assert extract("list of mounts", [passage(1, TORN, start=900)]) == whole
    begins = extract("list of mounts", [passage(1, TORN)])  # what begins a document begins so
    assert begins
    assert begins.startswith("ield")


def test_the_rest_of_a_sentence_is_quoted_where_nothing_else_answers() -> None:
    rest = passage(1, "nd the kiln weighs 214 kilograms. Something else is told here.", start=900)
    assert extract("How heavy is the kiln?", [rest]) == "nd the kiln weighs 214 kilograms. [1]"
