"""The rules as an `Extractor`."""

from dataclasses import dataclass

from whence.extract.context import ExtractionContext
from whence.extract.extractors import ExtractionRequest, ReadReply, TokenUsage
from whence.extract.reply import proposals
from whence.extract.schema import Schema
from whence.models import ExtractorName
from whence.offline.rules import propose


@dataclass(frozen=True, slots=True)
class RulesExtractor:
    name: ExtractorName = "rules"
    model: str | None = None

    def prompt_tokens(self, schema: Schema) -> tuple[int, int]:  # noqa: ARG002 - the protocol's signature
        return 0, 0

    def question(self, schema: Schema, context: ExtractionContext) -> ExtractionRequest:
        return ExtractionRequest(schema=schema, context=context)

    async def read(self, question: ExtractionRequest, usage: TokenUsage) -> ReadReply:  # noqa: ARG002 - the protocol's signature
        reply = proposals(propose(question.schema, question.context))
        return ReadReply(reply=reply, context=question.context, blind=True)
