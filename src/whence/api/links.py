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
    """The fields from `name` on are of links to documents."""

    kind: Literal["document", "object", "answer", "conversation"]
    id: UUID
    url: str | None = Field(description="A link to where it is now.")
    name: str = ""
    version: int | None = Field(default=None, description="The version that the link was made under.")
    current_version: int | None = None
    is_current: bool = True
    status: Status = Field(
        default="current",
        description="Of the linked text: `same` is at the same place in a newer version, `moved` at another, `gone` nowhere; "
        "`unknown`: that version is not kept any more.",
    )
    span: LinkSpan | None = Field(default=None, description="Where the text is now.")
    old_span: LinkSpan | None = None
    quote: str | None = Field(default=None, description="The text that the link was made for.")
    chunk_id: UUID | None = None
    page: int | None = None
