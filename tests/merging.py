"""Replies of a model, merged into what is known of OAuth and what it needs."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from whence.extract import ChunkText, KnownObject, Outcome, Schema, merge, name_key, proposals, read_schema

SCHEMA = read_schema(
    {
        "object_types": {
            "Requirement": {
                "properties": {
                    "description": {"type": "string"},
                    "priority": {"enum": ["low", "high"]},
                    "effort": {"type": "integer"},
                }
            },
            "Component": {"properties": {"version": {"required": True}}, "additional_properties": False},
            "Team": {},
        },
        "relationship_types": {
            "depends_on": {"from": ["Requirement"], "to": ["Component"]},
            "concerns": {"properties": {"since": {"format": "date"}}},
            "owned_by": {"properties": {"share": {"type": "number", "required": True}}},
        },
    }
)
OAUTH = UUID("0190e1d0-0000-7000-8000-000000000001")
ZITADEL = UUID("0190e1d0-0000-7000-8000-000000000002")
CHUNK = UUID("0190e1d0-0000-7000-8000-00000000000c")


def known(id_: UUID, type_: str, name: str, **properties: Any) -> KnownObject:
    return KnownObject(id=id_, type=type_, name=name, name_key=name_key(name), properties=properties)


KNOWN = (
    known(OAUTH, "Requirement", "OAuth 2.0", description="Must support OAuth"),
    known(ZITADEL, "Component", "Zitadel IdP", version="2.x"),
)


def merged(
    text: str,
    *objects: dict[str, Any],
    links: Sequence[dict[str, Any]] = (),
    there: Sequence[KnownObject] = KNOWN,
    context: Sequence[str] = (),
    schema: Schema = SCHEMA,
    blind: bool = False,
    shown: Sequence[KnownObject] | None = None,
) -> Outcome:
    reply = proposals({"objects": list(objects), "relationships": list(links)})
    primary = ChunkText(id=CHUNK, text=text)
    return merge(
        schema=schema,
        known=there,
        shown=shown,
        primary=primary,
        context=context,
        reply=reply,
        blind=blind,
    )


def reasons(outcome: Outcome) -> list[tuple[str, str]]:
    return [(each.where, each.reason) for each in outcome.rejections]


def changes(outcome: Outcome) -> tuple[object, ...]:
    return (*outcome.objects, *outcome.updates, *outcome.claims)
