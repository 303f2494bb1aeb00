"""The server's health."""

from typing import Literal

from pydantic import Field

from whence.api.base import AnswerShape
from whence.background import Failure


class Health(AnswerShape):
    status: Literal["ok"]
    version: str


class Readiness(AnswerShape):
    status: Literal["ready", "degraded", "not ready"] = Field(
        description="`degraded`: requests are answered, but background work keeps failing."
    )
    database: str = Field(examples=["ok"])
    migrations: str = Field(examples=["current"])
    worker: str = Field(examples=["ok"])
    background: list[Failure] = Field(description="Background work that keeps failing.")
