"""Projects and their options."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, ClassVar, Self
from uuid import UUID

from pydantic import AfterValidator, ConfigDict, Field, StrictBool, model_validator

from whence.api.base import AnswerShape, RequestShape
from whence.api.chunking import ChunkingChoice
from whence.api.lightrag import KeyChange, LightragKey, LightragUrl, key_change
from whence.api.search import ContextChoice
from whence.api.values import storable
from whence.chat.citing.restyle import CitationStyle
from whence.errors import BadInput
from whence.extract.context import amended
from whence.models import (
    MAX_NAME,
    PROJECT_NAME,
    ExtractionSwitch,
    ExtractorName,
    Grounding,
    Media,
    Project,
    project_name,
)
from whence.search.index import reindex
from whence.store import Store
from whence.text.lexer import DEFAULT_LANGUAGE, LANGUAGES

MAX_DESCRIPTION = 10_000


class ProjectConfig(RequestShape):
    """Options of a project. If null or absent, the server's settings apply."""

    null_is_absent: ClassVar[bool] = False

    extraction: ExtractionSwitch | None = Field(
        default=None,
        description="Whether a document is extracted after ingest. Default: `auto` if a model endpoint is configured, "
        "else `manual`.",
    )
    extractor: ExtractorName | None = Field(
        default=None,
        description="The extractor. Default: `model` if an endpoint is configured, else `rules`.",
    )
    context: ContextChoice | None = Field(default=None, description="The context that the extractor gets.")
    chunking: ChunkingChoice | None = Field(
        default=None,
        description="The chunking of documents if a request does not choose one. Default: `character`; `whence ingest` "
        "uses `paragraph`.",
    )
    verify: StrictBool | None = Field(
        default=None, description="Whether the chat model judges the citations of answers."
    )
    citation_style: CitationStyle | None = Field(
        default=None,
        description="Style of citations in OpenAI's protocol: `number` (the default), `id`, `markdown`, `none`.",
    )
    footnotes: StrictBool | None = Field(
        default=None,
        description="Whether answers in OpenAI's protocol end with file, page and quote of each source.",
    )
    grounding: Grounding | None = Field(
        default=None,
        description="`strict` (the default) rejects specific values that the chunk does not state. `lenient` keeps them, "
        "marked as `ungrounded`.",
    )
    media: Media | None = Field(
        default=None,
        description="`defused` (the default) shows the addresses of images, embedded pages and `javascript:` links in answers as "
        "text. `allowed` keeps them, and the web pages show addresses of other sites as links.",
    )

    lightrag_url: LightragUrl | None = Field(
        default=None,
        description="A [LightRAG server](lightrag.md) that chat also queries; `off` for none. Default: `WHENCE_LIGHTRAG_URL`.",
    )
    lightrag_key: LightragKey = Field(
        default=None,
        description="The key of that server, shown as `set`. Another `lightragUrl` needs a new key.",
    )

    def chosen(self, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The sent options in stored form. A key is replaced by a mark that there is one."""
        sent = self.model_dump(by_alias=True, exclude_unset=True, exclude={"lightrag_key"})
        change = self.key_change(before)
        return sent | (change.config if change else {})

    def key_change(self, before: Mapping[str, Any] | None = None) -> KeyChange | None:
        return key_change(before or {}, self.model_dump(by_alias=True, exclude_unset=True))


def _read_language(name: str) -> str:
    if name not in LANGUAGES:
        raise ValueError(f"one of {', '.join(LANGUAGES)}")
    return name


Name = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_NAME,
        examples=["handbooks"],
        json_schema_extra={"pattern": f"^{PROJECT_NAME}$"},
    ),
    AfterValidator(project_name),
]
Description = Annotated[
    str,
    Field(max_length=MAX_DESCRIPTION, json_schema_extra={"pattern": r"^[^\u0000]*$"}),
    AfterValidator(storable),
]
Language = Annotated[
    str,
    AfterValidator(_read_language),
    Field(
        json_schema_extra={"enum": list(LANGUAGES)},
        description="The language of the texts, whose rules decide which words match. `simple` compares words without "
        "such rules.",
    ),
]


class ProjectCreate(RequestShape):
    model_config = ConfigDict(strict=True)

    null_is_absent: ClassVar[bool] = False

    name: Name
    description: Description | None = None
    language: Language = DEFAULT_LANGUAGE
    config: ProjectConfig = Field(default_factory=ProjectConfig)


class ProjectChange(ProjectCreate):
    """A change of a project. Absent fields stay as they are."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [{"required": [name]} for name in ("name", "description", "language", "config")],
            "example": {"description": "Handbooks of all teams"},
        }
    )

    name: Name = ""

    @model_validator(mode="after")
    def _require_something(self) -> Self:
        if not self.model_fields_set:
            raise BadInput("Nothing to change", details={"expected": "name, description, language or config"})
        return self

    async def apply(self, store: Store, project: Project, *, own: UUID | None = None) -> Project:
        """Stores the change and returns the project. `own` is the only project that the caller sees. A new language rebuilds the
        text index.
        """
        changes = self.model_dump(exclude_unset=True, include={"name", "description"})
        config = amended(project.config, self.config.chosen(project.config))
        await store.projects.update(replace(project, **changes, config=config), own=own)
        if key := self.config.key_change(project.config):
            await key.apply(store, project.id)
        if "language" in self.model_fields_set and self.language != language_of(project):
            await reindex(store, project.id, language=self.language)
        return await store.projects.get(project.id)


class ProjectModel(AnswerShape):
    id: UUID
    name: str = Field(examples=["handbooks"])
    description: str | None
    language: str = Field(description="The language of the texts.", examples=["english"])
    config: ProjectConfig = Field(
        examples=[
            {
                "extraction": "auto",
                "extractor": None,
                "context": None,
                "chunking": None,
                "grounding": "strict",
            }
        ]
    )
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, project: Project, /, **more: Any) -> Self:
        fields = ProjectConfig.model_fields.items()
        chosen = {name: project.config.get(field.alias or name) for name, field in fields}
        for name, shape in (("context", ContextChoice), ("chunking", ChunkingChoice)):
            if given := chosen[name]:
                chosen[name] = {**dict.fromkeys(shape.field_names()), **given}
        return super().of(project, language=language_of(project), config=chosen, **more)


def language_of(project: Project) -> str:
    return project.config.get("language") or DEFAULT_LANGUAGE
