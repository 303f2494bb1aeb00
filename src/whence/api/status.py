"""The state of the server: the findings of `whence doctor`."""

from pydantic import Field

from whence.api.base import AnswerShape
from whence.findings import State


class FindingModel(AnswerShape):
    what: str = Field(examples=["Embedder"])
    state: State = Field(description="`note`: works, for information.")
    says: str = Field(examples=["minilm: 384 dimensions"])


class ServerStatus(AnswerShape):
    version: str = Field(description="Of Whence.")
    findings: list[FindingModel]
    settings: dict[str, str] = Field(description="Every setting; secrets are not shown.")
