"""Contracts: who the parties are called, and what they must do."""

from collections.abc import Iterable

from whence.extract.base import ChunkText, KnownObject
from whence.extract.rules.cues import ANY_PARTY, DUTY, ORGANIZATION, PARTY, SHOUTED_DUTY
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.modals import strength
from whence.extract.rules.people import is_person
from whence.extract.rules.shorten import MUST_NOT_END, shortened
from whence.extract.rules.vocabulary import Role
from whence.extract.rules.words import FIRMS, NO_NAMES

_WEAK = frozenset(["should", "may"])
"""Whatever else obliges does so like `must`."""


def parties(text: str, findings: Findings) -> None:
    """`Blue Anchor GmbH (the “Supplier”)`: the term is kept as one, so that later chunks know whose name it is."""
    for found in PARTY.finditer(text.replace("**", "")):
        name = without_article(found["name"])
        role = _role(name)
        if role is None:
            continue
        findings.add(role, name)
        findings.call(name, found["term"])
        findings.add("concept", found["term"], {"description": name})


def remember_parties(known: Iterable[KnownObject], around: Iterable[ChunkText], findings: Findings) -> None:
    """What other chunks say of the parties: the terms that are kept, and the words of the chunks beside this one."""
    for each in known:
        meaning = each.properties.get("description")
        if isinstance(meaning, str) and _role(meaning):
            findings.call(meaning, each.name)
    for chunk in around:
        for found in PARTY.finditer(" ".join(chunk.text.replace("**", "").split())):
            name = without_article(found["name"])
            if _role(name):
                findings.call(name, found["term"])


def duty(text: str, findings: Findings) -> Subject | None:
    """What a party to a contract must do: `The Supplier shall deliver …`."""
    shape = SHOUTED_DUTY if text.isupper() else DUTY
    found = next((each for each in shape.finditer(text) if _is_party(each["who"], findings)), None)
    if found is None:
        return None
    owner = "" if ANY_PARTY.fullmatch(found["who"]) else found["who"]
    subject = findings.add(
        "requirement", shortened(text.rstrip(MUST_NOT_END)), {"description": text, "owner": owner}
    )
    if subject is not None:
        modal = strength(text[: found.start("modal")], found["modal"])
        findings.rank(subject, modal if modal in _WEAK else "must")
    return subject


def without_article(name: str) -> str:
    first, _, rest = name.partition(" ")
    return rest if first.lower() in NO_NAMES and " " in rest else name


def _role(name: str) -> Role | None:
    if ORGANIZATION.fullmatch(name) or name.rpartition(" ")[2].lower() in FIRMS:
        return "organization"
    return "person" if is_person(name) else None


def _is_party(who: str, findings: Findings) -> bool:
    return findings.is_called(who) or ANY_PARTY.fullmatch(who) is not None
