"""What a sentence says, where its shape leaves little doubt."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from whence.extract.rules.cues import (
    COMPONENT,
    DECIDED,
    IS_A,
    MEANS,
    MODAL,
    NO_NAMES,
    NOUNS,
    ORGANIZATION,
    PERSON_WITH_ROLE,
    RATIONALE,
    REQUIREMENT,
    REQUIREMENT_PREFIXES,
    TITLED_PERSON,
    VERBS,
)
from whence.extract.rules.findings import MAX_NAME, Findings, Subject

if TYPE_CHECKING:
    from whence.extract.rules.vocabulary import Role

_TITLE = 80
"""Characters of a decision's name, which is the beginning of what was decided."""
_ARTICLE = r"(?:the|a|an|our|its)\s"
_OPEN, _CLOSE = r"[\"“`*_]*", r"[\"”`*_]*"
_VERB = re.compile(
    rf"\s(?:also\s|directly\s)?(?:{'|'.join(f'(?P<{name}>{words})' for name, words in VERBS.items())})\s"
)
_AND = re.compile(rf"(?:,\sand|,|\sand)\s(?:{_ARTICLE})?{_OPEN}")
_MUST_NOT_END = " ,;:."


def sentence(text: str, findings: Findings) -> Subject | None:
    """The requirement that the sentence states, so that what follows can be told of it."""
    found = requirement(text, findings, is_certain=True)
    if found is None:
        _definition(text, findings)
        _decision(text, findings)
    _named(text, findings)
    return found


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
    subject = findings.add("requirement", found["id"], {"description": found["text"]})
    if subject is not None and modal is not None:
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


def relations(text: str, findings: Findings) -> None:
    """`X depends on Y and Z`, where X and Y stand right beside the verb and are known by their names."""
    if not _VERB.search(text):
        return
    _components_beside_verbs(text, findings)
    names = sorted(
        {name for name in findings.names() if len(name) <= MAX_NAME}, key=lambda name: (-len(name), name)
    )
    if not names:
        return
    any_name = f"(?P<name>{'|'.join(re.escape(name) for name in names)})"
    before = re.compile(rf"(?<!\w){any_name}{_CLOSE}\Z", re.IGNORECASE)
    after = re.compile(rf"(?:{_ARTICLE})?{_OPEN}{any_name}{_CLOSE}(?!\w)", re.IGNORECASE)
    for verb in _VERB.finditer(text):
        source = before.search(_left_of(verb))
        if source is None or verb.lastgroup is None:
            continue
        for target in _targets(text, verb.end(), after):
            findings.link(verb.lastgroup, source["name"], target)


def _left_of(verb: re.Match[str]) -> str:
    """As much of the sentence before the verb as a name can take."""
    return verb.string[max(0, verb.start() - 2 * MAX_NAME) : verb.start()]


def _targets(text: str, at: int, name: re.Pattern[str]) -> Iterator[str]:
    while found := name.match(text, at):
        yield found["name"]
        following = _AND.match(text, found.end())
        if following is None:
            return
        at = following.end()


def _components_beside_verbs(text: str, findings: Findings) -> None:
    """`Checkout Service depends on Payment Gateway` makes both known, by the words they end with."""
    for verb in _VERB.finditer(text):
        before = re.search(rf"(?<!\w)(?:The\s)?(?P<name>{COMPONENT.pattern}){_CLOSE}\Z", _left_of(verb))
        after = re.match(rf"(?:{_ARTICLE})?{_OPEN}(?P<name>{COMPONENT.pattern})(?!\w)", text[verb.end() :])
        if before and after:
            for end in (before, after):
                findings.add("component", end["name"].removeprefix("The "))


def _definition(text: str, findings: Findings) -> None:
    if found := MEANS.match(text):
        findings.add("concept", found["term"], {"description": found["what"]})
        return
    found = IS_A.fullmatch(text)
    if found is None:
        return
    term, what = found["term"], found["what"]
    words = term.split()
    if words[0].lower() in NO_NAMES:
        return
    role: Role | None = next((role for role, noun in NOUNS.items() if noun.match(what)), None)
    stands_out = len(words) > 1 or bool(found["short"]) or term[1:] != term[1:].lower() or text[:1] in '*_`"“'
    if role or stands_out:
        findings.add(role or "concept", term, {"description": what, "abbreviation": found["short"] or ""})


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
        first, _, rest = found["name"].partition(" ")
        findings.add("organization", rest if first.lower() in NO_NAMES and " " in rest else found["name"])


def _shortened(text: str) -> str:
    if len(text) <= _TITLE:
        return text
    cut = text[:_TITLE].rpartition(" ")[0] or text[:_TITLE]
    return cut.rstrip(_MUST_NOT_END)
