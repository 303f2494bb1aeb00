"""A quantity comes from a text that has it in any notation, and from no text with another one."""

from typing import Any

import pytest

from whence.extract.evidence import ChunkEvidence


def is_grounded(value: Any, text: str) -> bool:
    evidence = ChunkEvidence(f"{text} Heron.", [])
    return evidence.place(value, of="Heron") is not None or evidence.leak(value, of="Heron") is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.1, "The rate is 2.10 today."),
        ("2.1 kW", "It draws 2.10 kW."),
        (-5, "It is -5 outside."),
        ("-5 °C", "It is minus 5 °C outside."),
        (5, "pages 3-5"),
        (15, "10%\u201315%"),
        (10, "5kg-10kg"),
        (5, "a 5-year plan"),
        (48000, "It pays 48k a year."),
        ("48k", "It pays 48,000 a year."),
        ("48k", "It pays 48000 a year."),
        (48000, "CHF 48'000"),
        ("€48.000", "48,000 euros"),
        (1200000, "1,2 Millionen Menschen"),
        ("1.2 million", "1,2 Mio. Menschen"),
        (4500000, "4,5 millones de euros"),
        (500000, "half a million"),
        ("3.5 billion dollars", "a revenue of $3.5bn"),
        ("$3.5bn", "a revenue of 3.5 billion US dollars"),
        ("USD 3.5 billion", "a revenue of $3.5bn"),
        (3500000000, "a revenue of $3.5bn"),
        ("$5m", "5 million dollars"),
        ("20%", "20 Prozent"),
        ("17:00", "It closes at 5 pm."),
        ("17:00", "It closes at 5:00 p.m. daily."),
        ("5 pm", "It closes at 17:00."),
        ("17:00", "Es schließt um 17 Uhr."),
        ("a dozen", "There are 12 eggs."),
        ("fourteenth century", "It is of the 14th century."),
        ("21st century", "the twenty-first century"),
        (12, "Es sind zwölf."),
        ("zwölf", "Es sind 12."),
        (25, "vijfentwintig mensen"),
        (35, "treinta y cinco personas"),
        (2024, "2024-05-09"),
        (55, "It has 55kW."),
    ],
)
def test_other_notations_of_a_quantity_are_the_same(value: Any, text: str) -> None:
    assert is_grounded(value, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2.1", "See section 2.10 of it."),
        ("5", "It is -5 outside."),
        (60, "It is \u221260 °C outside."),
        (-5, "pages 3-5"),
        ("1234", "Code AB-1234 applies."),
        (1234, "Code X-AB-1234 applies."),
        (48, "It pays 48k a year."),
        (48, "It pays $48m a year."),
        (12, "It closes at 12:30."),
        ("5m", "5 million dollars"),
        ("dozen", "There are many."),
        ("fourteenth century", "It is old."),
        ("fourteenth century", "It is of the 13th century."),
        ("zwölf", "Es sind viele."),
        ("fünfundzwanzig", "Es sind zwanzig."),
        ("10k", "It is 10 kilometres long."),
        (23, "23.000 people"),
    ],
)
def test_another_quantity_is_invented(value: Any, text: str) -> None:
    assert not is_grounded(value, text)
