"""Extraction schemas and their versions."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import ConfigDict, Field, WithJsonSchema

from whence.api.base import AnswerShape
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.models import SchemaVersion

EXAMPLE_SCHEMA = {
    "object_types": {
        "Requirement": {"properties": {"priority": {"type": "string", "enum": ["low", "high"]}}}
    },
    "relationship_types": {"depends_on": {"from": ["Requirement"], "to": ["Requirement"]}},
}
_TYPES: dict[str, Any] = {"type": "object", "maxProperties": 100, "additionalProperties": True}
SchemaBody = Annotated[
    Any,
    WithJsonSchema(
        {
            "type": "object",
            "title": "SchemaBody",
            "properties": {
                "object_types": {**_TYPES, "minProperties": 1},
                "relationship_types": {**_TYPES, "type": ["object", "null"]},
            },
            "required": ["object_types"],
            "additionalProperties": False,
        }
    ),
]
"""Checked by `extract.read_schema`, because schema errors have their own code, INVALID_SCHEMA, with the path."""


class SchemaModel(AnswerShape):
    model_config = ConfigDict(populate_by_name=True)

    project_id: UUID
    version: str | None = Field(
        description="Null for the default schema before the first extraction.", examples=["v2"]
    )
    number: int | None
    sha256: str
    body: dict[str, Any] = Field(
        alias="schema", description="The schema as it was sent.", examples=[EXAMPLE_SCHEMA]
    )
    created_at: datetime | None

    @classmethod
    def of(cls, version: SchemaVersion, /, **more: Any) -> Self:
        return super().of(version, sha256=version.sha256.hex(), **more)

    @classmethod
    def default(cls, project_id: UUID) -> Self:
        unset = {"version": None, "number": None, "created_at": None}
        return super().of(DEFAULT_SCHEMA, project_id=project_id, **unset)


class SchemaPut(SchemaModel):
    created: bool = Field(description="False if the current version is already the same.")


class SchemaProblem(AnswerShape):
    path: str = Field(examples=["object_types.Requirement.properties.priority.type"])
    message: str
    provided: Any
    expected: str | None


class SchemaElement(AnswerShape):
    kind: Literal["object_type", "property", "relationship_type", "relationship_property"]
    type: str = Field(default="", description="The type that a property belongs to. Only for properties.")
    name: str
    was: str = Field(default="", description="The old name. Only for renamed elements.")


class SchemaDiff(AnswerShape):
    model_config = ConfigDict(populate_by_name=True)

    old: str = Field(alias="from", examples=["v1"])
    new: str = Field(alias="to", examples=["v2"])
    added: list[SchemaElement]
    removed: list[SchemaElement]
    renamed: list[SchemaElement]
    changed: list[SchemaElement]
    remerged: list[SchemaElement] = Field(
        description="Lists with another `merge`: applied at once, without a model."
    )
    needs_model: bool = Field(description="Whether chunks must be read again.")

    @classmethod
    def between(
        cls, old: int | None, new: int | None, change: Mapping[str, Any], *, needs_model: bool
    ) -> Self:
        first = "default" if old is None else f"v{old}"
        last = "draft" if new is None else f"v{new}"
        return cls.of(change, old=first, new=last, needs_model=needs_model)


class SchemaCheck(AnswerShape):
    valid: bool
    problem: SchemaProblem | None = Field(description="The first one.")
    changes: SchemaDiff | None = Field(description="Null while there is a problem.")
