"""The shapes of requests and answers about projects, as OpenAPI tells them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from whence.errors import BadInput
from whence.search.lexer import DEFAULT_LANGUAGE, LANGUAGES
from whence.types import MAX_NAME, PROJECT_NAME, ExtractionSwitch, ExtractorName, project_name
from whence.web.inputs import storable

MAX_DESCRIPTION = 10_000


class ProjectConfig(BaseModel):
    """Null, or absent, is no choice: then the settings of the server decide."""

    model_config = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _only_known(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            for name in data.keys() - cls.model_fields.keys():
                known = ", ".join(cls.model_fields)
                details = {"field": f"config.{name}", "provided": data[name], "expected": f"one of {known}"}
                raise BadInput(f"config.{name} is unknown; known are {known}", details=details)
        return data

    extraction: ExtractionSwitch | None = Field(
        default=None,
        description="Whether documents are extracted when they have been ingested. By default `auto` where a model "
        "endpoint is configured, else `manual`.",
    )
    extractor: ExtractorName | None = Field(
        default=None,
        description="Who extracts. By default `model` where an endpoint is configured, else `rules`.",
    )


class ProjectModel(BaseModel):
    id: UUID
    name: str
    description: str | None
    language: str = Field(description="Of its texts: how words are taken for the same.", examples=["english"])
    config: ProjectConfig
    created_at: datetime
    updated_at: datetime


def _name(text: str) -> str:
    return project_name(storable(text))


Name = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_NAME,
        examples=["handbooks"],
        json_schema_extra={"pattern": f"^{PROJECT_NAME}$"},
    ),
    AfterValidator(_name),
]
Description = Annotated[
    str,
    Field(max_length=MAX_DESCRIPTION, json_schema_extra={"pattern": r"^[^\u0000]*$"}),
    AfterValidator(storable),
]


def _language(name: str) -> str:
    if name not in LANGUAGES:
        raise ValueError(f"one of {', '.join(LANGUAGES)}")
    return name


Language = Annotated[
    str,
    AfterValidator(_language),
    Field(
        json_schema_extra={"enum": list(LANGUAGES)},
        description="Of its texts: by its rules words are taken for the same. `simple` takes them as they are.",
    ),
]


class ProjectCreate(BaseModel):
    model_config = ConfigDict(strict=True)

    name: Name
    description: Description | None = None
    language: Language = DEFAULT_LANGUAGE


class ProjectChange(BaseModel):
    """Fields that are absent stay as they are."""

    model_config = ConfigDict(
        strict=True,
        json_schema_extra={
            "anyOf": [{"required": [name]} for name in ("name", "description", "language", "config")]
        },
    )

    name: Name = ""
    description: Description | None = None
    language: Language = DEFAULT_LANGUAGE
    config: ProjectConfig = Field(default_factory=ProjectConfig)

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise BadInput("Nothing to change", details={"expected": "name, description, language or config"})
        return self
