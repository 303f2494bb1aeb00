"""The schema for projects without their own: types that general documents mention."""

from typing import Any

from whence.extract.schema_reading import read_schema


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _date(description: str) -> dict[str, Any]:
    return {"type": "string", "format": "date", "description": description}


def _one_of(*choices: str, description: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(choices), "description": description}


_LEVELS = ("low", "medium", "high", "critical")

DEFAULT_SCHEMA = read_schema(
    {
        "object_types": {
            "Person": {
                "description": "A human being who is named",
                "properties": {
                    "role": _text("Function or job title"),
                    "organization": _text("Whom they work for or belong to"),
                    "email": _text("E-mail address"),
                    "description": _text("Who they are, in a sentence"),
                },
            },
            "Organization": {
                "description": "A company, authority, team, association or other group with a name",
                "properties": {
                    "kind": _text("What sort of organization it is"),
                    "industry": _text("Field it works in"),
                    "location": _text("Where it is seated"),
                    "description": _text("What it does, in a sentence"),
                },
            },
            "Place": {
                "description": "A country, city, building, site or other location",
                "properties": {
                    "kind": _text("What sort of place it is"),
                    "description": _text("What is there"),
                },
            },
            "System": {
                "description": "A product, application, platform or machine as a whole",
                "properties": {
                    "version": _text("Version or edition"),
                    "vendor": _text("Who makes or sells it"),
                    "status": _text("Planned, in use, retired, …"),
                    "description": _text("What it is for, in a sentence"),
                },
            },
            "Component": {
                "description": "A part of a system: a service, module, library, interface, database or device",
                "properties": {
                    "version": _text("Version or edition"),
                    "technology": _text("What it is made with"),
                    "owner": _text("Who is responsible for it"),
                    "status": _text("Planned, in use, retired, …"),
                    "description": _text("What it does, in a sentence"),
                },
            },
            "Requirement": {
                "description": "Something that must, should or may hold: a demand, obligation, rule or constraint",
                "properties": {
                    "name": _text("Its identifier where it has one, such as REQ-12; else a short title"),
                    "description": _text("What is required"),
                    "priority": _one_of(*_LEVELS, description="How important it is"),
                    "status": _text("Open, accepted, done, …"),
                    "owner": _text("Who is responsible for it"),
                    "due": _date("When it must be met"),
                },
            },
            "Decision": {
                "description": "A choice that somebody made, with its reason",
                "properties": {
                    "description": _text("What was decided"),
                    "rationale": _text("Why"),
                    "status": _text("Proposed, accepted, superseded, …"),
                    "date": _date("When it was made"),
                    "owner": _text("Who made it"),
                },
            },
            "Event": {
                "description": "Something that happens at a time: a meeting, release, incident or deadline",
                "properties": {
                    "date": _date("When it begins"),
                    "end_date": _date("When it ends"),
                    "location": _text("Where it happens"),
                    "description": _text("What happens"),
                },
            },
            "Concept": {
                "description": "A term with a meaning of its own: a definition, method, topic or idea",
                "properties": {
                    "description": _text("What it means"),
                    "abbreviation": _text("Its short form"),
                },
            },
        },
        "relationship_types": {
            "depends_on": {"description": "Cannot be, work or be met without"},
            "part_of": {"description": "Is a part or member of"},
            "uses": {"description": "Makes use of"},
            "owns": {"description": "Has, or is responsible for", "from": ["Person", "Organization"]},
            "works_for": {
                "description": "Is employed by or belongs to",
                "from": ["Person"],
                "to": ["Organization"],
            },
            "reports_to": {"description": "Has as a superior", "from": ["Person"], "to": ["Person"]},
            "located_in": {"description": "Is or happens at", "to": ["Place"]},
            "satisfies": {
                "description": "Fulfils",
                "from": ["System", "Component", "Decision"],
                "to": ["Requirement"],
            },
            "affects": {"description": "Has consequences for", "from": ["Decision", "Event", "Requirement"]},
            "takes_part_in": {
                "description": "Is present at",
                "from": ["Person", "Organization"],
                "to": ["Event"],
            },
            "replaces": {"description": "Takes the place of"},
            "related_to": {"description": "Has to do with, where nothing above fits"},
        },
    }
)
