"""API keys, and the permissions of the caller's own key."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import ConfigDict, Field

from whence.api.base import AnswerShape, RequestShape
from whence.api.values import Ident, text, whole
from whence.models import MAX_NAME
from whence.store.keys import Scope

Rate = Annotated[int, whole(0, 2**31 - 1)]


class KeyCreate(RequestShape):
    model_config = ConfigDict(json_schema_extra={"example": {"name": "ci", "scope": "write"}})

    name: Annotated[str, text(MAX_NAME, blank=True)] = Field(
        default="", description="The purpose of the key."
    )
    scope: Scope = Field(default="read", description="The scope; each includes those before it.")
    project_id: Ident | None = Field(
        default=None,
        description="The only project it gives access to. Default: the same as the caller's key.",
    )
    requests_per_minute: Rate | None = Field(
        default=None, description="Maximum requests per minute; 0 for no limit."
    )
    tokens_per_minute: Rate | None = Field(
        default=None, description="Maximum chat tokens per minute; 0 for no limit."
    )


class KeyModel(AnswerShape):
    id: UUID
    name: str = Field(examples=["ci"])
    prefix: str = Field(description="The part of the key after `wh_`; it is no secret.")
    project_id: UUID | None = Field(description="The only project it gives access to; null for all.")
    scope: Scope
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="Updated with up to a minute's delay.")
    requests_per_minute: int | None = Field(description="Null for the limit of the settings; 0 for no limit.")
    tokens_per_minute: int | None


class KeyCreated(KeyModel):
    key: str = Field(description="The key itself. It is not stored and not shown again.", examples=["wh_…"])


class Me(AnswerShape):
    """The scope and the project of the caller."""

    scope: Scope = Field(description="`admin` if the server requires no key.")
    project_id: UUID | None = Field(
        description="The only project that the key gives access to; null for all."
    )
    key_id: UUID | None = Field(description="Null without a key.")
    name: str | None = Field(description="The key's name.", examples=["ci"])
