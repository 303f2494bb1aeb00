"""The shapes of requests and answers about projects, as OpenAPI tells them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from whence.errors import BadInput
from whence.extract.context import OBJECT_COUNTS, POSITIONAL_COUNTS, SEMANTIC_COUNTS
from whence.search.lexer import DEFAULT_LANGUAGE, LANGUAGES
from whence.types import MAX_NAME, PROJECT_NAME, ExtractionSwitch, ExtractorName, project_name
from whence.web.values import storable

MAX_DESCRIPTION = 10_000


def _whole(value: Any) -> Any:
    """2.0 is an integer in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# The bounds stand inside of what reads the number: outside of it, OpenAPI would not be told of them.
_WHOLE = BeforeValidator(_whole)
Positional = Annotated[int, Field(ge=POSITIONAL_COUNTS.start, lt=POSITIONAL_COUNTS.stop), _WHOLE]
Semantic = Annotated[int, Field(ge=SEMANTIC_COUNTS.start, lt=SEMANTIC_COUNTS.stop), _WHOLE]
Related = Annotated[int, Field(ge=OBJECT_COUNTS.start, lt=OBJECT_COUNTS.stop), _WHOLE]


class ContextChoice(BaseModel):
    """What a model is shown beside the chunk it reads. Null, or absent, is no choice."""

    model_config = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _only_known(cls, data: Any) -> Any:
        return _of_known("config.context", cls.model_fields, data)

    positionalCount: Positional | None = Field(  # noqa: N815 - the API's names
        default=None,
        description="How many chunks before it, and as many after it. By default 1.",
    )
    semanticChunkCount: Semantic | None = Field(  # noqa: N815 - likewise
        default=None,
        description="How many of the chunks most like it. By default 3.",
    )
    relatedObjectCount: Related | None = Field(  # noqa: N815 - likewise
        default=None,
        description="How many objects that are known already. By default 10.",
    )
    objectSimilarityThreshold: float | None = Field(  # noqa: N815 - likewise
        default=None,
        ge=0,
        le=1,
        description="How alike an object must be that the chunk does not name. By default 0.7.",
    )


class ProjectConfig(BaseModel):
    """Null, or absent, is no choice: then the settings of the server decide."""

    model_config = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _only_known(cls, data: Any) -> Any:
        return _of_known("config", cls.model_fields, data)

    extraction: ExtractionSwitch | None = Field(
        default=None,
        description="Whether documents are extracted when they have been ingested. By default `auto` where a model "
        "endpoint is configured, else `manual`.",
    )
    extractor: ExtractorName | None = Field(
        default=None,
        description="Who extracts. By default `model` where an endpoint is configured, else `rules`.",
    )
    context: ContextChoice | None = Field(default=None, description="What is shown to who extracts.")


def _of_known(field: str, fields: Iterable[str], data: Any) -> Any:
    """The choices themselves, if each of them is known."""
    known = ", ".join(fields)
    for name in data.keys() - set(fields) if isinstance(data, Mapping) else ():
        details = {"field": f"{field}.{name}", "provided": data[name], "expected": f"one of {known}"}
        raise BadInput(f"{field}.{name} is unknown; known are {known}", details=details)
    return data


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
    config: ProjectConfig = Field(default_factory=ProjectConfig)


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
