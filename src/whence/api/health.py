"""Whether the server runs and can work."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from whence.api.base import AnswerShape


class Health(AnswerShape):
    status: Literal["ok"]
    version: str


class BackgroundFailure(AnswerShape):
    name: str = Field(examples=["the sweep for stalled jobs"])
    since: datetime
    times: int = Field(description="Failures in a row.")
    reason: str = Field(examples=["The database does not answer"])


class Readiness(AnswerShape):
    status: Literal["ready", "degraded", "not ready"] = Field(
        description="`degraded`: requests are answered, and work in the background keeps failing."
    )
    database: str = Field(examples=["ok"])
    migrations: str = Field(examples=["current"])
    worker: str = Field(examples=["ok"])
    background: list[BackgroundFailure] = Field(description="Background work that keeps failing.")
