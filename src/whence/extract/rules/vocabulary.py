"""What the rules speak of, in the words of a project's schema; what the schema has no word for is not found."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from whence.extract.rules.priorities import as_priority, fits, of_modal
from whence.extract.schema import ObjectType, Schema, spelled
from whence.names import identifier_key

Role = Literal[
    "requirement",
    "task",
    "decision",
    "concept",
    "person",
    "organization",
    "place",
    "system",
    "component",
    "event",
]

_TYPES: Mapping[Role, Sequence[str]] = {
    "requirement": ("requirement", "user story", "obligation", "rule"),
    "task": ("action item", "action", "task", "to do", "requirement", "obligation"),
    "decision": ("decision", "resolution"),
    "concept": ("concept", "term", "definition", "topic"),
    "person": ("person", "people", "employee", "contact", "stakeholder"),
    "organization": ("organization", "organisation", "company", "party"),
    "place": ("place", "location", "site"),
    "system": ("system", "product", "application", "platform", "component"),
    "component": ("component", "service", "module", "system"),
    "event": ("event", "meeting", "milestone"),
}
_PROPERTIES: Sequence[Sequence[str]] = (
    ("description", "definition", "meaning", "summary", "text", "statement"),
    ("priority", "importance", "prio", "moscow", "priorität"),
    ("status", "state"),
    ("owner", "responsible", "assignee", "assigned to", "author", "decided by"),
    ("due", "due date", "deadline"),
    ("date", "when", "start date"),
    ("end date", "end"),
    ("location", "where", "venue", "place"),
    ("role", "title", "position", "job title", "function"),
    ("rationale", "reason", "why", "justification"),
    ("email", "e-mail", "mail"),
    ("version", "release"),
    ("technology", "stack", "built with", "language"),
    ("vendor", "manufacturer", "supplier"),
    ("abbreviation", "acronym", "short form"),
    ("organization", "organisation", "company", "employer"),
)
_LINKS: Sequence[Sequence[str]] = (
    ("depends_on", "requires", "needs", "relies_on"),
    ("uses", "calls", "consumes"),
    ("owns", "responsible_for", "maintains", "owner_of"),
    ("reports_to", "managed_by"),
    ("part_of", "belongs_to", "member_of"),
    ("works_for", "works_at", "employed_by"),
    ("located_in", "based_in"),
    ("replaces", "supersedes"),
    ("satisfies", "fulfils", "fulfills", "implements"),
    ("takes_part_in", "attends", "participates_in"),
)


class Vocabulary:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def type_of(self, role: Role) -> str | None:
        """The type with one of the role's names; else the only one whose description begins with such a word."""
        types = self.schema.object_types
        for synonym in _TYPES[role]:
            if found := spelled(synonym, types):
                return found
        word = re.compile(rf"(?:an? |the )?{role}s?\b", re.IGNORECASE)
        described = [name for name, kind in types.items() if word.match(kind.description)]
        return described[0] if len(described) == 1 else None

    def property_of(self, type_name: str, word: str) -> str | None:
        """The type's property for a word such as `Deadline`; a property's own name goes before any synonym."""
        properties = self._type(type_name).properties
        if found := spelled(word, properties):
            return found
        key = identifier_key(word)
        for synonyms in _PROPERTIES:
            if key in map(identifier_key, synonyms):
                return next((name for each in synonyms if (name := spelled(each, properties))), None)
        return None

    def link_of(self, word: str) -> str | None:
        for synonyms in _LINKS:
            if word in synonyms:
                types = self.schema.relationship_types
                return next((name for each in synonyms if (name := spelled(each, types))), None)
        return None

    def priority(self, type_name: str, modal: str) -> tuple[str, str] | None:
        """The type's property for a priority and its value for `must`, `should` or `may`, where it has both."""
        name = self.property_of(type_name, "priority")
        value = of_modal(modal, self._type(type_name).properties[name]) if name else None
        return (name, value) if name and value else None

    def said(self, type_name: str, name: str, text: str) -> str:
        """What was said of a property, in the schema's words if it is a priority."""
        if name != self.property_of(type_name, "priority"):
            return text
        return as_priority(text, self._type(type_name).properties[name])

    def allows(self, type_name: str, name: str, text: str) -> bool:
        return fits(text, self._type(type_name).properties[name])

    def _type(self, type_name: str) -> ObjectType:
        return self.schema.object_types[type_name]
