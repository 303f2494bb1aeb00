"""Reads definitions, people, organizations and `Depends on: Y` in a sentence or a value."""

import re

from whence.offline.rules import word_lists as lists
from whence.offline.rules.findings import Findings, Subject
from whence.offline.rules.shapes import CAPITAL, FULL_NAME, NAME, bare, is_name, is_person

_MEANS = re.compile(
    r"(?:The\s(?:term|expression|word)\s)?[\"“„«](?P<term>[^\"”“»]{2,80})[\"”“»]\s(?:shall\s)?(?:means?|refers? to|is defined as|denotes)"
    r"\s(?P<what>.+)",
    re.IGNORECASE,
)
_IS_A = re.compile(
    rf"(?:The\s)?[*_`\"“]*(?P<term>{NAME}|[a-z][\w.-]{{1,40}})[*_`\"”]*(?:\s\((?P<short>[A-Z][\w.-]{{1,11}})\))?"
    r"\s(?P<verb>is|are|was)\s(?P<what>(?:an?|the|one of the)\s.+)"
)
_PHRASE_END = re.compile(rf"[.;:](?:\s|\Z)|\s(?:{'|'.join(lists.LISTS['phrase_ends'])})\b")
_PAUSE = re.compile(rf",|\s(?:{'|'.join(lists.LISTS['after_noun'])})\b")
_MOST_WORDS = 10
"""Words of a definition that are searched for the noun that names the type."""

_SEPARATOR = re.compile(r"\s*(?:,|;|\band\b|&)(?![^()]{0,60}\))\s*")
_ROLE = rf"\b(?i:{'|'.join(sorted(lists.NOUNS['person'], key=len, reverse=True))})\b"
# "Dr. Ann Lee (chair)", "Jane Doe, project lead", "Jane Doe <jane@acme.example>".
_PERSON = re.compile(
    rf"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)?(?P<name>{FULL_NAME})(?:\s\((?P<role>[^()]{{2,60}})\)|(?:,|\s[–—-])\s(?P<after>[^,;()]{{2,60}}))?"
    r"(?:\s[<(](?P<email>[^\s<>@()]{1,60}@[^\s<>@()]{1,60})[>)])?\.?"
)
_WITH_ROLE = re.compile(
    rf"\b(?P<name>{FULL_NAME})(?:\s\((?P<role>[^()\"“”]{{0,40}}{_ROLE}[^()\"“”]{{0,40}})\)"
    rf"|,\s(?:the\s|our\s)?(?P<after>(?:[\w-]+\s){{0,4}}{_ROLE}(?:\s(?:of|for)\s[\w ]{{2,30}})?)(?=[,.;]|\s*$))"
)
_ENDINGS = "|".join(sorted(lists.ORGANIZATION_ENDINGS, key=len, reverse=True))
_ORGANIZATION = re.compile(rf"\b(?P<name>(?:{CAPITAL}\s){{0,3}}{CAPITAL},?\s(?:{_ENDINGS}))\b")


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


def question_answered(text: str) -> str | None:
    """The question that a sentence answers by defining a term: `What is Kestrel?`"""
    if found := _MEANS.match(text):
        return f"What does {found['term']} mean?"
    found = _IS_A.fullmatch(text)
    if found is None or found["term"][0].islower() or found["term"].split()[0].lower() in lists.NO_NAMES:
        return None
    return f"What {found['verb']} {found['term']}?"


def _type_of(term: str, what: str, findings: Findings) -> str | None:
    """The type by the noun that ends the phrase: `a fast job queue that …`. Nouns such as `engineer` need a person's name."""
    phrase = _PHRASE_END.split(" ".join(what.split()[1 : _MOST_WORDS + 1]), maxsplit=1)[0]
    for words in filter(None, map(str.split, _PAUSE.split(phrase))):
        noun = words[-1].strip("*_`.").lower()
        kind = next((kind for kind, nouns in lists.NOUNS.items() if noun in nouns), None)
        if kind is None and (type_name := findings.vocabulary.type_named(noun)):
            return type_name
        if kind is not None:
            is_person_only = kind == "person" and not is_person(term)
            is_word_only = kind == "concept" and " " not in term and not term.isupper()
            return None if is_person_only or is_word_only else findings.vocabulary.type_of(kind)
    return None


def add_people(value: str, findings: Findings) -> list[str]:
    """Adds the people and organizations of a list, if it is mostly names. Returns their names."""
    items = _split(value)
    found = [item for item in items if _PERSON.fullmatch(item) or _ORGANIZATION.fullmatch(item)]
    if 2 * len(found) <= len(items):
        return []
    names = (add_person(item, findings) or _add_organization(item, findings) for item in found)
    return [name for name in names if name]


def add_person(text: str, findings: Findings) -> str | None:
    """Adds the person, if the text is only a name with an optional role and e-mail address. Returns the name."""
    found = _PERSON.fullmatch(text)
    if found is None or not is_person(found["name"]):
        return None
    role = found["role"] or found["after"] or ""
    is_role = role[:1].islower() or re.search(_ROLE, role)
    properties = {"role": role if is_role else "", "email": found["email"] or ""}
    return found["name"] if findings.add_kind("person", found["name"], properties) else None


def add_named_in(text: str, findings: Findings) -> None:
    """Adds people whose role is given, and organizations recognised by the ending of their names."""
    for found in _WITH_ROLE.finditer(text):
        if is_person(found["name"]):
            findings.add_kind("person", found["name"], {"role": found["role"] or found["after"]})
    for found in _ORGANIZATION.finditer(text):
        _add_organization(found["name"], findings)


def _add_organization(name: str, findings: Findings) -> str | None:
    first, _, rest = name.partition(" ")
    name = rest if first.lower() in lists.NO_NAMES else name
    return name if " " in name and findings.add_kind("organization", name) else None


def relate(subject: Subject, key: str, value: str, findings: Findings) -> bool:
    """Relates the subject to the names in the value: `Depends on: REQ-1, Redis`. False if the key is no relationship, or no name is usable.

    A name that is not known yet gets the only type that the relationship allows, else the subject's.
    """
    relation = findings.vocabulary.relation_of(key)
    if relation is None:
        return False
    allowed = findings.vocabulary.schema.relationship_types[relation].targets
    type_name = allowed[0] if len(allowed) == 1 else subject.type
    is_related = False
    for item in map(bare, _split(value)):
        known = findings.named(item)
        is_new = known is None and is_name(item) and (not allowed or type_name in allowed)
        if known or (is_new and findings.add(type_name, item)):
            findings.link(relation, findings.name_of(subject), known or item)
            is_related = True
    return is_related


def _split(value: str) -> list[str]:
    return [item for item in _SEPARATOR.split(value.rstrip(". ")) if item]
