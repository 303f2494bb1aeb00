"""The schema for projects without their own: types that general documents mention."""

from typing import Any

from whence.extract.schema_reading import read_schema


def _type(meaning: str, /, **properties: str | dict[str, Any]) -> dict[str, Any]:
    """An object type. A property given by a description alone is a string."""
    return {
        "description": meaning,
        "properties": {
            name: {"type": "string", "description": about} if isinstance(about, str) else about
            for name, about in properties.items()
        },
    }


def _date(description: str) -> dict[str, Any]:
    return {"type": "string", "format": "date", "description": description}


def _between(
    meaning: str, sources: list[str] | None = None, targets: list[str] | None = None
) -> dict[str, Any]:
    """A relationship type. `None` allows any type."""
    return {"description": meaning, "from": sources, "to": targets}


DEFAULT_SCHEMA = read_schema(
    {
        "object_types": {
            "Person": _type(
                "A human being who is named",
                role="Function or job title",
                organization="Whom they work for or belong to",
                email="E-mail address",
                description="Who they are, in a sentence",
            ),
            "Organization": _type(
                "A company, authority, team, association or other group with a name",
                kind="What sort of organization it is",
                industry="Field it works in",
                location="Where it is seated",
                description="What it does, in a sentence",
            ),
            "Place": _type(
                "A country, city, building, site or other location",
                kind="What sort of place it is",
                description="What is there",
            ),
            "System": _type(
                "A product, application, platform or machine as a whole",
                version="Version or edition",
                vendor="Who makes or sells it",
                status="Planned, in use, retired, …",
                description="What it is for, in a sentence",
            ),
            "Component": _type(
                "A part of a system: a service, module, library, interface, database or device",
                version="Version or edition",
                technology="What it is made with",
                owner="Who is responsible for it",
                status="Planned, in use, retired, …",
                description="What it does, in a sentence",
            ),
            "Requirement": _type(
                "Something that must, should or may hold: a demand, obligation, rule or constraint",
                name="Its identifier where it has one, such as REQ-12; else a short title",
                description="What is required",
                priority={
                    "type": "string",
                    "enum": ["low", "medium", "high", "critical"],
                    "description": "How important it is",
                },
                status="Open, accepted, done, …",
                owner="Who is responsible for it",
                due=_date("When it must be met"),
            ),
            "Decision": _type(
                "A choice that somebody made, with its reason",
                description="What was decided",
                rationale="Why",
                status="Proposed, accepted, superseded, …",
                date=_date("When it was made"),
                owner="Who made it",
            ),
            "Event": _type(
                "Something that happens at a time: a meeting, release, incident or deadline",
                date=_date("When it begins"),
                end_date=_date("When it ends"),
                location="Where it happens",
                description="What happens",
            ),
            "Concept": _type(
                "A term with a meaning of its own: a definition, method, topic or idea",
                description="What it means",
                abbreviation="Its short form",
            ),
        },
        "relationship_types": {
            "depends_on": _between("Cannot be, work or be met without"),
            "part_of": _between("Is a part or member of"),
            "uses": _between("Makes use of"),
            "owns": _between("Has, or is responsible for", ["Person", "Organization"]),
            "works_for": _between("Is employed by or belongs to", ["Person"], ["Organization"]),
            "reports_to": _between("Has as a superior", ["Person"], ["Person"]),
            "located_in": _between("Is or happens at", None, ["Place"]),
            "satisfies": _between("Fulfils", ["System", "Component", "Decision"], ["Requirement"]),
            "affects": _between("Has consequences for", ["Decision", "Event", "Requirement"]),
            "takes_part_in": _between("Is present at", ["Person", "Organization"], ["Event"]),
            "replaces": _between("Takes the place of"),
            "related_to": _between("Has to do with, where nothing above fits"),
        },
    }
)
