"""Relates objects by a pair or a column: `Depends on: REQ-1, Redis`."""

import re

from whence.offline.rules import shapes
from whence.offline.rules.findings import Findings, Subject

_SEPARATOR = re.compile(r"\s*(?:,|;|\band\b|&)\s*")


def relate_listed(subject: Subject, key: str, value: str, findings: Findings) -> bool:
    """Adds relationships to the names in the value. False if the key is no relationship, or no name is usable."""
    relation = findings.vocabulary.relation_of(key)
    if relation is None:
        return False
    items = (item.strip(" *_`") for item in _SEPARATOR.split(value.rstrip(". ")))
    targets = [name for item in items if item and (name := _resolve(item, subject, relation, findings))]
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
    if type_name is None and shapes.is_name(text):
        type_name = allowed[0] if len(allowed) == 1 else subject.type
    is_allowed = type_name is not None and (not allowed or type_name in allowed)
    return text if is_allowed and findings.add(type_name, text) else None


def _kind_of(name: str) -> str | None:
    if shapes.is_identifier(name):
        return "requirement"
    if shapes.ends_like_component(name):
        return "component"
    if shapes.ends_like_organization(name):
        return "organization"
    return "person" if shapes.is_person(name) else None
