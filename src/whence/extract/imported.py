"""Findings of another system about a document, as an `Extractor`. The merge checks them like those of a model.

The job's config contains them, so that any worker can run it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whence.extract.context import ExtractionContext
from whence.extract.extractors import ExtractionRequest, ReadReply, TokenUsage
from whence.extract.grounding import SearchableText
from whence.extract.reply import ExtractionReply, proposals
from whence.extract.schema import Schema
from whence.models import ExtractorName
from whence.text.content_words import words
from whence.text.names import name_key

IMPORTED = "imported"
"""Key in a job's config: `objects` and `relationships`, each with all its `descriptions`, and the `digest` of both."""

RELATED = "related_to"
"""The type of imported relationships. They have no direction, because those of the other system have none."""


@dataclass(frozen=True, slots=True)
class ImportedExtractor:
    objects: Sequence[Mapping[str, Any]]
    relationships: Sequence[Mapping[str, Any]]
    name: ExtractorName = "imported"
    model: str | None = None

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "ImportedExtractor | None":
        found = config.get(IMPORTED)
        return None if found is None else cls(found["objects"], found["relationships"])

    def prompt_tokens(self, schema: Schema) -> tuple[int, int]:
        del schema  # no model is asked
        return 0, 0

    def question(self, schema: Schema, context: ExtractionContext) -> ExtractionRequest:
        return ExtractionRequest(schema=schema, context=context)

    async def read(self, question: ExtractionRequest, usage: TokenUsage) -> ReadReply:
        del usage  # no model is asked
        reply = self.propose(question.context.primary.text)
        return ReadReply(reply=reply, context=question.context, blind=True)

    def propose(self, text: str) -> ExtractionReply:
        """The objects that the chunk names, and the relationships with both ends in it.

        The reply counts as cut off, so that claims of other extractors are not withdrawn because this one does not repeat them.
        """
        said = SearchableText(text)
        named = [one for one in self.objects if is_named(one["name"], said)]
        here = {one["name"] for one in named}
        tied = [one for one in self.relationships if {one["source"], one["target"]} <= here]
        body = {
            "objects": [
                {"type": one["type"], "name": one["name"], **_description(one, text)} for one in named
            ],
            "relationships": [
                {"type": RELATED, "source": one["source"], "target": one["target"], **_description(one, text)}
                for one in tied
            ],
        }
        return replace(proposals(body), is_cut=True)


def is_named(name: str, text: SearchableText) -> bool:
    """Whether the text has the name as the merge looks for it: `AI` is not in `paid`."""
    return bool(name_key(name)) and text.find(name) is not None


def _description(found: Mapping[str, Any], text: str) -> dict[str, str]:
    """The description that shares the most words with the chunk. The merge decides whether the chunk states it."""
    here = set(words(text))
    best = max(found["descriptions"], key=lambda one: len(here & set(words(one))), default="")
    return {"description": best} if best else {}
