"""The target of a link."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from whence.api.base import CamelShape
from whence.link_target import Status


class LinkSpan(CamelShape):
    start: int
    end: int


class LinkAnswer(CamelShape):
    """The target. Fields from `name` on are only for links to documents."""

    kind: Literal["document", "object", "answer", "conversation"]
    id: UUID
    url: str | None = Field(description="A link to its current place.")
    name: str = ""
    version: int | None = Field(default=None, description="The version that the link was made under.")
    current_version: int | None = None
    is_current: bool = True
    status: Status = Field(
        default="current",
        description="State of the linked text: `same` if it is at the same place in a newer version, `moved` if at another "
        "place, `gone` if nowhere, `unknown` if that version is no longer kept.",
    )
    span: LinkSpan | None = Field(default=None, description="The span of the text now.")
    old_span: LinkSpan | None = None
    quote: str | None = Field(default=None, description="The text that the link was made for.")
    chunk_id: UUID | None = None
    page: int | None = None
