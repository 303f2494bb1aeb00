"""Whether the server runs and can work."""

from typing import Literal

from pydantic import ConfigDict, Field

from whence.api.base import AnswerShape


class Health(AnswerShape):
    status: Literal["ok"]
    version: str


class Readiness(AnswerShape):
    model_config = ConfigDict(extra="allow")

    status: Literal["ready", "not ready"]
    database: str = Field(examples=["ok"])
    migrations: str = Field(examples=["current"])
    worker: str = Field(examples=["ok"])
