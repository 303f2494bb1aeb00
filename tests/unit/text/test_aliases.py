"""Aliases: right ones are found, and what could mean something else is not."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.text.aliases import References, TypedName

ASEAN = "Association of Southeast Asian Nations"
COMMISSION = "European Commission"


class Case(NamedTuple):
    name: str
    primary: str
    before: str
    alias: str | None
    """None: not found."""
    type: str = "Organization"
    others: tuple[str, ...] = ()
    known: bool = False


RIGHT = [
    Case(ASEAN, "Vietnam joined ASEAN in 1995.", f"The {ASEAN} (ASEAN) was founded in 1967.", "ASEAN"),
    Case(ASEAN, "Vietnam joined ASEAN in 1995.", f"ASEAN, short for {ASEAN}, has ten members.", "ASEAN"),
    Case(ASEAN, "Vietnam joined ASEAN.", f"ASEAN stands for the {ASEAN}.", "ASEAN"),
    Case(ASEAN, "Vietnam joined ASEAN.", f"ASEAN ({ASEAN}) met.", "ASEAN"),
    Case(ASEAN, "Vietnam joined ASEAN.", f'The {ASEAN} ("ASEAN") met.', "ASEAN"),
    Case(ASEAN, "Vietnam joined the Association in 1995.", f"The {ASEAN} met.", "Association"),
    Case("World Health Organization", "The WHO warned.", "The World Health Organization met.", "WHO"),
    Case("World Health Organization", "The U.N. asked WHO.", "World Health Organization", "WHO"),
    Case("Department of Defense", "The DoD ordered it.", "The Department of Defense grew.", "DoD"),
    Case("Department of Defense", "The DOD ordered it.", "The Department of Defense grew.", "DOD"),
    Case(
        "General Data Protection Regulation",
        "GDPR requires it.",
        "The General Data Protection Regulation.",
        "GDPR",
        "Requirement",
    ),
    Case(COMMISSION, "Later the Commission fined it.", "The European Commission acted.", "Commission"),
    Case(COMMISSION, "The Commission fined it.", "The European Commission acted.", "Commission"),
    Case("Bank of England", "In May the Bank raised rates.", "The Bank of England met.", "Bank"),
    Case("Jane Doe", "Doe wrote the report.", "Jane Doe joined in 2019.", "Doe", "Person"),
    Case("Jane Doe", "It was written by Doe's team.", "Jane Doe joined in 2019.", "Doe", "Person"),
    Case("Jane Doe", "In 2020 Dr. Doe left.", "Jane Doe joined in 2019.", "Doe", "Person"),
    Case("Jane Doe", "Jane will review it.", "Attendees: Jane Doe (CTO).", "Jane", "Person"),
    Case("John Smith Jr.", "President Smith signed it.", "John Smith Jr. won.", "Smith", "Person"),
    Case("Acme Corporation", "Acme shipped 5 units.", "Acme Corporation was founded in 1950.", "Acme"),
    Case("Best Buy Co., Inc.", "Sales of Best Buy fell.", "Best Buy Co., Inc. reported.", "Best Buy"),
    Case(
        "Acme Corporation", "The Company sold it.", 'Acme Corporation (the "Company") was founded.', "Company"
    ),
    Case("Zitadel IdP", "Users sign in at the IdP.", "The Zitadel IdP is new.", "IdP", "Component"),
    Case(
        "Payment Gateway", "The Gateway accepts cards.", "The Payment Gateway is new.", "Gateway", "Component"
    ),
    Case("Acme Corporation", "It was founded in 1950.", "We met Acme Corporation.", "It"),
    Case(
        "Acme Corporation", "Last year the organization grew.", "We met Acme Corporation.", "the organization"
    ),
    Case("Jane Doe", "She joined in 2019.", "The review was led by Jane Doe.", "She", "Person"),
    Case("Federal Reserve System", "FRS raised rates.", "", "FRS", known=True),
]
WRONG = [
    Case("Ken Loach", "I, Daniel Blake won.", 'Ken Loach ("I, Daniel Blake") came.', None, "Person"),
    Case(ASEAN, "Vietnam joined the pact.", f"The {ASEAN} (ASEAN) met.", None),
    Case(
        ASEAN, "Vietnam joined ASEAN in 1995.", f"The {ASEAN} met.", None
    ),  # not the initials, and not defined
    Case(ASEAN, "ASEAN grew.", "The pact met.", None),
    Case("World Health Organization", "Those who came stayed.", "The World Health Organization met.", None),
    Case("World Health Organization", "WHO (World Heritage Office) met.", "World Health Organization", None),
    Case(
        "World Health Organization",
        "WHO met.",
        "The World Heritage Office (WHO). World Health Organization.",
        None,
    ),
    Case(
        "World Health Organization",
        "WHO met.",
        "World Health Organization",
        None,
        others=("World Hunger Office",),
    ),
    Case("World Health Organization", "WHO met.", "World Health Organization", None, others=("WHO",)),
    Case(COMMISSION, "A commission of 5 % is due.", "The European Commission acted.", None),
    Case(COMMISSION, "Commission is paid monthly.", "The European Commission acted.", None),
    Case(COMMISSION, "European countries agreed.", "The European Commission acted.", None),
    Case(COMMISSION, "The Federal Trade Commission sued.", "The European Commission acted.", None),
    Case(COMMISSION, "The Commission sued.", "The European Commission and the Trade Commission met.", None),
    Case(
        COMMISSION, "The Commission sued.", "The European Commission met.", None, others=("Trade Commission",)
    ),
    Case("Bank of England", "England won the match.", "The Bank of England met.", None),
    Case("Master of Studies", "She earned a Master of Arts.", "He is Master of Studies.", None, "Degree"),
    Case(
        "Valkyria Chronicles II",
        "We like Valkyria Chronicles.",
        "Valkyria Chronicles II is new.",
        None,
        "Game",
    ),
    Case("Rifle Brigade", "He joined the 49th Brigade.", "The Rifle Brigade left.", None),
    Case("South America", "One of America's rivers is long.", "We saw South America.", None, "Place"),
    Case("Bank of England", "They sat on the bank.", "The Bank of England met.", None),
    Case("Jane Doe", "John Doe wrote it.", "Jane Doe joined in 2019.", None, "Person"),
    Case("Jane Doe", "Doe wrote it.", "Jane Doe and John Doe joined.", None, "Person"),
    Case("Jane Doe", "Doe wrote it.", "Jane Doe joined.", None, "Person", ("John Doe",)),
    Case("Jane Doe", "Jane Austen wrote it.", "Jane Doe joined in 2019.", None, "Person"),
    Case("Jane Doe", "Doe Industries sold it.", "Jane Doe joined in 2019.", None, "Person"),
    Case("Jane Doe", "JD is a file format.", "Jane Doe joined in 2019.", None, "Person"),
    Case("John Smith", "Smith wrote it.", "Nobody of that name.", None, "Person"),
    Case("Will Young", "Young people will like it.", "Will Young sang. A young man came.", None, "Person"),
    Case(
        "Acme Corporation",
        "The Company sold it.",
        'Beta Corporation (the "Company"). Acme Corporation.',
        None,
    ),
    Case("Apple Inc.", "Apple trees and apple pie.", "Apple Inc. reported.", None),
    Case("Session Limit", "The limit is 5.", "The Session Limit is new.", None, "Requirement"),
    Case(
        "Acme Corporation",
        "It was founded in 1950.",
        "We met Acme Corporation and Beta Ltd.",
        None,
        others=("Beta Ltd",),
    ),
    Case(
        "Acme Corporation",
        "Beta Ltd is here. It was founded.",
        "We met Acme Corporation.",
        None,
        others=("Beta Ltd",),
    ),
    Case(
        "Acme Corporation",
        "The organization grew.",
        "Acme Corporation left. Then it rained. It stopped.",
        None,
    ),
    Case("Acme Corporation", "She joined in 2019.", "We met Acme Corporation.", None),
    Case("Acme Corporation", "In May it rained. It was cold.", "We met Acme Corporation.", None),
    Case("Acme Corporation", "It was cold.", "We met Acme Corporation in Berlin.", None),
    Case("Jane Doe", "It was founded in 1950.", "We met Jane Doe.", None, "Person"),
]


def found(case: Case) -> str | None:
    named = TypedName(case.type, case.name)
    others = [TypedName(case.type, other) for other in case.others]
    texts = References(
        case.primary,
        [case.before],
        before=case.before,
        known=[*others, *([named] if case.known else [])],
        proposed=[named],
    )
    alias = texts.find(named)
    return None if alias is None else case.primary[alias.start : alias.end]


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: f"{case.name}: {case.primary}")
def test_what_the_context_resolves_is_found(case: Case) -> None:
    assert found(case) == case.alias


@pytest.mark.parametrize("case", WRONG, ids=lambda case: f"{case.name}: {case.primary}")
def test_what_may_mean_something_else_is_not(case: Case) -> None:
    assert found(case) is None


def test_a_name_that_its_own_text_abbreviates() -> None:
    text = f"The {ASEAN} (ASEAN) was founded in 1967."
    alias = References(text).defined(ASEAN)
    assert alias is not None
    assert (text[alias.start : alias.end], alias.is_lasting) == ("ASEAN", True)
    assert References(f"The {ASEAN} (founded in 1967, with HQ) met.").defined(ASEAN) is None
    assert References("Jane Doe (CTO) met.").defined("Jane Doe") is None


def test_a_stored_abbreviation_needs_no_definition() -> None:
    named = TypedName("Organization", ASEAN)
    texts = References("Vietnam joined ASEAN.", known=[named])
    assert texts.find(named) is None
    assert texts.find(named, ["ASEAN"]) is not None
    shared = References("Vietnam joined ASEAN.", known=[named, TypedName("Organization", "ASEAN")])
    assert shared.find(named, ["ASEAN"]) is None


def test_what_is_only_called_so_here_is_not_kept() -> None:
    named = TypedName("Organization", "Acme Corporation")
    texts = References("The Company sold it.", ['Acme Corporation (the "Company") was founded.'])
    alias = texts.find(named)
    assert alias is not None
    assert not alias.is_lasting


WORDS = st.sampled_from(
    [
        "Acme",
        "acme",
        "Corporation",
        "Bank",
        "of",
        "England",
        "the",
        "The",
        "AC",
        "It",
        "Jane",
        "Doe",
        ".",
        "\n\n",
        '"',
    ]
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
NAMES = st.sampled_from(["Acme Corporation", "Bank of England", "Jane Doe", "Acme", "(", "Ä", "of"])
KINDS = st.sampled_from(["Organization", "Person", "DataCenter", ""])


@given(TEXTS, TEXTS, NAMES, KINDS)
def test_an_alias_is_a_part_of_the_text_and_no_name_is_found_twice(
    primary: str, before: str, name: str, kind: str
) -> None:
    named = TypedName(kind, name)
    alias = References(primary, [before], before=before, known=[named]).find(named)
    if alias is not None:
        assert 0 <= alias.start < alias.end <= len(primary)
        said = primary[alias.start : alias.end]
        twin = TypedName(kind, said)
        other = References(primary, [before], before=before, known=[named, twin]).find(named)
        assert not alias.is_lasting or other is None or primary[other.start : other.end] != said


@given(st.text(max_size=60), st.text(max_size=60), st.text(min_size=1, max_size=30))
def test_any_text_and_any_name_will_do(primary: str, before: str, name: str) -> None:
    named = TypedName("Thing", name)
    References(primary, [before], before=before, known=[named]).find(named, [name])
    References(primary).defined(name)
