"""Corrections of the graph by a person."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import ConfigDict, Field

from whence.api.base import AnswerShape, RequestShape
from whence.api.graph import ObjectAnswer
from whence.api.values import json_object, text
from whence.store import Store
from whence.store.graph.curation import Curation

MAX_REASON = 2_000
MAX_AUTHOR = 200
_MAX_NESTED = 20

AuthorText = Annotated[str, text(MAX_AUTHOR)]
ReasonText = Annotated[str, text(MAX_REASON)]
AUTHOR = "The author. With an API key it is the key's name; without one, this or `local`."
REASON = "Why."


class Reasoned(RequestShape):
    reason: ReasonText | None = Field(default=None, description=REASON)
    author: AuthorText | None = Field(default=None, description=AUTHOR)


class CorrectionRequest(Reasoned):
    model_config = ConfigDict(
        json_schema_extra={"example": {"set": {"capacity": "55 kW"}, "reason": "Read off the type plate"}}
    )

    set: Annotated[dict[str, Any], json_object(max_depth=_MAX_NESTED)] = Field(
        description="Properties with their values. The name cannot be set: it identifies the object."
    )


class CurationModel(AnswerShape):
    id: UUID
    project_id: UUID
    action: Literal["set", "reject", "undo"]
    subject: Literal["object", "property", "claim", "relationship"]
    state: Literal["active", "waiting", "replaced", "undone"] = Field(
        description="`waiting`: the object does not exist yet. `replaced`: a later correction takes precedence."
    )
    object_id: UUID | None = Field(
        description="The object, or the source of the relationship; null if it is deleted."
    )
    object_type: str
    object_name: str
    property_name: str | None
    value: Any
    relationship_type: str | None
    target_type: str | None
    target_name: str | None
    undoes: UUID | None = Field(description="For an undo: the correction that it undoes.")
    author: str
    reason: str | None
    created_at: datetime
    undone_at: datetime | None

    @classmethod
    def of(cls, curation: Curation, /, **more: Any) -> Self:
        return super().of(curation, object_type=curation.type, object_name=curation.name, **more)


class CorrectedObject(ObjectAnswer):
    curations: list[CurationModel] = Field(description="The corrections of this request.")

    @classmethod
    async def corrected(cls, store: Store, made: list[Curation], object_id: UUID) -> Self:
        found = await store.graph.objects.get(object_id)
        answer = await ObjectAnswer.load(store, found)
        return cls.of(answer, curations=[CurationModel.of(one) for one in made])
