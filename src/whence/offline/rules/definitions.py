"""Reads sentences that define something: `“X” means …`, `X (ABC) is a …`, `X is a service that …`."""

import re

from whence.offline.rules import word_lists as lists
from whence.offline.rules.findings import Findings, Subject
from whence.offline.rules.shapes import NAME, ends_like_organization, is_person

_MEANS = re.compile(
    r"(?:The\s(?:term|expression|word)\s)?[\"“„«](?P<term>[^\"”“»]{2,80})[\"”“»]\s(?:shall\s)?(?:means?|refers? to|is defined as|denotes)"
    r"\s(?P<what>.+)",
    re.IGNORECASE,
)
_IS_A = re.compile(
    rf"(?:The\s)?[*_`\"“]*(?P<term>{NAME}|[a-z][\w.-]{{1,40}})[*_`\"”]*(?:\s\((?P<short>[A-Z][\w.-]{{1,11}})\))?"
    r"\s(?:is|are|was)\s(?P<what>(?:an?|the|one of the)\s.+)"
)
_MOST_WORDS = 10
"""Words of a definition that are searched for the noun that names the type."""


def read_definition(text: str, title: str, findings: Findings) -> Subject | None:
    """Adds the object that the sentence defines. Returns it if later sentences may add to it.

    `title` is the document's title, the only term that may be in lower case.
    """
    if found := _MEANS.match(text):
        findings.add_kind("concept", found["term"], {"description": found["what"]})
        return None
    found = _IS_A.fullmatch(text)
    if found is None or found["term"].split()[0].lower() in lists.NO_NAMES:
        return None
    term, what = found["term"], found["what"]
    if term[0].islower() and term != title:
        return None
    type_name = _type_of(term, what, findings)
    return findings.add(type_name, term, {"description": what, "abbreviation": found["short"] or ""})


def _type_of(term: str, what: str, findings: Findings) -> str | None:
    """The type by the noun that ends the phrase: `a fast job queue that …`. Nouns such as `engineer` need a person's name."""
    if ends_like_organization(term):
        return findings.vocabulary.type_of("organization")
    noun = _noun(what, findings)
    if noun is None:
        return None
    kind = next((kind for kind, nouns in lists.NOUNS.items() if noun in nouns), None)
    if kind is None:
        return findings.vocabulary.type_named(noun)
    if kind == "person" and not is_person(term):
        return None
    if kind == "concept" and " " not in term and not term.isupper():
        return None
    return findings.vocabulary.type_of(kind)


def _noun(what: str, findings: Findings) -> str | None:
    words = what.split()[1 : _MOST_WORDS + 1]
    for at, word in enumerate(words):
        noun = word.strip("*_`.,;:()").lower()
        if noun in lists.LISTS["phrase_ends"]:
            return None
        following = words[at + 1].lower() if at + 1 < len(words) else ""
        is_last = (
            not following
            or not word[-1].isalnum()
            or following in lists.LISTS["after_noun"] | lists.LISTS["phrase_ends"]
        )
        is_kind = any(noun in nouns for nouns in lists.NOUNS.values())
        if is_last and (is_kind or findings.vocabulary.type_named(noun)):
            return noun
    return None
