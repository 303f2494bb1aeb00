"""Finds people, organizations and related objects: in lists after a key, and in sentences that give a role or a typical ending."""

import re

from whence.offline.rules import word_lists as lists
from whence.offline.rules.findings import Findings, Subject
from whence.offline.rules.shapes import (
    CAPITAL,
    FULL_NAME,
    bare,
    ends_like_component,
    ends_like_organization,
    is_identifier,
    is_name,
    is_person,
    is_role,
)

_SEPARATOR = re.compile(r"\s*(?:,|;|\band\b|&)(?![^()]{0,60}\))\s*")
# "Dr. Ann Lee (chair)", "Jane Doe, project lead", "Jane Doe <jane@acme.example>".
_PERSON = re.compile(
    rf"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)?(?P<name>{FULL_NAME})(?:\s\((?P<role>[^()]{{2,60}})\)|(?:,|\s[–—-])\s(?P<after>[^,;()]{{2,60}}))?"
    r"(?:\s[<(](?P<email>[^\s<>@()]{1,60}@[^\s<>@()]{1,60})[>)])?\.?"
)
_ROLES = "|".join(sorted(lists.NOUNS["person"], key=len, reverse=True))
_WITH_ROLE = re.compile(
    rf"\b(?P<name>{FULL_NAME})(?:\s\((?P<role>[^()\"“”]{{0,40}}\b(?i:{_ROLES})\b[^()\"“”]{{0,40}})\)"
    rf"|,\s(?:the\s|our\s)?(?P<after>(?:[\w-]+\s){{0,4}}(?i:{_ROLES})(?:\s(?:of|for)\s[\w ]{{2,30}})?)(?=[,.;]|\s*$))"
)
_ENDINGS = "|".join(sorted(lists.ORGANIZATION_ENDINGS, key=len, reverse=True))
_ORGANIZATION = re.compile(rf"\b(?P<name>(?:{CAPITAL}\s){{0,3}}{CAPITAL},?\s(?:{_ENDINGS}))\b")


def add_listed_people(
    key: str, value: str, findings: Findings, *, owned: Subject | None = None, event: Subject | None = None
) -> None:
    """Adds the people and organizations after a key such as `Owner`. All items must be names; of attendees, most."""
    if key.lower() not in lists.PEOPLE_KEYS:
        return
    items = _split(value)
    found = [item for item in items if _PERSON.fullmatch(item) or ends_like_organization(item)]
    if len(found) < len(items) and not (event is not None and 2 * len(found) > len(items)):
        return
    for item in found:
        name = add_person(item, findings, event=event) or _add_organization(item, findings)
        if name and owned is not None and key.lower() in lists.LISTS["owner_keys"]:
            findings.link(findings.vocabulary.relation_of("owns"), name, findings.name_of(owned))


def add_person(text: str, findings: Findings, *, event: Subject | None = None) -> str | None:
    """Adds the person, if the text is only a name with an optional role and e-mail address. Returns the name."""
    found = _PERSON.fullmatch(text.strip())
    if found is None or not is_person(found["name"]):
        return None
    role = found["role"] or found["after"] or ""
    told = {"role": role if role[:1].islower() or is_role(role) else "", "email": found["email"] or ""}
    if findings.add_kind("person", found["name"], told) is None:
        return None
    if event is not None:
        findings.link(
            findings.vocabulary.relation_of("takes_part_in"), found["name"], findings.name_of(event)
        )
    return found["name"]


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


def relate_listed(subject: Subject, key: str, value: str, findings: Findings) -> bool:
    """Relates the subject to the names in the value: `Depends on: REQ-1, Redis`. False if the key is no relationship, or no name is usable."""
    relation = findings.vocabulary.relation_of(key)
    if relation is None:
        return False
    items = [bare(item) for item in _split(value)]
    targets = [name for item in items if (name := _resolve(item, subject, relation, findings))]
    for target in targets:
        findings.link(relation, findings.name_of(subject), target)
    return bool(targets)


def _resolve(text: str, subject: Subject, relation: str, findings: Findings) -> str | None:
    """The name of a found or known object, or of a new one whose type follows from its shape or the relationship."""
    if known := findings.named(text):
        return known
    vocabulary = findings.vocabulary
    allowed = vocabulary.schema.relationship_types[relation].targets
    kind = _kind_of(text)
    type_name = vocabulary.type_of(kind) if kind else None
    if type_name is None and is_name(text):
        type_name = allowed[0] if len(allowed) == 1 else subject.type
    is_allowed = type_name is not None and (not allowed or type_name in allowed)
    return text if is_allowed and findings.add(type_name, text) else None


def _kind_of(name: str) -> str | None:
    if is_identifier(name):
        return "requirement"
    if ends_like_component(name):
        return "component"
    if ends_like_organization(name):
        return "organization"
    return "person" if is_person(name) else None


def _split(value: str) -> list[str]:
    return [item for item in _SEPARATOR.split(value.rstrip(". ")) if item]
