"""What a sentence says, where its shape leaves little doubt."""

from typing import TYPE_CHECKING

from whence.extract.rules.cues import (
    DECIDED,
    DUTY,
    INLINE_PAIR,
    IS_A,
    MEANS,
    MODAL,
    NO_NAMES,
    NOUNS,
    ORGANIZATION,
    PARTY,
    PERSON_WITH_ROLE,
    RATIONALE,
    REQUIREMENT,
    REQUIREMENT_PREFIXES,
    TITLED_PERSON,
)
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.people import people

if TYPE_CHECKING:
    from whence.extract.rules.vocabulary import Role

_TITLE = 80
"""Characters of a decision's name, which is the beginning of what was decided."""
_MUST_NOT_END = " ,;:."


def sentence(text: str, about: Subject | None, findings: Findings) -> Subject | None:
    """What the sentences and pairs after this one are about."""
    found = requirement(text, findings, is_certain=True) or _duty(text, findings)
    if found is None and about is not None and tell_pairs(text, about, findings) != text:
        return about
    defined = None
    if found is None:
        defined = _definition(text, findings)
        _decision(text, findings)
    _named(text, findings)
    return found or about or defined


def tell_pairs(text: str, about: Subject, findings: Findings) -> str:
    """What stands before the pairs in the text, which are told of the subject; all of it, if there are none."""
    told = [pair for pair in INLINE_PAIR.finditer(text) if findings.tell(about, pair["key"], pair["value"])]
    for pair in told:
        people(pair["key"], pair["value"], about, findings)
    return text[: told[0].start()].rstrip(" ,;(") if told else text


def requirement(text: str, findings: Findings, *, is_certain: bool) -> Subject | None:
    """`REQ-12 The system must …`. Other identifiers only where something must be; without a text none but in headings."""
    found = REQUIREMENT.fullmatch(text.strip())
    if found is None:
        return None
    prefix = found["id"].partition("-")[0]
    modal = MODAL.search(found["text"])
    if prefix not in REQUIREMENT_PREFIXES and modal is None:
        return None
    if is_certain and modal is None:
        return None
    subject = findings.add("requirement", found["id"])
    if subject is None:
        return None
    findings.tell(subject, "description", tell_pairs(found["text"], subject, findings))
    if modal is not None:
        findings.rank(subject, modal["modal"])
    return subject


def add_decision(what: str, findings: Findings, *, said: str | None = None) -> Subject | None:
    """`said` is the whole sentence; without it, what was decided describes itself."""
    reason = RATIONALE.search(what)
    core = (what[: reason.start()] if reason else what).strip().rstrip(",;:.")
    description = (said or what).rstrip()
    return findings.add(
        "decision",
        _shortened(core),
        {"description": description, "rationale": reason["why"] if reason else ""},
    )


def _duty(text: str, findings: Findings) -> Subject | None:
    """What a party to a contract must do: `The Supplier shall deliver …`."""
    found = DUTY.fullmatch(text)
    if found is None or not findings.is_called(found["who"]):
        return None
    subject = findings.add(
        "requirement",
        _shortened(text.rstrip(_MUST_NOT_END)),
        {"description": text, "owner": found["who"]},
    )
    if subject is not None:
        findings.rank(subject, found["modal"])
    return subject


def _definition(text: str, findings: Findings) -> Subject | None:
    """A thing that the sentence says what it is; a term is explained, and nothing is told of it."""
    if found := MEANS.match(text):
        findings.add("concept", found["term"], {"description": found["what"]})
        return None
    found = IS_A.fullmatch(text)
    if found is None:
        return None
    term, what = found["term"], found["what"]
    words = term.split()
    if words[0].lower() in NO_NAMES:
        return None
    role: Role | None = next((role for role, noun in NOUNS.items() if noun.match(what)), None)
    stands_out = len(words) > 1 or bool(found["short"]) or term[1:] != term[1:].lower() or text[:1] in '*_`"“'
    told = {"description": what, "abbreviation": found["short"] or ""}
    if role is None and ORGANIZATION.fullmatch(term):
        role = "organization"
    if role or stands_out:
        return findings.add(role or "concept", term, told)
    return None


def _decision(text: str, findings: Findings) -> None:
    if found := DECIDED.fullmatch(text):
        add_decision(found["what"], findings, said=text)


def _named(text: str, findings: Findings) -> None:
    """People and organizations that are named with what they are."""
    for found in PERSON_WITH_ROLE.finditer(text):
        if found["name"].split()[0].lower() not in NO_NAMES:
            findings.add("person", found["name"], {"role": found["in_brackets"] or found["after"]})
    for found in TITLED_PERSON.finditer(text):
        findings.add("person", found["name"])
    for found in ORGANIZATION.finditer(text):
        findings.add("organization", _without_article(found["name"]))
    for found in PARTY.finditer(text):
        findings.call(_without_article(found["name"]), found["term"])


def _without_article(name: str) -> str:
    first, _, rest = name.partition(" ")
    return rest if first.lower() in NO_NAMES and " " in rest else name


def _shortened(text: str) -> str:
    if len(text) <= _TITLE:
        return text
    cut = text[:_TITLE].rpartition(" ")[0] or text[:_TITLE]
    return cut.rstrip(_MUST_NOT_END)
