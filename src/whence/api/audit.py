"""The audit log."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from whence.api.base import AnswerShape


class AuditModel(AnswerShape):
    id: UUID
    at: datetime
    project_id: UUID | None = Field(description="The project in the path, or the key's.")
    key_id: UUID | None = Field(description="Null if the request had no key.")
    key_name: str | None = Field(description="The key's name at that time.", examples=["ci"])
    action: str = Field(description="The operation's id.", examples=["deleteDocument"])
    path: str = Field(examples=["/api/v1/documents/0199f2a4-0000-7000-8000-000000000001"])
    status: int = Field(description="The status of the answer.", examples=[200])
    request_id: str
